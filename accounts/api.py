"""Base classes of the API's endpoints, and the endpoints of an app and its users."""

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import wraps
from inspect import isawaitable, iscoroutinefunction
from typing import Any, ClassVar, TypeVar

from asgiref.sync import sync_to_async
from django.http import HttpRequest, HttpResponse
from django.utils.functional import cached_property
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.utils import OpenApiResponse, extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts import placement, time_zones
from accounts.authentication import ApiKeyAuthentication, KeyLimit, Quota
from accounts.cells import Moving, releasing
from accounts.errors import ApiError, unknown
from accounts.fields import Strict, Text
from accounts.models import App, EndUser
from accounts.paging import PageQuery, page, page_of
from accounts.scope import app_scope, undeclared, user_scope

MAX_EXTERNAL_ID = 200
# What a server puts in place of bytes that are not UTF-8: two broken ids would be one user.
_REPLACEMENT = "\ufffd"

T = TypeVar("T")
Validated = dict[str, Any]  # a validated body or query

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


def operation(
    name: str,
    answer: Any,
    *,
    body: Any = None,
    query: Any = None,
    partial: bool = False,
    **also: Any,
) -> Any:
    """Describes a handler as the operation ``name`` of the API. The handler takes the validated
    ``body`` or ``query`` and the parts of the address, and returns data, or a response. ``answer``
    is the serializer of the data, or serializers by status. The handler's docstring is its summary
    and description; ``also`` is passed to ``extend_schema``."""
    answers = answer if isinstance(answer, dict) else {200: answer}
    refusals = {"4XX": OpenApiResponse(ErrorEnvelope, description="Why it was refused.")}

    def describe(handler: Callable[..., Any]) -> Any:
        @wraps(handler)
        def handled(self: Any, _request: Request, **parts: Any) -> HttpResponse:
            parts.pop("user", None)
            validated = [self.body(body, partial=partial)] if body else []
            if query:
                _ = getattr(self, "end_user", None)  # an unknown one is a 404, whatever the query
                validated = [self.query(query)]
            data = handler(self, *validated, **parts)
            return data if isinstance(data, HttpResponse) else Response(data, status=min(answers))

        summary, _, description = (handler.__doc__ or "").partition("\n\n")
        return extend_schema(
            request=body,
            responses={**answers, **refusals},
            parameters=[query] if query else None,
            operation_id=name,
            summary=" ".join(summary.split()),
            description=" ".join(description.split()),
            **also,
        )(handler if iscoroutinefunction(handler) else handled)

    return describe


