"""One end user's whole memory as a document, and back without loss.

What is derived (embeddings, search tokens, cards, lookup keys, ``memory_ids``) is left out
and made anew. Ids are kept where they are free in the database that reads the document.
"""

from memories.portability.document import NOT_CARRIED, SECTIONS, export_user
from memories.portability.load import CannotImport, import_user
from memories.portability.move_user import CannotMove, Moved, move, move_all

__all__ = [
    "NOT_CARRIED",
    "SECTIONS",
    "CannotImport",
    "CannotMove",
    "Moved",
    "export_user",
    "import_user",
    "move",
    "move_all",
]
