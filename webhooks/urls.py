from django.urls import path

from webhooks import api

WEBHOOK = "webhooks/<uuid:webhook_id>/"
DELIVERY = f"{WEBHOOK}deliveries/<uuid:delivery_id>/"

urlpatterns = [
    path("webhooks/", api.Webhooks.as_view(), name="api-webhooks"),
    path(WEBHOOK, api.OneWebhook.as_view(), name="api-webhook"),
    path(f"{WEBHOOK}rotate/", api.Rotate.as_view(), name="api-webhook-rotate"),
    path(f"{WEBHOOK}test/", api.Test.as_view(), name="api-webhook-test"),
    path(f"{WEBHOOK}deliveries/", api.Deliveries.as_view(), name="api-deliveries"),
    path(f"{DELIVERY}resend/", api.Resend.as_view(), name="api-delivery-resend"),
]
