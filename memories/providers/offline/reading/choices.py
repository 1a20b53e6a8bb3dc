"""Where the reader draws its lines: chosen on the chats of the corpus, with a tagger and heads
that had not seen their author."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Choices:
    """``keep``: a sentence is quoted from this probability on that it tells something of a life,
    unless it is as likely as ``other`` to do something else than to tell. Its attributes are
    taken where it is less likely than ``untrue`` to do what need not be true, and as likely as
    ``fact`` to be told as one. From which certainty of the tagger somebody new is a contact: by a
    ``name``, by one that is ``borne_out`` by another turn or a role beside it, or in a ``role`` to
    the user of whom something is told."""

    keep: float
    other: float
    untrue: float
    fact: float
    name: float
    borne_out: float
    role: float


CHOICES = Choices(keep=0.05, other=0.85, untrue=0.4, fact=0.5, name=0.8, borne_out=0.5, role=0.7)

# From which probability a memory is the user's own, whoever else it is about.
OWN = 0.5
