"""Manifests: typed, versioned, and equal only where the same would be recorded again."""

import copy
import json
import os
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from elicit_gym import collect_episodes
from elicit_gym.agents import load_policy
from elicit_gym.agents.llm_policy import LLMPolicy
from elicit_gym.errors import ManifestMismatchError, SettingError, StorageError
from elicit_gym.evaluation.compare import compare_runs
from elicit_gym.llm.weights import weights_sha256
from elicit_gym.parts import describe
from elicit_gym.rollout.manifest import RunManifest
from elicit_gym.rollout.storage import load_run
from elicit_gym.scenarios.load import BUNDLED
from elicit_gym.types import ChatHistory, Description, JudgeRequest, Verdict
from tests.fault_server import FaultServer

IDS = ["00-a", "00-b"]
LLM = "elicit_gym/InfoQuestLLM-v0"


def seats(server: FaultServer, **more: Any) -> dict[str, Any]:
    model = {"model": "tiny", "api_base": server.api_base, "transport": "http", **more}
    return {"user_simulator_kwargs": model, "judge_kwargs": model, "max_turns": 1}


def served(server: FaultServer, **more: Any) -> LLMPolicy:
    return LLMPolicy("tiny", api_base=server.api_base, transport="http", name="tiny", **more)


def test_a_policys_sampling_prompt_and_model_are_held_against_the_run(tmp_path: Path) -> None:
    prompt = tmp_path / "own.txt"
    prompt.write_text("Ask.", encoding="utf-8")
    other = tmp_path / "other" / "own.txt"
    other.parent.mkdir()
    other.write_text("Never ask.", encoding="utf-8")
    with FaultServer() as server:
        made = {"scenario_ids": IDS[:1], "env_kwargs": {"max_turns": 1}, "out": tmp_path / "run"}
        collect_episodes(served(server, temperature=0.0, max_tokens=9, system_prompt=str(prompt)), **made)
        same = {"temperature": 0.0, "max_tokens": 9, "system_prompt": str(prompt)}
        for change, difference in (
            ({"temperature": 1.5}, "policies.tiny.sampling.temperature: 0.0 there, 1.5 here"),
            ({"max_tokens": 4}, "policies.tiny.sampling.max_tokens: 9 there, 4 here"),
            ({"top_p": 0.5}, "policies.tiny.sampling.top_p: None there, 0.5 here"),
            ({"system_prompt": str(other)}, "policies.tiny.prompts.own: '"),
            ({"structured_output": True}, "structured_output"),
        ):
            with pytest.raises(ManifestMismatchError) as refused:
                collect_episodes(served(server, **{**same, **change}), **made, resume=True)
            assert any(line.startswith(difference) or difference in line for line in refused.value.differences)
        small = LLMPolicy("small", api_base=server.api_base, transport="http", name="tiny", **same)
        with pytest.raises(ManifestMismatchError, match="policies.tiny.model: 'tiny' there, 'small' here"):
            collect_episodes(small, **made, resume=True)
        assert len(collect_episodes(served(server, **same), **made, resume=True)) == 1


def test_another_host_is_no_other_run_and_no_secret_is_told(tmp_path: Path) -> None:
    with FaultServer() as one, FaultServer() as two:
        made = {"scenario_ids": IDS[:1], "out": tmp_path / "run"}
        own = one.api_base.replace("http://", "http://me:hunter2@")
        secret = {"extra": {"extra_headers": {"Authorization": "hunter2"}}}
        policy = LLMPolicy("tiny", api_base=own, transport="http", name="tiny", **secret)
        collect_episodes(policy, LLM, env_kwargs={**seats(one, **secret), "max_turns": 1}, **made)
        text = (tmp_path / "run" / "manifest.json").read_text()
        assert "hunter2" not in text
        host = one.api_base.removesuffix("/v1")
        assert json.loads(text)["policies"][0]["server"] == host
        assert json.loads(text)["environment"]["judge"]["server"] == host
        asked = LLMPolicy("tiny", api_base=f"{own}?key=hunter2", transport="http")
        assert describe(asked).server == host
        moved = served(two, **secret)
        collect_episodes(moved, LLM, env_kwargs=seats(two, **secret), **made, resume=True)
        for seat in ("user_simulator", "judge"):
            changed = seats(two, **secret)
            changed[f"{seat}_kwargs"] = {**changed[f"{seat}_kwargs"], "temperature": 0.7}
            with pytest.raises(ManifestMismatchError, match=f"environment.{seat}.sampling.temperature"):
                collect_episodes(moved, LLM, env_kwargs=changed, **made, resume=True)
        checklist = seats(two, **secret)
        checklist["judge_kwargs"] = {**checklist["judge_kwargs"], "mode": "checklist"}
        with pytest.raises(ManifestMismatchError, match="environment.judge.settings.mode"):
            collect_episodes(moved, LLM, env_kwargs=checklist, **made, resume=True)


