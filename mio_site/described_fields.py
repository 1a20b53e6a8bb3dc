"""Adds the descriptions of the fields of memories/api, which are in a table beside it."""

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from drf_spectacular.openapi import AutoSchema

TABLE = Path(__file__).parents[1] / "memories/api/field_descriptions.toml"


class DescribedFields(AutoSchema):
    """Describes a field by its row in the table, if it has one."""

    def _get_serializer_field_meta(self, field: Any, direction: Any) -> Any:
        meta = super()._get_serializer_field_meta(field, direction)
        for owner in type(field.parent).__mro__:
            if text := _texts().get(owner.__name__, {}).get(field.field_name):
                return {**meta, "description": text}
        return meta


@cache
def _texts() -> dict[str, dict[str, str]]:
    return tomllib.loads(TABLE.read_text(encoding="utf-8"))
