"""LangChain: what is said is learnt from, and found again by meaning."""

from langchain_core.messages import HumanMessage

from mio_client import Mio
from mio_client.langchain import MioChatMessageHistory, MioRetriever

mio = Mio()  # MIO_URL and MIO_KEY
history = MioChatMessageHistory(mio, user="ann", session_id="s1")
history.add_messages([HumanMessage("My friend Zoe Park is a nurse in Oslo.")])
mio.process("ann", wait=True)  # at once, instead of with the next ten messages
for document in MioRetriever(mio=mio, user="ann", k=3).invoke("Where does Zoe work?"):
    print(document.page_content, document.metadata["people"])
