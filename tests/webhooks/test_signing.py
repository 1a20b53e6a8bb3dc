import base64
import hashlib
import hmac
from datetime import UTC, datetime

from webhooks import signing

AT = datetime(2026, 3, 2, 12, 0, 0, 900_000, tzinfo=UTC)


def test_each_secret_signs_the_id_the_second_and_the_body() -> None:
    keys = [b"a" * 32, b"b" * 32]
    secrets = [signing.PREFIX + base64.b64encode(key).decode() for key in keys]
    found = signing.headers(secrets, "msg_1", AT, b'{"a": 1}')
    assert found["webhook-id"] == "msg_1"
    assert found["webhook-timestamp"] == "1772452800"
    made = [hmac.digest(key, b'msg_1.1772452800.{"a": 1}', hashlib.sha256) for key in keys]
    assert found["webhook-signature"].split(" ") == [
        f"v1,{base64.b64encode(one).decode()}" for one in made
    ]


def test_a_new_secret_is_32_bytes_that_nobody_had_before() -> None:
    first, second = signing.new_secret(), signing.new_secret()
    assert first != second
    assert len(base64.b64decode(first.removeprefix("whsec_"))) == 32
