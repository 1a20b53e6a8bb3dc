"""Each example runs as it stands, in a process of its own, against a Mio server."""

import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from mio_client import Mio

from tests.servers import FakeOpenAI

EXAMPLES = Path(__file__).parents[2] / "clients/python/examples"
NEEDS = {
    "llama_index_memory": "llama_index",
    "openai_agents_session": "agents",
    "pydantic_ai_agent": "pydantic_ai",
    "langgraph_store": "langgraph",
    "langchain_history": "langchain_core",
}


@pytest.fixture
def model() -> Iterator[FakeOpenAI]:
    """One that says what it was told."""
    with FakeOpenAI() as server:
        server.answer_with = lambda request: request.prompt
        server.usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        yield server


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_an_example_runs_and_knows_zoe(
    path: Path, address: str, key: str, model: FakeOpenAI, mio: Mio
) -> None:
    needed = NEEDS.get(path.stem)
    if needed and not importlib.util.find_spec(needed):
        pytest.skip(f"{needed} is not installed: pip install 'clients/python[all]'")
    source = path.read_text(encoding="utf-8")
    assert len([line for line in source.splitlines() if line and line[0] not in '"']) <= 12
    if path.stem in NEEDS and "lang" not in path.stem:  # the others say who she is themselves
        zoe = mio.add_contact("ann", name="Zoe")
        mio.add_memory("ann", content="Zoe plays chess.", contacts=[zoe["id"]])
    env = {
        **os.environ, "MIO_URL": address, "MIO_KEY": key, "PYTHONPATH": str(EXAMPLES.parent),
        "OPENAI_BASE_URL": model.base_url, "OPENAI_API_KEY": "k",
        "OPENAI_AGENTS_DISABLE_TRACING": "1",
    }  # fmt: skip
    ran = subprocess.run(
        [sys.executable, str(path)], env=env, capture_output=True, text=True, timeout=120
    )
    assert ran.returncode == 0, ran.stderr
    assert "Zoe" in ran.stdout
