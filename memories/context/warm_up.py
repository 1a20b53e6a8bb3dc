"""What a process loads once, before somebody waits for it: dictionaries and the local model."""

from contacts.lookup import keys_in
from memories.providers.factory import embedder
from memories.search.tokens import query_tokens

# Both languages, a name and a pronoun: what reads them is loaded at first use.
_TEXTS = ("小红最近怎么样了，她还在忙吗", "How is Greta doing, and did she paint lately?")

_warm = False


def is_warm() -> bool:
    """Whether this process has been warmed up."""
    return _warm


def warm_up() -> None:
    """Reads a text of each language as a context does; takes about a second. A model server is
    not asked."""
    global _warm
    for text in _TEXTS:
        keys_in(text)
        query_tokens(text)
        if embedder().in_process:
            embedder().embed_query(text)
    _warm = True
