"""Sends a POST to an address that somebody else chose, and never to one that only we can reach.

The name is looked up once, every address that it has is checked, and the connection goes to a
checked one, so a name that changes meanwhile gains nothing (DNS rebinding). Redirects, cookies and
proxies of the environment do not exist at this level, the reply's body is not kept, and the whole
exchange has one deadline, so a server that trickles blocks no worker."""

import ipaddress
import socket
import ssl
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from urllib.parse import urlsplit

import httpcore2
from django.conf import settings

TIMEOUT = 15.0
MAX_READ = 2048  # bytes of a reply's body, so that a short reply can be read to its end

# Networks that are not public (IANA's special-purpose registries), listed because ``is_private``
# differs by the version of Python. Of IPv6 only 2000::/3 is public at all.
_CLOSED = tuple(
    ipaddress.ip_network(block)
    for block in """
    0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24
    192.0.2.0/24 192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24
    198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4
    ::/3 4000::/2 8000::/1 2001::/23 2001:db8::/32 2002::/16 2620:4f:8000::/48 3fff::/20
    """.split()
)


class Refused(Exception):
    """Nothing is sent to this address; the message says why."""


class Unsent(Exception):
    """No reply came. ``code`` says why: ``timeout``, ``connect``, ``name``, ``address``, ``tls`` or
    ``protocol``."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    retry_after: str = ""


def check_url(url: str) -> None:
    """Raises Refused unless events may be sent to this address, as far as that shows without
    looking up its name; each sending checks what the name resolves to."""
    if not url.isascii() or not url.isprintable() or " " in url or "\\" in url:
        raise Refused("An address has printable ASCII characters only.")
    try:
        parts = urlsplit(url)
        host, _port = parts.hostname, parts.port
    except ValueError as error:
        raise Refused("This is no address.") from error
    if parts.scheme not in ("http", "https") or not host:
        raise Refused("An address begins with https:// or http:// and names a host.")
    if parts.username is not None or parts.password is not None or parts.fragment:
        raise Refused("An address has no user, password or fragment.")
    try:
        literal = ipaddress.ip_address(host)
    except ValueError:
        return
    if not is_public(str(literal)):
        raise Refused(
            "This is no public address. Addresses of this machine need MIO_WEBHOOKS_TO_LOOPBACK=on."
        )


def is_public(address: str) -> bool:
    """Whether an IP address may be connected to."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    if ip.is_loopback and settings.MIO_WEBHOOKS_TO_LOOPBACK:
        return True
    return not any(ip in block for block in _CLOSED if block.version == ip.version)


def post(url: str, headers: Mapping[str, str], body: bytes, timeout: float = TIMEOUT) -> Reply:
    """Sends a body and returns the reply. Raises Unsent."""
    try:
        check_url(url)
    except Refused as error:
        raise Unsent("address") from error
    host = urlsplit(url).netloc.rpartition("@")[2]
    own_headers = {"Host": host, "Content-Length": str(len(body))}
    all_headers: list[tuple[bytes | str, bytes | str]] = [*own_headers.items(), *headers.items()]
    seconds = dict.fromkeys(("connect", "read", "write", "pool"), timeout)
    backend = _Checked(time.monotonic() + timeout)
    try:
        with (
            httpcore2.ConnectionPool(ssl_context=_tls(), network_backend=backend) as pool,
            pool.stream(
                "POST", url, headers=all_headers, content=body, extensions={"timeout": seconds}
            ) as reply,
        ):
            reply_headers = {name.lower(): value for name, value in reply.headers}
            _read_some(reply)
            return Reply(reply.status, reply_headers.get(b"retry-after", b"").decode("latin-1"))
    except httpcore2.TimeoutException as error:
        raise Unsent("timeout") from error
    except httpcore2.NetworkError as error:
        raise Unsent("tls" if isinstance(error.__context__, ssl.SSLError) else "connect") from error
    except (httpcore2.ProtocolError, UnicodeError) as error:
        raise Unsent("protocol") from error


def _read_some(reply: httpcore2.Response) -> None:
    """Reads the beginning of the body. Errors are ignored: the status is the answer."""
    read = 0
    try:
        for chunk in reply.iter_stream():
            read += len(chunk)
            if read >= MAX_READ:
                return
    except (httpcore2.TimeoutException, httpcore2.NetworkError, httpcore2.ProtocolError):
        return


@cache
def _tls() -> ssl.SSLContext:
    return ssl.create_default_context()


def _addresses(host: str, port: int) -> list[str]:
    """Returns the addresses of a name, each once. Raises Unsent if one of them is not public: a
    name with public and private addresses is treated as private."""
    try:
        results = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise Unsent("name") from error
    addresses = list(dict.fromkeys(str(at[0]) for *_, at in results))
    if not all(map(is_public, addresses)):
        raise Unsent("address")
    return addresses


class _Checked(httpcore2.SyncBackend):
    """Connects to public addresses only, until a deadline. TLS still checks the name's certificate."""

    def __init__(self, until: float) -> None:
        self.until = until

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ARG002 the deadline is ours
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.NetworkStream:
        *first, last = _addresses(host, port)
        options = (local_address, socket_options)
        for address in first:
            try:
                stream = super().connect_tcp(address, port, self.seconds_left() / 2, *options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                continue
            return _Timed(stream, self)
        return _Timed(super().connect_tcp(last, port, self.seconds_left(), *options), self)

    def seconds_left(self) -> float:
        left = self.until - time.monotonic()
        if left <= 0:
            raise httpcore2.ReadTimeout("The deadline is over.")
        return left


class _Timed(httpcore2.NetworkStream):
    """A stream all of whose steps share one deadline."""

    def __init__(self, stream: httpcore2.NetworkStream, clock: _Checked) -> None:
        self.stream, self.clock = stream, clock

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ARG002
        return self.stream.read(max_bytes, self.clock.seconds_left())

    def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ARG002
        self.stream.write(buffer, self.clock.seconds_left())

    def close(self) -> None:
        self.stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ARG002
    ) -> httpcore2.NetworkStream:
        stream = self.stream.start_tls(ssl_context, server_hostname, self.clock.seconds_left())
        return _Timed(stream, self.clock)

    def get_extra_info(self, info: str) -> object:
        return self.stream.get_extra_info(info)
