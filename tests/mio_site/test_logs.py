"""The formats of the log."""

import json
import logging
import sys

from mio_site.logs import Json, Line


def line(formatter: logging.Formatter, **given: object) -> str:
    record = logging.LogRecord("mio", logging.WARNING, "", 1, "user %s", (7,), None)
    record.__dict__.update(given)
    return formatter.format(record)


def test_a_line_of_json_is_an_object_with_what_there_is() -> None:
    told = json.loads(line(Json(), request_id="r1"))
    assert (told["level"], told["logger"], told["message"]) == ("WARNING", "mio", "user 7")
    assert told["request_id"] == "r1"
    assert told["time"].endswith("+00:00")
    assert "error" not in told


def test_a_traceback_stays_within_its_line() -> None:
    try:
        raise ValueError("broken")
    except ValueError:
        written = line(Json(), exc_info=sys.exc_info())
    assert "\n" not in written
    assert "ValueError: broken" in json.loads(written)["error"]


def test_a_line_of_text_ends_with_its_request() -> None:
    assert line(Line(), request_id="r1").endswith("WARNING mio user 7 (request r1)")
    assert line(Line()).endswith("WARNING mio user 7")
    assert line(Line(), request_id="r1", trace_id="f0").endswith("7 (request r1, trace f0)")
    assert json.loads(line(Json(), trace_id="f0"))["trace_id"] == "f0"
