"""Whether answers of the API are what the client's types say."""

import types
from collections.abc import Iterator
from typing import Any, Union, get_args, get_origin, is_typeddict

from mio_client import types as client_types


def differences(value: Any, kind: Any, values: Any = None) -> Iterator[str]:
    """What an answer holds and its type does not name (+), and what it lacks (-), at any depth."""
    if is_union(kind):
        kinds = [one for one in get_args(kind) if is_typeddict(one) or get_origin(one)]
        kind = kinds[0] if kinds and value is not None else None
    if get_origin(kind) is client_types.Page:
        kind, values = client_types.Page, get_args(kind)[0]
    if is_typeddict(kind):
        fields = kind.__annotations__
        yield from (f"+{kind.__name__}.{key}" for key in value.keys() - fields.keys())
        yield from (f"-{kind.__name__}.{key}" for key in fields.keys() - value.keys())
        for key in fields.keys() & value.keys():
            of = list[values] if values and key == "results" else fields[key]
            yield from differences(value[key], of)
    elif get_origin(kind) is list:
        for one in value:
            yield from differences(one, get_args(kind)[0])


def is_union(kind: Any) -> bool:
    """Whether a type is one of several."""
    return get_origin(kind) in (Union, types.UnionType)
