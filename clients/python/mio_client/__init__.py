"""A client of Mio, the memory for the people in a user's life."""

from mio_client.client import AsyncMio, Mio, MioError

__all__ = ["AsyncMio", "Mio", "MioError"]
