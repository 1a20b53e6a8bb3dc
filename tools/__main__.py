"""The tools of those who work on Mio: ``python -m tools NAME [--help]``."""

import sys
from importlib import import_module
from pathlib import Path

import manage

HERE = Path(__file__).parent


def main(argv: list[str]) -> None:
    """Runs the command that the module NAME of this folder defines."""
    names = sorted(path.stem for path in HERE.glob("*.py") if _is_tool(path))
    if not argv or argv[0] not in names:
        sys.exit(f"usage: python -m tools ({' | '.join(names)}) [--help]")
    manage.prepare_database(migrate=True)
    import_module(f"tools.{argv[0]}").Command().run_from_argv(["tools", *argv])


def _is_tool(path: Path) -> bool:
    return not path.stem.startswith("_") and "class Command" in path.read_text(encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
