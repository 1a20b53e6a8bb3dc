"""Django's admin for this site."""

from django.contrib.admin import AdminSite
from django.contrib.admin.apps import AdminConfig
from django.http import HttpRequest


class SuperuserAdmin(AdminSite):
    """Shows every app's rows, so only superusers enter, and none who is limited to some apps."""

    def has_permission(self, request: HttpRequest) -> bool:
        user = request.user
        return user.is_active and user.is_superuser and not hasattr(user, "operator")


class SuperuserAdminConfig(AdminConfig):
    default_site = "mio_site.superuser_admin.SuperuserAdmin"
