"""Endpoints for an app's own webhooks."""

from typing import Any, ClassVar
from uuid import UUID

from django.utils.functional import cached_property
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts import cells
from accounts.api import AppView, Validated, operation
from accounts.errors import ApiError, first_or_404, unknown
from accounts.fields import Flag, RowSerializer, Strict, Text
from accounts.paging import PageQuery, listed, of_cells, page, page_of
from accounts.scope import all_users
from webhooks import endpoints
from webhooks.event_types import TYPES
from webhooks.models import MAX_URL, Delivery, Endpoint
from webhooks.safe_post import Refused


class PublicUrl(Text):
    described = {"format": "uri", "pattern": r"^https?://[!-\"$-?A-Z^-~\[\]]+$"}


class EndpointForm(Strict):
    url = PublicUrl(max_length=MAX_URL, help_text="https:// or http://, of a public host.")
    types = serializers.ListField(
        child=serializers.ChoiceField(TYPES, help_text="See docs/webhooks.md."),
        required=False,
        help_text="Which events; none for all, also those to come.",
    )
    label = Text(  # type: ignore[assignment]  # a field, not the title of the form
        max_length=60, allow_blank=True, required=False, help_text="What it is for."
    )


class EndpointEdit(EndpointForm):
    enabled = Flag(required=False, help_text="false: what waits is failed, nothing more is noted.")


class EndpointSerializer(RowSerializer):
    """A webhook: where events are sent."""

    types = serializers.ListField(child=serializers.CharField())
    enabled = serializers.SerializerMethodField()
    disabled_because = serializers.CharField(help_text="asked, failing, gone, or empty.")

    class Meta:
        model = Endpoint
        fields: ClassVar = [
            "id", "url", "types", "label", "enabled", "disabled_because", "failing_since",
            "old_secret_until", "created_at",
        ]  # fmt: skip

    def get_enabled(self, endpoint: Endpoint) -> bool:
        return endpoint.disabled_at is None


class EndpointWithSecret(EndpointSerializer):
    secret = serializers.SerializerMethodField(help_text="Shown this once: whsec_…")

    def get_secret(self, _endpoint: Endpoint) -> str:
        return self.context["secret"]


class DeliverySerializer(serializers.ModelSerializer):
    state = serializers.CharField(help_text="pending, delivered or failed.")
    status = serializers.IntegerField(allow_null=True, help_text="Of the last reply.")
    error = serializers.CharField(
        help_text="Of the last try: status, timeout, connect, name, address, tls, protocol, secret, "
        "disabled, or empty."
    )

    class Meta:
        model = Delivery
        fields: ClassVar = [
            "id", "type", "data", "state", "attempts", "status", "error", "next_at", "last_at",
            "created_at",
        ]  # fmt: skip


class _EndpointView(AppView):
    """Base of the views of an endpoint. Its deliveries belong to several end users, in all cells."""

    of_deliveries = False

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        self.scopes.enter_context(all_users())
        if not self.of_deliveries:
            self.scopes.enter_context(cells.entered(cells.SHARED))

    @cached_property
    def endpoint(self) -> Endpoint:
        rows = Endpoint.objects.filter(app=self.app, pk=self.kwargs["webhook_id"])
        return first_or_404(rows, "unknown_webhook")

    @property
    def enabled_endpoint(self) -> Endpoint:
        """The endpoint. Raises ApiError if it is disabled."""
        if self.endpoint.disabled_at is not None:
            raise ApiError(409, "conflict", "Enable the webhook first.")
        return self.endpoint


class Webhooks(_EndpointView):
    @operation("webhooks_list", page_of(EndpointSerializer), query=PageQuery)
    def get(self, query: Validated) -> Response:
        """The webhooks of the app, newest first"""
        rows = Endpoint.objects.filter(app=self.app)
        return page(self.request, rows, "created_at", query, listed(EndpointSerializer))

    @operation("webhooks_create", {201: EndpointWithSecret}, body=EndpointForm)
    def post(self, asked: Validated) -> Any:
        """Have events sent to an address

        The secret is in this answer only."""
        try:
            return _with_secret(*endpoints.create(self.app, **asked))
        except Refused as error:
            raise serializers.ValidationError({"url": [str(error)]}) from error
        except endpoints.TooMany as error:
            most = f"An app has at most {endpoints.MAX_ENDPOINTS} webhooks."
            raise ApiError(409, "conflict", most) from error


class OneWebhook(_EndpointView):
    @operation("webhooks_retrieve", EndpointSerializer)
    def get(self, **_parts: Any) -> Any:
        """One webhook"""
        return EndpointSerializer(self.endpoint).data

    @operation("webhooks_update", EndpointSerializer, body=EndpointEdit, partial=True)
    def patch(self, asked: Validated, **_parts: Any) -> Any:
        """Change, stop or start a webhook

        Only the fields given change."""
        enabled, endpoint = asked.pop("enabled", None), self.endpoint
        try:
            endpoints.edit(endpoint, **asked)
        except Refused as error:
            raise serializers.ValidationError({"url": [str(error)]}) from error
        if enabled is not None:
            endpoints.switch(endpoint, on=enabled)
        return EndpointSerializer(endpoint).data

    @operation("webhooks_destroy", EndpointSerializer)
    def delete(self, **_parts: Any) -> Any:
        """Delete a webhook with its log; returns what it was"""
        shown = EndpointSerializer(self.endpoint).data
        self.endpoint.delete()
        return shown


class Rotate(_EndpointView):
    @operation("webhooks_rotate", EndpointWithSecret)
    def post(self, **_parts: Any) -> Any:
        """Give a webhook a new secret

        For 24 hours messages bear two signatures, of the new secret and the old one."""
        return _with_secret(self.endpoint, endpoints.rotate(self.endpoint))


class Test(_EndpointView):
    @operation("webhooks_test", {202: DeliverySerializer})
    def post(self, **_parts: Any) -> Any:
        """Send a test event"""
        return DeliverySerializer(endpoints.send_test(self.enabled_endpoint)).data


class Deliveries(_EndpointView):
    of_deliveries = True

    @operation("webhooks_deliveries_list", page_of(DeliverySerializer), query=PageQuery)
    def get(self, query: Validated, **_parts: Any) -> Response:
        """The deliveries of a webhook, newest first"""
        rows = Delivery.objects.filter(endpoint=self.endpoint)
        return page(self.request, rows, "created_at", query, listed(DeliverySerializer))


class Resend(_EndpointView):
    of_deliveries = True

    @operation("webhooks_deliveries_resend", {202: DeliverySerializer})
    def post(self, delivery_id: UUID, **_parts: Any) -> Any:
        """Send an event once more, with the same id"""
        rows = Delivery.objects.filter(endpoint=self.endpoint, pk=delivery_id)
        delivery = next(iter(of_cells(rows, list)), None)
        if delivery is None:
            raise unknown("unknown_delivery")
        _ = self.enabled_endpoint
        with cells.entered(delivery._state.db or cells.SHARED):
            endpoints.resend(delivery)
            delivery.refresh_from_db()
        return DeliverySerializer(delivery).data


def _with_secret(endpoint: Endpoint, secret: str) -> dict[str, Any]:
    return EndpointWithSecret(endpoint, context={"secret": secret}).data
