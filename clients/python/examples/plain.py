"""A chat turn with a memory: before the answer ask for the context, after it send both messages."""

from mio_client import Mio

mio = Mio()  # MIO_URL and MIO_KEY
said = "My friend Zoe Park is a nurse in Oslo."
mio.add_messages("ann", messages=[{"id": "m1", "role": "user", "content": said}])
mio.process("ann", wait=True)  # at once, instead of with the next ten messages
print(mio.context("ann", message="How is Zoe?")["system_prompt"])
