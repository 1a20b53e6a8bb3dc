import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tools import mutate

pytestmark = pytest.mark.system

START = (
    "from tools.mutate import Command; Command().run_from_argv(['tools', 'mutate', 'shop.prices'])"
)
FILES = {
    "shop/prices.py": "def total(price, count):\n    return price * count\n\n\n"
    "def is_cheap(price: 'a * b') -> bool:\n    return price < 5\n",
    "tests/test_prices.py": "from shop import prices\n\n\ndef test_total():\n    assert prices.total(2, 3) == 6\n",
}


def test_a_change_that_no_test_notices_is_shown_and_fails_the_run(tmp_path: Path) -> None:
    for folder in ("shop", "tests", "tools"):
        (tmp_path / folder).mkdir()
    for name in ("__init__.py", "mutate.py", "mutant_tests.py"):
        shutil.copy(Path(mutate.__file__).with_name(name), tmp_path / "tools")
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    run = subprocess.run(
        [sys.executable, "-c", START], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert run.returncode == 1, run.stderr
    assert run.stdout.count("caught: shop/prices.py") == 2  # the product, and that it is returned
    assert (
        run.stdout.count("survived: shop/prices.py") == 3
    )  # the limit, how, and that it is returned
    assert "-    return price < 5" in run.stdout
    assert "-    return price * count" not in run.stdout
    assert "2 of 5 caught (40 %), seed 1" in run.stdout
    assert (tmp_path / "shop/prices.py").read_text(encoding="utf-8") == FILES["shop/prices.py"]