class Asker:
    name = "mine"

    def reset(self, seed: int) -> None:
        pass

    def act(self, history: ChatHistory) -> str:
        return "What is your budget?"


class AnotherAsker(Asker):
    def act(self, history: ChatHistory) -> str:
        return "When is it due?"


@dataclass
class Told(Asker):
    """Says by itself what it depends on."""

    words: int = 3

    def describe(self) -> Description:
        return Description(name="told", kind="mine", settings={"words": self.words, "where": Path("/tmp")})


def test_policies_of_ones_own(tmp_path: Path) -> None:
    assert describe(Asker()).identity() == describe(Asker()).identity()
    assert describe(Asker()).identity() != describe(AnotherAsker()).identity()
    # Edited between two runs, a class is another policy, though its name is the same.
    for text in ("What?", "Why?"):
        (tmp_path / "edited.py").write_text(
            f"class P:\n    name = 'p'\n    def reset(self, seed): ...\n    def act(self, history): return {text!r}\n"
        )
    assert describe(Told(4)).settings == {"words": 4, "where": "/tmp"}
    made = {"scenario_ids": IDS, "out": tmp_path / "run", "env_kwargs": {"max_turns": 1}}
    collect_episodes(Told(3), **made)
    with pytest.raises(ManifestMismatchError, match="policies.mine.settings.words: 3 there, 4 here"):
        collect_episodes(Told(4), **made, resume=True)

    class Strange(Told):
        def describe(self) -> Description:
            return replace(super().describe(), settings={"live": object()})

    with pytest.raises(SettingError, match="told.settings.live: expected text, numbers, lists and mappings"):
        collect_episodes(Strange(), scenario_ids=IDS)


def test_an_edited_policy_file_is_told(tmp_path: Path) -> None:
    from tests.cli.test_app import MINE, run

    options = ("compare", "mymodule:MyPolicy", "--repeats", "1", "--max-turns", "1", "--out", "run")
    (tmp_path / "mymodule.py").write_text(MINE, encoding="utf-8")
    assert run(*options, cwd=tmp_path).returncode == 0
    assert run(*options, "--resume", cwd=tmp_path).returncode == 0
    (tmp_path / "mymodule.py").write_text(MINE.replace("How much money", "How many ducks"), encoding="utf-8")
    done = run(*options, "--resume", cwd=tmp_path)
    assert done.returncode == 2
    assert "policies.mine.settings.source_sha256" in done.stderr


def test_runs_grow_by_policies_and_keep_the_descriptions_of_all(tmp_path: Path) -> None:
    made = {"scenario_ids": IDS, "out": tmp_path / "run"}
    collect_episodes(load_policy("naive"), **made, repeats=2)
    collect_episodes(load_policy("oracle"), **made, resume=True)
    records, manifest = load_run(tmp_path / "run")
    assert {record.policy for record in records} == {"naive", "oracle"}
    assert (manifest.names, manifest.privileged, manifest.repeats) == (("naive", "oracle"), ("oracle",), 2)


def test_scenarios_are_who_they_are_wherever_they_lie(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.jsonl").write_bytes(BUNDLED.read_bytes())
    other = BUNDLED.read_text(encoding="utf-8").splitlines()
    (tmp_path / "other.jsonl").write_text("\n".join(other[:40]) + "\n", encoding="utf-8")

    def collect(policy: str, source: str, out: str, resume: bool = False) -> None:
        collect_episodes(
            load_policy(policy), env_kwargs={"scenarios": str(tmp_path / f"{source}.jsonl")}, scenario_ids=IDS,
            out=tmp_path / out, resume=resume,
        )  # fmt: skip

    collect("naive", "a", "one")
    collect("naive", "b", "one", resume=True)
    collect("oracle", "b", "two")
    assert len(compare_runs([tmp_path / "one", tmp_path / "two"]).policies) == 2
    with pytest.raises(ManifestMismatchError, match="scenarios.sha256"):
        collect("naive", "other", "one", resume=True)


def test_weights_are_known_by_their_content(tmp_path: Path) -> None:
    for name, content in (("a", b"one"), ("b", b"one"), ("c", b"two")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "model.safetensors").write_bytes(content)
    a, b, c = (tmp_path / name for name in "abc")
    assert weights_sha256([a]) == weights_sha256([b]) != weights_sha256([c])
    assert weights_sha256([a, c]) != weights_sha256([c, a])
    stamp = (a / "model.safetensors").stat().st_mtime_ns
    (a / "model.safetensors").write_bytes(b"six")
    os.utime(a / "model.safetensors", ns=(stamp + 1, stamp + 1))
    assert weights_sha256([a]) != weights_sha256([b])
    assert weights_sha256([tmp_path / "nowhere"]) is None
    blobs = tmp_path / "hub"
    blobs.mkdir()
    (blobs / ("f" * 64)).write_bytes(b"one")
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "model.safetensors").symlink_to(blobs / ("f" * 64))
    assert weights_sha256([tmp_path / "d"]) != weights_sha256([b])  # the hub's name for it counts: it is not read


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("manifest") / "run"
    collect_episodes(load_policy("oracle"), scenario_ids=IDS, env_kwargs={"reward": "final_checklist"}, out=out)
    return out


