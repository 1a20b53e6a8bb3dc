"""The OpenAI provider against a real server that plays what servers do."""

import json
import logging
import os
import resource
import traceback

import pytest

from memories.providers.errors import (
    OutputError,
    PermanentError,
    ProviderError,
    RefusedError,
    TransientError,
)
from memories.providers.openai.provider import OpenAIProvider
from memories.providers.openai.transport import LONGEST_RETRY_AFTER_S, ModelServer
from memories.types import MemoryType
from tests.memories.providers.openai.examples import (
    KEY,
    MEI,
    NOTHING,
    answer,
    memory,
    request,
    turn,
)
from tests.servers import FakeOpenAI, http_date


class TestTalkingToTheServer:
    def test_structured_output_is_asked_for_and_comes_back_typed(self, server, provider):
        server.reply_json(
            answer(memory(facts=[{"key": "Job Title", "value": "店长", "person": "p1"}]))
        )
        reply = provider.extract(request())
        found = reply.value.memories[0]
        assert (found.content, found.type) == ("阿梅在苏州一家茶馆做店长", MemoryType.PROFESSIONAL)
        assert [(fact.key, fact.value, fact.person) for fact in found.facts] == [
            ("job_title", "店长", "p1")
        ]
        assert reply.value.people[0].contact_id == MEI.id
        sent = server.requests[0].json
        assert sent["response_format"]["type"] == "json_schema"
        assert sent["response_format"]["json_schema"]["strict"] is True
        assert sent["model"] == "any-model"
        assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
        assert (reply.usage.tokens_in, reply.usage.tokens_out) == (11, 7)
        assert reply.usage.latency_ms > 0

    def test_a_server_without_json_schema_gets_the_schema_in_the_prompt_from_then_on(
        self, server, provider
    ):
        server.refuse_json_schema()
        server.reply_json(answer(memory()), times=2)
        assert provider.extract(request()).value.memories
        assert provider.extract(request()).value.memories
        forms = [sent.json["response_format"]["type"] for sent in server.requests]
        assert forms == ["json_schema", "json_object", "json_object"]
        assert '"additionalProperties":false' in server.requests[2].prompt
        assert '"additionalProperties":false' not in server.requests[0].prompt

    def test_a_server_that_knows_no_json_mode_or_temperature_is_still_usable(
        self, server, provider
    ):
        server.refused_formats = {"json_schema", "json_object"}
        server.refused_parameters = {"temperature"}
        server.reply_text(
            f"<think>{{maybe}}</think>Sure!\n```json\n{json.dumps(answer(memory()))}\n```"
        )
        assert provider.extract(request()).value.memories
        assert {"response_format", "temperature"}.isdisjoint(server.requests[-1].json)

    @pytest.mark.parametrize("bad", ["I am sorry, what?", '{"memories": [', '{"people": []}', ""])
    def test_an_unusable_answer_is_repaired_once_with_its_errors_shown(self, server, provider, bad):
        server.reply_text(bad)
        server.reply_json(answer(memory()))
        reply = provider.extract(request())
        assert len(reply.value.memories) == 1
        repair = server.requests[1].json["messages"]
        assert [message["role"] for message in repair[-2:]] == ["assistant", "user"]
        assert repair[-2]["content"] == bad
        assert "- memories" in repair[-1]["content"] or "Invalid JSON" in repair[-1]["content"]
        assert (reply.usage.tokens_in, reply.usage.tokens_out) == (22, 14)

    def test_an_answer_that_stays_unusable_is_an_output_error_after_one_repair(
        self, server, provider, slept
    ):
        server.reply_text('{"memories": "all of them"}', times=None)
        with pytest.raises(OutputError):
            provider.extract(request())
        assert len(server.requests) == 2
        assert slept == []

    @pytest.mark.parametrize("header", ["7", "7.0"])
    def test_rate_limits_wait_as_long_as_the_server_asks(self, server, provider, slept, header):
        server.fail(429, retry_after=header, times=2)
        server.reply_json(answer(memory()))
        assert provider.extract(request()).value.memories
        assert len(slept) == 2
        assert all(7 <= seconds <= 8 for seconds in slept)

    def test_retry_after_may_be_a_date(self, server, provider, slept):
        server.fail(503, retry_after=http_date(30))
        server.reply_json(NOTHING)
        provider.extract(request())
        assert 27 <= slept[0] <= 31

    @pytest.mark.parametrize(
        ("header", "seconds"),
        [
            ("Fri, 31 Dec 9999 23:59:59 GMT", LONGEST_RETRY_AFTER_S),
            ("Fri, 31 Dec 9999 23:59:59 -2359", LONGEST_RETRY_AFTER_S),
            ("99999999999999", LONGEST_RETRY_AFTER_S),
            ("9" * 400, None),
            ("nan", None),
            ("Mon, 99 Foo 99999 99:99:99 +9999", None),
            ("Sat, 01 Jan 0001 00:00:00 +2359", 0.0),
            ("-5", 0.0),
        ],
    )
    def test_an_absurd_retry_after_is_capped_or_ignored(self, server, slept, header, seconds):
        server.fail(429, retry_after=header)
        once = ModelServer(KEY, server.base_url, max_attempts=1, sleep=slept.append)
        with pytest.raises(TransientError) as caught:
            OpenAIProvider(once, "m").extract(request())
        assert caught.value.retry_after == seconds

    @pytest.mark.parametrize("status", [200, 401, 500])
    def test_a_reply_without_an_end_is_given_up(self, server, slept, status):
        hasty = OpenAIProvider(
            ModelServer(KEY, server.base_url, deadline_s=0.2, sleep=slept.append), "m"
        )
        server.trickle(status)
        with pytest.raises(TransientError, match=r"0\.2 s"):
            hasty.extract(request())
        assert len(server.requests) == 1, "no time is left for another try"

    @pytest.mark.parametrize("status", [200, 500])
    def test_a_flood_is_not_taken_into_memory(self, server, provider, status):
        server.flood(status)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        with pytest.raises(OutputError, match="MB"):
            provider.extract(request())
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        assert grown < 150_000, "KiB, of which the server in this process has some"

    @pytest.mark.parametrize("status", [200, 301, 401, 402, 403, 404, 405])
    def test_a_wrong_key_or_address_or_a_page_of_a_proxy_is_told_from_a_refused_request(
        self, server, provider, slept, status
    ):
        server.reply_body("<html>Please sign in</html>", status=status)
        with pytest.raises(RefusedError):
            provider.extract(request())
        assert slept == []

    def test_a_server_that_asks_for_an_hour_is_left_to_the_queue(self, server, provider, slept):
        server.fail(429, retry_after=3600, times=None)
        with pytest.raises(TransientError) as caught:
            provider.extract(request())
        assert caught.value.retry_after == 3600
        assert slept == []
        assert len(server.requests) == 1

    def test_failures_of_the_server_are_tried_again_with_growing_bounded_waits(self, server, slept):
        patient = OpenAIProvider(
            ModelServer(KEY, server.base_url, timeout_s=5, max_attempts=9, sleep=slept.append), "m"
        )
        server.fail(500, times=8)
        server.reply_json(answer(memory()))
        assert patient.extract(request()).value.memories
        assert len(slept) == 8
        ceilings = [min(20, 2**attempt) for attempt in range(8)]
        assert all(0 <= wait <= top for wait, top in zip(slept, ceilings, strict=True))
        assert len(set(slept)) == 8

    @pytest.mark.parametrize("status", [429, 500, 502, 503, 529])
    def test_a_server_that_keeps_failing_is_a_transient_error(
        self, server, provider, slept, status
    ):
        server.fail(status, times=None)
        with pytest.raises(TransientError):
            provider.extract(request())
        assert len(server.requests) == 4
        assert len(slept) == 3

    @pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
    def test_a_request_that_will_never_do_is_a_permanent_error_at_once(
        self, server, provider, slept, status
    ):
        server.fail(status, times=None)
        with pytest.raises(PermanentError, match=str(status)):
            provider.extract(request())
        assert len(server.requests) == 1
        assert slept == []

    def test_a_server_that_never_answers_is_a_transient_error(self, server, slept):
        hasty = OpenAIProvider(
            ModelServer(KEY, server.base_url, timeout_s=0.2, max_attempts=2, sleep=slept.append),
            "m",
        )
        server.hang(times=None)
        with pytest.raises(TransientError, match=r"0\.2 s"):
            hasty.extract(request())
        assert len(server.requests) == 2

    def test_a_connection_that_breaks_is_tried_again(self, server, provider, slept):
        server.close_early()
        server.reply_json(answer(memory()))
        assert provider.extract(request()).value.memories
        assert len(slept) == 1

    def test_a_server_that_is_not_there_is_a_transient_error(self, slept):
        with FakeOpenAI() as gone:
            url = gone.base_url
        with pytest.raises(TransientError):
            OpenAIProvider(ModelServer(KEY, url, sleep=slept.append), "m").extract(request())
        assert len(slept) == 3

    def test_a_refusal_is_permanent_and_a_cut_off_answer_is_unusable(self, server, provider):
        server.reply_text("", refusal="I cannot help with that.")
        with pytest.raises(PermanentError):
            provider.extract(request())
        server.reply_text("", finish_reason="content_filter")
        with pytest.raises(PermanentError):
            provider.extract(request())
        server.reply_text('{"people": [', finish_reason="length")
        with pytest.raises(OutputError):
            provider.extract(request())
        assert len(server.requests) == 3

    @pytest.mark.parametrize("body", [{"choices": []}, {"choices": None}, [], {}])
    def test_a_reply_that_is_no_completion_is_an_output_error(self, server, provider, body):
        server.reply_body(body)
        with pytest.raises(OutputError):
            provider.extract(request())

    def test_missing_usage_is_estimated(self, server, provider):
        server.usage = None
        server.reply_json(answer(memory()))
        usage = provider.extract(request()).usage
        assert 500 < usage.tokens_in < 3000
        assert 50 < usage.tokens_out < 300

    def test_the_time_of_failed_attempts_counts_and_the_waits_do_not(self, server, slept):
        provider = OpenAIProvider(
            ModelServer(KEY, server.base_url, timeout_s=0.15, sleep=slept.append), "m"
        )
        server.hang()
        server.reply_json(NOTHING)
        assert 140 <= provider.extract(request()).usage.latency_ms < 2000

    def test_no_error_and_no_log_holds_the_chat_or_the_key(self, server, slept, caplog):
        caplog.set_level(logging.DEBUG)
        secret = "阿梅的秘密是甜豆浆"
        provider = OpenAIProvider(
            ModelServer(KEY, server.base_url, max_attempts=2, sleep=slept.append), "m"
        )
        for status in (400, 401, 429, 500):
            server.fail(
                status, times=2 if status >= 429 else 1, message=f"{KEY}: {secret}", code=secret
            )
        server.reply_json({"memories": [{"content": secret, secret: 1}], "people": secret}, times=2)
        server.reply_text(secret, refusal=secret)
        server.reply_body(secret)
        for _ in range(7):
            with pytest.raises(ProviderError) as caught:
                provider.extract(request(turn(1, secret)))
            shown = "".join(traceback.format_exception(caught.value)) + repr(
                caught.value.__context__
            )
            assert secret not in shown
            assert KEY not in shown
        assert secret not in caplog.text
        assert KEY not in caplog.text

    def test_a_forked_child_uses_no_connection_of_its_parent(self, server, provider):
        server.answer_with = lambda _: NOTHING
        provider.extract(request())
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                provider.extract(request())
                os.write(writer, b"done")
            finally:
                os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        assert os.read(reader, 4) == b"done"
        provider.extract(request())
        assert server.connections == 2
