"""What the endpoints share: whose request it is, about which end user, in which form."""

import unicodedata
from typing import Any

from django.utils.functional import cached_property
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.utils import OpenApiResponse, extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.authentication import ApiKeyAuthentication
from accounts.errors import ApiError
from accounts.fields import Strict
from accounts.models import App, EndUser

MAX_EXTERNAL_ID = 200
# What a server puts in place of bytes that are not UTF-8: two broken ids would be one user.
_REPLACEMENT = "\ufffd"

ErrorEnvelope = inline_serializer(
    "Error",
    {
        "error": inline_serializer(
            "ErrorDetail",
            {
                "code": serializers.CharField(),
                "message": serializers.CharField(),
                "fields": serializers.DictField(
                    child=serializers.ListField(child=serializers.CharField()), required=False
                ),
            },
        )
    },
)


class ApiKeyScheme(OpenApiAuthenticationExtension):
    target_class = ApiKeyAuthentication
    name = "ApiKey"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:  # noqa: ARG002
        return {"type": "http", "scheme": "bearer", "description": "A key of the app: mio_…"}


def documented(request: Any = None, responses: Any = None, **options: Any) -> Any:
    """``extend_schema`` for an endpoint: its replies, and the one form of every error."""
    refusals = {"4XX": OpenApiResponse(ErrorEnvelope, description="Why it was refused.")}
    return extend_schema(request=request, responses={**responses, **refusals}, **options)


class AppView(APIView):
    """An endpoint for an app with a valid key."""

    request: Request

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        # A chunked body has no length; REST framework would take it for none.
        meta = request._request.META
        if not meta.get("CONTENT_LENGTH") and meta.get("HTTP_TRANSFER_ENCODING"):
            meta["CONTENT_LENGTH"] = str(len(request._request.body))
        super().initial(request, *args, **kwargs)

    @property
    def app(self) -> App:
        return self.request.auth.app  # type: ignore[union-attr]

    @property
    def actor(self) -> str:
        """The app as the author of a change."""
        return f"app:{self.app.name}"[:100]

    def body(self, form: type[Strict], *, partial: bool = False) -> dict[str, Any]:
        """The validated body. Raises ValidationError with the path of every problem."""
        read = form(data=self.request.data, partial=partial, context={"view": self})
        read.is_valid(raise_exception=True)
        return read.validated_data

    def query(self, form: type[Strict]) -> dict[str, Any]:
        """The validated query string; ``format`` belongs to content negotiation."""
        given = self.request.query_params.dict()
        given.pop("format", None)
        read = form(data=given)
        read.is_valid(raise_exception=True)
        return read.validated_data


class UserView(AppView):
    """An endpoint about one end user of the calling app."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        check_external_id(self.external_id)

    @property
    def external_id(self) -> str:
        return self.kwargs["user"]

    def find_user(self) -> EndUser | None:
        """The end user, or None when the app never wrote to it."""
        return EndUser.objects.filter(app=self.app, external_id=self.external_id).first()

    @cached_property
    def end_user(self) -> EndUser:
        """The end user. A 404 when the app never wrote to it: another app's user is none."""
        found = self.find_user()
        if found is None:
            raise ApiError(404, "unknown_user", "This app has written nothing for this user.")
        return found

    def end_user_for_writing(self) -> EndUser:
        """The end user, made on first sight; call inside the transaction that writes."""
        made, _ = EndUser.objects.get_or_create(app=self.app, external_id=self.external_id)
        return made


def check_external_id(external_id: str) -> None:
    """Raises ApiError unless this can be an app's id of an end user."""
    if len(external_id) > MAX_EXTERNAL_ID:
        problem = f"A user id has at most {MAX_EXTERNAL_ID} characters."
    elif _REPLACEMENT in external_id:
        problem = "This user id is not UTF-8."
    elif any(unicodedata.category(char) in ("Cc", "Cs") for char in external_id):
        problem = "A user id has no control characters."
    else:
        return
    raise ApiError(400, "invalid_user", problem)


class AppEndpoint(AppView):
    @documented(
        responses={200: inline_serializer("App", {"name": serializers.CharField()})},
        summary="Whose key this is",
    )
    def get(self, _request: Request) -> Response:
        return Response({"name": self.app.name})
