"""What the layers below say of their own accord, in the reader's language: why somebody is
meant, why a machine did something, what was refused, what failed.

They say it in English and keep it so, for logs and for the API. The catalogue of translations
finds their sentences here, each with ``{holes}`` where names and numbers stand; a test holds
the tables together with the code that speaks. Whatever isn't here stays as it was said.
"""

import re
from collections.abc import Callable
from functools import cache

from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

from contacts.attributes import ATTRIBUTES
from dashboard.evidence import SIGNS
from dashboard.words import attribute, attributes

# Why somebody is meant: contacts.hits, contacts.resolving, contacts.descriptions, and
# contacts.pronouns, which says several of these behind one another.
MEANT = (
    _("the contact's name"),
    _("a known alias"),
    _("the name spelt in pinyin"),
    _("the first name of {text}"),
    _("the given name of {text}"),
    _("the user's own relation ({text})"),
    _("surname and title fit {text} alone"),
    _("a usual short form of {text}"),
    _("sounds like the name {text}"),
    _("looks like a slip for {text}"),
    _("{count} people answer to it"),
    _("fits the description: {values}"),
    _("still the topic"),
    _("spoken of last"),
    _("received"),
    _("subject"),
    _("{count} can't be told apart"),
    _("from the last session"),
    _("female"),
    _("male"),
    _("gender not known"),
    _("the former of two"),
    _("the latter of two"),
    _("both just spoken of"),
    _("one of whom they is said"),
    _("and those around"),
    _("named together"),
    _("named right after"),
    _("{word} of who is meant"),
    _("the draft is to them"),
    _("the one to answer"),
    _("the topic, subject left out"),
    _("the topic, subject left out: {cues}"),
    _("answers about them"),
    _("answers about you"),
    _("asked of a person"),
    _("one's own feeling"),
    _("noun first"),
    _("personal noun"),
    _("predicate first"),
    _("question"),
    _("reported"),
    _("the user's plan"),
)
# Why a machine changed something or drew an edge.
DONE = (
    _("The user asked to forget this."),
    _("The user took this back."),
    _("imported from a vCard file"),
    _("They overlap: {reason}"),
    _("It was long: {reason}"),
    _("it is about several matters"),
    _("words that say nothing"),
    _("one says all that the others say"),
    _("each completes the other"),
    _("both speak of {name}"),
    _("the reply made use of it"),
    _("it turned out otherwise"),
    _("one time of what is a habit"),
    _("liked in one, disliked in the other"),
    _("it is over since"),
    _("it says what it is done for"),
    _("it says that this is why"),
    _("it says that this came of it"),
    _("says the same as what is known"),
    _("more about the same matter"),
    _("nothing like it is known"),
    _("{attribute} is now {new}, not {old}"),
    _("likes {new} now, dislikes before"),
    _("dislikes {new} now, likes before"),
    _("no longer at {company}"),
    _("the event was moved to another time"),
    _("the event was cancelled"),
    _("the plan has come true"),
    _("{attribute}: {one} or {other}"),
)
# What was refused to an operator.
REFUSED = (
    _("This end user has been forgotten."),
    _("This end user has been forgotten already."),
    _("There is no such contact."),
    _("There is no such memory."),
    _("There is no such contact or memory."),
    _("There is no contact {id}."),
    _("Nobody is related to themselves."),
    _("Say what the one is to the other."),
    _("There is no such relation any more."),
    _("A contact needs a name with at least one letter or digit."),
    _("This name is too long."),
    _("{name} was merged into {id} already."),
    _("A contact can't be merged into itself."),
    _("{one} and {other} were told apart before."),
    _("A contact can't differ from itself."),
    _("Choose memories that are about {name}."),
    _("{name} has no {key} of this value."),
    _("Another memory speaks for it now: undo that merge instead."),
    _("The memory is about this contact already."),
    _("This memory is not linked to this contact."),
    _("This link is gone already."),
    _("This change was undone already."),
    _("What stands now would collide with what was: undo the later change first."),
    _("Memories that this change touched were merged or split since: undo that first."),
    _("The merged memory was corrected since: undo that change first."),
    _("More was learnt about {name} since; merge the contact instead."),
    _("This kind of edge is not stated by hand."),
    _("An edge joins two memories."),
    _("There is no such memory, or it is archived."),
    _("This memory has no such edge."),
    _("Where a memory comes from stays; undo the change that made it."),
    _("A piece says all that the memory says."),
    _("A memory is split into 2 to {most} different pieces."),
    _("The new wording is not shorter."),
    _("Another memory already says exactly this: choose it as well."),
    _("Another memory already says exactly this."),
    _("Choose 2 to {most} memories, and what they say together."),
    _("A profile follows from its memories; correct these."),
    _("Only memories that hold now can be split, trimmed or merged."),
)
# What failed in the background.
FAILED = (
    _("The process that ran it is gone."),
    _("The model server answered {status}."),
    _("The model server did not answer in {seconds} s."),
    _("The connection to the model server failed."),
    _("The model server broke its answer off with an error."),
    _("The model server broke its reply off."),
    _("The model client refused the call: {error}."),
    _("The model server refused the request{code}."),
    _("The model server refused the file of requests{code}."),
    _("The model server gave no answer{code}."),
    _("The model server's reply holds no completion."),
    _("The model server's reply is not of the batch protocol."),
    _("The model server's stream is not of the protocol."),
    _("The model refused to answer."),
    _("The model's answer was cut off at its length limit."),
    _("The model's reply was cut off at its length limit."),
    _("The model's answer is unusable after a repair: {errors}."),
    _("The embedding server's reply holds no embeddings."),
    _("The embedding server sent {vectors} vectors, or wrong indices, for {count} texts."),
    _(
        "Model {model} gives vectors of {size} dimensions, but MIO_EMBEDDING_DIMENSIONS is {set}. "
        "Set it to {again} and re-embed, or choose another model."
    ),
    _("Model {model} gave a vector without a direction."),
    _("The server gave no answer that could be read."),
    _("The server had no time for the request."),
    _("The batch was cancelled at the server."),
    _("Another request of the batch was refused."),
    _("What was said has changed since it was sent."),
    _("It was never handed over."),
    _("The server lost the request."),
    _("No answer came in time."),
    _("Its files are left at the server."),
    _("It held words that were forgotten since."),
    _("MIO_LLM_BATCH was turned off."),
)
# What stands between two sayings, and what a reader expects there.
BETWEEN = (_("; "), _(", "))
_SENTENCES = re.compile(r"(?<=\.) (?=[A-Z])")
_HOLE = re.compile(r"\\\{(\w+)\\\}")


