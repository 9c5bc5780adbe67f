"""`train` and `evaluate-yield`, from a base model to a merged one, as a user types them."""

import json
from pathlib import Path

import pytest
import torch
from transformers import AutoModelForCausalLM

from elicit_gym.agents.policy_folder import save_policy
from tests.agents.tiny_model import tiny_model, tiny_tokenizer
from tests.commands import command
from tests.minilm import MINILM


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "base"
    tokenizer = tiny_tokenizer()
    save_policy(folder, tiny_model(tokenizer), tokenizer, {"base_model": ""})
    return folder


def test_from_training_to_a_merged_model(base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = ("--reward", "reply_length", "--limit", 6, "--max-window-tokens", 900)
    assert command("train", "awr", base, "--out", tmp_path / "awr", *data, "--policy-lr", 0.01) == 0
    assert command("train", "sft", base, "--out", tmp_path / "sft", *data) == 0
    assert "6 training windows" in capsys.readouterr().out
    assert command("train", "merge", tmp_path / "awr" / "best", "--out", tmp_path / "merged") == 0
    merged = AutoModelForCausalLM.from_pretrained(tmp_path / "merged").state_dict()
    before = AutoModelForCausalLM.from_pretrained(base).state_dict()
    changed = {name.split(".")[-2] for name in before if not torch.equal(before[name], merged[name])}
    assert changed == {"q_proj", "k_proj", "v_proj", "o_proj"}
    capsys.readouterr()
    policies = [tmp_path / "awr" / "best", tmp_path / "merged"]
    assert command(
        "evaluate-yield", *policies, "--limit", 4, "--max-new-tokens", 4, "--encoder", MINILM, "--out", tmp_path / "numbers"
    ) == 0  # fmt: skip
    assert "Table 7" in capsys.readouterr().out
    perplexity = json.loads((tmp_path / "numbers" / "summary.json").read_text())["tables"]["perplexity"]
    adapter, plain = (cells["all"]["value"] for cells in perplexity.values())
    assert adapter == pytest.approx(plain, rel=1e-3)  # merging changes nothing


def test_online_training_from_the_command_line(base: Path, tmp_path: Path) -> None:
    small = ("--max-steps", 1, "--batch-size", 2, "--num-generations", 2, "--max-new-tokens", 3, "--max-turns", 1)
    assert command("train", "grpo", base, "--out", tmp_path / "grpo", *small) == 0
    assert len((tmp_path / "grpo" / "episodes" / "episodes.jsonl").read_text().splitlines()) == 2
    assert command("compare", tmp_path / "grpo" / "best", "--max-turns", 1, "--repeats", 1, "--concurrency", 40,
                   "--policy-max-tokens", 2, "--out", tmp_path / "run") == 0  # fmt: skip
    assert (tmp_path / "run" / "report.html").is_file()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("train", "awr", "BASE", "--out", "OUT", "--value-input", "future"),
            "'future' is not one of 'history_action', 'history'",
        ),
        (("train", "awr", "nowhere/at/all", "--out", "OUT"), "expected a hub id or a folder"),
        (("train", "sft", "BASE", "--out", "OUT", "--reward", "no_such"), "no_such"),
        (("train", "merge", "OUT", "--out", "OUT2"), "OUT"),
        (
            ("train", "awr", "BASE", "--out", "OUT", "--reward", "reply_length", "--gradient-checkpointing", "a"),
            "selective",
        ),
        (("train", "grpo", "BASE", "--out", "OUT", "--temperature", "0"), "expected temperature above 0"),
        (("train", "grpo", "BASE", "--out", "OUT", "--batch-size", "3"), "multiple of num_generations"),
        (("evaluate-yield", "no-such-policy"), "Unknown policy"),
        (("evaluate-yield", "naive", "--progression-decay", "2"), "expected --progression-decay above 0"),
        (("evaluate-yield", "naive", "--resume"), "Name it with --out"),
    ],
)
def test_mistakes_are_one_line(
    arguments: tuple[str, ...], message: str, base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    places = {"BASE": str(base), "OUT": str(tmp_path / "OUT"), "OUT2": str(tmp_path / "OUT2")}
    assert command(*(places.get(argument, argument) for argument in arguments)) != 0
    error = capsys.readouterr().err
    assert message in " ".join(error.split())
    assert "Traceback" not in error
