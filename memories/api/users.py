"""A whole end user over HTTP: everything out, or everything gone."""

from dataclasses import asdict
from typing import Any

from drf_spectacular.types import OpenApiTypes
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api import UserEndpoint, UserView, operation
from accounts.errors import ApiError
from accounts.fields import Flag, Identifier, Strict
from memories import portability
from memories.api.requested import Forgotten
from memories.erasure import erase
from memories.erasure.receipts import By


class Export(UserView):
    @operation("export_retrieve", OpenApiTypes.OBJECT)
    def get(self, _request: Request, **_path: Any) -> Response:
        """Everything that is stored of a user

        `import_user` reads it back without loss."""
        return Response(portability.export_user(self.end_user))


class ForgetForm(Strict):
    """Exactly one of the three."""

    described = {
        "minProperties": 1,
        "maxProperties": 1,
        "not": {"required": ["everything"], "properties": {"everything": {"const": False}}},
    }
    everything = Flag(required=False)
    contact = Identifier(required=False)
    memory = Identifier(required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if len(attrs) != 1 or attrs.get("everything") is False:
            raise serializers.ValidationError(
                'Send {"everything": true}, or {"contact": id}, or {"memory": id}.'
            )
        return attrs


class Forget(UserView):
    @operation("forget_create", Forgotten, body=ForgetForm)
    def post(self, _request: Request, **_path: Any) -> Response:
        """Erase a user, a person or a memory for good

        This can't be undone."""
        asked = self.body(ForgetForm)
        try:
            if "contact" in asked:
                gone = erase.forget_contact(self.end_user, asked["contact"], By(self.actor))
            elif "memory" in asked:
                gone = erase.forget_memory(self.end_user, asked["memory"], By(self.actor))
            else:
                gone = erase.forget_everything(self.end_user, By(self.actor))
        except erase.NothingToForget as error:
            raise ApiError(404, "not_found", str(error)) from error
        return Response(asdict(gone))


class User(UserEndpoint):
    @operation("users_destroy", Forgotten)
    def delete(self, _request: Request, **_path: Any) -> Response:
        """Erase a user for good

        As `forget/` with `everything`. This can't be undone."""
        return Response(asdict(erase.forget_everything(self.end_user, By(self.actor))))
