"""Saved data of a stranger's: whatever they name, nothing is imported, called or opened because it stands there."""

import ast
import json
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from peft import LoraConfig, get_peft_model

from elicit_gym import collect_episodes
from elicit_gym.agents import load_policy
from elicit_gym.agents.policy_folder import save_policy
from elicit_gym.llm.cache import ResponseCache
from elicit_gym.llm.types import ChatResponse
from elicit_gym.offline import load_dataset
from elicit_gym.offline.evaluation.answers import AnswerFile, evaluation_manifest
from tests.agents.tiny_model import tiny_model, tiny_tokenizer
from tests.attacks import SECRET_FILE, TARGETS, hostile, run_commands, run_watched
from tests.conftest import ROOT

IDS = ["00-a", "00-b"]


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("trust") / "run"
    collect_episodes(load_policy("ask-one"), scenario_ids=IDS, out=out)
    return out


def plant(saved: Path, folder: Path, text: str, keep: tuple[str, ...]) -> None:
    """Write a run whose every text is the attacker's."""
    folder.mkdir()
    manifest = json.loads((saved / "manifest.json").read_text())
    planted = hostile(manifest, text, ("kind", *keep))
    # The arguments with which an environment of this kind was once made anew, only to get at its scenarios.
    model = {"model": text, "api_base": text, "prompts": text}
    planted["env_kwargs"] = {
        "scenarios": text, "user_simulator": "llm", "user_simulator_kwargs": model, "judge": text,
        "judge_kwargs": model, "reward": text,
    }  # fmt: skip
    for part in (*planted["policies"], *(planted["environment"][p] for p in ("user_simulator", "judge", "reward"))):
        part["kind"] = text
    (folder / "manifest.json").write_text(json.dumps(planted))
    rows = [json.loads(line) for line in (saved / "episodes.jsonl").read_text().splitlines()]
    for row in rows:
        row["policy"] = row["env_id"] = text
    (folder / "episodes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_the_watch_sees_an_attack(tmp_path: Path) -> None:
    code = f"import evilmod; evilmod.Evil(); open({SECRET_FILE!r}); os.abort()"
    seen = run_watched(code, tmp_path).stderr
    for what in ("import", "code", "call", "open"):
        assert f"ATTACKED {what}" in seen


def test_a_run_folder_runs_nothing(saved: Path, tmp_path: Path) -> None:
    commands = []
    for i, text in enumerate(TARGETS):
        plant(saved, tmp_path / f"run-{i}", text, ())
        plant(saved, tmp_path / f"known-{i}", text, ("sha256",))
        commands += [
            ["report", f"run-{i}", "--out", f"report-{i}"],
            ["rejudge", f"run-{i}"],
            ["rejudge", f"known-{i}", "--scenarios", "bundled", "--out", f"again-{i}"],
            ["compare", "ask-one", "--split", "test", "--resume", "--out", f"run-{i}"],
        ]
    done = run_commands(commands, tmp_path)
    assert "ATTACKED" not in done.stderr
    assert "Traceback" not in done.stderr
    # A report works on what is there; a reward of that name is unknown; resuming compares the manifests as text.
    assert done.stdout.splitlines()[-1] == str([0, 2, 2, 2] * len(TARGETS)), done.stderr


def test_a_run_of_the_format_before_is_refused_and_runs_nothing(saved: Path, tmp_path: Path) -> None:
    commands = []
    for i, text in enumerate(TARGETS):
        folder = tmp_path / f"run-{i}"
        plant(saved, folder, text, ())
        old = {
            "format": 1, "elicit_gym": "0.1.0", "env_id": text, "seed": 0, "repeats": 1, "policies": [text],
            "privileged": [], "prompts": {}, "policy_prompts": {}, "stopped": None, "scenarios": {"count": 1},
            "env_kwargs": {"scenarios": text, "user_simulator_kwargs": {"model": text}, "user_simulator": "llm"},
        }  # fmt: skip
        (folder / "manifest.json").write_text(json.dumps(old))
        commands += [["report", f"run-{i}"], ["rejudge", f"run-{i}", "--scenarios", "bundled"]]
    done = run_commands(commands, tmp_path)
    assert "ATTACKED" not in done.stderr
    assert done.stderr.count("in format 2, got an older format in format 1") == len(commands)


def test_a_policys_folder_runs_nothing(tmp_path: Path) -> None:
    names = []
    for i, text in enumerate(TARGETS):
        folder = tmp_path / f"policy-{i}"
        folder.mkdir()
        config = {"base_model": text, "method": text, "config": {"target": text}}
        (folder / "elicit_gym.json").write_text(json.dumps(config))
        adapter = {
            "peft_type": "LORA", "task_type": None, "base_model_name_or_path": text,
            "auto_mapping": {"base_model_class": "Evil", "parent_library": "evilmod"},
        }  # fmt: skip
        (folder / "adapter_config.json").write_text(json.dumps(adapter))
        names.append(str(folder))
        whole = tmp_path / f"whole-{i}"
        whole.mkdir()
        auto = {"AutoConfig": "evilmod.Evil", "AutoModelForCausalLM": "evilmod.Evil", "AutoTokenizer": "evilmod.Evil"}
        (whole / "elicit_gym.json").write_text(json.dumps(config))
        (whole / "config.json").write_text(
            json.dumps({"model_type": "evil", "auto_map": auto, "architectures": [text]})
        )
        (whole / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": text, "auto_map": auto}))
        (whole / "evilmod.py").write_text("import os; os.write(2, b'ATTACKED code in the folder')")
        names.append(str(whole))
    code = f"""
from elicit_gym.agents import load_policy
from elicit_gym.errors import SettingError
for name in {names!r}:
    try:
        load_policy(name)
    except SettingError:
        print("refused")
"""
    done = run_watched(code, tmp_path)
    assert "ATTACKED" not in done.stderr
    assert done.stdout.splitlines() == ["refused"] * len(names), done.stderr


def test_an_adapters_config_runs_nothing_on_a_base_model_that_is_there(tmp_path: Path) -> None:
    tokenizer = tiny_tokenizer()
    model = tiny_model(tokenizer)
    save_policy(tmp_path / "base", model, tokenizer, {"base_model": ""})
    adapted = get_peft_model(model, LoraConfig(r=2, target_modules=["q_proj"]))
    save_policy(tmp_path / "policy", adapted, tokenizer, {"base_model": str(tmp_path / "base")})
    config = json.loads((tmp_path / "policy" / "adapter_config.json").read_text())
    config["auto_mapping"] = {"base_model_class": "Evil", "parent_library": "evilmod"}
    config["base_model_name_or_path"] = SECRET_FILE
    (tmp_path / "policy" / "adapter_config.json").write_text(json.dumps(config))
    done = run_watched("from elicit_gym.agents import load_policy; print(load_policy('policy').name)", tmp_path)
    assert "ATTACKED" not in done.stderr
    assert done.returncode == 0, done.stderr


MORE_THAN_WEIGHTS: list[dict[str, Any]] = [
    {"megatron_config": {"a": 1}, "megatron_core": "evilmod"},  # which PEFT imports by its name
    {"layer_replication": [[0, 1], [0, 1]]},
    {"peft_type": "PROMPT_TUNING", "tokenizer_name_or_path": "evil/model", "tokenizer_kwargs": {"trust_remote_code": True}},
    {"peft_type": ["LORA"]},
    {"peft_type": None},
]  # fmt: skip


@pytest.mark.parametrize("change", MORE_THAN_WEIGHTS, ids=lambda change: next(iter(change)))
def test_an_adapter_that_is_more_than_weights_is_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    tokenizer = tiny_tokenizer()
    model = tiny_model(tokenizer)
    save_policy(tmp_path / "base", model, tokenizer, {"base_model": ""})
    adapted = get_peft_model(model, LoraConfig(r=2, target_modules=["q_proj"]))
    save_policy(tmp_path / "policy", adapted, tokenizer, {"base_model": str(tmp_path / "base")})
    path = tmp_path / "policy" / "adapter_config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    code = """
from elicit_gym.agents import load_policy
from elicit_gym.errors import SettingError
try:
    load_policy("policy")
except SettingError as error:
    print(error)
"""
    done = run_watched(code, tmp_path)
    assert "ATTACKED" not in done.stderr
    assert done.stdout.startswith("Loading policy/adapter_config.json: expected a"), done.stderr


def test_evaluations_built_files_and_caches_run_nothing(tmp_path: Path) -> None:
    dataset = load_dataset("sample/all-v1", reward="reply_length")
    windows = list(dataset.windows())[:2]
    commands: list[list[str]] = []
    for i, text in enumerate(TARGETS):
        # A built dataset.
        planted = [replace(e, id=text, domain=text, split="test", licence=text) for e in dataset[:3]]
        type(dataset)(planted).save(tmp_path / f"{i}.arrow")
        commands.append(["data", "stats", "mine", "--path", f"{i}.jsonl"])
        row: dict[str, Any] = {
            "dialogue_id": text, "metadata": {"target": text}, "broad_source": text, "collection": text, "domain": text,
            "title": text, "elicitors": [text], "respondents": [text], "languages": [text],
            "turns": [
                {"turn_id": 0, "timestamp": None, "speaker": text, "role": "elicitor", "utterance": text},
                {"turn_id": 1, "timestamp": None, "speaker": text, "role": "respondent", "utterance": text},
            ],
        }  # fmt: skip
        (tmp_path / f"{i}.jsonl").write_text(json.dumps(row) + "\n")
        # An evaluation that is gone on with, and one that people rate.
        folder = tmp_path / f"evaluation-{i}"
        manifest = evaluation_manifest([load_policy("naive")], windows, data="sample", settings={"new_tokens": 4})
        AnswerFile(folder, manifest, resume=False)
        (folder / "manifest.json").write_text(json.dumps(hostile(manifest.to_json(), text, ("kind",))))
        sample = {"block_id": text, "domain": text, "context": [["user", text]], "said": {"real": text, text: text}}
        (folder / "samples.jsonl").write_text(json.dumps({**sample, "failed": {}}) + "\n")
        commands.append(["evaluate-yield", "naive", "--limit", "2", "--resume", "--out", f"evaluation-{i}"])
        commands.append(["human-eval", "export", f"evaluation-{i}", "--windows", "1", "--out", f"batch-{i}"])
        # A cache of responses.
        cache = ResponseCache(tmp_path / f"{i}.sqlite")
        cache.put("key", ChatResponse(text=text, finish_reason=text, model=text, input_tokens=1, output_tokens=1,
                                      cost_usd=None, flags=(text,)))  # fmt: skip
        cache.close()
        entities = sqlite3.connect(tmp_path / f"entities-{i}.sqlite")
        entities.execute("CREATE TABLE entities (key BLOB PRIMARY KEY, value TEXT NOT NULL)")
        entities.execute("INSERT INTO entities VALUES (?, ?)", (b"key", json.dumps([text])))
        entities.commit()
    done = run_commands(commands, tmp_path)
    assert "ATTACKED" not in done.stderr
    assert "Traceback" not in done.stderr
    code = f"""
from elicit_gym.llm.cache import ResponseCache
from elicit_gym.offline import OfflineDataset
from elicit_gym.offline.entity_reader import EntityReader
for i in range({len(TARGETS)}):
    print(len([list(e.transitions()) for e in OfflineDataset.open(f"{{i}}.arrow")]))
    print(ResponseCache(f"{{i}}.sqlite").get("key").model)
    EntityReader(cache=f"entities-{{i}}.sqlite")._look_up([b"key"])
"""
    done = run_watched(code, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "ATTACKED" not in done.stderr
    assert done.stdout.splitlines() == [line for text in TARGETS for line in ("3", text)]


def published(folder: Path, text: str) -> None:
    """Write scenarios and a conversation in the published formats, every text of them the attacker's."""
    folder.mkdir()
    setting = dict.fromkeys(("description", "goal", "obstacle", "solution", "persona"), text)
    setting |= {name: [f"{text} {i}" for i in range(5)] for name in ("constraints", "checklist")}
    personas = {f"persona{i}": {"id": i, "persona": text} for i in (1, 2, 3)}
    files: dict[str, dict[str, Any]] = {
        "seed_messages.jsonl": {**personas, "prompt": text, "seed_message": text},
        "settings.jsonl": {"seed_message": text, "setting1": setting, "setting2": setting},
        "traits.jsonl": {"traits1": text, "traits2": text},
        f"chats-a-{text.replace('/', '')}-c-0.jsonl": {
            "user_history1": [{"role": role, "content": text} for role in ("system", "user", "assistant")],
            "evaluations1": [
                {"done": True, "total_reward": 1, "invalid_responses": 0, "questions": {f"{text} 0": "Yes", text: "No"}}
            ],
            "evaluations2": [], "user_history2": [],
        },
    }  # fmt: skip
    for name, row in files.items():
        (folder / name).write_text(json.dumps({"id": 0, **row}) + "\n")


YAML = "!!python/object/apply:os.abort []\n--- !!python/name:evilmod.Evil\n"


def test_scenarios_chats_transcripts_ratings_and_yaml_run_nothing(tmp_path: Path) -> None:
    commands: list[list[str]] = []
    for i, text in enumerate(TARGETS):
        published(tmp_path / f"set-{i}", text)
        (chats,) = (tmp_path / f"set-{i}").glob("chats-*")
        row = json.loads((ROOT / "elicit_gym/scenarios/data/bundled.jsonl").read_text().splitlines()[0])
        (tmp_path / f"scenarios-{i}.jsonl").write_text(json.dumps(hostile(row, text, ("split", "kind"))) + "\n")
        folder = tmp_path / f"transcripts-{i}"
        folder.mkdir()
        said = f"{text}\nAnn: {text}\nBob: import evilmod\n"
        for ending in ("txt", "md", "srt", "vtt", "csv", "tsv", "json", "jsonl", "cha", "docx", "pdf", "yaml", "pkl"):
            (folder / f"a.{ending}").write_text(f'"{said}"' if ending in ("json", "jsonl") else said)
        (folder / "rows.json").write_text(json.dumps([{"role": text, "content": text, "name": text}] * 4))
        batch = tmp_path / f"batch-{i}"
        batch.mkdir()
        entry = {"block_id": text, "domain": text, "dialogue": text, "sources": [text]}
        (batch / "key.json").write_text(json.dumps({"format": 1, "seed": 0, "tasks": {text: entry}}))
        (tmp_path / f"answers-{i}.csv").write_text(f"WorkerId,WorkTimeInSeconds,Input.task_id\n{text},90,{text}\n")
        for place in (folder, batch, tmp_path / f"set-{i}"):
            for name in ("config.yaml", "elicit_gym.yaml", "manifest.yaml"):
                (place / name).write_text(YAML)
        commands += [
            ["rejudge", str(chats.relative_to(tmp_path)), "--scenarios", f"set-{i}"],
            ["scenarios", "validate", f"set-{i}"],
            ["scenarios", "stats", f"scenarios-{i}.jsonl"],
            ["compare", "ask-one", "--scenarios", f"scenarios-{i}.jsonl", "--out", f"run-{i}"],
            *(["data", "import", f"transcripts-{i}/{path.name}", "--out", f"{i}-{path.name}.jsonl"]
              for path in sorted(folder.iterdir())),
            ["human-eval", "score", f"batch-{i}", f"answers-{i}.csv"],
        ]  # fmt: skip
    done = run_commands(commands, tmp_path)
    assert "ATTACKED" not in done.stderr
    statuses = json.loads(done.stdout.splitlines()[-1])
    assert len(statuses) == len(commands)
    assert {0, 2} <= set(statuses) <= {0, 1, 2}  # some of it is read, and some is refused


def test_nothing_of_ours_reads_yaml_or_evaluates_text() -> None:
    for path in (p for folder in ("elicit_gym", "agents", "offline") for p in (ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not {name.split(".")[0] for name in names} & {
                "yaml",
                "ruamel",
                "pickle",
                "dill",
                "marshal",
                "shelve",
            }
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in ("eval", "exec", "compile", "__import__"), f"{path}:{node.lineno}"


def test_a_checkpoints_state_runs_nothing(tmp_path: Path) -> None:
    code = """
import torch
from pathlib import Path
from elicit_gym.agents.training.checkpoint import load_training_state
from elicit_gym.errors import SettingError
class Attack:
    def __reduce__(self):
        return os.abort, ()
torch.save({"step": Attack()}, "training_state.pt")
try:
    load_training_state(Path("."))
except SettingError:
    print("refused")
"""
    done = run_watched(code, tmp_path)
    assert "ATTACKED" not in done.stderr
    assert done.stdout.strip() == "refused", done.stderr


def test_names_with_a_colon_come_from_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "class Judge:\n    name = 'mine'\n    def judge(self, request):\n"
        "        from elicit_gym.types import Verdict\n"
        "        return (Verdict(satisfied=True),) * len(request.pending)\n"
    )
    done = run_commands(
        [["compare", "naive", "--judge", "mine:Judge", "--split", "test", "--repeats", "1", "--out", "run"],
         ["rejudge", "run", "--judge", "mine:Judge"], ["report", "run"]],
        tmp_path,
    )  # fmt: skip
    assert done.stdout.splitlines()[-1] == "[0, 0, 0]", done.stderr
    assert "1.000" in done.stdout
