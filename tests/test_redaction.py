"""No secret leaves the program: all files of a run, and all that is printed, are searched for each of them."""

import base64
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from elicit_gym.redaction import redact, redact_message, remember_secret, without_secrets
from elicit_gym.scenarios.load import BUNDLED
from elicit_gym.strict_json import json_text
from tests.fault_server import FaultServer, default_answer

ENV = "elicit_gym/InfoQuestLLM-v0"
SECRETS = {
    "key": 'zq7-Kdd.93ab"x<&',  # it looks like no key, and JSON and HTML write it otherwise
    "password": "hunter2-in-url",
    "query": "querySecret99",
    "header": "headerSecret77",
    "env": "envSecret5512345",
}


def leaks(text: str) -> list[str]:
    """Return the secrets that stand in a text, in any of the forms in which it may be written."""
    found = []
    for name, secret in SECRETS.items():
        forms = {
            secret,
            json.dumps(secret)[1:-1],
            secret.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&#34;"),
        }
        forms.add(base64.b64encode(f"me:{secret}".encode()).decode())
        found += [name for form in forms if form in text]
    return found


OWN_USER = """
from elicit_gym.user_simulators.llm import LLMUserSimulator


class WithHeaders(LLMUserSimulator):
    def __init__(self, model="openai/tiny", **kwargs):
        super().__init__(model, **kwargs, extra={"extra_headers": {"X-Api-Key": "headerSecret77"}})
"""


@pytest.mark.parametrize("transport", ["http", "litellm"])
@pytest.mark.parametrize("fault", ["none", "echo-400", "echo-401", "echo-500", "dead"])
def test_no_file_and_no_line_of_a_run_holds_a_secret(fault: str, transport: str, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(OWN_USER)

    def tell(messages: list[dict[str, str]]) -> str:
        return f"{default_answer(messages)} Is it {SECRETS['key']} {SECRETS['env']}?" if fault == "none" else "Yes"

    with FaultServer(tell, rate=0.0 if fault in ("none", "dead") else 0.4, faults=[fault], seed=2) as server:
        host = server.api_base if fault != "dead" else server.api_base.replace(f":{server.port}", ":9")
        bases = {
            "policy": host,
            "user": host.replace("http://", f"http://me:{SECRETS['password']}@"),
            "judge": host + (f"?token={SECRETS['query']}" if transport == "http" else ""),
        }
        name = "openai/tiny" if transport == "litellm" else "tiny"
        rows = BUNDLED.read_text(encoding="utf-8").splitlines()[:4]
        (tmp_path / "four.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")
        words = ["compare", "--env", ENV, "--scenarios", "four.jsonl", "--repeats", "1", "--max-turns", "2",
                 "--concurrency", "2", "--user", "mine:WithHeaders", "--cache", "c.sqlite", "--out", "run"]  # fmt: skip
        for seat, base in bases.items():
            words += [f"--{seat}-model", name, f"--{seat}-api-base", base, f"--{seat}-transport", transport]
            words += [f"--{seat}-api-key-env", "ODDLY_NAMED"] if seat != "user" else []
        clean = {k: v for k, v in os.environ.items() if "API_KEY" not in k}
        env = {**clean, "ODDLY_NAMED": SECRETS["key"], "OTHER_SERVICE_TOKEN": SECRETS["env"], "COLUMNS": "250"}
        done = subprocess.run(
            [sys.executable, "-m", "elicit_gym.cli", *words],
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
            env=env,
        )
        if fault != "dead":
            assert any(SECRETS["key"] in str(headers) for headers in server.headers)  # it was sent where it belongs
            told = any(SECRETS["header"] in str(headers) for headers in server.headers)
            assert told or fault != "none"  # a refusal may end every conversation before the user speaks
    assert "Traceback" not in done.stderr, done.stderr
    assert leaks(done.stdout + done.stderr) == []
    (tmp_path / "mine.py").unlink()
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    if fault == "none":
        assert done.returncode == 0, done.stderr
        assert {"report.html", "episodes.jsonl", "manifest.json", "run.yaml"} <= {path.name for path in written}
        assert "[key]" in (tmp_path / "run" / "episodes.jsonl").read_text()
    for path in written:
        assert leaks(path.read_bytes().decode("utf-8", "replace")) == [], path


def test_the_search_finds_a_leak() -> None:
    page = "<a>zq7-Kdd.93ab&#34;x&lt;&amp;</a>" + base64.b64encode(b"me:hunter2-in-url").decode()
    assert leaks(page) == ["key", "password"]
    assert leaks(json.dumps(SECRETS)) == list(SECRETS)


def test_a_number_stays_a_number_and_short_words_stay() -> None:
    remember_secret("90817263")
    remember_secret("abc")
    assert json_text({"tokens": 90817263, "key": "it is 90817263", "word": "abc"}) == (
        '{"tokens": 90817263, "key": "it is [key]", "word": "abc"}'
    )


def test_messages_lose_what_looks_like_a_key_and_texts_do_not() -> None:
    assert (
        redact_message("wrong key sk-abcdefghijk at http://me:pw@host/v1?key=1x") == "wrong key [key] at http://host/v1"
    )
    text = "Try key-lime-pie-recipe at https://example.org/a?b=c"
    assert redact(text) == text
    assert without_secrets({"extra": {"extra_headers": {"A": "b"}}, "n": 1, "max_tokens": 5, "l": ["http://a:b@c"]}) == {
        "extra": {"extra_headers": "[secret]"}, "n": 1, "max_tokens": 5, "l": ["http://c"],
    }  # fmt: skip
