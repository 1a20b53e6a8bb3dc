"""One thing in the middle and others on a ring around it, as numbers for an SVG."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")
Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Node(Generic[T]):
    """``what`` stands at (x, y), with a short text under it."""

    what: T
    label: str
    x: float
    y: float
    centre: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """A line between two nodes, its kind written in the middle, at (x, y)."""

    x1: float
    y1: float
    x2: float
    y2: float
    kind: str
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Drawing(Generic[T]):
    """A drawing of ``width`` × ``height``; ``hidden`` things found no room."""

    width: float
    height: float
    nodes: Sequence[Node[T]]
    lines: Sequence[Line]
    hidden: int = 0


def ring(count: int, middle: Point, radii: Point, start: float = -math.pi / 2) -> list[Point]:
    """So many points at equal angles (radians) on an ellipse, from ``start`` on; the top."""
    angles = [start + 2 * math.pi * place / count for place in range(count)]
    return [
        (
            round(middle[0] + radii[0] * math.cos(angle), 1),
            round(middle[1] + radii[1] * math.sin(angle), 1),
        )
        for angle in angles
    ]


def line(one: Node[T], other: Node[T], kind: str) -> Line:
    x, y = round((one.x + other.x) / 2, 1), round((one.y + other.y) / 2, 1)
    return Line(one.x, one.y, other.x, other.y, kind, x, y)
