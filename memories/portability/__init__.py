"""One end user's whole memory as a document, and back. What is derived is made anew; ids are kept
where they are free in the database that reads the document."""

from memories.portability.document import SECTIONS, export_user
from memories.portability.load import CannotImport, import_user
from memories.portability.move_user import CannotMove, Moved, move, move_all

__all__ = [
    "SECTIONS",
    "CannotImport",
    "CannotMove",
    "Moved",
    "export_user",
    "import_user",
    "move",
    "move_all",
]
