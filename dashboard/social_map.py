"""The layout of a social network as a map: communities, and a place for everyone. The same input
gives the same map."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import networkx as nx
import numpy as np

STEPS = 40  # of the force-directed layout
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


def _graph(nodes: Iterable[int], ties: Ties) -> nx.Graph:
    """The nodes with those ties that connect two of them."""
    graph = nx.Graph()
    graph.add_nodes_from(nodes)
    inside = [(a, b, w) for (a, b), w in sorted(ties.items()) if a in graph and b in graph]
    graph.add_weighted_edges_from(inside)
    return graph


def communities(count: int, ties: Ties) -> list[list[int]]:
    """Nodes 0..count-1 in groups by greedy modularity (Clauset, Newman and Moore, 2004), each in
    order, as are the groups by their first nodes; a node without ties is a group of its own."""
    groups = nx.community.greedy_modularity_communities(_graph(range(count), ties), weight="weight")
    return sorted(sorted(group) for group in groups)


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
    """A point for each member: all push each other away, ties pull (Fruchterman and Reingold,
    1991)."""
    places = nx.spring_layout(_graph(members, ties), iterations=STEPS, seed=0)
    return np.array([places[node] for node in members])


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
