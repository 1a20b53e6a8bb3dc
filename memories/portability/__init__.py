"""One end user's whole memory as a document, and back. What is derived is made anew; ids are kept
where they are free in the database that reads the document."""

from memories.portability.document import SECTIONS as SECTIONS
from memories.portability.document import export_user as export_user
from memories.portability.load import CannotImport as CannotImport
from memories.portability.load import import_user as import_user
from memories.portability.move_user import CannotMove as CannotMove
from memories.portability.move_user import Moved as Moved
from memories.portability.move_user import move as move
from memories.portability.move_user import move_all as move_all
