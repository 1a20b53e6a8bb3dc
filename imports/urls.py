from django.urls import path

from imports import api

urlpatterns = [
    path("users/<path:user>/address-book/", api.AddressBook.as_view(), name="api-address-book")
]
