"""Every command and option of the tool: what it says, what it means, and what a mistake looks like."""

import ast
import inspect
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import pytest
import typer
from typer.testing import CliRunner

from elicit_gym.agents.training.settings import AWRSettings, GRPOSettings, SFTSettings, TrainingSettings
from elicit_gym.cli import train
from elicit_gym.cli.app import app
from elicit_gym.errors import SettingError
from tests.commands import command
from tests.conftest import ROOT
from tests.test_package import HEAVY


def _commands(group: typer.Typer, name: str = "") -> Iterator[tuple[str, typer.models.CommandInfo]]:
    for info in group.registered_commands:
        yield f"{name} {info.name}".strip(), info
    for below in group.registered_groups:
        assert below.typer_instance is not None
        yield from _commands(below.typer_instance, f"{name} {below.name}".strip())


COMMANDS = dict(_commands(app))
BUILT = typer.main.get_command(app)
GROUPS = ("", *{name.rpartition(" ")[0] for name in COMMANDS} - {""})
SETTINGS: dict[str, type[TrainingSettings]] = {"sft": SFTSettings, "awr": AWRSettings, "grpo": GRPOSettings}
EVERY_HEAVY = (*HEAVY, "accelerate", "datasets", "peft", "ray", "sentence_transformers", "trl")


def built(name: str) -> Any:
    """Return a command as Typer makes it from its function."""
    made: Any = BUILT
    for part in name.split():
        made = made.commands[part]
    return made


def options(name: str) -> dict[str, tuple[Any, Any]]:
    """Return the options of a command by their long name: the type that is hinted, and what Typer made of it."""
    hints = inspect.signature(COMMANDS[name].callback or (lambda: None), eval_str=True).parameters
    return {
        param.opts[-1]: (get_args(hints[param.name].annotation)[0], param)
        for param in built(name).params
        if param.opts[-1].startswith("--")
    }


@pytest.mark.parametrize("name", sorted({*GROUPS, *COMMANDS}))
def test_help_is_whole_sentences(name: str) -> None:
    made = built(name)
    texts = {name or "elicit-gym": made.help}
    texts |= {f"{name} {param.opts[-1]}": param.help for param in made.params if "completion" not in param.opts[-1]}
    for where, text in texts.items():
        assert text, f"{where} says nothing"
        for sentence in re.split(r"(?<=\.)\s+(?=[A-Z])", text):
            assert re.match(r"[A-Z].+\w[\w)'\"]*\.$", " ".join(sentence.split())), f"{where}: {sentence!r}"
        # A sentence has a verb, and a command's is an imperative: what begins with these is a fragment.
        first = text.split()[0].lower()
        assert first not in {"a", "an", "as", "for", "how", "no", "of", "so", "the", "what", "where", "whose"}, where
    shown = CliRunner().invoke(app, [*name.split(), "--help"], env={"COLUMNS": "60"}).output
    assert "…" not in shown
    for param in made.params:
        assert param.opts[-1] in shown
    for below in getattr(made, "commands", {}).values():
        assert " ".join(below.help.partition("\n\n")[0].split()) in " ".join(shown.split())


WIDER = {("data build", "--split")}
"""Options that take more than the choices of the same option elsewhere: percentages, beside the names of parts."""


def test_an_option_has_one_meaning_in_the_whole_tool() -> None:
    meanings: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    types: dict[str, list[Any]] = defaultdict(list)
    for name in COMMANDS:
        for flag, (hint, param) in options(name).items():
            # What comes after the first sentence says what the command does with it, and no more.
            meanings[flag][param.help.partition(". ")[0].removesuffix(".")].add(name)
            if (name, flag) in WIDER:
                continue
            bare = [each for each in get_args(hint) if each is not NoneType] if NoneType in get_args(hint) else [hint]
            types[flag] += bare
    assert len(meanings) > 60
    assert {flag: dict(texts) for flag, texts in meanings.items() if len(texts) > 1} == {}
    for flag, hints in types.items():
        choices = [set(get_args(hint)) for hint in hints if get_origin(hint) is Literal]
        if choices:  # a command may offer fewer, but not others
            assert len(choices) == len(hints), flag
            assert all(each <= max(choices, key=len) for each in choices), flag
        else:
            assert len(set(hints)) == 1, f"{flag}: {hints}"


