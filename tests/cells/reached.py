"""How other processes are told of the cells."""

from urllib.parse import quote, urlencode

from django.db import connections


def cells_setting() -> str:
    """MIO_CELLS as this process has it."""
    return ",".join(f"{cell}={_address(cell)}" for cell in ("c1", "c2"))


def _address(cell: str) -> str:
    at = connections[cell].settings_dict
    where = {"host": at["HOST"], "port": at["PORT"]}
    if cell == "c2":
        where["schema"] = "cell_02"
    secret = f"{quote(at['USER'])}:{quote(at['PASSWORD'])}"
    return f"postgres://{secret}@/{quote(at['NAME'])}?{urlencode(where)}"
