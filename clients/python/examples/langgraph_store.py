"""LangGraph: pass the store to `graph.compile(store=…)`; nodes read and write it as any other."""

from mio_client import Mio
from mio_client.langgraph import MioStore, namespace

store = MioStore(Mio())  # MIO_URL and MIO_KEY
memories = namespace("ann@example.com")
store.put(memories, "job", {"text": "Zoe Park is a nurse in Oslo.", "source": "form"})
for item in store.search(memories, query="Where does Zoe work?"):
    print(item.key, item.value["text"])
