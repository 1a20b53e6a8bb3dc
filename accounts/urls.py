from django.urls import path

from accounts import api

urlpatterns = [
    path("app/", api.AppEndpoint.as_view(), name="api-app"),
]
