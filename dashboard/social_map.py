"""A social network as a map: communities, and a place for everyone. The same input gives the
same map."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

STEPS = 40  # of the force-directed layout (Fruchterman and Reingold, 1991)
PAD, TITLE, GAP = 14.0, 30.0, 12.0  # of a panel
Ties = Mapping[tuple[int, int], float]


@dataclass(frozen=True, slots=True)
class Panel:
    """Where a community stands: a box with its title."""

    x: float
    y: float
    width: float
    height: float
    title: str


@dataclass(frozen=True, slots=True)
class Arrangement:
    """Panels and, in the order of ``boxes``, the middle of each node, in a frame of ``width`` ×
    ``height``."""

    width: float
    height: float
    panels: list[Panel]
    places: list[tuple[float, float]]


def communities(count: int, ties: Ties) -> list[list[int]]:
    """Nodes 0..count-1 in groups by greedy modularity (Clauset, Newman and Moore, 2004): the two
    groups whose union gains most become one until none gains. Each in order, as are the groups by
    their first nodes; a node without ties is a group of its own."""
    members = {node: [node] for node in range(count)}
    between = dict(ties)
    whole = sum(ties.values())
    degree = [0.0] * count
    for pair, weight in ties.items():
        for node in pair:
            degree[node] += weight

    def gain(pair: tuple[int, int]) -> float:
        return between[pair] - degree[pair[0]] * degree[pair[1]] / (2 * whole)

    while between:
        best = max(between, key=lambda pair: (round(gain(pair), 9), -pair[0], -pair[1]))
        if gain(best) <= 0:
            break
        one, other = best
        members[one] += members.pop(other)
        degree[one] += degree[other]
        del between[best]
        for a, b in [pair for pair in between if other in pair]:
            third = a if b == other else b
            pair = (one, third) if one < third else (third, one)
            between[pair] = between.get(pair, 0.0) + between.pop((a, b))
    return [sorted(group) for _first, group in sorted(members.items())]


def arrange(
    groups: Sequence[tuple[str, Sequence[int]]],
    boxes: Sequence[tuple[float, float]],
    ties: Ties,
    widths: Sequence[float],
) -> list[Arrangement]:
    """For each of ``widths`` a panel a group, in rows that fill it; in each panel its nodes
    (``boxes`` are their widths and heights), those tied near each other, none over another."""
    forces = [_forces(members, ties) for _title, members in groups]
    return [_arranged(groups, boxes, forces, width) for width in widths]


def _arranged(
    groups: Sequence[tuple[str, Sequence[int]]],
    boxes: Sequence[tuple[float, float]],
    forces: Sequence[np.ndarray],
    width: float,
) -> Arrangement:
    content = [
        _rows(members, boxes, points, width - 2 * PAD)
        for (_title, members), points in zip(groups, forces, strict=True)
    ]
    places = [(0.0, 0.0)] * len(boxes)
    panels: list[Panel] = []
    at, y = 0, 0.0
    while at < len(groups):
        sizes: list[tuple[float, float]] = []
        while at + len(sizes) < len(groups):
            title, _members = groups[at + len(sizes)]
            size = _size(title, content[at + len(sizes)], boxes, width)
            if sizes and sum(w + GAP for w, _ in sizes) + size[0] > width:
                break
            sizes.append(size)
        spare = (width - sum(w for w, _ in sizes) - GAP * (len(sizes) - 1)) / len(sizes)
        high, x = max(h for _, h in sizes), 0.0
        for wide, tall in sizes:
            panel = Panel(x, y, wide + spare, high, groups[at][0])
            _place(content[at], boxes, panel, (high - tall) / 2, places)
            panels.append(panel)
            x += panel.width + GAP
            at += 1
        y += high + GAP
    return Arrangement(width, max(y - GAP, 0.0), panels, places)


def _rows(
    members: Sequence[int], boxes: Sequence[tuple[float, float]], points: np.ndarray, most: float
) -> list[list[int]]:
    """The members in rows no wider than ``most``, near each other as the forces put them."""
    area = sum(boxes[node][0] * boxes[node][1] for node in members)
    whole = sum(boxes[node][0] for node in members)
    wanted = whole / max(1, round(whole / min(most, math.sqrt(area * 1.9))))
    rows: list[list[int]] = [[]]
    wide = 0.0
    for place in np.lexsort((points[:, 0], points[:, 1].round(6))):
        node = members[place]
        if rows[-1] and (wide + boxes[node][0] > most or wide >= wanted):
            rows.append([])
            wide = 0.0
        rows[-1].append(node)
        wide += boxes[node][0]
    across = {node: points[place, 0] for place, node in enumerate(members)}
    return [sorted(row, key=lambda node: (across[node], node)) for row in rows]


def _forces(members: Sequence[int], ties: Ties) -> np.ndarray:
    """A point for each member: all push each other away, ties pull. The first begins in the
    middle, the others on a spiral around it."""
    count = len(members)
    turn = np.arange(count) * math.pi * (3 - math.sqrt(5))
    points = np.sqrt(np.arange(count))[:, None] * np.column_stack((np.cos(turn), np.sin(turn)))
    index = {node: place for place, node in enumerate(members)}
    held = [(index[a], index[b], w) for (a, b), w in sorted(ties.items())
            if a in index and b in index]  # fmt: skip
    if not held:
        return points
    one, other = np.array([h[0] for h in held]), np.array([h[1] for h in held])
    pull = np.minimum(np.array([h[2] for h in held]), 3.0)[:, None]
    for step in range(STEPS):
        apart = points[:, None] - points[None]
        far = np.maximum(np.linalg.norm(apart, axis=2), 0.1)[..., None]
        force = (apart / far**2).sum(axis=1) - 0.05 * points
        along = (points[one] - points[other]) * pull * 0.3
        np.subtract.at(force, one, along)
        np.add.at(force, other, along)
        long = np.maximum(np.linalg.norm(force, axis=1), 1e-9)[:, None]
        points = points + force / long * np.minimum(long, 1 - step / STEPS)
    return points


def _size(
    title: str, rows: list[list[int]], boxes: Sequence[tuple[float, float]], most: float
) -> tuple[float, float]:
    """What a panel takes at least."""
    wide = max([sum(boxes[node][0] for node in row) for row in rows] + [text_width(title)])
    tall = sum(max(boxes[node][1] for node in row) for row in rows)
    return min(wide + 2 * PAD, most), tall + TITLE + PAD


def _place(
    rows: list[list[int]],
    boxes: Sequence[tuple[float, float]],
    panel: Panel,
    down: float,
    places: list[tuple[float, float]],
) -> None:
    y = panel.y + TITLE + down
    for row in rows:
        tall = max(boxes[node][1] for node in row)
        x = panel.x + (panel.width - sum(boxes[node][0] for node in row)) / 2
        for node in row:
            places[node] = (round(x + boxes[node][0] / 2, 1), round(y + tall / 2, 1))
            x += boxes[node][0]
        y += tall


def text_width(text: str, size: float = 12.0) -> float:
    """About how wide a text is drawn in this font size, from above."""
    return sum(size * (1.05 if ord(char) > 0x2E7F else 0.62) for char in text)
