from django.urls import path

from contacts import api

urlpatterns = [
    path("users/<path:user>/contacts/", api.Contacts.as_view(), name="api-contacts"),
    path(
        "users/<path:user>/contacts/bulk/", api.NewContactList.as_view(), name="api-contacts-bulk"
    ),
]
