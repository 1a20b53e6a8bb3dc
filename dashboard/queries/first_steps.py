"""What an installation still lacks until it is of use to an app."""

from django.conf import settings
from django.db.models import QuerySet

from accounts.models import ApiKey, App, Change, EndUser
from contacts.models import Contact
from dashboard.words import OPERATOR
from gateway.models import Upstream
from memories import demo


def first_steps(apps: QuerySet[App], users: QuerySet[EndUser]) -> list[tuple[str, bool]]:
    """The first steps by name, and whether each is done by somebody of these apps other than the
    demo; empty when all are. Five statements, each of which ends at the first row."""
    apps = apps.exclude(name=demo.APP)
    real_users = users.exclude(app__name=demo.APP).order_by()
    written = real_users.filter(message_seq__gt=0).exists()
    person = Contact.objects.filter(end_user__in=real_users.values("pk")).exists()
    corrected = Change.objects.filter(
        end_user__in=users.order_by().values("pk"), actor__startswith=OPERATOR
    )
    steps = [
        ("key", ApiKey.objects.filter(app__in=apps, revoked_at=None).exists()),
        ("messages", written or Upstream.objects.filter(app__in=apps).exists()),
        # Whoever has people without a model has chosen to do without.
        ("model", settings.MIO_LLM == "openai" or person),
        ("person", person),
        ("correction", corrected.exists()),
    ]
    return [] if all(done for _name, done in steps) else steps
