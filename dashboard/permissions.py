"""The three roles of the dashboard, as groups of permissions."""

from django.apps import apps
from django.contrib.auth.management import create_permissions
from django.contrib.auth.models import Group, Permission

LOOK, CORRECT, ADMINISTER = "dashboard.look", "dashboard.correct", "dashboard.administer"

#: Each role may do what the ones before it may.
ROLES = {
    "viewer": (LOOK,),
    "reviewer": (LOOK, CORRECT),
    "admin": (LOOK, CORRECT, ADMINISTER),
}


def install() -> None:
    """Makes the groups hold exactly the permissions of the table."""
    create_permissions(apps.get_app_config("dashboard"), verbosity=0)
    by_name = {
        f"dashboard.{permission.codename}": permission
        for permission in Permission.objects.filter(content_type__app_label="dashboard")
    }
    for role, permissions in ROLES.items():
        group, _ = Group.objects.get_or_create(name=role)
        group.permissions.set([by_name[name] for name in permissions])
