"""Files of messages as other programs write them."""

import json
from codecs import BOM_UTF8
from pathlib import Path

import pytest
from django.core.management import call_command

from memories.models import Message

pytestmark = pytest.mark.django_db


def test_ingest_reads_a_file_that_begins_with_a_byte_order_mark(tmp_path: Path) -> None:
    lines = [{"role": "user", "content": text} for text in ("你好", "hello")]
    text = "\r\n".join(json.dumps(line, ensure_ascii=False) for line in lines)
    file = tmp_path / "x.jsonl"
    file.write_bytes(BOM_UTF8 + text.encode())
    call_command("ingest", "--user", "zoe", str(file))
    assert list(Message.objects.order_by("pk").values_list("content", flat=True)) == [
        "你好",
        "hello",
    ]
