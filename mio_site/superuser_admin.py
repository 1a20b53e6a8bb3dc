"""Django's admin for this site."""

from functools import update_wrapper
from typing import Any

from django.contrib.admin import AdminSite
from django.contrib.admin.apps import AdminConfig
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.template.response import SimpleTemplateResponse
from django.utils.module_loading import import_string

from accounts.scope import all_users

# By name: this module is loaded before the models.
IN_CELL = "dashboard.access.entered_cell"


class SuperuserAdmin(AdminSite):
    """Shows every app's rows, so only superusers enter, and none who is limited to some apps."""

    def has_permission(self, request: HttpRequest) -> bool:
        user = request.user
        return user.is_active and user.is_superuser and not hasattr(user, "operator")

    def admin_view(self, view: Any, cacheable: bool = False) -> Any:
        """The view as it is served; what it shows is read before it returns."""

        @all_users()
        def shown(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            with import_string(IN_CELL)(request, {}):
                answer = view(request, *args, **kwargs)
                return answer.render() if isinstance(answer, SimpleTemplateResponse) else answer

        return super().admin_view(update_wrapper(shown, view), cacheable)


class SuperuserAdminConfig(AdminConfig):
    default_site = "mio_site.superuser_admin.SuperuserAdmin"