def test_round_trip(saved: Path) -> None:
    manifest = RunManifest.read(saved / "manifest.json")
    value = json.loads((saved / "manifest.json").read_text())
    assert manifest.to_json() == value
    assert RunManifest.from_json(value, "here") == manifest
    assert manifest.differences(RunManifest.from_json(value, "here")) == []
    with pytest.raises(AttributeError):
        manifest.seed = 3  # type: ignore[misc]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda m: [m], "expected the manifest of a run, a JSON object, got list"),
        (lambda m: None, "a JSON object, got NoneType"),
        (lambda m: {**m, "format": 3}, "in format 2, got a run in format 3. Make it again, or use the version"),
        (lambda m: {k: v for k, v in m.items() if k != "kind"} | {"format": 1}, "got an older format in format 1"),
        (lambda m: {**m, "kind": "a training"}, "expected the manifest of a run in format 2, got a training"),
        (lambda m: {k: v for k, v in m.items() if k != "seed"}, "expected the field 'seed', got none"),
        (lambda m: {**m, "seed": True}, "seed: expected a whole number, got True"),
        (lambda m: {**m, "more": 1}, "got 'more' too"),
        (lambda m: {**m, "policies": {}}, "policies: expected a list, got {}"),
        (lambda m: {**m, "policies": [3]}, "policies[0]: expected an object, got 3"),
        (lambda m: {**m, "environment": {**m["environment"], "max_turns": "10"}}, "max_turns: expected a whole number"),
    ],
)
def test_another_format_is_refused_in_a_sentence(
    saved: Path, tmp_path: Path, change: Callable[[Any], Any], problem: str
) -> None:
    path = tmp_path / "manifest.json"
    path.write_text(json.dumps(change(json.loads((saved / "manifest.json").read_text()))))
    (tmp_path / "episodes.jsonl").write_bytes((saved / "episodes.jsonl").read_bytes())
    with pytest.raises(StorageError) as refused:
        compare_runs([tmp_path])
    assert problem in str(refused.value)
    assert str(path) in str(refused.value)
    with pytest.raises(StorageError):
        collect_episodes(load_policy("oracle"), scenario_ids=IDS, out=tmp_path, resume=True)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=())),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=4,
)


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_whatever_a_manifest_holds_is_read_or_refused(saved: Path, data: st.DataObject) -> None:
    value = copy.deepcopy(json.loads((saved / "manifest.json").read_text()))
    place = value
    while True:
        key = data.draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
        inner = place[key]
        if not isinstance(inner, dict | list) or not inner or data.draw(st.booleans()):
            break
        place = inner
    place[key] = data.draw(JSON)
    manifest, refused = None, "Reading here"
    try:
        manifest = RunManifest.from_json(value, "here")
    except StorageError as error:
        refused = str(error)
    assert refused.startswith("Reading here")
    if manifest is not None:
        assert _typed(manifest)
        json.dumps(manifest.to_json())


def _typed(value: Any) -> bool:
    if is_dataclass(value):
        return all(_typed(getattr(value, field.name)) for field in fields(value))
    return value is None or isinstance(value, str | int | float | tuple | dict | list)


class Kind:
    """A judge of one's own that is described from outside."""

    name = "kind"

    def __init__(self, answer: bool = True, api_base: str | None = None) -> None:
        self.answer = answer

    def judge(self, request: JudgeRequest) -> tuple[Verdict, ...]:
        return (Verdict(satisfied=self.answer),) * len(request.pending)


def test_the_arguments_of_a_judge_of_ones_own_count_and_its_host_does_not(tmp_path: Path) -> None:
    made = {"scenario_ids": IDS, "out": tmp_path / "run"}
    judge = "tests.rollout.test_manifest:Kind"
    collect_episodes(load_policy("naive"), env_kwargs={"judge": judge, "judge_kwargs": {"api_base": "a"}}, **made)
    collect_episodes(
        load_policy("naive"), env_kwargs={"judge": judge, "judge_kwargs": {"api_base": "b"}}, **made, resume=True
    )
    with pytest.raises(ManifestMismatchError, match="environment.judge.settings.answer: None there, False here"):
        collect_episodes(
            load_policy("naive"), env_kwargs={"judge": judge, "judge_kwargs": {"answer": False}}, **made, resume=True
        )
