"""Serves styles, scripts and pictures from the web process itself."""

from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from servestatic.middleware import ServeStaticMiddleware
from servestatic.responders import MissingFileError


class StaticFiles(ServeStaticMiddleware):
    """Answers 404 for a missing file with DEBUG too, instead of a server error."""

    async def __call__(self, request: HttpRequest) -> HttpResponseBase:
        try:
            return await super().__call__(request)
        except (MissingFileError, ValueError) as error:  # ValueError: a NUL in the address
            raise Http404(str(error)) from error
