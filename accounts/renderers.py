"""The renderer of the API."""

from typing import Any

from rest_framework.renderers import JSONRenderer


class LineRenderer(JSONRenderer):
    """JSON that ends in a newline, so that a terminal's prompt begins a line of its own."""

    def render(self, data: Any, *args: Any, **kwargs: Any) -> bytes:
        text: bytes = super().render(data, *args, **kwargs)
        return text + b"\n" if text else text
