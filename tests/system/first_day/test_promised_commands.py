"""Every command that README and docs show runs as written on a default installation."""

import json
import re
import zipfile

import pytest

from tests.system.first_day.conftest import ROOT, Installation

# A command of bin/mio, up to its comment, the end of its code, or the parenthesis around it.
SHOWN = re.compile(r"bin/mio [a-z_]+(?: [^`#)\n]*)?")
# docs/mcp.md has a test of its own.
FILES = [ROOT / "README.md", *sorted({*ROOT.glob("docs/*.md")} - {ROOT / "docs/mcp.md"})]
# Placeholders, and a folder of another machine, with what stands for them here.
MEANT = {"import_chat FILE": "import_chat memory.jsonl --user ann --me default_user", "FILE": "new.backup",
         "/srv/backups": "backups"}  # fmt: skip
TYPED = {"bin/mio changepassword ann": "correct horse 7\ncorrect horse 7\n"}
# What a default installation has not.
OUTSIDE = {
    "bench NAME": "files to measure with; tests/tools/bench",
    "bench corpus": "files in the repository, some minutes; tests/tools/bench",
    "cells add": "MIO_CELLS and a further database; tests/cells",
    "cells move": "two cells; tests/cells",
    "check_model": "a language model; tests/memories/management",
    "create_app my-chat": "it is how the installation here was begun",
    "dbshell": "psql on the PATH",
    "qcluster": "it is the worker, which serve runs",
    "reembed --model": "OpenAI",
    "reembed --prune": "a model that was changed before",
    "backup": "it needs a file; shown without one it is the name of the command",
    "import_chat": "it needs a file; shown without one it is the name of the command",
    "import_user": "it needs a file; shown without one it is the name of the command",
}
# These replace everything.
LAST = "bin/mio restore"


def shown() -> list[str]:
    """The commands in their order, each once."""
    found: dict[str, None] = {}
    for file in FILES:
        for match in SHOWN.finditer(file.read_text(encoding="utf-8")):
            found[match[0].strip()] = None
    return sorted(found, key=lambda command: command.startswith(LAST))


def is_outside(command: str) -> bool:
    said = command.removeprefix("bin/mio ")
    return any(
        said == one or (" " in one and said.startswith(f"{one} ")) or said.startswith(f"{one}-")
        for one in OUTSIDE
    )


def prepare(installation: Installation) -> None:
    """The files that the commands name."""
    folder = installation.folder
    chat = "[23.03.26, 12:00:00] Ben: Kim moved to Bergen.\n[23.03.26, 12:01:00] Anna: Nice!\n"
    with zipfile.ZipFile(folder / "WhatsApp Chat with Anna.zip", "w") as archive:
        archive.writestr("_chat.txt", chat)
    (folder / "contacts.csv").write_text("First Name,Last Name\nKim,Berg\n")
    (folder / "key.txt").write_text("sk-test\n")
    (folder / "secret.txt").write_text("a secret of 32 characters at least\n")
    people = [
        {"type": "entity", "name": name, "entityType": "person", "observations": [f"{name} sings"]}
        for name in ("default_user", "Kim")
    ]
    (folder / "memory.jsonl").write_text("\n".join(map(json.dumps, people)) + "\n")
    dump = {"results": [{"id": "1", "memory": "Kim sings", "user_id": "ann-7"}]}
    (folder / "dump.json").write_text(json.dumps(dump))


def test_no_page_shows_a_command_that_only_a_developer_can_run() -> None:
    for file in FILES:
        for line in file.read_text(encoding="utf-8").splitlines():
            bare = re.search(r"(?<!python )(?<!/)\bmanage\.py [a-z_]+", line)
            assert bare is None, f"{file.name}: {line}"


@pytest.mark.release
def test_every_command_shown_runs_as_written(installation: Installation) -> None:
    prepare(installation)
    failed = []
    for command in shown():
        if is_outside(command):
            continue
        meant = command
        for placeholder, stands in MEANT.items():
            if placeholder in meant:
                meant = meant.replace(placeholder, stands)
                break
        done = installation.shell(meant, TYPED.get(command, ""))
        if done.returncode:
            failed.append(f"{command}: {(done.stderr or done.stdout)[-300:]}")
    assert not failed, "\n".join(failed)


@pytest.mark.parametrize("outside", OUTSIDE)
def test_what_is_left_out_is_still_shown_somewhere(outside: str) -> None:
    assert any(f"mio {outside}" in command for command in shown())
