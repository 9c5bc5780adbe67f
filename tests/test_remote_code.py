"""Models of a stranger's: none of their code runs, whatever their folders say and whatever is answered to a prompt."""

import ast
import json
import shutil
import warnings
from pathlib import Path
from typing import Any

import pytest
from peft import LoraConfig, get_peft_model

from elicit_gym.agents import load_policy
from elicit_gym.agents.policy_folder import BaseModelWarning, base_model_of, save_policy
from tests.agents.tiny_model import tiny_model, tiny_tokenizer
from tests.attacks import run_commands, run_watched
from tests.conftest import ROOT

LOADERS = ("SentenceTransformer", "CrossEncoder", "SparseEncoder", "pipeline", "GRPOConfig", "SFTConfig")
NO_CODE = {"PeftModel": "reads weights and numbers for a model that is loaded already"}
SOURCES = sorted(
    path for folder in ("elicit_gym", "agents", "offline", "benchmarks") for path in (ROOT / folder).rglob("*.py")
)


def loads(node: ast.AST) -> bool:
    """Say whether a node is a call with which a library loads, or decodes with, what a model's folder names."""
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Name):
        return node.func.id in LOADERS
    if not isinstance(node.func, ast.Attribute):
        return False
    of = node.func.value.id if isinstance(node.func.value, ast.Name) else ""
    if node.func.attr == "load_dataset":
        return of == "datasets"
    return node.func.attr in (*LOADERS, "from_pretrained", "generate") and of not in NO_CODE


def says_no(call: ast.Call) -> bool:
    return any(
        keyword.arg == "trust_remote_code" and isinstance(keyword.value, ast.Constant) and keyword.value.value is False
        for keyword in call.keywords
    )


def test_every_load_says_that_no_code_runs() -> None:
    calls = [
        (path, node)
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and loads(node)
    ]
    assert [f"{path}:{call.lineno}" for path, call in calls if not says_no(call)] == []
    assert len(calls) >= 9
    for path in SOURCES:
        text = path.read_text(encoding="utf-8")
        assert "trust_remote_code=True" not in text
        # Ray's actors unpack what the driver of their own run packed; nothing else is unpickled.
        assert ("pickle.load" in text) == (path.name == "parcels.py"), path
        assert "torch.load(" not in text or text.count("torch.load(") == text.count("weights_only=True, map_location")


@pytest.mark.parametrize("code", ["A.from_pretrained(x)", "SFTConfig()", "m.generate(trust_remote_code=True)"])
def test_the_rule_sees_a_load(code: str) -> None:
    call = next(node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call))
    assert loads(call)
    assert not says_no(call)


EVIL_MODULE = "import os\nos.write(2, b'ATTACKED code in the folder')\nopen('owned', 'w').close()\nclass Evil: pass\n"
_CLASSES = ("AutoConfig", "AutoModel", "AutoModelForCausalLM", "AutoTokenizer", "AutoProcessor")
AUTO = dict.fromkeys(_CLASSES, "evilcode.Evil")


def plant(folder: Path) -> None:
    """Make a model's folder name code that lies in it."""
    (folder / "evilcode.py").write_text(EVIL_MODULE)
    (folder / "custom_generate").mkdir()
    (folder / "custom_generate" / "generate.py").write_text(EVIL_MODULE)
    for name in ("config.json", "tokenizer_config.json"):
        path = folder / name
        config: dict[str, Any] = json.loads(path.read_text()) if path.is_file() else {}
        config |= {"auto_map": AUTO, "tokenizer_class": "Evil", "custom_pipelines": {"x": {"impl": "evilcode.Evil"}}}
        if name == "config.json":
            config["model_type"] = "evil"
        path.write_text(json.dumps(config))
    (folder / "generation_config.json").write_text(json.dumps({"penalty_alpha": 0.6, "top_k": 4, "do_sample": False}))


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of folders: ``evil``, whose model cannot be loaded without code, and ``sentences`` likewise."""
    folder = tmp_path_factory.mktemp("models")
    tokenizer = tiny_tokenizer()
    save_policy(folder / "evil", tiny_model(tokenizer), tokenizer, {"base_model": ""})
    plant(folder / "evil")
    for i, kind in enumerate(("evilcode.Evil", "evilmod.Evil", "sentence_transformers.models.Transformer", "os.abort")):
        shutil.copytree(folder / "evil", folder / f"sentences-{i}")
        modules = [{"idx": 0, "name": "0", "path": "", "type": kind}]
        (folder / f"sentences-{i}" / "modules.json").write_text(json.dumps(modules))
    return folder


COMMANDS = [
    ["compare", "hf:evil", "--split", "test", "--out", "run"],
    ["compare", "evil", "--split", "test", "--out", "run"],
    ["evaluate-yield", "hf:evil", "--limit", "1"],
    ["evaluate-yield", "naive", "--limit", "1", "--tokenizer", "evil"],
    ["train", "sft", "evil", "--out", "trained", "--max-steps", "1"],
    ["train", "grpo", "evil", "--out", "trained", "--max-steps", "1"],
    ["train", "merge", "evil", "--out", "merged"],
    *(["evaluate-yield", "naive", "--limit", "1", "--encoder", f"sentences-{i}"] for i in range(4)),
]


def test_the_watch_sees_a_models_code_where_a_prompt_is_answered_with_yes(models: Path) -> None:
    code = "from transformers import AutoConfig; AutoConfig.from_pretrained('evil')"
    assert "ATTACKED code in the folder" in run_watched(code, models).stderr
    for found in models.rglob("owned"):
        found.unlink()


def test_no_command_runs_a_models_code(models: Path) -> None:
    done = run_commands(COMMANDS, models)
    assert "ATTACKED" not in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(models.rglob("owned"))
    assert done.stdout.splitlines()[-1] == str([2] * len(COMMANDS)), done.stderr
    assert done.stderr.count("elicit-gym: ") == len(COMMANDS)


def test_no_part_runs_a_models_code(models: Path) -> None:
    code = """
