"""What a description asks for, as the readers of both languages say it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Constraint:
    """One thing said of someone: any of ``attributes`` has this ``value``."""

    attributes: tuple[str, ...]
    value: str


@dataclass(frozen=True, slots=True)
class Description:
    """A person described at [start, end) of a text. ``role`` is the role word (朋友, colleague)
    or empty, ``gender`` what the noun implies; all ``constraints`` must hold."""

    start: int
    end: int
    constraints: tuple[Constraint, ...]
    role: str = ""
    gender: str = ""
    text: str = ""