def test_choices_are_literals_and_printed() -> None:
    shown = CliRunner().invoke(app, ["train", "awr", "--help"]).output
    for field, hint in get_type_hints(AWRSettings).items():
        if get_origin(hint) is Literal:
            assert f"--{field.replace('_', '-')} <{'|'.join(get_args(hint))}>" in shown
    for path in (ROOT / "elicit_gym" / "cli").glob("*.py"):
        assert "type: ignore[arg-type]" not in path.read_text(encoding="utf-8"), path


@pytest.mark.parametrize("method", list(SETTINGS))
def test_every_setting_is_an_option_with_the_field_s_default_and_help(method: str) -> None:
    shown = options(f"train {method}")
    for field in fields(SETTINGS[method]):
        _, param = shown["--" + field.name.replace("_", "-")]
        default = tuple(param.default) if isinstance(param.default, list) else param.default
        assert default == field.default
    assert len(fields(AWRSettings)) > 20


def _another(value: Any, hint: Any) -> tuple[list[str], Any]:
    """Return words for the command line, and the value that they mean, which is not the one given."""
    if hint is bool:
        return [], not value
    if get_origin(hint) is tuple:
        return ["lm_head", "embed"], ("lm_head", "embed")
    if get_origin(hint) is Literal:
        other = next(each for each in get_args(hint) if each != value)
        return [other], other
    if NoneType in get_args(hint) and value is not None:
        return ["none"], None
    other = value / 2 if isinstance(value, float) and value else 3 * value if value else 4
    return [str(other)], other


