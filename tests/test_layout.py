"""The house itself: a folder is a subject of some twenty modules, and a name means one module."""

from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("accounts", "contacts", "memories", "dashboard", "mio_site", "tools")
MOST_MODULES = 25
# Names that Django gives, and folders in which a module is called after what it is about
# elsewhere: the interfaces, the checks and the benches of that subject, and the two providers,
# which implement one interface.
CONVENTIONS = {"models", "urls", "admin", "api", "views", "apps", "forms", "provider"}
NAMED_AFTER = ("api", "views", "queries", "commands", "doctor", "bench", "models", "openai")


def modules() -> list[Path]:
    found = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    return [path for path in found if "migrations" not in path.parts and path.stem[0] != "_"]


def test_no_folder_holds_more_modules_than_one_can_overlook() -> None:
    counts: dict[Path, int] = defaultdict(int)
    for path in modules():
        counts[path.parent] += 1
    assert {str(folder): n for folder, n in counts.items() if n > MOST_MODULES} == {}


def test_a_module_name_means_one_module() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for path in modules():
        if path.stem not in CONVENTIONS and path.parent.name not in NAMED_AFTER:
            places[path.stem].append(str(path.relative_to(ROOT)))
    assert {name: paths for name, paths in places.items() if len(paths) > 1} == {}
