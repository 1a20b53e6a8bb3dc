"""Where the reader draws its lines: chosen by contact F1, and by recall of memories against what
should not be stored, on the chats of the corpus, with a tagger that had not seen their author."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Choices:
    """``keep``: a statement becomes a memory from this probability on, ``parsed`` where it states
    an attribute in a form that is known, which speaks for it. From which certainty of the
    tagger somebody new is a contact: with a ``name``, in a ``role`` to the user, as the ``owned``
    relative of somebody, or as a ``stranger``."""

    keep: float
    parsed: float
    name: float
    role: float
    owned: float
    stranger: float


CHOICES = Choices(keep=0.7, parsed=0.1, name=0.4, role=0.7, owned=0.9, stranger=0.9)

# From which probability a memory is the user's own, whoever else it is about; is told for unsure;
# puts something right, namely what is as near as this of what was said of the same people.
OWN = 0.5
UNSETTLED = 0.5
CORRECTS = 0.5
SAME_MATTER = 0.9
