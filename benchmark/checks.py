"""Mistakes in a life that a program can see."""

import json
from collections.abc import Iterator
from pathlib import Path


def check(file: Path) -> Iterator[str]:
    """What is wrong with a life, a line each."""
    name = file.stem
    life = json.loads(file.read_text("utf-8"))
    ids = [message["id"] for message in life["messages"]]
    times = [message["created_at"] for message in life["messages"]]
    keys = {contact["key"] for contact in life["gold"]["contacts"]}
    keys |= {contact["key"] for contact in life["gold"].get("optional_contacts", ())}
    if len(ids) != len(set(ids)):
        yield f"{name}: two messages have the same id"
    if times != sorted(times):
        yield f"{name}: messages are not in order of time"
    if not {message["role"] for message in life["messages"]} <= {"user", "assistant"}:
        yield f"{name}: a role other than user and assistant"
    for request in life["gold"]["forget_requests"]:
        if request["message"] not in ids:
            yield f"{name}: a request to forget in no message: {request['message']}"
    probes = [*life["probes"], *life.get("extra_probes", ())]
    if len(probes) != len({probe["id"] for probe in probes}):
        yield f"{name}: two probes have the same id"
    for probe in probes:
        place = f"{name} {probe['id']}"
        if probe["after"] not in ids:
            yield f"{place}: after no message: {probe['after']}"
        unknown = {*probe["expect_contacts"], *probe.get("may_contacts", ())} - keys
        if unknown:
            yield f"{place}: nobody has the key {', '.join(sorted(unknown))}"
        if any(not group or isinstance(group, str) for group in probe["must_include"]):
            yield f"{place}: must_include is no list of lists"
