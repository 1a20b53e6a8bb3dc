"""What is shipped to run Mio elsewhere names what there is: settings, commands, files, services."""

import ast
import json
import re
import shlex
import subprocess
import sys
from configparser import ConfigParser
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import get_commands

ROOT = Path(__file__).resolve().parents[2]
COMPOSE = ROOT / "deploy" / "compose.yml"
# Read by the programs that run Mio and the SDK of traces, not by its settings.
PROGRAMS = {
    "WEB_CONCURRENCY", "OMP_NUM_THREADS", "PORT", "OTEL_EXPORTER_OTLP_HEADERS",
    "OTEL_RESOURCE_ATTRIBUTES", "OTEL_TRACES_SAMPLER", "OTEL_TRACES_SAMPLER_ARG",
}  # fmt: skip


def settings_that_are_read() -> set[str]:
    """The first argument of each `env.…("NAME")` and `one_of("NAME")` in the settings."""
    tree = ast.parse((ROOT / "mio_site" / "settings.py").read_text())
    return {
        str(node.args[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and ast.unparse(node.func).startswith(("env.", "one_of"))
        and node.args
        and isinstance(node.args[0], ast.Constant)
    }


def services() -> dict[str, dict[str, Any]]:
    return yaml.safe_load(COMPOSE.read_text())["services"]


def units() -> list[Path]:
    return sorted((ROOT / "deploy" / "systemd").glob("*.service"))


def test_the_example_of_an_environment_has_every_setting_once_and_no_other() -> None:
    text = (ROOT / ".env.example").read_text()
    named = re.findall(r"^#?([A-Z_]+)=", text, re.MULTILINE)
    interpolated = set(re.findall(r"\$\{([A-Z_]+)", COMPOSE.read_text()))
    assert len(named) == len(set(named))
    compose_only = interpolated - {"MIO_IMAGE"} | {"COMPOSE_PROFILES"}
    assert set(named) == settings_that_are_read() | PROGRAMS | compose_only


def test_every_setting_stands_in_the_table_of_the_docs() -> None:
    table = (ROOT / "docs" / "settings.md").read_text().partition("## Settings")[2]
    assert settings_that_are_read() - set(re.findall(r"`([A-Z_]+)`", table)) == set()


def test_the_compose_file_is_one() -> None:
    checked = subprocess.run(
        [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", COMPOSE],
        capture_output=True, text=True,
    )  # fmt: skip
    assert checked.returncode == 0, checked.stdout


def test_what_the_compose_file_mounts_and_waits_for_is_there() -> None:
    known = yaml.safe_load(COMPOSE.read_text())
    for name, service in services().items():
        for volume in service.get("volumes", []):
            source = volume.partition(":")[0]
            assert source in known["volumes"] or (COMPOSE.parent / source).is_file(), name
        assert set(service.get("depends_on", ())) <= set(services()), name


def test_services_and_units_run_commands_that_there_are() -> None:
    told = [service["command"] for service in services().values() if "command" in service]
    for unit in units():
        parsed = ConfigParser(strict=False, interpolation=None)
        parsed.optionxform = str  # type: ignore[assignment,method-assign]
        parsed.read(unit)
        lines = (parsed["Service"].get(key) for key in ("ExecStartPre", "ExecStart"))
        told += [shlex.split(line) for line in lines if line]
    named = [command[2] for command in told if command[1] == "manage.py"]
    assert {"prepare", "qcluster"} <= set(named) <= set(get_commands())
    web = image_command()[:3]
    assert [c for c in told if "uvicorn" in c[0]] == [["/opt/mio/.venv/bin/uvicorn", *web[1:], "--no-access-log", "--lifespan", "off", "--host", "127.0.0.1", "--port", "8000"]]  # fmt: skip


def image_command() -> list[str]:
    """How the image starts the web process."""
    found = re.search(r"^CMD (\[.*\])$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    assert found
    return json.loads(found.group(1))


@pytest.mark.parametrize("line", (ROOT / ".dockerignore").read_text().split())
def test_the_image_gets_no_more_than_it_runs(line: str) -> None:
    assert line not in {"accounts", "contacts", "dashboard", "deploy", "locale", "manage.py",
                        "memories", "mio_site", "requirements.txt", "templates"}  # fmt: skip
