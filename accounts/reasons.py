"""Reasons and errors as codes with parameters, and the one table that puts them into words.

Code emits a :class:`Reason`; English is its ``str``. A screen renders it with the words of its
language. Where a column of text keeps a reason it keeps ``stored``, which ``read`` reads again;
what a person typed and what a model said stays text all the way.
"""

import json
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from string import Formatter
from typing import Any, ClassVar

ROOT = Path(__file__).resolve().parent.parent


def _(text: str) -> str:
    """Marks a text for the catalogue of translations, which this module knows nothing of."""
    return text


TEMPLATES: dict[str, str] = {
    # Why somebody is meant by a word of a message.
    "by_name": _("the contact's name"),
    "by_alias": _("a known alias"),
    "by_pinyin": _("the name spelt in pinyin"),
    "by_first_name": _("the first name of {text}"),
    "by_given_name": _("the given name of {text}"),
    "by_own_relation": _("the user's own relation ({text})"),
    "by_part": _("a part of the name {text}"),
    "by_title": _("surname and title fit {text} alone"),
    "by_diminutive": _("a usual short form of {text}"),
    "by_sound": _("sounds like the name {text}"),
    "by_slip": _("looks like a slip for {text}"),
    "among_several": _("{reason}; {count} people answer to it"),
    "by_description": _("fits the description: {values}"),
    "held_value": "{attribute} {value}",
    "by_reference": _("the user may call them {text}"),
    "by_model": _("a model that was asked who is meant says so"),
    "by_memories": _("not named, but this is known of them: {clauses}"),
    # Whom a pronoun or an unspoken subject means; several stand behind one another.
    "each_of": "{reasons}",
    "all_of": "{clauses}",
    "still_topic": _("still the topic"),
    "spoken_of_last": _("mentioned last"),
    "equally_likely": _("{count} can't be told apart"),
    "last_session": _("from the last session"),
    "female": _("female"),
    "male": _("male"),
    "gender_unknown": _("gender not known"),
    "former": _("the former of two"),
    "latter": _("the latter of two"),
    "both_last": _("both just spoken of"),
    "singular_they": _("referred to as “they”"),
    "named_together": _("named together"),
    "named_after": _("named right after"),
    "relative_of_meant": _("{word} of who is meant"),
    "meant_turns_ago": _("still being talked about; messages since: {turns}"),
    "subject_omitted": _("the topic, subject left out"),
    "answers_about_them": _("answers about them"),
    # What speaks for and against two contacts being one person.
    "same_name": _("Both are called {first}."),
    "same_byname": _("Both are called {first}, as others may be."),
    "pinyin": _("{first} and {second} are the same name in two scripts."),
    "part_of_name": _("{first} and {second} share a name."),
    "nickname": _("{first} and {second} are nicknames for the same name."),
    "diminutive": _("{first} and {second} are forms of the same given name."),
    "titled_name": _("{first} and {second} are the same surname with a form of address."),
    "spelling": _("{first} and {second} are spellings of the same name."),
    "homophone": _("{first} and {second} only sound alike."),
    "transliteration": _("{first} sounds like {second} in another script."),
    "short_form": _("{first} may be short for {second}, or the other way round."),
    "shared_given": _("{first} and {second} have different surnames."),
    "shared_surname": _("{first} and {second} share the surname alone."),
    "different_name": _("{first} and {second} are plainly different names."),
    "other_full_name": _("{first} and {second} are different full names."),
    "other_name": _("{first} and {second} are different names."),
    "other_byname": _("{first} and {second} have nothing in common."),
    "other_script": _("{first} and {second} are unrelated names in two scripts."),
    "other_title": _("{first} and {second} are addressed differently."),
    "relative_of": _("One of {first} and {second} is named as belonging to the other."),
    "unnamed": _("One of {first} and {second} is a role, not a name."),
    "both_unnamed": _("{first} and {second} are different roles."),
    "same_role_word": _("{first} and {second} are words for the same role."),
    "bond_same": _("“{first}” and “{second}” mean the same relationship."),
    "bond_near": _("“{first}” and “{second}” can both be true of one person."),
    "bond_other": _("“{first}” and “{second}” are different relationships."),
    "bond_opposed": _("“{first}” and “{second}” rule each other out."),
    "bond_alone": _("A person has only one {first} at a time."),
    "bond_former": _("Only one of “{first}” and “{second}” is in the past."),
    "said_to_be_one": _("What was said of the two in a conversation fits one person"),
    "stated_name": _("It was said that one is called {name}: “{fact}”"),
    "owned_by": _("One is known by the other, {name}: “{fact}”"),
    "stated_apart": _("It was said that they are two people: “{fact}”"),
    "named_beside": _("A memory about one names the other as someone else: “{fact}”"),
    "together": _("Both are named together as two people."),
    "words": _("What is known of both mentions {words}."),
    "role_told": _("The relationship of one is told of the other: {words}."),
    "role_words": _("Both relationships mention {words}."),
    "name_told": _("The name of one stands in what is told of the other: {words}."),
    "attribute_other": _("Their {keys} differ."),
    "not_on_own_card": _("The user's own card has no such key."),
    "no_kind_of_date": _("Name a kind of date, such as birthday."),
    "age": _("Their ages don't fit: “{first}” and “{second}”."),
    "gender": _("One is female, the other male."),
    "rivals": _("{count} people fit one of them as well."),
    # Why a memory was found.
    "rank_by_words": _("no. {rank} by its words"),
    "rank_by_meaning": _("no. {rank} by meaning"),
    "about_best_hit": _("about what the best hit by words is about"),
    "speaks_for_found": _("sums up a memory that was found"),
    "beside_better": _("reached from a better match by {kinds}"),
    "in_range": _("from the time asked about"),
    "no_longer_true": _("no longer true"),
    "among_latest": _("among the most recent"),
    "linked": _("linked to a person in the message"),
    "not_linked_yet": _("names {name}, not linked yet"),
    # Why a machine changed something or drew an edge.
    "forget_asked": _("The user asked to forget this."),
    "taken_back": _("The user took this back."),
    # Why a chat history can't be imported.
    "chat_no_such_writer": _(
        "Nobody, or not only one, is called {name} in this file. Writers: {writers}."
    ),
    "chat_says_not_who": _(
        "Say who the user is (--me NAME); the file does not. Writers: {writers}."
    ),
    "chat_damaged": _("{name} is damaged or cut off: export it again."),
    "chat_cut_off": _("{name} is damaged behind what was read: export it again for the rest."),
    "chat_long_line": _("{name}, line {number}, is longer than any message."),
    "chat_bad_line": _("{name}, line {number}, can't be read."),
    "chat_bad_date": _("{name}, line {number}, has no date that can be."),
    "chat_bad_letters": _("{name}, line {number}, has characters that can't be read."),
    "chat_damaged_line": _("{name}, line {number}, is no object of JSON."),
    "chat_too_large": _("The file holds more than {limit}."),
    "chat_no_file": _("{name} can't be read."),
    "chat_path_leads_out": _("{name} has a file whose path leads out of it."),
    "chat_packed": _("{name} is encrypted or packed in a rare way; unpack it first."),
    "chat_bomb": _("{name} unpacks to far more than text does; it is refused."),
    "chat_unknown": _(
        "Unknown file type. Known are: {formats}. Give the file as the program wrote it, or the zip archive."
    ),
    "chat_several_kinds": _("The archive holds several kinds of exports ({formats}): give one."),
    "chat_no_year": _("{name} has dates without a year. Export it as JSON."),
    "chat_empty": _("Nobody wrote a text in this file: there is nothing to import."),
    "chat_crowd": _("More than {limit} people write in this file: it is no private chat."),
    "chat_day_order": _(
        "Whether dates like 3/4 are in March or in April can't be told from the file. Say whether the day comes first."
    ),
    # Why the memories of another program can't be read.
    "dump_empty": _("Nothing is in this file: there is nothing to import."),
    "dump_row": _("Memory {number} of the file has no text."),
    "dump_line": _("Line {number} is neither an entity nor a relation."),
    "dump_crowd": _("The file holds more than {limit} memories: split it."),
    "dump_no_such_owner": _("Nobody in this file is called {name}. Say who the user is: {owners}."),
    "dump_says_not_who": _(
        'Say who of the file is the user (--me NAME, --me "" for nobody): {owners}.'
    ),
    # Why an address book can't be read.
    "book_unknown": _("Unknown file type: give a vCard file (.vcf) or a CSV of Google Contacts."),
    "book_no_vcard": _("This is not a vCard file: it has no BEGIN:VCARD."),
    "book_no_csv": _(
        "This is not a CSV of Google Contacts: its first row does not name the columns."
    ),
    "book_empty": _("Nobody is in this file: there is nothing to import."),
    "book_too_large": _("The file is larger than {limit} without its photos: split it."),
    "book_crowd": _("The file has more than {limit} entries: split it."),
    "book_at_start": _("At the start"),
    "book_in_entry": _("Entry {number}"),
    "book_after_entry": _("After entry {number}"),
    "book_outside": _("{where}, line {line}, stands outside a vCard."),
    "book_line": _("{where}, line {line}, can't be read."),
    "book_letters": _("Line {line} has characters that can't be read."),
    "book_no_end": _("Entry {number} has no END:VCARD: what there is of it was read."),
    "book_row": _("Row {number} can't be read: a quotation mark is open, or a cell is too long."),
    "book_row_too_long": _("Row {number} has more cells than the first row names columns."),
    # Who of those who wrote in a chat history may be the user.
    "guess_known_name": _("bears a name of the user's"),
    "guess_in_all_chats": _("writes in every chat of the file"),
    "guess_not_in_name": _("the file is named after the other one"),
    "vcard": _("imported from a vCard file"),
    # Which contact an entry of an address book means, or why it makes none.
    "entry_same_name": _("has this name"),
    "entry_same_alias": _("is also called {name}"),
    "entry_same_value": _("has this name and the same {keys}"),
    "entry_like_name": _("has a name like it and the same {keys}"),
    "entry_chosen": _("as was chosen"),
    "entry_other_birthday": _("somebody of this name has another birthday"),
    "entry_without_name": _("it has no name"),
    "entry_name_too_long": _("its name is too long"),
    "entry_left_out": _("left out, as was chosen"),
    "entry_several": _("several people may be meant: choose one"),
    "entry_no_such_choice": _("Entry {number} has no such choice: {choice}."),
    "no_such_entry": _("The file has no entry {number}."),
    "overlapping": _("They overlap: {reason}"),
    # What a conversation puts right about a known person.
    "called_better": _("the user calls them {name}"),
    "not_called_so": _("the user said that they are not called so"),
    "said_same": _("the user said so: “{quote}”"),
    "verbose": _("It was long: {reason}"),
    "one_says_all": _("one says all that the others say"),
    "shared_entity": _("both mention {name}"),
    "reply_used": _("the reply used it"),
    "user_took_up": _("the user took it up in the next turn"),
    "disproved": _("it turned out otherwise"),
    "one_of_habit": _("one occasion of a habit"),
    "liked_disliked": _("liked in one, disliked in the other"),
    "over_since": _("it has ended since"),
    "says_aim": _("it states the purpose"),
    "says_cause": _("it states the reason"),
    "says_outcome": _("it states the result"),
    "known_already": _("says the same as what is known"),
    "value_changed": _("{attribute} is now {new}, not {old}"),
    "now_likes": _("likes {new} now, dislikes before"),
    "now_dislikes": _("dislikes {new} now, likes before"),
    "left_place": _("no longer at {company}"),
    "two_values": _("{attribute}: {one} or {other}"),
    # Why a merge of memories was accepted or not.
    "keeps_all": _("says everything they say, and nothing else"),
    "loses_words": _("it loses {words}"),
    "leaves_out": _("it leaves out {words}"),
    "adds_words": _("it adds {words}"),
    "other_circumstances": _("it holds in other circumstances than one of them"),
    "other_subject": _("it says of one what was said of another"),
    # What was refused to a person or an app.
    "user_forgotten": _("This end user has been forgotten."),
    "user_forgotten_already": _("This end user has been forgotten already."),
    "no_such_contact": _("There is no such contact."),
    "no_such_memory": _("There is no such memory."),
    "no_such_forgetting": _("This user has made no such request."),
    "not_undecided": _("This is not waiting for a decision."),
    "no_such_contact_or_memory": _("There is no such contact or memory."),
    "no_contact_of_id": _("There is no contact {id}."),
    "name_taken": _("Another contact has this name. Send namesake: true for another person."),
    "relation_to_self": _("A person can't be related to themselves."),
    "relation_without_kind": _("Say how the two are related."),
    "no_such_relation": _("There is no such relation any more."),
    "name_without_letters": _("A contact needs a name with at least one letter or digit."),
    "name_too_long": _("This name is too long."),
    "tells_secret": _(
        "Mio keeps no passwords, keys, codes, or numbers of cards, accounts and documents: leave it out ({field})."
    ),
    "merged_already": _("{name} was merged into {id} already."),
    "merge_with_self": _("A contact can't be merged into itself."),
    "parted_before": _("{one} and {other} were marked as different people before."),
    "differs_from_self": _("Choose two different contacts."),
    "not_asked": _("There is no open merge suggestion for these two, or it was decided already."),
    "memories_of_other": _("Choose memories that are about {name}."),
    "no_such_value": _("{name} has no {key} of this value."),
    "not_several": _("{name} has no two values of {key}."),
    "merged_memory": _("It was merged into another memory: undo that merge instead."),
    "low_importance": _("A profile speaks for this memory, so its importance stays at 0.05."),
    "out_of_range": _("A value is out of range: importance and confidence lie between 0 and 1."),
    "ends_before_it_begins": _("happens_until needs a happens_at that is not later."),
    "nobody_called": _("Nobody is known by “{name}”."),
    "several_called": _("Several people are called “{name}”; say which by id: {several}"),
    "forget_one_thing": _("Say one person or one memory."),
    "metadata_too_long": _("Metadata has at most {most} bytes of JSON."),
    "linked_already": _("The memory is about this contact already."),
    "not_linked": _("This memory is not linked to this contact."),
    "link_gone": _("This link is gone already."),
    "undone_already": _("This change was undone already."),
    "collides": _("A newer memory says the same: mark it as outdated or merge it first."),
    "later_changes": _("Later changes touched the same things: undo them first, or all together."),
    "more_learnt": _("More was learnt about {name} since; merge the contact instead."),
    "edge_not_by_hand": _("This kind of edge is not stated by hand."),
    "edge_to_self": _("An edge connects two different memories."),
    "memory_gone_or_archived": _("There is no such memory, or it is archived."),
    "not_of_the_two": _("Choose one of the two memories."),
    "no_such_edge": _("This memory has no such edge."),
    "edge_of_origin": _("The origin of a memory can't be removed; undo the change that made it."),
    "piece_is_whole": _("One piece says everything the memory says."),
    "number_of_pieces": _("A memory is split into 2 to {most} different pieces."),
    "not_shorter": _("The new wording is not shorter."),
    "choose_duplicate": _("Another memory already says exactly this: choose it as well."),
    "duplicate": _("Another memory already says exactly this."),
    "number_of_merged": _("Choose 2 to {most} memories, and what they say together."),
    "profile_follows": _("A profile is made from memories: correct those."),
    "not_active": _("Only memories that hold now can be split, trimmed or merged."),
    # What failed in the background.
    "process_gone": _("The process that ran it is gone."),
    "step_failed": _("It failed with {error} at {where}."),
    "server_refuses": _("{cause} It is tried again as soon as the model server takes it."),
    "of_users": "{errors}",
    "of_user": _("User {user}: {error}"),
    "server_status": _("The model server answered {status}."),
    "server_timeout": _("The model server did not answer in {seconds} s."),
    "connection_failed": _("The connection to the model server failed."),
    "web_page": _("The model server's address returns a web page."),
    "answer_too_large": _("The model server's answer is larger than {megabytes} MB."),
    "answer_broken_off": _("The model server ended its answer with an error."),
    "reply_broken_off": _("The model server's reply broke off."),
    "client_refused": _("The model client refused the call: {error}."),
    "request_refused": _("The model server refused the request{code}."),
    "file_refused": _("The model server refused the file of requests{code}."),
    "no_answer": _("The model server gave no answer{code}."),
    "no_completion": _("The model server's reply holds no completion."),
    "not_batch_protocol": _("The model server's reply is not of the batch protocol."),
    "not_stream_protocol": _("The model server's stream is not of the protocol."),
    "model_refused": _("The model refused to answer."),
    "answer_cut_off": _("The model's answer was cut off at its length limit."),
    "reply_cut_off": _("The model's reply was cut off at its length limit."),
    "answer_unusable": _("The model's answer is unusable after a repair: {errors}."),
    "no_embeddings": _("The embedding server's reply holds no embeddings."),
    "wrong_vectors": _(
        "The embedding server sent {vectors} vectors, or wrong indices, for {count} texts."
    ),
    "wrong_dimensions": _(
        "Model {model} gives vectors of {size} dimensions, but MIO_EMBEDDING_DIMENSIONS is {set}. "
        "Set it to {size} and re-embed, or choose another model."
    ),
    "no_direction": _("Model {model} gave a vector without a direction."),
    "batch_unreadable": _("The server gave no answer that could be read."),
    "batch_no_time": _("The server did not get to the request in time."),
    "batch_cancelled": _("The batch was cancelled at the server."),
    "batch_refused": _("Another request of the batch was refused."),
    "batch_gone": _("Its remote batch is gone."),
    "said_changed": _("What was said has changed since it was sent."),
    "never_handed_over": _("It was never submitted."),
    "never_reached": _("It never reached the server."),
    "request_lost": _("The server lost the request."),
    "batch_unknown": _("The server has no record of it."),
    "no_answer_in_time": _("No answer came in time."),
    "not_ended_in_time": _("The server did not finish it in time."),
    "not_awaited": _("Nothing is waiting for it any more."),
    "files_left": _("Its files are still on the server."),
    "held_forgotten": _("It contained text that has been forgotten since."),
    "batches_off": _("MIO_LLM_BATCH was turned off."),
}
HOLES = {
    code: frozenset(name for _text, name, _form, _conversion in Formatter().parse(text) if name)
    for code, text in TEMPLATES.items()
}
# What stands between reasons behind one another, by the hole that they stand in.
BETWEEN = _(", ")
OTHERWISE = {"clauses": _("; "), "values": _("; "), "errors": " "}


