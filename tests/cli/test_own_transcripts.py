"""From folders of transcripts to a trained policy and its numbers, as a user types it."""

import json
import shutil
from pathlib import Path

import pytest

from elicit_gym.agents.policy_folder import save_policy
from elicit_gym.offline import OfflineDataset
from elicit_gym.offline.splits import MissingSplitsWarning
from tests.agents.tiny_model import tiny_model, tiny_tokenizer
from tests.commands import command

TOWNS = ("Kalmar", "Visby", "Luleå", "Falun", "Växjö", "Ystad")


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "base"
    tokenizer = tiny_tokenizer()
    save_policy(folder, tiny_model(tokenizer), tokenizer, {"base_model": ""})
    return folder


def write_talks(folder: Path, name: str, num_questions: int = 8) -> None:
    """Write one text and one subtitle file per town."""
    folder.mkdir()
    for i, town in enumerate(TOWNS):
        lines = []
        for number in range(num_questions):
            lines.append(("Interviewer", f"What came after year {number} in {town}?"))
            lines.append(
                ("Respondent", f"In 19{number}{i} my uncle {town}-{number} had a boat, and {number} of us sailed.")
            )
        if i % 2:
            text = "\n".join(f"{who}: {said}" for who, said in lines)
            (folder / f"{name}-{i}.txt").write_text(text + "\n", encoding="utf-8")
        else:
            cues = [
                f"00:{number:02}:00.000 --> 00:{number:02}:30.000\n<v {who}>{said}</v>"
                for number, (who, said) in enumerate(lines)
            ]
            (folder / f"{name}-{i}.vtt").write_text("WEBVTT\n\n" + "\n\n".join(cues) + "\n", encoding="utf-8")


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("talks")
    write_talks(folder / "spring", "spring")
    write_talks(folder / "autumn", "autumn")
    assert command("data", "import", folder / "spring", folder / "autumn", "--out", folder / "mine.jsonl") == 0
    assert command("data", "validate", folder / "mine.jsonl") == 0
    return folder


