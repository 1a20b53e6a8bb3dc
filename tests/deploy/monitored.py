"""What the alerts and the dashboard that are shipped ask for, and whether /metrics has it."""

import json
import re
from collections import defaultdict
from typing import Any

import yaml
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families

from tests.deploy.test_files import ROOT

# A metric with the labels that it is narrowed by.
_SELECTOR = re.compile(r"\b(mio_\w+)(?:\{([^}]*)\})?")
_NARROWED = re.compile(r"(\w+)\s*(?:=~|!~|!=|=)")
_GROUPED = re.compile(r"\bby \(([^)]*)\)")
_SHOWN = re.compile(r"\{\{\s*(?:\$labels\.)?(\w+)\s*\}\}")
# What Prometheus itself, or a deployment of several cells, adds.
ADDED = {"instance", "job", "cell"}


def rules() -> list[dict[str, Any]]:
    groups = yaml.safe_load((ROOT / "deploy/prometheus/alerts.yml").read_text())["groups"]
    return [rule for group in groups for rule in group["rules"]]


def dashboard() -> dict[str, Any]:
    return json.loads((ROOT / "deploy/grafana/mio.json").read_text())


def expressions() -> list[tuple[str, str]]:
    """Each expression with what is said of its result, in which labels may stand."""
    asked = [(rule["expr"], rule["annotations"]["summary"]) for rule in rules()]
    panels = dashboard()["panels"]
    asked += [(each["expr"], each["legendFormat"]) for one in panels for each in one["targets"]]
    return asked


def unserved(client: Client) -> set[str]:
    """The metrics, and labels of them, that are asked for and not among the samples of /metrics."""
    labels: dict[str, set[str]] = defaultdict(set)
    for family in text_string_to_metric_families(client.get("/metrics").content.decode()):
        for sample in family.samples:
            labels[sample.name] |= set(sample.labels)
    missing = set()
    for expression, said in expressions():
        found = _SELECTOR.findall(expression)
        missing |= {name for name, _ in found if name not in labels}
        held = set().union(ADDED, *(labels[name] for name, _ in found))
        for name, narrowed in found:
            missing |= {
                f"{name}{{{label}}}"
                for label in _NARROWED.findall(narrowed)
                if label not in labels[name]
            }
        used = [*_GROUPED.findall(expression), *_SHOWN.findall(said)]
        named = {label.strip() for group in used for label in group.split(",")} - {"value"}
        missing |= {f"{label} of {expression}" for label in named - held}
    return missing
