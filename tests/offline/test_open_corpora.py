"""Two open corpora, on stand-ins of our own writing in the format of the released files."""

import csv
import io
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from elicit_gym.errors import StorageError
from elicit_gym.offline import load_corpus, load_dataset
from elicit_gym.offline.licences import COMMERCIAL, licence_of
from elicit_gym.offline.load_corpus import CorpusError
from elicit_gym.offline.open_corpora import OPEN_CORPORA, fetch_open_corpus, read_open_corpus

INTERVIEW = (
    "Assistant: Hi! Thanks for coming.\n\nWhat do you do for a living?\n\n"
    'User: I bind books, mostly. "Slow" work: three a week.\nAI: Do you use any AI: for accounts, say?\n'
    "User: For letters.\n\nNote: not for the binding.\nAI: Thank you, that is all.\n"
)
VISIT = (
    "[doctor] good morning , ms. holt . what brings you in ?\n[patient] my wrist hurts .\n[patient_guest] she fell .\n"
    "[doctor] when did you fall ?\nand how ?\n[patient] on tuesday , off a ladder .\n[guest_clinician] any numbness ?"
)


def _write(path: Path, rows: list[dict[str, str]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


@pytest.fixture
def interviewer(tmp_path: Path) -> Path:
    for who, name, count in (("workforce", "work", 8), ("creatives", "creativity", 2), ("scientists", "science", 2)):
        rows = [{"transcript_id": f"{name}_{i:04d}", "text": INTERVIEW} for i in range(count)]
        _write(tmp_path / "interview_transcripts" / f"{who}_transcripts.csv", rows)
    return tmp_path


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    files = ("train", "valid", "clinicalnlp_taskB_test1", "clinicalnlp_taskC_test2", "clef_taskC_test3")
    for number, stem in enumerate(files):
        row = {
            "dataset": "virtscribe",
            "encounter_id": f"D2N{number:03d}",
            "dialogue": VISIT,
            "note": "PLAN\n\nA splint.",
        }
        _write(tmp_path / f"{stem}.csv", [row])
        _write(
            tmp_path / f"{stem}_metadata.csv",
            [{"dataset": "virtscribe", "encounter_id": row["encounter_id"], "cc": "wrist"}],
        )
    return tmp_path


def test_interviews(interviewer: Path) -> None:
    corpus = load_corpus("anthropic_interviewer", path=interviewer)
    assert Counter(d.collection for d in corpus) == {"workforce": 8, "creatives": 2, "scientists": 2}
    dialogue = next(d for d in corpus if d.dialogue_id == "work_0000")
    assert [(t.role, t.speaker, t.utterance) for t in dialogue.turns] == [
        ("elicitor", "Assistant", "Hi! Thanks for coming.\n\nWhat do you do for a living?"),
        ("respondent", "User", 'I bind books, mostly. "Slow" work: three a week.'),
        ("elicitor", "AI", "Do you use any AI: for accounts, say?"),
        ("respondent", "User", "For letters.\n\nNote: not for the binding."),
        ("elicitor", "AI", "Thank you, that is all."),
    ]
    assert (dialogue.elicitors, dialogue.respondents) == (("Assistant", "AI"), ("User",))
    assert {d.split for d in corpus} == {"train", "dev", "test"}


def test_visits(visits: Path) -> None:
    corpus = load_corpus("aci_bench", path=visits)
    assert Counter(d.split for d in corpus) == {"train": 1, "dev": 1, "test": 3}
    assert [(t.role, t.speaker) for t in corpus[0].turns] == [
        ("elicitor", "doctor"), ("respondent", "patient"), ("respondent", "patient_guest"), ("elicitor", "doctor"),
        ("respondent", "patient"), ("elicitor", "guest_clinician"),
    ]  # fmt: skip
    assert corpus[0].turns[3].utterance == "when did you fall ?\nand how ?"
    assert corpus[0].metadata["note"] == "PLAN\n\nA splint."
    assert len(load_corpus("aci_bench", "test", path=visits / "clef_taskC_test3.csv")) == 1


@pytest.mark.parametrize("name", sorted(OPEN_CORPORA))
def test_no_character_is_lost_and_licence_and_citation_come_along(name: str, interviewer: Path, visits: Path) -> None:
    text = INTERVIEW if name == "anthropic_interviewer" else VISIT
    for dialogue in read_open_corpus(name, interviewer):
        said = "".join(turn.speaker + turn.utterance for turn in dialogue.turns)
        kept, raw = (Counter("".join(part.split())) for part in (said, text))
        assert raw - kept == (
            Counter({":": len(dialogue.turns)}) if name == "anthropic_interviewer" else Counter({"[": 6, "]": 6})
        )
        assert not kept - raw
        assert licence_of(dialogue) == "CC BY 4.0"
        assert licence_of(dialogue) in COMMERCIAL
        assert dialogue.metadata["citation"] == OPEN_CORPORA[name].citation


def test_as_datasets(interviewer: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (interviewer / "interview_transcripts").rename(interviewer / "anthropic_interviewer")
    monkeypatch.setenv("ELICIT_GYM_DATA", str(interviewer))
    dataset = load_dataset("anthropic_interviewer/all-v1", reward="reply_length")
    assert len(dataset) == 12
    assert {len(episode) for episode in dataset} == {3}
    assert len(load_dataset("anthropic_interviewer/all-v1", split="train", reward="reply_length")) < 12


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("transcript_id,text\nwork_0000,Just some prose.\n", "begins with a speaker's label, got 'Just some prose.'"),
        ('transcript_id,text\nwork_0000,"Notes first.\nUser: Hi."\n', "a speaker's label, got 'Notes first.'"),
        ("id,body\n1,User: Hi.\n", "row 1: expected the columns transcript_id, text, got id, body"),
        ('transcript_id,text\nwork_0000,"User: Hi.\n', "expected a CSV file, got unexpected end of data"),
        ("transcript_id,text\nwork_0000,User: Hi.,more\n", "row 1: expected the columns"),
    ],
)
def test_files_that_are_not_as_released(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "workforce_transcripts.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(CorpusError, match=said):
        load_corpus("anthropic_interviewer", path=path)


def test_no_files(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"from .*: expected train.csv, .*, got none of them"):
        read_open_corpus("aci_bench", tmp_path)


def test_pinned_revisions_are_what_is_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import huggingface_hub

    from elicit_gym.offline import open_corpora

    asked: list[Any] = []

    def snapshot(repository: str, **settings: Any) -> str:
        asked.append((repository, settings["revision"]))
        return str(tmp_path)

    def answer(url: str, timeout: float) -> io.BytesIO:
        asked.append(url)
        return io.BytesIO(b"dataset,encounter_id,dialogue\naci,D2N000,[doctor] hello\n")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot)
    monkeypatch.setattr(open_corpora, "urlopen", answer)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    fetch_open_corpus("anthropic_interviewer")
    assert asked == [("Anthropic/AnthropicInterviewer", "c9e1ec1e6b093712b9c42235c7303ece647490e9")]
    folder = fetch_open_corpus("aci_bench")
    assert len(asked) == 6
    assert all("/293e454917c562361409232f65e9d870a45af026/data/aci-bench/challenge_data/" in url for url in asked[1:])
    assert len(read_open_corpus("aci_bench", folder)) == 5
    fetch_open_corpus("aci_bench")
    assert len(asked) == 6  # they are kept


@pytest.mark.parametrize("name", sorted(OPEN_CORPORA))
def test_an_unreachable_network_is_one_sentence(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import huggingface_hub

    from elicit_gym.offline import open_corpora

    def refuse(*_: object, **__: object) -> None:
        raise ConnectionError("no network")

    monkeypatch.delenv("ELICIT_GYM_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(huggingface_hub, "snapshot_download", refuse)
    monkeypatch.setattr(open_corpora, "urlopen", refuse)
    with pytest.raises(CorpusError, match=r"got ConnectionError. Check the network, or give path="):
        load_corpus(name)
