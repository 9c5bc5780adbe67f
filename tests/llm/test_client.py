"""Calls over real HTTP: retries, failures that end a run, limits, budget, cache; through litellm and without it."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from elicit_gym.errors import BudgetExceeded, EpisodeFailure, FatalModelError, ModelFailure, SettingError
from elicit_gym.llm.budget import Budget
from elicit_gym.llm.cache import ResponseCache
from elicit_gym.llm.litellm_transport import LiteLLMTransport
from elicit_gym.llm.make import make_chat_model
from elicit_gym.llm.reply_fields import parse_retry_after
from elicit_gym.llm.runtime import Runtime, llm_runtime
from elicit_gym.llm.types import ChatModel, ChatRequest, ChatResponse
from elicit_gym.redaction import redact_message
from elicit_gym.types import Message
from tests.fault_server import FaultServer

TRANSPORTS = pytest.mark.parametrize("transport", ["http", "litellm"])
KEY = "sk-test-1234567890abcdef"


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("ELICIT_TEST_KEY", KEY)
    with llm_runtime(Runtime(max_attempts=4)):
        yield


def model(server: FaultServer, transport: str, **more: Any) -> ChatModel:
    name = "openai/tiny" if transport == "litellm" else "tiny"
    return make_chat_model(
        name, api_base=server.api_base, transport=transport, api_key_env="ELICIT_TEST_KEY", **{"timeout": 2.0, **more}
    )


def ask(text: str = "Hello", **more: Any) -> ChatRequest:
    return ChatRequest(messages=(Message(role="user", content=text),), **more)


@TRANSPORTS
def test_a_sound_answer(transport: str) -> None:
    with FaultServer() as server:
        response = model(server, transport, temperature=0.5, max_tokens=9).complete(ask(seed=3))
    assert response.text == "What holds you back the most?"
    assert (response.input_tokens, response.output_tokens) == (10, 5)
    assert response.cost_usd is None  # a server of one's own has no known price, and that is not 0
    body = server.bodies[0]
    assert (body["temperature"], body["max_tokens"], body["seed"]) == (0.5, 9, 3)
    assert body["messages"] == [{"role": "user", "content": "Hello"}]


@TRANSPORTS
@pytest.mark.parametrize(
    "fault", ["429", "429-retry-after", "500", "503", "drop", "truncated-json", "empty", "null", "think-unclosed",
              "wrong-schema", "no-choices", "only-reasoning"],
)  # fmt: skip
def test_what_passes_is_tried_again(transport: str, fault: str) -> None:
    with FaultServer(rate=1.0, faults=[fault]) as server:

        def soon_well(messages: list[dict[str, str]]) -> str:
            return "well again"

        server.answer = soon_well
        chat = model(server, transport)
        original = server._misbehave

        async def once(*arguments: Any) -> Any:
            server.rate = 0.0
            return await original(*arguments)

        server._misbehave = once  # type: ignore[method-assign]
        response = chat.complete(ask(seed=0))
    assert response.text == "well again"
    assert any(flag.startswith("retried:") for flag in response.flags)
    assert sum(server.seen.values()) == 2


@TRANSPORTS
def test_a_hanging_call_times_out_and_is_tried_again(transport: str) -> None:
    with FaultServer(rate=1.0, faults=["hang"], hang=20) as server, llm_runtime(Runtime(max_attempts=2)):
        start = time.monotonic()
        with pytest.raises(ModelFailure, match="attempt 2 of 2"):
            model(server, transport, timeout=0.5).complete(ask())
        assert time.monotonic() - start < 15


@TRANSPORTS
@pytest.mark.parametrize("fault", ["400", "401", "404"])
def test_what_cannot_pass_is_tried_once_and_shows_no_key(transport: str, fault: str) -> None:
    with FaultServer(rate=1.0, faults=[fault]) as server, pytest.raises(ModelFailure) as caught:
        model(server, transport).complete(ask())
    assert sum(server.seen.values()) == 1
    assert not isinstance(caught.value, FatalModelError)  # it may be this request's own matter
    assert KEY not in str(caught.value)
    assert fault in str(caught.value)
    assert "attempt" not in str(caught.value)
    assert caught.value.__cause__ is None


@TRANSPORTS
@pytest.mark.parametrize(("fault", "calls"), [("401", 3), ("404", 3), ("no-quota", 3), ("400", 12)])
def test_a_streak_of_the_same_refusal_ends_the_run_within_a_few_calls(transport: str, fault: str, calls: int) -> None:
    with FaultServer(rate=1.0, faults=[fault]) as server:
        chat = model(server, transport)
        for i in range(calls - 1):
            with pytest.raises(ModelFailure) as alone:
                chat.complete(ask(str(i)))
            assert not isinstance(alone.value, FatalModelError)
        for _ in range(3):
            with pytest.raises(FatalModelError, match=f"{calls} calls in a row failed like this"):
                chat.complete(ask())
        assert sum(server.seen.values()) == calls


@TRANSPORTS
def test_an_answer_between_two_refusals_ends_a_streak(transport: str) -> None:
    with FaultServer(faults=["401"]) as server:
        chat = model(server, transport)
        for i in range(12):
            server.rate = float(i % 3 < 2)
            answer = chat.complete_batch([ask(str(i))])[0]
            assert isinstance(answer, ChatResponse) == (i % 3 == 2)
            assert not isinstance(answer, FatalModelError)


@TRANSPORTS
@pytest.mark.parametrize(
    "fault", ["400-filter-openai", "400-filter-azure", "400-filter-gemini", "403-moderation", "400-context", "413"]
)
def test_what_is_one_requests_own_matter_never_ends_a_run(transport: str, fault: str) -> None:
    with FaultServer(rate=1.0, faults=[fault]) as server:
        answers = model(server, transport).complete_batch([ask(str(i)) for i in range(40)])
        assert {type(answer) for answer in answers} == {ModelFailure}
        assert sum(server.seen.values()) == 40
        server.rate = 0.0
        assert isinstance(model(server, transport).complete(ask()), ChatResponse)


@TRANSPORTS
def test_a_path_without_a_version_says_so(transport: str) -> None:
    with FaultServer() as server:
        name = "openai/tiny" if transport == "litellm" else "tiny"
        chat = make_chat_model(name, api_base=server.api_base.removesuffix("/v1"), transport=transport)
        with pytest.raises(ModelFailure, match=r"not under http://127\.0\.0\.1:\d+/chat/completions.*ends in /v1"):
            chat.complete(ask())


@TRANSPORTS
def test_a_user_in_the_address_is_said_to_the_server(transport: str) -> None:
    name = "openai/tiny" if transport == "litellm" else "tiny"
    with FaultServer() as server:
        base = server.api_base.replace("http://", "http://me:p%40ss@")
        assert make_chat_model(name, api_base=base, transport=transport).complete(ask()).text
        assert server.headers[-1]["Authorization"] == "Basic bWU6cEBzcw=="
        with pytest.raises(SettingError, match="expected either a key or a user in the api_base"):
            make_chat_model(name, api_base=base, transport=transport, api_key_env="ELICIT_TEST_KEY")


@TRANSPORTS
def test_every_answer_counts_usable_or_not(transport: str) -> None:
    with FaultServer(rate=1.0, faults=["empty"]) as server, llm_runtime(Runtime(max_attempts=3)) as runtime:
        with pytest.raises(ModelFailure, match="expected text, got none"):
            model(server, transport).complete(ask(seed=1))
        assert (runtime.budget.ledger.total.calls, runtime.budget.ledger.total.tokens) == (3, 45)
        original = server._misbehave

        async def once(*arguments: Any) -> Any:
            server.rate = 0.0
            return await original(*arguments)

        server._misbehave = once  # type: ignore[method-assign]
        server.faults = ("empty",)
        response = model(server, transport).complete(ask(seed=2))
        assert (response.calls, response.input_tokens, response.output_tokens) == (2, 20, 10)
        server.rate, server.faults = 1.0, ("500",)
        server._misbehave = original  # type: ignore[method-assign]
        with pytest.raises(ModelFailure):
            model(server, transport).complete(ask())
        total = runtime.budget.ledger.total
        assert (total.calls, total.failed_calls, total.tokens) == (5, 3, 75)


@TRANSPORTS
def test_a_service_that_does_not_count_its_tokens_spends_them_all_the_same(transport: str) -> None:
    with FaultServer(rate=1.0, faults=["no-usage"]) as server, llm_runtime(Runtime(budget=Budget(tokens=500))):
        chat = model(server, transport)
        answers = [chat.complete_batch([ask("word " * 100 + str(i))])[0] for i in range(20)]
        assert 3 <= sum(server.seen.values()) <= 5
        assert isinstance(answers[-1], BudgetExceeded)


@TRANSPORTS
def test_giving_up_says_how_often_it_was_tried(transport: str) -> None:
    with FaultServer(rate=1.0, faults=["429-retry-after"]) as server, llm_runtime(Runtime(max_attempts=3)):
        with pytest.raises(ModelFailure, match="attempt 3 of 3") as caught:
            model(server, transport).complete(ask())
    assert not isinstance(caught.value, FatalModelError)


@TRANSPORTS
def test_a_batch_has_answers_and_failures_in_place(transport: str) -> None:
    def choosy(messages: list[dict[str, str]]) -> str:
        return "" if "nothing" in messages[-1]["content"] else messages[-1]["content"]

    with FaultServer(choosy) as server, llm_runtime(Runtime(max_attempts=1)):
        answers = model(server, transport).complete_batch([ask("a"), ask("nothing"), ask("b")])
    assert isinstance(answers[0], ChatResponse)
    assert answers[0].text == "a"
    assert isinstance(answers[1], ModelFailure)
    assert isinstance(answers[2], ChatResponse)
    assert answers[2].text == "b"


def test_no_more_calls_at_once_than_allowed() -> None:
    with FaultServer(latency=0.02) as server, llm_runtime(Runtime(concurrency=7)):
        answers = model(server, "http").complete_batch([ask(str(i)) for i in range(60)])
    assert all(isinstance(answer, ChatResponse) for answer in answers)
    assert 2 <= server.most_at_once <= 7


def test_retry_after_is_honoured() -> None:
    with FaultServer(rate=1.0, faults=["429-retry-after"]) as server, llm_runtime(Runtime(max_attempts=4)):
        start = time.monotonic()
        with pytest.raises(ModelFailure):
            model(server, "http").complete(ask(seed=1))
        # Three waits of 0.05 s; exponential back-off would take 0.35 s at the very least.
        assert time.monotonic() - start >= 0.15
    assert parse_retry_after("2.5") == 2.5
    assert parse_retry_after("Wed, 21 Oct 2026 07:28:00 GMT") is None


def test_cache_and_replay(tmp_path: Path) -> None:
    with FaultServer() as server:
        chat = model(server, "http")
        with llm_runtime(Runtime(cache=ResponseCache(tmp_path / "c.sqlite"))) as runtime:
            first = chat.complete(ask(seed=1))
            again = chat.complete(ask(seed=1))
            chat.complete(ask(seed=2))
            assert sum(server.seen.values()) == 2
            assert (runtime.budget.ledger.total.calls, runtime.budget.ledger.total.cached_calls) == (2, 1)
        assert again.cached
        assert not first.cached
        assert again.text == first.text
    with llm_runtime(Runtime(cache=ResponseCache(tmp_path / "c.sqlite", "replay"))):
        chat.check()  # the server is gone; a replay needs none
        assert chat.complete(ask(seed=1)).text == first.text
        with pytest.raises(FatalModelError, match="expected every response in the cache, got a miss"):
            chat.complete(ask(seed=99))


def test_budget_of_tokens() -> None:
    with FaultServer() as server, llm_runtime(Runtime(budget=Budget(tokens=40))):
        chat = model(server, "http")
        for _ in range(3):
            chat.complete(ask())
        with pytest.raises(BudgetExceeded, match="40 tokens: 45 tokens are spent"):
            chat.complete(ask())
    assert sum(server.seen.values()) == 3


def test_budget_of_money_needs_prices() -> None:
    with FaultServer() as server, llm_runtime(Runtime(budget=Budget(usd=1.0))):
        chat = model(server, "http")
        chat.complete(ask())
        with pytest.raises(BudgetExceeded, match="expected known prices, got none for tiny"):
            chat.complete(ask())
    for limits in ({"usd": 0.0}, {"tokens": -1}):
        with pytest.raises(SettingError, match="above 0"):
            Budget(**limits)


def test_known_prices_are_counted() -> None:
    with FaultServer() as server, llm_runtime(Runtime()) as runtime:
        chat = make_chat_model("openai/gpt-4o-mini", api_base=server.api_base, api_key_env="ELICIT_TEST_KEY")
        response = chat.complete(ask())
    assert response.cost_usd == pytest.approx(10 * 0.15e-6 + 5 * 0.6e-6)
    assert runtime.budget.ledger.by_model()["openai/gpt-4o-mini"].cost_usd == response.cost_usd


@TRANSPORTS
def test_an_unreachable_server_is_one_sentence(transport: str) -> None:
    with FaultServer() as server:
        chat = model(server, transport)
    with pytest.raises(FatalModelError, match=r"expected a server at http://127\.0\.0\.1"):
        chat.check()


def test_missing_keys_and_unknown_models_are_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if "API_KEY" in name:
            monkeypatch.delenv(name)
    with pytest.raises(FatalModelError, match=r"expected a key in \$OPENAI_API_KEY, got none"):
        make_chat_model("openai/gpt-4o-mini").check()
    with pytest.raises(FatalModelError, match=r"expected a key in \$(GOOGLE|GEMINI)_API_KEY"):
        make_chat_model("gemini/gemini-2.0-flash").check()
    with pytest.raises(FatalModelError, match="expected the api_base of a vLLM server"):
        make_chat_model("hosted_vllm/AtlaAI/Selene-1-Mini-Llama-3.1-8B").check()
    with pytest.raises(FatalModelError, match="expected a model name that litellm knows"):
        make_chat_model("no-such-thing").check()
    monkeypatch.delenv("ELICIT_TEST_KEY")
    with pytest.raises(FatalModelError, match=r"expected a key in \$ELICIT_TEST_KEY"):
        make_chat_model("openai/x", api_base="http://127.0.0.1:1", api_key_env="ELICIT_TEST_KEY").check()
    with pytest.raises(FatalModelError, match="expected an api_base such as"):
        make_chat_model("openai/x", api_base="localhost:8000").check()


def test_settings_that_do_not_fit() -> None:
    with pytest.raises(SettingError, match="expected no key among its parameters"):
        make_chat_model("openai/x", extra={"api_key": KEY})
    with pytest.raises(SettingError, match="expected an api_base"):
        make_chat_model("x", transport="http")
    with pytest.raises(SettingError, match="expected transport"):
        make_chat_model("x", transport="carrier pigeon")
    with pytest.raises(SettingError, match="ModuleNotFoundError"):
        make_chat_model("nowhere:model")


@pytest.mark.parametrize("text", [f"bad key {KEY}", "Bearer abc.def", "sk-proj-abcdefghijk", "AIzaSyA1234567890abc"])
def test_keys_are_removed(text: str) -> None:
    assert "[key]" in redact_message(text)
    for secret in (KEY, "abc.def", "abcdefghijk", "1234567890abc"):
        assert secret not in redact_message(text)


def test_a_test_double_is_a_chat_model() -> None:
    from elicit_gym.llm.scripted import ScriptedChatModel

    double = ScriptedChatModel(["one", ModelFailure("down"), "<think>x</think>three"])
    assert isinstance(double, ChatModel)
    answers = double.complete_batch([ask(), ask(), ask(), ask()])
    texts = [a.text if isinstance(a, ChatResponse) else type(a).__name__ for a in answers]
    assert texts == ["one", "ModelFailure", "three", "ModelFailure"]
    assert isinstance(answers[1], EpisodeFailure)


def test_connections_are_closed_at_the_end_and_stay_behind_when_a_model_travels() -> None:
    with FaultServer() as server:
        code = (
            "import asyncio, pickle, sys\n"
            "from elicit_gym.llm.make import make_chat_model\n"
            "from elicit_gym.llm.types import ChatRequest\n"
            "from elicit_gym.types import Message\n"
            "hello = ChatRequest(messages=(Message(role='user', content='Hello'),))\n"
            f"model = make_chat_model('tiny', api_base={server.api_base!r}, transport='http')\n"
            "print(model.complete(hello).text)\n"
            "print(pickle.loads(pickle.dumps(model)).complete(hello).text)\n"
            "del model\n"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert done.stdout.splitlines() == ["What holds you back the most?"] * 2, done.stderr
    assert done.stderr == ""


SCHEMA = {"type": "object", "properties": {"result": {"type": "string"}}}


@TRANSPORTS
def test_a_schema_is_sent_where_the_service_takes_one(transport: str) -> None:
    """A server of one's own is asked for JSON only where its owner says that it can."""
    sent = []
    for structured in (None, False, True):
        with FaultServer() as server:
            model(server, transport, structured_output=structured).complete(ask(json_schema=SCHEMA))
        sent.append("response_format" in server.bodies[0])
    assert sent == [False, False, True]
    assert server.bodies[0]["response_format"]["json_schema"]["schema"] == SCHEMA


