"""What the systems of the benchmark are given, and what they cost."""

import subprocess
import sys

import psutil
import pytest

from tools.bench_peers import model_settings, proportional_set_size


def test_systems_get_a_model_only_where_one_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODEL_KEY", "secret")
    none = model_settings("", "")
    assert none["MIO_LLM"] == "offline"
    assert {none[name] for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "PEER_MODEL_URL")} == {""}
    named = model_settings("http://127.0.0.1:9/v1", "small")
    assert (named["MIO_LLM"], named["MIO_LLM_MODEL"], named["PEER_MODEL"]) == (
        "openai",
        "small",
        "small",
    )
    assert named["OPENAI_API_KEY"] == named["PEER_MODEL_KEY"] == "secret"


def test_the_memory_of_a_process_is_counted_until_it_ends() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        running = psutil.Process(process.pid)
        assert proportional_set_size(running) > 0
        process.communicate(b"\n")
    assert proportional_set_size(running) == 0
