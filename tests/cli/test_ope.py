"""`elicit-gym data ope`."""

import json
from pathlib import Path

import pytest

from elicit_gym.agents.baselines import AskOne, RandomQuestions
from elicit_gym.offline import OfflineDataset
from elicit_gym.offline.log_probs import with_log_probs
from elicit_gym.rollout.collect import collect_policies
from tests.commands import command

SOFTMAX = "elicit_gym.agents.baselines:SoftmaxQuestions"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "run"
    collect_policies([RandomQuestions(), AskOne()], env_kwargs={"split": "test"}, out=out)
    return out


def test_a_run_and_a_file_with_the_column_say_the_same(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    by_run, by_file = tmp_path / "run.json", tmp_path / "file.json"
    assert command("data", "ope", SOFTMAX, "--data", run, "--behaviour", "random", "--fitted-q", "--json", by_run) == 0
    shown = capsys.readouterr().out
    for said in ("softmax from dialogues of random", "weighted doubly robust", "Effective sample size", "fitted Q"):
        assert said in shown
    from elicit_gym.rollout.storage import load_run

    records = [record for record in load_run(run)[0] if record.policy == "random"]
    dataset = with_log_probs(OfflineDataset.from_records(records), RandomQuestions())
    dataset.save(tmp_path / "d.arrow")
    assert command("data", "ope", SOFTMAX, "--data", tmp_path / "d.arrow", "--fitted-q", "--json", by_file) == 0
    first, second = (json.loads(path.read_text(encoding="utf-8")) for path in (by_run, by_file))
    assert first.pop("behaviour") == "random"
    assert second.pop("behaviour") is None
    assert first == second
    assert set(first["estimates"]) == {
        "ordinary", "weighted", "clipped", "fitted", "doubly_robust", "weighted_doubly_robust",
    }  # fmt: skip
    assert first["num_episodes"] == len(records)


def test_weights_that_rest_on_a_handful_are_said(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command("data", "ope", "random", "--data", run, "--behaviour", "random") == 0
    assert "Fewer than" not in capsys.readouterr().out
    assert command("data", "ope", f"{__name__}:steep", "--data", run, "--behaviour", "random") == 0
    assert "Fewer than 10 effective dialogues" in " ".join(capsys.readouterr().out.split())


def steep() -> object:
    from elicit_gym.agents.baselines import SoftmaxQuestions

    return SoftmaxQuestions(2.0, 5.0)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["random", "--data", "RUN"], "expected one policy, got ask-one, random. Name the one that acted"),
        (["random", "--data", "RUN", "--behaviour", SOFTMAX], "expected episodes of 'softmax', got ask-one, random"),
        (["naive", "--data", "RUN", "--behaviour", "random"], "a policy that knows the probabilities of its actions"),
        (["random", "--data", "sample/all-v1", "--reward", "reply_length"], "(--behaviour), or add the column"),
        (
            ["random", "--data", "RUN", "--behaviour", "random", "--fitted-q", "--value-head", "x"],
            "expected one critic",
        ),
        (["random", "--data", "RUN", "--behaviour", "random", "--value-head", "nowhere"], "value_head.safetensors"),
    ],
)
def test_what_it_refuses(run: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str) -> None:
    assert command("data", "ope", *[str(run) if a == "RUN" else a for a in arguments]) == 2
    assert said in " ".join(capsys.readouterr().err.split())
