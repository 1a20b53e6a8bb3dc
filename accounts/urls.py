from django.urls import path

from accounts import api

urlpatterns = [
    path("users/", api.Users.as_view(), name="api-users"),
    path("app/", api.AppEndpoint.as_view(), name="api-app"),
]
