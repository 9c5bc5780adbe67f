"""The cache."""

from pathlib import Path

import pytest

from elicit_gym.errors import SettingError
from elicit_gym.llm.cache import ResponseCache, cache_key
from elicit_gym.llm.types import ChatRequest, ChatResponse
from elicit_gym.types import Message

RESPONSE = ChatResponse(
    text="Hi \ud83d", finish_reason="stop", model="m", input_tokens=3, output_tokens=1, cost_usd=None, flags=("x",)
)


def request(text: str = "Hello", **more: object) -> ChatRequest:
    return ChatRequest(messages=(Message(role="user", content=text),), **more)  # type: ignore[arg-type]


def test_the_key_holds_all_that_changes_an_answer() -> None:
    settings = {"model": "a", "parameters": {"temperature": 1.0}}
    keys = {
        cache_key(settings, request()),
        cache_key(settings, request("Hallo")),
        cache_key(settings, request(seed=1)),
        cache_key(settings, request(repeat=1)),
        cache_key(settings, request(json_schema={"type": "object"})),
        cache_key(settings, request(max_tokens=40)),
        cache_key({**settings, "model": "b"}, request()),
        cache_key({**settings, "parameters": {"temperature": 0.0}}, request()),
        cache_key(settings, ChatRequest(messages=(Message(role="system", content="Hello"),))),
    }
    assert len(keys) == 9
    assert cache_key(settings, request()) in keys


def test_thirty_repeats_are_thirty_entries(tmp_path: Path) -> None:
    cache = ResponseCache(tmp_path / "cache.sqlite")
    for repeat in range(30):
        cache.put(cache_key({}, request(repeat=repeat)), RESPONSE)
    assert len(cache) == 30


def test_round_trip_and_first_one_stays(tmp_path: Path) -> None:
    with_path = tmp_path / "deep" / "cache.sqlite"
    cache = ResponseCache(with_path)
    assert cache.get("k") is None
    cache.put("k", RESPONSE)
    cache.put("k", ChatResponse(**{**RESPONSE.__dict__, "text": "other"}))
    found = cache.get("k")
    assert found is not None
    assert found.cached
    assert found.text == "Hi \ud83d"
    assert found.flags == ("x",)
    cache.close()
    again = ResponseCache(with_path, "replay").get("k")
    assert again == found


@pytest.mark.parametrize("mode", ["off", "write", ""])
def test_modes_that_are_none(tmp_path: Path, mode: str) -> None:
    with pytest.raises(SettingError, match="expected mode"):
        ResponseCache(tmp_path / "c", mode)  # type: ignore[arg-type]


def test_replaying_from_nothing(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="expected a cache file, got none"):
        ResponseCache(tmp_path / "c", "replay")