@dataclass(frozen=True, slots=True, init=False)
class Reason:
    """``code`` names a template of the table; ``params`` fill its holes: texts, numbers,
    attribute keys, reasons, and lists of these."""

    code: str
    params: Mapping[str, Any] = field(hash=False)

    def __init__(self, code: str, /, **params: Any) -> None:
        if missing := HOLES[code] - params.keys():
            raise TypeError(f"The reason {code} lacks {', '.join(sorted(missing))}.")
        object.__setattr__(self, "code", code)
        object.__setattr__(self, "params", params)

    def __str__(self) -> str:
        return render(self)

    @property
    def as_json(self) -> dict[str, Any]:
        return {"code": self.code, "params": {k: _plain(v) for k, v in self.params.items()}}

    @property
    def stored(self) -> str:
        """The reason as a column of text keeps it."""
        return json.dumps(self.as_json, ensure_ascii=False)


@dataclass(slots=True)
class Skipped:
    """What of a file can't be read and is left out: how much, and where the first of it stands."""

    MOST: ClassVar[int] = 100

    count: int = 0
    named: list[Reason] = field(default_factory=list)

    def add(self, reason: Reason) -> None:
        self.count += 1
        if len(self.named) < self.MOST:
            self.named.append(reason)


class CodedError(Exception):
    """What was asked can't be done, or failed; ``str`` says why in English. ``api_code`` is the
    code of the API's refusal, of ``accounts.errors.CODES``."""

    api_code: ClassVar[str] = "conflict"

    def __init__(self, reason: Reason | str) -> None:
        super().__init__(reason)
        self.reason = reason


