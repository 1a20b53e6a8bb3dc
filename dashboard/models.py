"""Who may use the dashboard: with whose data, and the three roles as groups of permissions."""

from django.apps import apps
from django.conf import settings
from django.contrib.auth.management import create_permissions
from django.contrib.auth.models import Group, Permission
from django.db import models

from accounts.models import App, NumberedRow

LOOK, CORRECT, ADMINISTER = "dashboard.look", "dashboard.correct", "dashboard.administer"

#: Each role may do what the ones before it may.
ROLES = {"viewer": (LOOK,), "reviewer": (LOOK, CORRECT), "admin": (LOOK, CORRECT, ADMINISTER)}


def install_roles() -> None:
    """Creates the group of each role and gives it exactly the permissions in ROLES."""
    create_permissions(apps.get_app_config("dashboard"), verbosity=0)
    by_name = {
        f"dashboard.{permission.codename}": permission
        for permission in Permission.objects.filter(content_type__app_label="dashboard")
    }
    for role, permissions in ROLES.items():
        group, _ = Group.objects.get_or_create(name=role)
        group.permissions.set([by_name[name] for name in permissions])


class Operator(NumberedRow):
    """The apps whose end users an operator may see; a person without a row sees all. Their groups
    (``ROLES``) decide what they may do with these."""

    scoped_rights = ("SELECT",)
    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="operator", primary_key=True
    )
    apps = models.ManyToManyField(App, blank=True, related_name="operators")

    class Meta:
        default_permissions = ()
        permissions = [
            ("look", "Can look at people, memories and the pipeline"),
            ("correct", "Can correct, merge, undo and retry"),
            ("administer", "Can manage keys, run jobs and erase"),
        ]
