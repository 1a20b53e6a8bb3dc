"""Styles, scripts and pictures, served by the web process itself."""

from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from servestatic.middleware import ServeStaticMiddleware
from servestatic.responders import MissingFileError


class StaticFiles(ServeStaticMiddleware):
    """A file that there is none of is 404 with DEBUG too, not an error of the server."""

    async def __call__(self, request: HttpRequest) -> HttpResponseBase:
        try:
            return await super().__call__(request)
        except (MissingFileError, ValueError) as error:  # ValueError: a NUL in the address
            raise Http404(str(error)) from error