# Every statement passes through these.
_SENDING = ("/accounts/scope.py", "/accounts/tracing.py", "/mio_site/postgres/base.py")


def fault(error: BaseException) -> Reason | str:
    """Why something failed. Of an error that has no reason only its type and place: its words
    may hold chat text."""
    if isinstance(error, CodedError):
        return error.reason
    ours = [
        f"{frame.filename.removeprefix(f'{ROOT}/')}:{frame.lineno}"
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename.startswith(f"{ROOT}/")
        and "/site-packages/" not in frame.filename
        and not frame.filename.endswith(_SENDING)
    ]
    where = ours[-1] if ours else "?"
    return Reason("step_failed", error=type(error).__name__, where=where)


def stored(reason: Reason | str) -> str:
    """A reason as a column of text keeps it; other words as they are."""
    return reason.stored if isinstance(reason, Reason) else reason


def read(text: str) -> Reason | str:
    """What a column of text keeps; words that no reason was stored as stay words."""
    if not text.startswith('{"code"'):
        return text
    try:
        return json.loads(text, object_hook=_reason)
    except (KeyError, TypeError, ValueError):  # of a table that has changed since
        return text


def _reason(value: dict[str, Any]) -> Reason | dict[str, Any]:
    coded = value.keys() == {"code", "params"}
    return Reason(value["code"], **value["params"]) if coded else value