@pytest.mark.parametrize("method", list(SETTINGS))
def test_every_setting_reaches_the_trainer(method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kind, given = SETTINGS[method], {}
    words: list[str] = []
    for name, hint in get_type_hints(kind).items():
        value = getattr(kind(), name)
        texts, given[name] = _another(value, hint)
        flag = name.replace("_", "-")
        words += [f"--{flag}" if given[name] else f"--no-{flag}"] if hint is bool else []
        for text in texts:
            words += [f"--{flag}", text]
    reached: list[TrainingSettings] = []

    def trainer(*_: Any, settings: TrainingSettings, **__: Any) -> None:
        reached.append(settings)

    monkeypatch.setattr(f"elicit_gym.agents.training.{method}.train_{method}", trainer)
    # Where it is looked up: patched at its source, it would stay in the module that imports it meanwhile.
    monkeypatch.setattr("elicit_gym.agents.training.start.load_model", lambda *_, **__: (_Network(), None))
    monkeypatch.setattr(train, "_prepare", lambda *_: (None, None, [], []))
    assert command("train", method, "a-model", "--out", tmp_path, *words) == 0
    assert reached == [replace(kind(), **given)]
    assert all(getattr(reached[0], name) != getattr(kind(), name) for name in given)


class _Network:
    def train(self) -> "_Network":
        return self


@pytest.mark.parametrize("method", list(SETTINGS))
def test_every_setting_is_read_by_its_trainer(method: str) -> None:
    folder = ROOT / "agents" / "training"
    read = set()
    for path in (folder / "settings.py", *folder.glob(f"{method}*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and ast.unparse(node.value) in ("settings", "self._settings"):
                read.add(node.attr)
    assert {field.name for field in fields(SETTINGS[method])} <= read


@pytest.mark.parametrize("name", list(COMMANDS))
def test_an_option_that_is_not_there_is_one_message(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    known = max(options(name), key=len, default="--help")
    assert command(*name.split(), known + "x") == 2
    error = capsys.readouterr().err
    assert "No such option" in error
    assert known in error.replace(known + "x", "")  # what was meant
    assert "Traceback" not in error


@pytest.mark.parametrize("name", [name for name in COMMANDS if any(h for h, _ in options(name).values())])
def test_a_value_that_is_none_of_the_choices_is_one_message(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    for flag, (hint, _) in options(name).items():
        for choices in (get_args(each) for each in (hint, *get_args(hint)) if get_origin(each) is Literal):
            assert command(*name.split(), flag, "nonsense") == 2
            error = capsys.readouterr().err
            assert f"'{flag}'" in error
            assert all(repr(choice) in error for choice in choices)


@pytest.mark.parametrize(
    ("setting", "problem"),
    [
        ({"beta": 0.0}, "expected beta above 0, got 0.0"),
        ({"beta": float("nan")}, "expected beta above 0, got nan"),
        ({"lora_dropout": 1.5}, "expected lora_dropout of 0 to 1, got 1.5"),
        ({"batch_size": 0}, "expected batch_size of 1 or more, got 0"),
        ({"alpha": float("inf")}, "expected alpha to be finite, got inf"),
        ({"value_input": "future"}, "expected value_input to be one of history_action, history, got 'future'"),
    ],
)
def test_a_setting_outside_its_limits_is_refused_in_python_too(setting: dict[str, Any], problem: str) -> None:
    with pytest.raises(SettingError, match=re.escape(problem)):
        AWRSettings(**setting)


def test_help_loads_nothing_heavy(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom elicit_gym.cli import main\n"
        f"for words in {[*map(str.split, sorted({*GROUPS, *COMMANDS}))]!r}:\n"
        "    sys.argv = ['elicit-gym', *words, '--help']\n"
        "    try: main()\n"
        "    except SystemExit as stop: assert not stop.code\n"
        f"print('loaded', sorted(m for m in {EVERY_HEAVY!r} if m in sys.modules and m != 'rich'))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "loaded []"


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("elicit-gym rej", ["rejudge"]),
        ("elicit-gym train awr --value-input ", ["history_action", "history"]),
        ("elicit-gym train awr --standard", ["--standardise-returns"]),
        ("elicit-gym compare --cache-mode r", ["read-write", "replay"]),
    ],
)
def test_the_shell_completes_commands_options_and_choices(typed: str, expected: list[str]) -> None:
    env = {"COMP_WORDS": typed, "COMP_CWORD": str(len(typed.split(" ")) - 1)}
    env["_ELICIT_GYM_COMPLETE"] = "complete_bash"
    assert CliRunner().invoke(app, [], prog_name="elicit-gym", env=env).output.split() == expected


def test_a_command_of_settings_shows_its_own_options_first() -> None:
    assert list(options("train sft"))[:2] == ["--out", "--data"]
    assert get_origin(inspect.signature(train.sft_command).parameters["seed"].annotation) is Annotated


FLAGS = {flag for name in COMMANDS for flag in options(name)} | {"--help", "--install-completion"}
FLAGS |= {flag for name in COMMANDS for param in built(name).params for flag in param.secondary_opts}


def test_what_messages_and_pages_name_is_an_option() -> None:
    sources = [path for room in ("elicit_gym", "agents", "offline") for path in (ROOT / room).rglob("*.py")]
    named = {
        flag: path.name
        for path in (*sources, ROOT / "README.md", *(ROOT / "docs").rglob("*.md"))
        for flag in re.findall(r"(?<![\w-])--[a-z][a-z0-9-]+\b", path.read_text(encoding="utf-8"))
        if path.name != "command.py"
    }
    theirs = {"--port", "--head"}  # of vllm and ray, in README
    assert {flag: name for flag, name in named.items() if flag not in FLAGS | theirs} == {}


@pytest.mark.parametrize("page", [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))], ids=lambda p: p.name)
def test_commands_on_pages_take_the_options_that_they_are_shown_with(page: Path) -> None:
    text = page.read_text(encoding="utf-8").replace("\\\n", " ")
    shown = re.findall(r"^elicit-gym (.+)$", text, re.MULTILINE) + re.findall(r"`elicit-gym ([^`]+)`", text)
    assert len(shown) > 20 or page.name != "README.md"
    for words in map(str.split, shown):
        grouped = words[0] in GROUPS
        names = [f"{words[0]} {one}" for one in words[1].split("|")] if grouped else words[:1]
        for name in names:
            assert name in COMMANDS or name in FLAGS, words
            known = options(name) if name in COMMANDS else FLAGS
            assert {word for word in words if word.startswith("--")} <= {*known, "--help"}, words