class AppView(APIView):
    """An endpoint for an app with a valid key, within the key's limit; its scope is the app."""

    request: Request
    throttle_classes = [KeyLimit]
    quota: Quota | None = None

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        with ExitStack() as self.scopes:
            return super().dispatch(request, *args, **kwargs)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        # A chunked body has no length; REST framework would take it for none.
        meta = request._request.META
        if not meta.get("CONTENT_LENGTH") and meta.get("HTTP_TRANSFER_ENCODING"):
            meta["CONTENT_LENGTH"] = str(len(request._request.body))
        super().initial(request, *args, **kwargs)
        bound = request.auth.external_id  # type: ignore[union-attr]
        if bound and bound != self.kwargs.get("user"):
            raise ApiError(403, "key_of_one_user", "This key opens the memory of one user only.")
        self.scopes.enter_context(app_scope(self.app.pk))

    def finalize_response(self, *args: Any, **kwargs: Any) -> Response:
        response: Response = super().finalize_response(*args, **kwargs)
        for name, value in (self.quota.headers if self.quota else {}).items():
            response.headers[name] = value
        return response

    @property
    def app(self) -> App:
        return self.request.auth.app  # type: ignore[union-attr]

    @property
    def actor(self) -> str:
        """The app as the author of a change."""
        return f"app:{self.app.name}"[:100]

    def by(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the author and the reason of a correction, as arguments of verbs."""
        return {"actor": self.actor, "why": asked.get("why", "")}

    def body(self, form: type[Strict], *, partial: bool = False) -> dict[str, Any]:
        """Returns the validated body. Raises ValidationError with the path of every problem."""
        filled = form(data=self.request.data, partial=partial, context={"view": self})
        filled.is_valid(raise_exception=True)
        return filled.validated_data

    def query(self, form: type[Strict]) -> dict[str, Any]:
        """Returns the validated query. Content negotiation takes ``format``, unless the form has it."""
        parameters = self.request.query_params.dict()
        filled = form(data=parameters)
        if "format" not in filled.fields:
            parameters.pop("format", None)
        filled.is_valid(raise_exception=True)
        return filled.validated_data


class UserView(AppView):
    """An endpoint about one end user of the calling app, which sees only their rows. ``reads``
    marks one that answers POST and changes nothing."""

    reads = False
    placed = False

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        check_external_id(self.external_id)
        self.scopes.enter_context(
            placement.entered(self.app, self.external_id, writes=self._writes)
        )
        self.placed = True

    def handle_exception(self, exc: Exception) -> Response:
        """Answers "moving" if the user was moved meanwhile: their rows are no longer in this cell."""
        if self.placed and placement.has_left(self.app, self.external_id, writes=self._writes):
            exc = Moving()
        return super().handle_exception(exc)

    @property
    def _writes(self) -> bool:
        return not (self.reads or self.request.method in SAFE_METHODS)

    @property
    def external_id(self) -> str:
        return self.kwargs["user"]

    def find_user(self) -> EndUser | None:
        """Returns the end user; None if the app never wrote to it."""
        end_user = EndUser.objects.filter(app=self.app, external_id=self.external_id).first()
        return self._in_scope(end_user) if end_user is not None else None

    @cached_property
    def end_user(self) -> EndUser:
        """The end user. Raises a 404 if the app never wrote to it, also for another app's user."""
        end_user = self.find_user()
        if end_user is None:
            raise unknown("unknown_user")
        return end_user

    def end_user_for_writing(self) -> EndUser:
        """Returns the end user, created if needed; call it inside the transaction that writes."""
        return self._in_scope(placement.first_seen(self.app, self.external_id))

    def _in_scope(self, end_user: EndUser) -> EndUser:
        """Opens the scope of the end user, and returns it."""
        self.scopes.enter_context(user_scope(end_user))
        end_user.app = self.app  # its time zone may be the user's
        return end_user


class WaitingView(UserView):
    """A ``UserView`` whose handlers are coroutines, which hold no thread and no connection while
    they wait. They use the database through ``in_thread``."""

    async def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Response:  # type: ignore[override]
        self.args, self.kwargs = args, kwargs
        self.headers = self.default_response_headers
        api_request = self.request = self.initialize_request(request, *args, **kwargs)
        with ExitStack() as self.scopes:
            try:
                await in_thread(self.initial, api_request, *args, **kwargs)
                method = (request.method or "").lower()
                handler = getattr(self, method, None) if method in self.http_method_names else None
                answer = (handler or self.http_method_not_allowed)(api_request, *args, **kwargs)
                response = await answer if isawaitable(answer) else answer
            except Exception as error:  # noqa: BLE001 as in REST framework's own
                response = self.handle_exception(error)
            self.response = self.finalize_response(api_request, response, *args, **kwargs)
            return self.response


async def in_thread(ask: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    """Calls ``ask`` in the request's thread, whose connection then goes back to the pool."""
    return await sync_to_async(releasing(ask))(*args, **kwargs)


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


class TimeZone(Text):
    described = {"format": "time-zone"}


class TimeZoneForm(Strict):
    described = {"required": ["time_zone"]}

    time_zone = TimeZone(
        allow_blank=True,
        max_length=time_zones.MAX_NAME,
        validators=[time_zones.check],
        help_text='IANA name, such as Asia/Shanghai; "" for none.',
    )


class AppSerializer(serializers.Serializer):
    name = serializers.CharField()
    time_zone = serializers.CharField(help_text='As it was set; "" for none.')
    days_in = serializers.CharField(source="zone", help_text="The time zone that days are in.")


class AppEndpoint(AppView):
    """The app and the time zone of its users who have none of their own."""

    @operation("v1_app_retrieve", AppSerializer)
    def get(self) -> Any:
        """The app that the key belongs to"""
        return AppSerializer(self.app).data

    @operation("v1_app_partial_update", AppSerializer, body=TimeZoneForm)
    def patch(self, asked: Validated) -> Any:
        """Set the app's time zone"""
        with undeclared():  # the app is no end user's row
            self.app.settle(asked["time_zone"])
        return AppSerializer(self.app).data


class EndUserSerializer(serializers.ModelSerializer):
    id = serializers.CharField(source="external_id")
    names = serializers.ListField(child=serializers.CharField())
    language = serializers.CharField(help_text="zh, en, or not known yet.")
    time_zone = serializers.CharField(help_text='As it was set; "" for none.')
    days_in = serializers.CharField(source="zone", help_text="The time zone that days are in.")
    learnt_offset = serializers.IntegerField(
        allow_null=True, help_text="Minutes ahead of UTC, by the latest messages."
    )

    class Meta:
        model = EndUser
        fields: ClassVar = [
            "id", "names", "language", "time_zone", "days_in", "learnt_offset", "last_message_at",
            "created_at",
        ]  # fmt: skip


class UserEndpoint(UserView):
    """An end user and their time zone. Addresses that no other endpoint takes come here as a longer
    id, and are 404 unless there is such a user."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if "/" in self.external_id and self.find_user() is None:
            raise NotFound

    @operation("users_retrieve", EndUserSerializer)
    def get(self) -> Any:
        """One end user"""
        return EndUserSerializer(self.end_user).data

    @operation("users_update", EndUserSerializer, body=TimeZoneForm)
    def patch(self, asked: Validated) -> Any:
        """Set an end user's time zone

        The user is created if needed."""
        end_user = self.end_user_for_writing()
        end_user.settle(asked["time_zone"])
        return EndUserSerializer(end_user).data


class UserQuery(PageQuery):
    q = serializers.CharField(
        required=False, allow_blank=True, max_length=MAX_EXTERNAL_ID, help_text="Part of the id."
    )


class Users(AppView):
    @operation("users_list", page_of(EndUserSerializer, "UserPage"), query=UserQuery)
    def get(self, query: Validated) -> Response:
        """The users of the app, newest first"""
        rows = EndUser.objects.filter(app=self.app, external_id__icontains=query.get("q", ""))

        def shown(users: Sequence[EndUser]) -> list[dict[str, Any]]:
            for end_user in users:
                end_user.app = self.app
            return list(EndUserSerializer(users, many=True).data)

        return page(self.request, rows, "created_at", query, shown)