@cache
def _patterns() -> list[tuple[re.Pattern[str], str]]:
    """Every template as a pattern, the fewest holes first: the surest."""
    templates = sorted(
        {*MEANT, *DONE, *REFUSED, *FAILED, *SIGNS.values()},
        key=lambda text: (text.count("{"), text),
    )
    return [(re.compile(_HOLE.sub(r"(?P<\1>.+?)", re.escape(t)), re.S), t) for t in templates]


def known(text: str) -> str | None:
    """The text in the reader's language; None for what no table holds."""
    for pattern, template in _patterns():
        found = pattern.fullmatch(text)
        if found is None:
            continue
        holes = {name: _hole(name, value) for name, value in found.groupdict().items()}
        if all(value is not None for value in holes.values()):
            return gettext(template).format(**holes)
    return None


def told(text: str) -> str:
    """What a machine said, in the reader's language as far as the tables know it."""
    whole = known(text)
    if whole is not None:
        return whole
    for parts, between in (
        (text.split("; "), "; "),
        (text.split(", "), ", "),
        (_SENTENCES.split(text), " "),
    ):
        said = [known(part) for part in parts]
        if len(parts) > 1 and any(said):
            return _joint(between).join(
                told(part) if new is None and part != text else new or part
                for part, new in zip(parts, said, strict=True)
            )
    return text


def _joint(between: str) -> str:
    return gettext(between) if between in BETWEEN else between


def _hole(name: str, value: str) -> str | None:
    """What stands in a hole; None where it can't be what its name says."""
    read = _HOLES.get(name)
    return read(value) if read else value


def _values(text: str) -> str:
    """ "company 腾讯; job title 医生": what of somebody fits."""
    keys = sorted((key.replace("_", " ") for key in ATTRIBUTES), key=len, reverse=True)

    def one(part: str) -> str:
        key = next((key for key in keys if part.startswith(f"{key} ")), None)
        return f"{attribute(key)} {part[len(key) + 1 :]}" if key else part

    return _joint("; ").join(map(one, text.split("; ")))


def _number(text: str) -> str | None:
    return text if text.isdecimal() else None


def _one_saying(text: str) -> str | None:
    return None if "; " in text else text


_HOLES: dict[str, Callable[[str], str | None]] = {
    "attribute": attribute,
    "key": attributes,
    "keys": attributes,
    "values": _values,
    "reason": told,
    "cues": told,
    "text": _one_saying,
    "count": _number,
}
