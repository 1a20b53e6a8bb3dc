"""Each example runs as it stands, in a process of its own, against a Mio server."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "clients/python/examples"
NEEDS = {
    "langgraph_store": "langgraph",
    "langchain_history": "langchain_core",
}


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_an_example_runs_and_knows_zoe(path: Path, address: str, key: str) -> None:
    needed = NEEDS.get(path.stem)
    if needed and not importlib.util.find_spec(needed):
        pytest.skip(f"{needed} is not installed: pip install 'clients/python[all]'")
    source = path.read_text(encoding="utf-8")
    assert len([line for line in source.splitlines() if line and line[0] not in '"']) <= 12
    env = {**os.environ, "MIO_URL": address, "MIO_KEY": key, "PYTHONPATH": str(EXAMPLES.parent)}
    ran = subprocess.run(
        [sys.executable, str(path)], env=env, capture_output=True, text=True, timeout=120
    )
    assert ran.returncode == 0, ran.stderr
    assert "Zoe" in ran.stdout