@pytest.mark.parametrize(
    ("name", "takes"), [("openai/gpt-4o-mini", True), ("anthropic/claude-sonnet-4-5", True), ("openai/tiny", False)]
)
def test_litellm_knows_which_services_take_a_schema(name: str, takes: bool) -> None:
    def transport(api_base: str | None) -> LiteLLMTransport:
        return LiteLLMTransport(name, api_base=api_base, api_key_env=None, timeout=1.0)

    assert transport(None).takes_schema() is takes
    assert transport("http://localhost:1/v1").takes_schema() is False


@TRANSPORTS
@pytest.mark.parametrize("limit", ["max_tokens", "max_completion_tokens"])
def test_a_request_may_have_a_limit_of_its_own_and_more_room_after_a_blank_cut(transport: str, limit: str) -> None:
    def answer(messages: list[dict[str, str]]) -> str:
        return "<think>" + "so " * 30 + "</think>Well."

    with FaultServer(answer, cuts=True) as server:
        given = {"max_tokens": 9} if limit == "max_tokens" else {"extra": {limit: 9}}
        if limit == "max_tokens":
            response = model(server, transport, **given).complete(ask(max_tokens=12, more_room=4))
            assert response.text == "Well."
            assert [body[limit] for body in server.bodies] == [12, 48]
        else:
            model(server, transport, **given).complete(ask(max_tokens=12))
            assert [body.get(limit) for body in server.bodies] == [12]
            assert "max_tokens" not in server.bodies[0]
