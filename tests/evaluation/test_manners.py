"""Comparing under users of several manners."""

import json
from pathlib import Path

import pytest

from tests.commands import command


def test_a_comparison_under_several_manners(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "run"
    options = ["--repeats", 1, "--split", "test", "--out", out]
    assert command("compare", "naive", "ask-one", *options, "--manner", "open", "--manner", "impatient") == 0
    shown = capsys.readouterr().out
    assert "Mean return by the user's manner" in shown
    saved = json.loads((out / "manners.json").read_text(encoding="utf-8"))
    returns = {policy: {m: row["value"] for m, row in by.items()} for policy, by in saved["returns"].items()}
    assert returns["naive"] == {"open": 0.0, "impatient": 0.0}
    assert returns["ask-one"]["open"] >= returns["ask-one"]["impatient"]
    assert saved["left"]["open"] == 0
    assert saved["left"]["impatient"] >= 60  # naive is left in every conversation
    page = (out / "manners.html").read_text(encoding="utf-8")
    assert 'href="impatient/report.html"' in page
    for manner in ("open", "impatient"):
        assert (out / manner / "report.html").is_file()
        manifest = json.loads((out / manner / "manifest.json").read_text(encoding="utf-8"))
        assert manifest["environment"]["user_simulator"]["settings"]["manner"] == manner
    assert (
        command("compare", "naive", "ask-one", *options, "--manner", "open", "--manner", "impatient", "--resume") == 0
    )


def test_one_manner_is_a_plain_run(tmp_path: Path) -> None:
    out = tmp_path / "run"
    assert command("compare", "naive", "--repeats", 1, "--split", "test", "--out", out, "--manner", "guarded") == 0
    assert (out / "report.html").is_file()
    assert not (out / "manners.json").exists()


def test_a_model_has_no_manner(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        command("compare", "naive", "--user", "tests.doubles:Unknown", "--manner", "open", "--out", tmp_path / "r") == 2
    )
    assert "Traceback" not in capsys.readouterr().err
