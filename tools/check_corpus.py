"""python -m tools check_corpus: is the corpus of its forms, and how large is it?"""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from jsonschema_rs import Draft202012Validator

CORPUS = Path(__file__).resolve().parent.parent / "corpus"
SETS = (
    "mentions",
    "aliases",
    "pronouns",
    "extraction",
    "sentences",
    "forgetting",
    "changes",
    "descriptions",
)
Case = dict[str, Any]


class Command(BaseCommand):
    help = "Checks each line of the corpus against its schema and its text, and counts the cases."
    requires_system_checks = []

    def handle(self, **_options: Any) -> None:
        found = list(problems())
        for problem in found:
            self.stderr.write(problem)
        total: Counter[str] = Counter()
        for author, count in sizes().items():
            self.stdout.write(f"{author} {_told(count)}")
            total += count
        self.stdout.write(f"all {_told(total)}")
        if found:
            raise CommandError(f"{len(found)} problems.")


def _told(count: Mapping[str, int]) -> str:
    return " ".join(f"{name} {count[name]}" for name in SETS)


def authors() -> list[Path]:
    """The folders of the authors, by id."""
    return sorted(path for path in CORPUS.glob("a[0-9][0-9]") if path.is_dir())


def cases(author: Path, name: str) -> list[Case]:
    """The cases of one file of an author. Raises ValueError for a line that is no JSON."""
    return [json.loads(line) for line in (author / f"{name}.jsonl").open(encoding="utf-8")]


def sizes() -> dict[str, Counter[str]]:
    """How many cases of each set an author wrote."""
    return {
        author.name: Counter({name: len(cases(author, name)) for name in SETS})
        for author in authors()
    }


def problems() -> Iterator[str]:
    """What is wrong, each with the id of its case."""
    schema = json.loads((CORPUS / "schema.json").read_text("utf-8"))
    forms = {name: _form(schema, name) for name in (*SETS, "author", "errata", "nobody")}
    notes = [json.loads(line) for line in (CORPUS / "errata.jsonl").open(encoding="utf-8")]
    for note in notes:
        yield from _misfits(forms["errata"], note, f"errata {note.get('id')}")
    removed = {note["id"] for note in notes if note["verdict"] == "removed"}
    said: dict[str, set[str]] = defaultdict(set)
    for author in authors():
        about = json.loads((author / "author.json").read_text("utf-8"))
        yield from _misfits(forms["author"], about, f"{author.name}/author.json")
        for name in SETS:
            yield from _of_file(author, name, forms[name], removed)
            for case in cases(author, name):
                if text := case.get("message") or case.get("text"):
                    said[f"{name} {text}"].add(author.name)
        yield from untold(author)
    for what, by in said.items():
        if len(by) > 1:
            yield f"{', '.join(sorted(by))} say the same: {what}"
    yield from _of_nobody(forms["nobody"])


def _of_nobody(form: Draft202012Validator) -> Iterator[str]:
    """What is wrong in the messages that speak of nobody."""
    seen: set[str] = set()
    for line in (CORPUS / "nobody.jsonl").open(encoding="utf-8"):
        case = json.loads(line)
        yield from _misfits(form, case, str(case.get("id")))
        unique = {str(case.get("id")), str(case.get("text"))}
        yield from (f"nobody.jsonl has {repeated} twice" for repeated in unique & seen)
        seen |= unique


def untold(author: Path) -> Iterator[str]:
    """Those described of whom the author's chats have no memory."""
    chats = cases(author, "extraction")
    told = {memory["person"] for chat in chats for memory in chat["gold"]["memories"]}
    for case in cases(author, "descriptions"):
        for name in {*case["expect"]} - told:
            yield f"{case['id']}: no memory is about {name}"


def _of_file(
    author: Path, name: str, form: Draft202012Validator, removed: Collection[str]
) -> Iterator[str]:
    seen: set[str] = {*removed}
    for case in cases(author, name):
        pk = str(case.get("id"))
        yield from list(_misfits(form, case, pk)) or unsound(name, case)
        if not pk.startswith(f"{author.name}-{name[:3]}-"):
            yield f"{pk}: is in {author.name}/{name}.jsonl"
        if pk in seen:
            yield f"{pk}: is there twice, or was removed"
        seen.add(pk)


def _form(schema: Mapping[str, Any], name: str) -> Draft202012Validator:
    return Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": schema["$defs"]})


def _misfits(form: Draft202012Validator, case: Case, pk: str) -> Iterator[str]:
    for error in form.iter_errors(case):
        yield f"{pk}: {'/'.join(map(str, error.instance_path))} {error.message[:200]}"


def unsound(name: str, case: Case) -> Iterator[str]:
    """What a schema can't say of a case."""
    for problem in _RULES.get(name, lambda _case: ())(case):
        yield f"{case['id']}: {problem}"


def _of_contacts(case: Case) -> Iterator[str]:
    keys = [contact["key"] for contact in case["contacts"]]
    if len(set(keys)) < len(keys):
        yield "two contacts have one key"
    for key in {*case["expect"], *case.get("named", ())} - {*keys}:
        yield f"no contact has the key {key}"


def _of_buffers(case: Case) -> Iterator[str]:
    times = [message["time"] for message in case["messages"]]
    if times != sorted(times):
        yield "messages are not in order"
    gold = case["gold"]
    names = {contact["name"] for contact in gold["contacts"]}
    for memory in gold["memories"]:
        if (memory["person"] is None) != (memory["subtype"] == "self"):
            yield f"person is null if and only if subtype is self: {memory['content']}"
        if memory["person"] is not None and memory["person"] not in names:
            yield f"{memory['person']} is no contact"
    chat = "\n".join(message["text"] for message in case["messages"]).lower()
    for contact in gold["contacts"]:
        for name in (contact["name"], *contact["aliases"]):
            if name.lower() not in chat:
                yield f"{name} does not occur in the chat"


def _of_sentences(case: Case) -> Iterator[str]:
    if (case["modality"] is not None) != (case["act"] in ("state", "correct")):
        yield "modality is of state and correct alone"
    if len({case["type"] is None, case["about"] == [], case["lasting"] is None}) > 1:
        yield "type, about and lasting go together"
    keys = {span["key"] for span in case["spans"]}
    for key in {*case["about"]} - {"user", "previous"} - keys:
        yield f"about {key}, which no span has"
    for span in case["spans"]:
        if case["text"].count(span["text"]) <= span["nth"]:
            yield f"{span['text']} does not occur {span['nth'] + 1} times"
        if (span["kind"] == "trap") != (span["key"] is None):
            yield f"{span['text']}: a trap has no key, all else has one"


def _of_forgetting(case: Case) -> Iterator[str]:
    if case["asks"] != (case["about"] is not None):
        yield "what asks is about something"


def _of_changes(case: Case) -> Iterator[str]:
    if (case["relation"] == "partly") != ("ended" in case):
        yield "ended is of partly alone"
    if case["old"]["time"] >= case["new"]["time"]:
        yield "the old is not older"


def _of_descriptions(case: Case) -> Iterator[str]:
    for name in case["expect"]:
        if name.lower() in case["message"].lower():
            yield f"{name} is named, not described"


_RULES: dict[str, Callable[[Case], Iterator[str]]] = {
    "mentions": _of_contacts,
    "pronouns": _of_contacts,
    "extraction": _of_buffers,
    "sentences": _of_sentences,
    "forgetting": _of_forgetting,
    "changes": _of_changes,
    "descriptions": _of_descriptions,
}
