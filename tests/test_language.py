"""Docstrings, messages, pages and README keep to a few words that are easily got wrong."""

import re
import subprocess

import pytest

from tests.conftest import ROOT

COUNTED = (
    "calls|colour|conversations|episodes|examples|facts|file|folder|messages|microseconds|milliseconds|ms|observations|"
    "once|one|questions|request|requests|rollouts|row|rows|seconds|steps|summary|table|task|tasks|tokens|turns|verdict|"
    "verdicts|windows|words"
)
UNIT = (
    "action|actor|agent|batch|call|conversation|day|dialogue|domain|episode|hour|item|line|message|metric|minute|page|"
    "pair|policy|process|prompt|row|scenario|seat|second|segment|source|step|task|token|turn|unit|update|utterance|"
    "window|worker"
)
RULES = {
    "'per' is the distributive word: examples per step": rf"\b(?:{COUNTED})\s+an?\s+(?:{UNIT})\b",
    "an argument is invalid, and not off": r"\b(?:argument|file|option|seed|setting|value)s?\s+(?:is|are)\s+off\b",
    "something is not an utterance, and not no utterance": (
        r"(?<!there )\b(?:is|are) no\s+(?!(?:longer|more|such|one)\b)[a-z]+(?=[.,;:)])"
    ),
}


def _texts() -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.py", "*.md", "*.j2"],
        capture_output=True, text=True, check=True, cwd=ROOT,
    ).stdout.split()  # fmt: skip
    return [name for name in listed if not name.startswith("tests/") and (ROOT / name).is_file()]


@pytest.mark.parametrize("rule", list(RULES))
def test_words_that_a_native_engineer_would_write(rule: str) -> None:
    found = [
        f"{name}: {' '.join(match.group().split())}"
        for name in _texts()
        for match in re.finditer(RULES[rule], (ROOT / name).read_text(encoding="utf-8"))
    ]
    assert found == []
