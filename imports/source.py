"""The parts of a file that somebody gives, as streams: the file itself, or members of a zip archive.

Nothing is unpacked to a disk, and no more is read than the limits allow, whatever an archive states."""

import codecs
import io
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path, PureWindowsPath
from typing import BinaryIO, TextIO, cast

from accounts.reasons import Reason, Skipped
from imports.types import NotReadable

# The largest exports that people have reported have 1 GB.
MAX_BYTES = 4_000_000_000
MAX_MEMBERS = 100_000
# Text is compressed to a fifth or a tenth; an archive beyond this is made to fill a disk.
MAX_RATIO = 200
HEAD = 64 * 1024
_PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
# Errors of an archive that is broken, or of a kind that isn't read.
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, struct.error)
_TEXTS = (".json", ".jsonl", ".txt", ".csv", ".vcf")
# What no database stores: control characters, and halves of surrogate pairs.
_NOT_STORABLE = dict.fromkeys([*range(9), 11, 12, *range(14, 32), 127, *range(0xD800, 0xE000)])


@dataclass(frozen=True, slots=True)
class Source:
    """A stream of text: a file, or a member of an archive; ``name`` has no folders. ``day_first`` is
    whether dates are D/M/Y, if somebody said so. Readers note in ``skipped`` what they can't read."""

    path: Path
    name: str
    member: str = ""
    day_first: bool | None = None
    skipped: Skipped = field(default_factory=Skipped, compare=False)

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """Opens it as bytes. Raises NotReadable if they are too many or damaged."""
        try:
            if not self.member:
                with self.path.open("rb") as stream:
                    yield cast(BinaryIO, io.BufferedReader(_Limited(stream)))
                return
            with zipfile.ZipFile(self.path) as archive, archive.open(self.member) as stream:
                yield cast(BinaryIO, io.BufferedReader(_Limited(cast(BinaryIO, stream))))
        except _DAMAGED as error:
            raise NotReadable("chat_damaged", name=self.name) from error
        except OSError as error:  # a place beyond the file
            if not self.member:
                raise
            raise NotReadable("chat_damaged", name=self.name) from error

    @contextmanager
    def text(self) -> Iterator[TextIO]:
        """Opens it as text without a byte order mark, broken characters as U+FFFD. Raises
        NotReadable."""
        with self.open() as stream:
            encoding = encoding_of(self.head())
            yield io.TextIOWrapper(stream, encoding=encoding, errors="replace", newline="")

    def whole(self, limit: int) -> bytes:
        """Returns all bytes. Raises NotReadable if there are more than ``limit``."""
        raw = bytearray()
        with self.open() as stream:
            while piece := stream.read(1 << 20):
                raw += piece
                if len(raw) > limit:
                    raise NotReadable("chat_too_large", limit=f"{limit // 1_000_000} MB")
        return bytes(raw)

    def head(self) -> bytes:
        """Returns the first HEAD bytes."""
        with self.open() as stream:
            return stream.read(HEAD)


class _Limited(io.RawIOBase):
    def __init__(self, stream: BinaryIO) -> None:
        self._stream, self._left = stream, MAX_BYTES

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        data = self._stream.read(len(buffer))
        self._left -= len(data)
        if self._left < 0:
            raise NotReadable("chat_too_large", limit=f"{MAX_BYTES // 1_000_000_000} GB")
        buffer[: len(data)] = data
        return len(data)


def parts(path: Path, day_first: bool | None = None, name: str = "") -> list[Source]:
    """Returns the texts of a zip archive by name, or the file itself. Raises NotReadable."""
    name = name or path.name
    try:
        packed = zipfile.is_zipfile(path)
        if not packed:
            return [Source(path, name, day_first=day_first)]
        with zipfile.ZipFile(path) as archive:
            infos = archive.infolist()
    except OSError as error:
        raise NotReadable("chat_no_file", name=name) from error
    except (*_DAMAGED, ValueError) as error:
        raise NotReadable("chat_damaged", name=name) from error
    if len(infos) > MAX_MEMBERS:
        raise NotReadable("chat_too_large", limit=f"{MAX_MEMBERS} files")
    sources, skipped = [], Skipped()
    for info in infos:
        member_path = PureWindowsPath(info.filename)  # knows the separators of all systems
        if member_path.anchor or ".." in member_path.parts:
            raise NotReadable("chat_path_leads_out", name=name)
        if not info.filename.lower().endswith(_TEXTS) or info.filename.startswith("__MACOSX/"):
            continue
        if info.flag_bits & 1 or info.compress_type not in _PACKED:
            raise NotReadable("chat_packed", name=name)
        if info.file_size > MAX_RATIO * max(info.compress_size, 1) + 1_000_000:
            raise NotReadable("chat_bomb", name=name)
        sources.append(Source(path, Path(info.filename).name, info.filename, day_first, skipped))
    return sorted(sources, key=lambda one: one.member)


def encoding_of(raw: bytes) -> str:
    """Guesses an encoding: UTF-8, unless most lines beyond ASCII are invalid in it; then GB 18030
    if the bytes beyond ASCII come in pairs, as in Chinese, else Windows-1252. UTF-16 has a mark."""
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    lines = [line for line in raw.split(b"\n") if not line.isascii()]
    invalid = sum("\ufffd" in line.decode("utf-8", errors="replace") for line in lines)
    if invalid < 2 or invalid * 2 <= len(lines):
        return "utf-8-sig"
    run_lengths = [
        sum(1 for _ in run)
        for beyond_ascii, run in groupby(raw[:HEAD], lambda byte: byte > 127)
        if beyond_ascii
    ]
    return "cp1252" if sum(run % 2 for run in run_lengths) * 2 > len(run_lengths) else "gb18030"


def decoded(head: bytes) -> str:
    """Decodes the beginning of a text, as far as it can be read."""
    return head.decode(encoding_of(head), errors="replace").removeprefix("\ufeff")


def readable_lines(raw: bytes, skipped: Skipped) -> str:
    """Decodes UTF-8; lines that are invalid become empty and are noted in ``skipped``."""
    lines = raw.decode("utf-8-sig", errors="replace").split("\n")
    for place, line in enumerate(lines):
        if "\ufffd" in line:
            skipped.add(Reason("book_letters", line=place + 1))
            lines[place] = ""
    return "\n".join(lines)


def storable(text: str) -> str:
    """Returns ``text`` without characters that no database stores."""
    return text.translate(_NOT_STORABLE)
