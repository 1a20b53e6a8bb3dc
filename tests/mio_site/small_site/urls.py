from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.urls import path


def readyz(_request: HttpRequest) -> HttpResponse:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return HttpResponse("ok")


urlpatterns = [path("readyz", readyz)]
