"""Bar charts and graphs around one node, as numbers for an SVG drawn by a template."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

WIDTH, HEIGHT, GAP, LEAST = 280.0, 56.0, 2.0, 1.5


@dataclass(frozen=True, slots=True)
class Bar:
    x: float
    y: float
    width: float
    height: float
    title: str


@dataclass(frozen=True, slots=True)
class Chart:
    """``bars`` in a box of ``width`` × ``height`` units; ``summary`` says it in words. The axes:
    the value at the ``top`` (empty without any) and the days at the ``ends``."""

    width: float
    height: float
    bars: tuple[Bar, ...]
    summary: str
    top: str
    ends: tuple[str, str]


def bars(
    points: Sequence[tuple[str, float]], summary: str, form: str, ends: tuple[str, str]
) -> Chart:
    """A bar a point, in their order; the highest fills the box, and what is above zero shows.
    ``form`` is how a value is written on the axis."""
    most = max((value for _, value in points), default=0.0)
    step = WIDTH / max(len(points), 1)
    found = []
    for place, (title, value) in enumerate(points):
        height = max(HEIGHT * value / most, LEAST) if most and value else 0.0
        found.append(
            Bar(round(place * step, 2), round(HEIGHT - height, 2), round(step - GAP, 2),
                round(height, 2), title)
        )  # fmt: skip
    return Chart(WIDTH, HEIGHT, tuple(found), summary, form.format(most) if most else "", ends)


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
