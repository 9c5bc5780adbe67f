"""Options in a file, and the file in which a run's folder keeps them."""

from pathlib import Path

import pytest
import yaml

from tests.attacks import run_commands
from tests.commands import command
from tests.fault_server import FaultServer

ENV = "elicit_gym/InfoQuestLLM-v0"


def test_a_run_keeps_its_options_and_is_made_again_from_them(tmp_path: Path) -> None:
    with FaultServer() as server:
        options = {
            "policies": ["ask-one", f"cold=http:tiny,temperature=0,api-base={server.api_base}"],
            "env": ENV,
            "split": "test",
            "repeats": 1,
            "max_turns": 1,
            "user-model": "tiny",
            "user-transport": "http",
            "user-api-base": server.api_base,
            "judge-model": "tiny",
            "judge-transport": "http",
            "judge-api-base": server.api_base,
            "judge-max-tokens": 300,
            "price": ["tiny=1/2"],
            "budget-usd": 50.0,
            "seed": 3,
        }
        (tmp_path / "run.yaml").write_text(yaml.safe_dump(options))
        file = ("--config", tmp_path / "run.yaml")
        assert command("compare", *file, "--seed", 4, "--concurrency", 8, "--out", tmp_path / "one") == 0
        kept = yaml.safe_load((tmp_path / "one" / "run.yaml").read_text())
        wanted = {name.replace("_", "-"): value for name, value in options.items()}
        assert kept == {**wanted, "seed": 4, "concurrency": 8}
        assert 300 in {body.get("max_tokens") for body in server.bodies}
        assert command("compare", "--config", tmp_path / "one" / "run.yaml", "--out", tmp_path / "two") == 0
    for name in ("one", "two"):
        assert len((tmp_path / name / "episodes.jsonl").read_text().splitlines()) == 120
    lines = [sorted((tmp_path / name / "episodes.jsonl").read_text().splitlines()) for name in ("one", "two")]
    assert lines[0] == lines[1]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("judje-model: x", "expected options of this command, got 'judje-model'"),
        ("config: x", "expected options of this command, got 'config'"),
        ("- naive", "expected a mapping from options to values, got list"),
        ("a: [", "expected a YAML file, got"),
        ("seed: [1, 2]", "expected one value for 'seed', got list"),
        ("seed: {a: 1}", "expected one value for 'seed', got dict"),
        ("repeats: many", "Invalid value for '--repeats'"),
        ("cache-mode: often", "'--cache-mode'"),
        ("!!python/object/apply:os.system [ls]", "expected a YAML file, got"),
    ],
)
def test_a_mistake_in_the_file_is_one_message(
    text: str, problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "run.yaml").write_text(text)
    assert command("compare", "--config", tmp_path / "run.yaml", "--out", tmp_path / "run") == 2
    error = " ".join(capsys.readouterr().err.split())
    assert problem in error
    assert "Traceback" not in error
    assert not (tmp_path / "run").exists()


def test_a_file_that_is_not_there_is_one_message(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command("compare", "--config", tmp_path / "none.yaml") == 2
    assert "expected a file, got none" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["policies: [evilmod:Evil]", "policies: [name=evilmod:Evil]", "judge: os:abort",
                                  "user: evilmod:Evil", "env: evilmod:evil/Env-v0", "judge-model: python:os:abort",
                                  "user-model: python:os:abort", "judge: !!python/name:os.abort x"])  # fmt: skip
def test_a_file_names_no_code(tmp_path: Path, text: str) -> None:
    """A file may be a stranger's: names with a module come from the command line alone."""
    (tmp_path / "run.yaml").write_text(text)
    done = run_commands([["compare", "--config", "run.yaml", "--split", "test", "--dry-run"]], tmp_path)
    assert "ATTACKED" not in done.stderr
    assert done.stdout.splitlines()[-1] == "[2]", done.stderr
    assert "elicit-gym: Reading the options in run.yaml: expected" in done.stderr
