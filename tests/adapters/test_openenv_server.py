"""An OpenEnv trainer's view of InfoQuest: the real server and the real client, over a socket."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

import elicit_gym  # noqa: F401 - registers the ids
from elicit_gym.adapters.openenv_client import InfoQuestClient
from elicit_gym.adapters.openenv_models import Say
from tests.adapters.servers import EVIL, call, free_port, listens, opened
from tests.processes import start_cli, wait_for

WORDS = ("What is your budget?", "When is it due?", "Who else has a say?")


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    port = free_port()
    server = start_cli("serve", "--port", str(port), "--max-turns", "3", cwd=Path.cwd())
    wait_for(server, lambda: listens(port))
    yield f"http://127.0.0.1:{port}"
    server.terminate()
    server.communicate(timeout=20)


def expected(seed: int) -> list[tuple[list[str], float | None, bool]]:
    env = gym.make("elicit_gym/InfoQuest-v0", max_turns=3)
    history, _ = env.reset(seed=seed)
    seen: list[tuple[list[str], float | None, bool]] = [([m.content for m in history], None, False)]
    for word in WORDS:
        history, reward, terminated, truncated, _ = env.step(word)
        seen.append(([m.content for m in history], float(reward), terminated or truncated))
    return seen


def test_a_session_is_the_environment(url: str) -> None:
    with InfoQuestClient(base_url=url).sync() as env:
        for seed in (3, 4):
            result = env.reset(seed=seed)
            seen = [([m["content"] for m in result.observation.messages], result.reward, result.done)]
            for word in WORDS:
                result = env.step(Say(message=word))
                seen.append(([m["content"] for m in result.observation.messages], result.reward, result.done))
            assert seen == expected(seed)
            assert result.observation.truncated
            state = env.state()
            assert state.step_count == 3
            assert len(state.checklist) == 5
        chosen = env.reset(scenario_id="07-b")
        assert env.state().scenario_id == "07-b"
        assert [m["role"] for m in chosen.observation.messages] == ["user"]
        # Nothing hidden is in what a policy sees.
        assert set(chosen.observation.model_dump()) == {
            "done", "reward", "metadata", "messages", "terminated", "truncated", "left"
        }  # fmt: skip
        assert not chosen.observation.metadata


def test_sessions_are_their_own(url: str) -> None:
    async def play(seed: int) -> list[tuple[list[str], float | None, bool]]:
        async with InfoQuestClient(base_url=url) as env:
            result = await env.reset(seed=seed)
            seen = [([m["content"] for m in result.observation.messages], result.reward, result.done)]
            for word in WORDS:
                result = await env.step(Say(message=word))
                seen.append(([m["content"] for m in result.observation.messages], result.reward, result.done))
            return seen

    async def all_of_them() -> list[list[tuple[list[str], float | None, bool]]]:
        return list(await asyncio.gather(*(play(seed) for seed in range(6))))

    assert asyncio.run(all_of_them()) == [expected(seed) for seed in range(6)]


def test_a_blank_message_is_told_and_the_session_goes_on(url: str) -> None:
    with InfoQuestClient(base_url=url).sync() as env:
        env.reset(seed=1)
        with pytest.raises(Exception, match="non-empty string"):
            env.step(Say(message=" "))
        assert env.step(Say(message="What is it for?")).observation.messages


@pytest.mark.parametrize(
    "path",
    ["/reset", "/step", "/mcp", "/state", "/infoquest/tasks", "/infoquest/num_tasks", "/list_environments", "/docs",
     "/openapi.json", "/redoc", "/web", "/"],
)  # fmt: skip
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_routes_that_no_trainer_uses_are_left_out(url: str, method: str, path: str) -> None:
    port = int(url.rpartition(":")[2])
    status, sentence = call(port, method, path, b"{}" if method == "POST" else None, Content_Type="application/json")
    assert status == 404
    assert sentence.startswith(f"Calling this server: expected GET /health, /metadata, /schema or the WebSocket /ws, got '{method} {path}'")  # fmt: skip


def test_the_routes_that_trainers_use_are_there(url: str) -> None:
    port = int(url.rpartition(":")[2])
    for path in ("/health", "/metadata", "/schema"):
        assert call(port, "GET", path)[0] == 200
        assert call(port, "GET", path, Origin=EVIL)[0] == 403
        assert call(port, "GET", path, host="evil.example")[0] == 403
        assert call(port, "POST", path, b"{}", Content_Type="application/json")[0] == 405


CREATE = b'{"jsonrpc": "2.0", "id": 1, "method": "openenv/session/create", "params": {}}'


def test_a_page_elsewhere_can_neither_lock_nor_drive_the_server(url: str) -> None:
    port = int(url.rpartition(":")[2])
    for _ in range(70):  # more than there are sessions
        assert call(port, "POST", "/mcp", CREATE, Content_Type="text/plain", Origin=EVIL)[0] == 403
    assert call(port, "POST", "/mcp", CREATE, Content_Type="text/plain")[0] == 415
    assert call(port, "POST", "/mcp", CREATE, Content_Type="application/json")[0] == 404
    assert call(port, "POST", "/reset", b" " * 2_000_000, Content_Type="application/json")[0] == 413
    for host, settings in (
        (None, {"origin": EVIL}),
        (f"evil.example:{port}", {"origin": f"http://evil.example:{port}"}),
    ):
        for _ in range(70):
            with pytest.raises(InvalidStatus):
                opened(port, host=host, **settings)
    with InfoQuestClient(base_url=url).sync() as env:
        assert env.reset(seed=1).observation.messages


@pytest.mark.parametrize(
    ("message", "sentence"),
    [
        ({"type": "step", "data": {"message": "What is it for?"}}, "Call reset() first."),
        ({"type": "reset", "data": {"scenario_id": "99-z"}}, "expected the id of a scenario, got '99-z'"),
        ({"type": "reset", "data": {"scenario_id": ["a"]}}, "expected the id of a scenario, got ['a']"),
        ({"type": "reset", "data": {"seed": "x"}}, "expected a whole number as seed"),
        ({"type": "reset", "data": {"seed": -1}}, "expected seed of 0 or more"),
        ({"type": "reset", "data": {"episode_id": 3}}, "Invalid message"),
        ({"type": "step", "data": {"message": 3}}, "Invalid message"),
        ({"type": "step", "data": {}}, "Invalid message"),
        ({"type": "step"}, "Invalid message"),
        ({"type": "step", "data": {"message": "What?", "more": 1}}, "Invalid message"),
        ({"type": "else"}, "Unknown message type"),
        ({}, "Unknown message type"),
        ({"type": ["step"]}, "Unknown message type"),
        ("{", "does not parse"),
        ("[]", "expected a JSON object"),
        ('{"type": "step", "data": {"message": "What is it for \\ud800?"}}', "half of a surrogate pair"),
        ('{"type": "reset", "data": {"episode_id": "\\udc00"}}', "half of a surrogate pair"),
        ('{"type": ' + "[" * 100_000, "expected JSON"),
    ],
)
def test_a_clients_mistake_is_one_sentence_and_the_session_goes_on(url: str, message: Any, sentence: str) -> None:
    with opened(int(url.rpartition(":")[2])) as ws:
        needs_reset = "Call reset() first." in sentence
        if not needs_reset:
            ws.send(json.dumps({"type": "reset", "data": {"seed": 1}}))
            assert json.loads(ws.recv(20))["type"] == "observation"
        ws.send(message if isinstance(message, str) else json.dumps(message))
        answer = json.loads(ws.recv(20))
        assert answer["type"] == "error"
        assert sentence in answer["data"]["message"]
        assert "\n" not in answer["data"]["message"]
        if needs_reset:
            ws.send('{"type": "reset"}')
            ws.recv(20)
        ws.send('{"type": "state"}')
        assert json.loads(ws.recv(20))["data"]["step_count"] == 0, "what is refused counts as no turn"
        ws.send('{"type": "step", "data": {"message": "What is it for?"}}')
        assert len(json.loads(ws.recv(20))["data"]["observation"]["messages"]) == 3


def test_conversations_that_nobody_goes_on_with_end_and_the_log_stays_empty() -> None:
    port = free_port()
    server = start_cli(
        "serve",
        "--port",
        str(port),
        "--max-sessions",
        "2",
        "--idle-minutes",
        "0.1",
        "--max-message-mb",
        "0.01",
        cwd=Path.cwd(),
    )
    wait_for(server, lambda: listens(port))
    with opened(port) as first, opened(port) as second:
        for ws in (first, second):
            ws.send('{"type": "reset"}')
            ws.recv(20)
        with opened(port) as third:
            assert "CAPACITY" in third.recv(20)
        for ws in (first, second):
            with pytest.raises(ConnectionClosed, match="Nothing was said for 6 s"):
                ws.recv(20)
    with opened(port) as large, opened(port) as other:  # their places are free again
        other.send('{"type": "reset", "data": {"scenario_id": "nobody"}}')
        other.recv(20)
        large.send('{"type": "reset", "data": {"episode_id": "' + "x" * 10_000 + '"}}')
        with pytest.raises(ConnectionClosed) as ended:
            large.recv(20)
        assert ended.value.rcvd is not None
        assert ended.value.rcvd.code == 1009
    for path in ("/step", "/reset", "/mcp", "/nothing"):
        assert call(port, "POST", path, b'{"action": {"message": "What?"}}', Content_Type="application/json")[0] == 404
    server.terminate()
    printed, log = server.communicate(timeout=20)
    assert "InfoQuest at" in printed
    assert log == ""