@pytest.fixture
def talks(imported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(imported, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


REWARD = ("--reward", "new_content_words")


def test_the_whole_way(talks: Path, base: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = ("mine", "--path", "mine.jsonl", *REWARD)
    assert command("data", "build", *own, "--split", "50/25/25", "--split-seed", 3, "--out", "mine.arrow") == 0
    assert "12 episodes (" in capsys.readouterr().out
    parts = {name: len(part) for name, part in OfflineDataset.open("mine.arrow").split().items()}
    assert parts == {"train": 6, "dev": 3, "test": 3}
    made = json.loads(Path("mine.arrow.json").read_text())
    assert (made["split"], made["split_seed"], made["splits"]) == ("50/25/25", 3, parts)
    assert command("data", "stats", *own) == 0
    printed = capsys.readouterr().out
    assert "Table 4" in printed
    assert "Table 5" in printed
    small = ("--data", "mine.arrow", "--limit", 6, "--max-window-tokens", 900)
    assert command("train", "awr", base, "--out", "awr", *small, "--max-steps", 2) == 0
    assert "6 training windows, 6 for choosing the best checkpoint." in capsys.readouterr().out
    assert command(
        "evaluate-yield", "awr/best", "naive", *small, "--metric", "perplexity", "--metric", "response_length",
        "--max-new-tokens", 4, "--out", "numbers",
    ) == 0  # fmt: skip
    tables = json.loads(Path("numbers/summary.json").read_text())["tables"]
    assert set(tables) == {"perplexity", "response_length"}
    assert set(tables["response_length"]) == {"real", "awr", "naive"}
    assert tables["perplexity"]["awr"]["all"]["value"] > 1
    assert command("compare", "awr/best", "--max-turns", 1, "--policy-max-tokens", 2, "--scenarios", "bundled", "--split",
                   "test", "--repeats", 1, "--out", "run") == 0  # fmt: skip
    assert Path("run/report.html").is_file()


def test_without_a_choice_the_splits_are_made_and_told(
    talks: Path, base: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = "the 12 dialogues have no splits, so that they were split 80/10/10.*10 train, 1 dev, 1 test"
    with pytest.warns(MissingSplitsWarning, match=told):
        assert command("data", "build", "mine", "--path", "mine.jsonl", *REWARD, "--out", "mine.arrow") == 0
    parts = {name: [e.id for e in part] for name, part in OfflineDataset.open("mine.arrow").split().items()}
    assert {name: len(part) for name, part in parts.items()} == {"train": 10, "dev": 1, "test": 1}
    # The same dialogues where the transcripts are used without being built: by name and path, or as a file.
    for data in (("--data", "mine", "--path", "mine.jsonl"), ("--data", "mine.jsonl")):
        with pytest.warns(MissingSplitsWarning, match=told):
            assert (
                command("evaluate-yield", "naive", *data, "--metric", "response_length", "--out", f"by-{len(data)}")
                == 0
            )
        samples = Path(f"by-{len(data)}/samples.jsonl").read_text(encoding="utf-8").splitlines()
        assert {json.loads(line)["block_id"].rsplit(":", 1)[0] for line in samples} == set(parts["test"])


def test_exports_work_as_stats_and_build_do(talks: Path) -> None:
    assert command("data", "export", "mine", "--path", "mine.jsonl", *REWARD, "--out", "by-path.jsonl") == 0
    assert (
        command("data", "build", "mine", "--path", "mine.jsonl", *REWARD, "--split", "80/10/10", "--out", "m.arrow")
        == 0
    )
    assert command("data", "export", "m.arrow", "--out", "built.jsonl") == 0
    assert Path("by-path.jsonl").read_bytes() == Path("built.jsonl").read_bytes()
    assert Path("built.jsonl").read_bytes()


def test_splits_count_by_dialogue_in_every_domain(talks: Path) -> None:
    assert command("data", "import", "spring", "--as-domain", "spring talks", "--out", "one.jsonl") == 0
    assert command("data", "import", "autumn", "--as-domain", "autumn talks", "--out", "other.jsonl") == 0
    Path("both").mkdir()
    for name in ("one.jsonl", "other.jsonl"):
        Path(name).rename(Path("both") / name)
    assert command("data", "build", "both", "--path", "both", *REWARD, "--split", "80/10/10", "--out", "b.arrow") == 0
    dataset = OfflineDataset.open("b.arrow")
    for domain in ("spring talks", "autumn talks"):
        parts = dataset.filter(domain=domain).split()
        assert {name: len(part) for name, part in parts.items()} == {"train": 4, "dev": 1, "test": 1}
    assert (
        command("data", "build", "both", "--path", "both", *REWARD, "--split", "80/10/10", "--out", "again.arrow") == 0
    )
    assert [(e.id, e.split) for e in OfflineDataset.open("again.arrow")] == [(e.id, e.split) for e in dataset]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("data", "build", "m", "--path", "mine.jsonl", "--split", "80/10", "--out", "x.arrow"), "three percentages"),
        (("data", "build", "m", "--path", "mine.jsonl", "--out", "mine.jsonl"), "another file than the input"),
        (("data", "build", "m", "--path", ".", "--out", "mine.jsonl"), "another file than the input"),
        (("data", "export", "m", "--path", "mine.jsonl", "--out", "mine.jsonl"), "another file than the input"),
        (("data", "stats", "m", "--path", "mine.jsonl", "--json", "mine.jsonl"), "another file than the input"),
        (("data", "stats", "m", "--path", "mine.jsonl", "--plot", "p.xyz"), "expected a name that ends in .png, .svg"),
        (("data", "import", "spring", "--out", "spring/spring-1.txt"), "another file than the input"),
        (("data", "build", "m", "--path", "mine.jsonl", "--out", "taken"), "expected no file, or that of an earlier"),
        (("data", "validate", "twice"), "'dialogue_id' must be unique"),
        (("data", "stats", "m", "--path", "twice"), "'dialogue_id' must be unique"),
        (("data", "export", "m", "--path", "mine.jsonl", "--tokenizer", "nowhere", "--out", "x"), "the tokenizer 'nowhere'"),
        (("evaluate-yield", "naive", "--data", "n.arrow", "--metric", "perplexity"), "Unknown dataset"),
        (("evaluate-yield", "naive", "--metric", "bleu"), "Unknown metric 'bleu'"),
        (("evaluate-yield", "naive", "--encoder", "nowhere/at/all"), "Loading the embedding model 'nowhere/at/all'"),
    ],
)  # fmt: skip
def test_mistakes_end_before_the_work_and_touch_nothing(
    arguments: tuple[str, ...],
    problem: str,
    talks: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    (talks / "taken.json").write_text('{"my": "notes"}')
    (talks / "twice").mkdir()
    for name in ("a.jsonl", "b.jsonl"):
        (talks / "twice" / name).write_bytes((talks / "mine.jsonl").read_bytes())
    before = {path: path.read_bytes() for path in talks.rglob("*") if path.is_file()}
    capsys.readouterr()
    assert command(*arguments) in (1, 2)
    printed = capsys.readouterr()
    assert problem in " ".join((printed.err + printed.out).split())
    assert "Traceback" not in printed.err
    assert {path: path.read_bytes() for path in talks.rglob("*") if path.is_file()} == before


def test_data_without_the_split_say_so(talks: Path, base: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        command("data", "build", "mine", "--path", "mine.jsonl", *REWARD, "--split", "100/0/0", "--out", "m.arrow") == 0
    )
    assert command("evaluate-yield", "naive", "--data", "m.arrow", "--metric", "response_length") == 2
    assert "no dialogue there with an action" in capsys.readouterr().err
    assert command("train", "sft", base, "--data", "m.arrow", "--max-window-tokens", 20, "--out", "sft") == 2
    assert "too long" in capsys.readouterr().err