from elicit_gym.errors import SettingError
from elicit_gym.judges.embedding import EmbeddingJudge
for i in range(4):
    try:
        EmbeddingJudge(f"sentences-{i}")
    except SettingError as error:
        print("refused")
"""
    done = run_watched(code, models)
    assert "ATTACKED" not in done.stderr
    assert done.stdout.splitlines() == ["refused"] * 4, done.stderr
    assert not list(models.rglob("owned"))


def test_a_way_of_decoding_that_is_code_on_the_hub_is_not_fetched(models: Path) -> None:
    """A model that loads as it is, but whose settings ask for contrastive search, which lives on the hub."""
    tokenizer = tiny_tokenizer()
    save_policy(models / "decoding", tiny_model(tokenizer), tokenizer, {"base_model": ""})
    shutil.copy(models / "evil" / "generation_config.json", models / "decoding")
    code = """
from elicit_gym.agents import load_policy
from elicit_gym.types import Message
try:
    load_policy("hf:decoding").act((Message(role="user", content="Hello"),))
except Exception as error:
    print("refused", type(error).__name__, "trust_remote_code" in str(error))
"""
    done = run_watched(code, models)
    assert "ATTACKED" not in done.stderr
    assert "Do you wish to run" not in done.stdout
    assert done.stdout.startswith("refused ValueError True"), done.stdout + done.stderr


def adapter(folder: Path, base: str, made_for: str | None) -> Path:
    folder.mkdir(parents=True)
    (folder / "elicit_gym.json").write_text(json.dumps({"base_model": base}))
    (folder / "adapter_config.json").write_text(json.dumps({"base_model_name_or_path": made_for}))
    return folder


@pytest.mark.parametrize(
    ("base", "made_for", "shown"),
    [
        ("here/model", "here/model", None),
        ("here/model", None, None),
        ("here/model", "other/model", "its base model is 'here/model' on the hub, though its adapter was made for 'other/model'"),
        ("new/model", "new/model", "its base model is 'new/model', which is not on this machine and will be fetched"),
        ("new/model\x1b[31m", "new/model", "refused"),
        ("FOLDER", "FOLDER", "its base model is the folder"),
    ],
)  # fmt: skip
def test_a_base_model_is_shown_before_it_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, base: str, made_for: str | None, shown: str | None
) -> None:
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "config.json").write_text("{}")
    monkeypatch.setattr(
        "huggingface_hub.try_to_load_from_cache", lambda name, file: str(tmp_path) if name == "here/model" else None
    )
    base = base.replace("FOLDER", str(tmp_path / "base"))
    folder = adapter(tmp_path / "policy", base, made_for)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        if shown == "refused":
            with pytest.raises(ValueError, match=r"got 'new/model\\x1b\[31m'"):
                base_model_of(folder)
        else:
            assert base_model_of(folder) == base
    found = [str(w.message) for w in seen if issubclass(w.category, BaseModelWarning)]
    assert len(found) == (shown not in (None, "refused"))
    assert shown in (None, "refused") or shown in found[0]


def test_a_base_model_is_shown_even_if_it_then_cannot_be_loaded(tmp_path: Path) -> None:
    tokenizer = tiny_tokenizer()
    model = tiny_model(tokenizer)
    save_policy(tmp_path / "base", model, tokenizer, {"base_model": ""})
    adapted = get_peft_model(model, LoraConfig(r=2, target_modules=["q_proj"]))
    save_policy(tmp_path / "policy", adapted, tokenizer, {"base_model": str(tmp_path / "base")})
    with pytest.warns(BaseModelWarning, match="its base model is the folder"):
        load_policy(str(tmp_path / "policy"))
    (tmp_path / "base" / "model.safetensors").write_bytes(b"")
    with (
        pytest.warns(BaseModelWarning, match="its base model"),
        pytest.raises(Exception, match="model.safetensors|eader"),
    ):
        load_policy(str(tmp_path / "policy"))
