"""All text in all tables, as anyone with the database would read it."""

from django.apps import apps
from django.db import connection
from django_q.models import OrmQ


def everything_stored() -> str:
    """A line a row. Queued tasks are unpacked: a name in one must be seen, and none be read into
    the letters and digits that it is packed as."""
    text = [f"OrmQ: {queued.task}" for queued in OrmQ.objects.all()]
    with connection.cursor() as cursor:
        for model in apps.get_models():
            if model is not OrmQ:
                cursor.execute(f'SELECT t::text FROM "{model._meta.db_table}" t')
                text += [f"{model.__name__}: {row[0]}" for row in cursor.fetchall()]
    return "\n".join(text)


def places_of(*words: str) -> list[str]:
    """The rows that hold one of these words, in any case of letters."""
    wanted = [word.lower() for word in words]
    rows = everything_stored().splitlines()
    return [row[:300] for row in rows if any(word in row.lower() for word in wanted)]
