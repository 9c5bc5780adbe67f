"""An OpenEnv trainer's view of InfoQuest: the real server and the real client, over a socket."""

import asyncio
import socket
from collections.abc import Iterator
from pathlib import Path

import gymnasium as gym
import pytest

import elicit_gym  # noqa: F401 - registers the ids
from elicit_gym.adapters.openenv_client import InfoQuestClient
from elicit_gym.adapters.openenv_models import Say
from tests.processes import start_cli, wait_for

WORDS = ("What is your budget?", "When is it due?", "Who else has a say?")


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
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
            "done", "reward", "metadata", "messages", "terminated", "truncated"
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
