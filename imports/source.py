"""The parts of a file that somebody gives: itself, or the members of a zip archive, as streams.

Nothing is unpacked to a disk, and no more is read than the limits allow, whatever an archive
says of itself.
"""

import codecs
import io
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, TextIO, cast

from accounts.reasons import Skipped
from imports.types import NotReadable

# The largest exports that people have reported are of 1 GB.
MAX_BYTES = 4_000_000_000
MAX_MEMBERS = 100_000
# Text is packed to a fifth or a tenth; beyond this it is made to fill a disk.
MAX_RATIO = 200
HEAD = 64 * 1024
_PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
# What reading an archive raises that is broken, or of a kind that isn't read.
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, struct.error)
_TEXTS = (".json", ".jsonl", ".txt", ".csv", ".vcf")
_NO_PATH = re.compile(r"^[/\\]|^[A-Za-z]:|(?:^|[/\\])\.\.(?:[/\\]|$)")


@dataclass(frozen=True, slots=True)
class Source:
    """One stream of text: a file, or a member of an archive; ``name`` without its folders. ``day_first``:
    somebody said whether its dates are D/M/Y. Whoever reads it notes in ``skipped`` what can't be read."""

    path: Path
    name: str
    member: str = ""
    day_first: bool | None = None
    skipped: Skipped = field(default_factory=Skipped, compare=False)

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """Opens it as bytes. Raises NotReadable where they are too many or damaged."""
        try:
            if not self.member:
                with self.path.open("rb") as stream:
                    yield cast(BinaryIO, _Limited(stream))
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
        """Opens it as text without a byte order mark, with U+FFFD for broken characters. Raises NotReadable."""
        with self.open() as stream:
            encoding = _encoding(self.head())
            yield io.TextIOWrapper(stream, encoding=encoding, errors="replace", newline="")

    def head(self) -> bytes:
        """Its first bytes."""
        with self.open() as stream:
            return stream.read(HEAD)


class _Limited(io.RawIOBase):
    """A stream that raises NotReadable beyond MAX_BYTES."""

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
    """The texts of a file in order of their names. Raises NotReadable."""
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
        if _NO_PATH.search(info.filename):
            raise NotReadable("chat_path_leads_out", name=name)
        if not info.filename.lower().endswith(_TEXTS) or info.filename.startswith("__MACOSX/"):
            continue
        if info.flag_bits & 1 or info.compress_type not in _PACKED:
            raise NotReadable("chat_packed", name=name)
        if info.file_size > MAX_RATIO * max(info.compress_size, 1) + 1_000_000:
            raise NotReadable("chat_bomb", name=name)
        sources.append(Source(path, Path(info.filename).name, info.filename, day_first, skipped))
    return sorted(sources, key=lambda one: one.member)


def _encoding(head: bytes) -> str:
    """That in which most of a text's beginning can be read."""
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    read = head.decode("utf-8", errors="replace")
    wrong = read.count("\ufffd")
    right = sum(not char.isascii() for char in read) - wrong
    return "gb18030" if wrong > 1 + right // 4 else "utf-8-sig"


def decoded(head: bytes) -> str:
    """The beginning of a text, whatever can be read of it."""
    return head.decode(_encoding(head), errors="replace").removeprefix("\ufeff")