def _plain(value: Any) -> Any:
    if isinstance(value, Reason):
        return value.as_json
    return [_plain(one) for one in value] if isinstance(value, list | tuple) else value


def spaced(key: str) -> str:
    """What a key is called where it has no other name."""
    return key.replace("_", " ")


@dataclass(frozen=True, slots=True)
class Wording:
    """How a language puts reasons into words; what is not given is said in English."""

    translate: Callable[[str], str] = str
    attribute: Callable[[str], str] = spaced
    edge_kind: Callable[[str], str] = str
    between: str = ", "


ENGLISH = Wording()


def render(reason: Reason | str, wording: Wording = ENGLISH) -> str:
    """A reason in words; words as they are."""
    if isinstance(reason, str):
        return reason
    holes = {name: _worded(name, value, wording) for name, value in reason.params.items()}
    return wording.translate(TEMPLATES[reason.code]).format(**holes)


def _worded(name: str, value: Any, wording: Wording) -> str:
    """What stands in a hole, by its name (attribute keys, kinds of edges) or its type."""
    if name == "kinds":
        return " → ".join(map(wording.edge_kind, value))
    if name in ("attribute", "key"):
        return wording.attribute(value)
    if name == "keys":
        keys = value.split(", ") if isinstance(value, str) else value  # one text in older rows
        return wording.between.join(map(wording.attribute, keys))
    if isinstance(value, Reason):
        return render(value, wording)
    if isinstance(value, list | tuple):
        coded = any(isinstance(one, Reason) for one in value)
        mark = wording.translate(OTHERWISE.get(name, BETWEEN))
        return (mark if coded else wording.between).join(_worded("", v, wording) for v in value)
    return str(value)
