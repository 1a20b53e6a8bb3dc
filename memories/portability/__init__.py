"""Exports one end user's whole memory as a document, imports it, and moves users between cells. An
import rebuilds derived data, and keeps the ids that are free in its database."""

from memories.portability.document import SECTIONS as SECTIONS
from memories.portability.document import export_user as export_user
from memories.portability.load import CannotImport as CannotImport
from memories.portability.load import import_user as import_user
from memories.portability.move_user import CannotMove as CannotMove
from memories.portability.move_user import Moved as Moved
from memories.portability.move_user import move as move
from memories.portability.move_user import move_all as move_all
