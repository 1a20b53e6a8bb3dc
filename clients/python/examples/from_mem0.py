"""mem0: the same six methods; memories are read from conversations in the background."""

from mio_client import Mio
from mio_client.mem0 import MemoryClient

client = MemoryClient(Mio())  # MIO_URL and MIO_KEY
client.add([{"role": "user", "content": "My friend Zoe Park is a nurse in Oslo."}], user_id="ann")
client.mio.process("ann", wait=True)  # at once, instead of with the next ten messages
for hit in client.search("Where does Zoe work?", filters={"user_id": "ann"})["results"]:
    print(hit["score"], hit["memory"])
