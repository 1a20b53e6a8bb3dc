from io import StringIO

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

pytestmark = pytest.mark.django_db


def ensure():
    out = StringIO()
    call_command("ensure_operator", stdout=out)
    return out.getvalue()


def signs_in(password):
    answer = Client().post(reverse("dashboard:login"), {"username": "admin", "password": password})
    return answer.status_code == 302


def test_the_first_operator_can_sign_in_with_what_was_printed():
    password = ensure().split("password ")[1].split()[0]
    assert signs_in(password)
    assert not signs_in("a guess")


def test_the_password_is_printed_once_and_kept():
    ensure()
    assert ensure() == ""


def test_a_given_password_is_used_and_not_printed(settings):
    settings.MIO_OPERATOR_PASSWORD = "given-by-the-host"
    assert "given-by-the-host" not in ensure()
    assert signs_in("given-by-the-host")
