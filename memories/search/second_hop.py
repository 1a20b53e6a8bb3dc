"""From a memory that answers half of a question to the one that answers the rest.

"When is the birthday of the one who works at the zoo?" finds whose job it is; that person's
birthday is another memory. What the first memory is about and the question does not name is
the bridge: search for it with what the first memory leaves open (Qi et al., "Answering
Complex Open-domain Questions Through Iterative Query Generation", EMNLP 2019, with words
instead of a learnt generator).
"""

from collections.abc import Container, Mapping, Sequence

from memories.search import concepts
from memories.search.bm25 import Question
from memories.search.tokens import own
from understanding.lexicon import words

# Nouns that only carry a description ("the one who …", 那个…的人): no memory answers by them.
_HEADS = words("stopwords", "heads")

# Beside the weights of the two arms, which sum to 1. Measured: 0.1 to 0.3 are alike.
WEIGHT = 0.2


def onward(
    asked: Mapping[str, float], first: Sequence[str], held: Container[str]
) -> Question | None:
    """What to search for next, given the words asked for, the tokens of the best memory found and
    the words that any memory has ``held``; None when that memory answers all, or is about nobody and
    nothing new, or no memory holds what it leaves open."""
    has = set(own(first))
    open_words = {token: weight for token, weight in asked.items() if token not in has | _HEADS}
    people = [token for token in has if token.startswith(concepts.ROLE)]
    # Whoever is called by a role is known by it; anything else by all its words.
    about = people or [token for token in has if ":" not in token]
    new = sorted(token for token in about if token not in asked)
    if not any(token in held for token in open_words):
        return None
    if not new or (people and len(new) < len(people)):
        return None
    return Question(open_words, dict.fromkeys(new, 1.0))
