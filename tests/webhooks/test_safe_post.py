"""What a stranger's address can't do: reach this machine or its network, by any spelling, name,
redirect or proxy; hold a worker; fill its memory."""

import socket
import time
from typing import Any

import pytest

from tests.webhooks.receiver import Receiver
from webhooks.safe_post import Refused, Unsent, check_url, is_public, post

CLOSED = """
127.0.0.1 127.8.8.8 0.0.0.0 10.1.2.3 172.16.0.1 172.31.255.255 192.168.1.1 169.254.169.254
100.64.0.1 192.0.0.8 192.0.2.1 198.18.0.1 198.51.100.7 203.0.113.9 192.88.99.1 224.0.0.1 240.0.0.1
255.255.255.255 ::1 :: ::ffff:127.0.0.1 ::ffff:8.8.8.8 ::127.0.0.1 64:ff9b::7f00:1 64:ff9b:1::1
100::1 2001::1 2001:2::1 2001:10::1 2001:20::1 2001:db8::1 2002:7f00:1:: 3fff::1 5f00::1 fc00::1
fd12::1 fe80::1 fe80::1%eth0 fec0::1 ff02::1
""".split()
PUBLIC = ["8.8.8.8", "1.1.1.1", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "2a00:1450::1"]


def test_every_range_that_is_not_the_public_internet_is_closed() -> None:
    assert [address for address in CLOSED if is_public(address)] == []
    assert [address for address in PUBLIC if not is_public(address)] == []


@pytest.mark.parametrize(
    "url",
    ["ftp://a.example/", "https://", "//a.example/", "https://u:p@a.example/", "https://a.example/#x",
     "https://127.0.0.1/", "https://[::1]/", "https://[::ffff:127.0.0.1]/", "http://a.example\\@b/",
     "http://a.example/ b", "http://例子.example/", "http://a.example:99999/", "http://[::1/",
     "http://a.example/\n"],
)  # fmt: skip
def test_an_address_that_is_none_is_refused_when_it_is_given(url: str) -> None:
    with pytest.raises(Refused):
        check_url(url)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "127.1", "0"])
def test_no_spelling_of_this_machine_is_connected_to(receiver: Receiver, host: str) -> None:
    with pytest.raises(Unsent) as refused:
        post(f"http://{host}:{receiver.port}/", {}, b"{}")
    assert refused.value.code in ("address", "name")
    assert receiver.received == []


def answers(monkeypatch: pytest.MonkeyPatch, *lookups: list[str]) -> list[str]:
    """A resolver that gives another answer at each lookup; the names that it was asked for."""
    asked: list[str] = []

    def resolve(host: str, port: int, *_: Any, **__: Any) -> list[Any]:
        asked.append(host)
        found = lookups[min(len(asked), len(lookups)) - 1]
        kind = socket.SOCK_STREAM
        return [(socket.AF_INET, kind, 6, "", (address, port)) for address in found]

    real = socket.getaddrinfo
    named = lambda host, *more, **options: (  # noqa: E731
        resolve(host, *more, **options)
        if host.endswith(".example")
        else real(host, *more, **options)
    )
    monkeypatch.setattr(socket, "getaddrinfo", named)
    return asked


def test_a_name_of_which_one_address_is_closed_is_refused_whole(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers(monkeypatch, ["8.8.8.8", "127.0.0.1"])
    with pytest.raises(Unsent, match="address"):
        post(f"http://hook.example:{receiver.port}/", {}, b"{}")
    assert receiver.received == []


@pytest.mark.usefixtures("loopback")
def test_a_name_is_looked_up_once_and_the_connection_goes_to_what_was_checked(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = answers(monkeypatch, ["127.0.0.1"], ["10.0.0.1"])
    assert post(f"http://hook.example:{receiver.port}/in?a=1", {}, b"{}").status == 200
    assert asked == ["hook.example"]
    (request,) = receiver.received
    assert request.headers["host"] == f"hook.example:{receiver.port}"
    assert (request.path, request.body) == ("/in?a=1", b"{}")


@pytest.mark.usefixtures("loopback")
def test_neither_redirects_nor_proxies_nor_cookies_exist(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9/")
    receiver.answers += [(302, {"Location": receiver.url + "/other", "Set-Cookie": "a=b"})]
    assert post(receiver.url, {}, b"{}").status == 302
    assert post(receiver.url, {}, b"{}").status == 200
    assert [request.path for request in receiver.received] == ["/hook", "/hook"]
    assert "cookie" not in receiver.received[1].headers


@pytest.mark.usefixtures("loopback")
@pytest.mark.parametrize("hostile", ["trickle", "garbage"])
def test_a_server_that_trickles_or_talks_nonsense_ends_in_time(
    receiver: Receiver, hostile: str
) -> None:
    receiver.answers.append(hostile)
    began = time.monotonic()
    with pytest.raises(Unsent, match=r"timeout|protocol"):
        post(receiver.url, {}, b"{}", timeout=0.3)
    assert time.monotonic() - began < 2


@pytest.mark.usefixtures("loopback")
def test_of_a_body_without_an_end_only_the_beginning_is_read(receiver: Receiver) -> None:
    receiver.answers.append("flood")
    assert post(receiver.url, {}, b"{}").status == 200


@pytest.mark.usefixtures("loopback")
def test_who_does_not_listen_and_who_speaks_no_tls_are_told_apart(receiver: Receiver) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(Unsent, match="connect"):
        post(f"http://127.0.0.1:{port}/", {}, b"{}")
    with pytest.raises(Unsent, match="tls"):
        post(receiver.url.replace("http:", "https:"), {}, b"{}")
