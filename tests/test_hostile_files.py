"""Every reader of the package on mutated real files: what it finds, or an error of ours, and never another one."""

import json
import os
import random
import shutil
import tempfile
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from zipfile import ZipFile

import click
import pytest
import typer
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from elicit_gym import collect_episodes
from elicit_gym.agents import load_policy
from elicit_gym.agents.policy_folder import base_model_of, read_config
from elicit_gym.agents.system_prompt import load_system_prompt
from elicit_gym.agents.training.checkpoint import load_training_state
from elicit_gym.cli.config_file import _read as _read_config
from elicit_gym.errors import ElicitGymError, SettingError, boundary
from elicit_gym.evaluation.saved import load_any_run
from elicit_gym.judges.parse_verdict import parse_verdicts
from elicit_gym.llm.cache import ResponseCache
from elicit_gym.llm.http_transport import HTTPTransport
from elicit_gym.llm.prompts import load_prompt
from elicit_gym.llm.transport import TransportError
from elicit_gym.llm.types import ChatResponse
from elicit_gym.offline import load_dataset
from elicit_gym.offline.annotate import BUILT, _is_of_a_build
from elicit_gym.offline.corpus import Corpus
from elicit_gym.offline.dataset import OfflineDataset
from elicit_gym.offline.dialogue_rewards import ReplyLength
from elicit_gym.offline.entity_reader import EntityReader
from elicit_gym.offline.evaluation.answers import Answer, AnswerFile, evaluation_manifest
from elicit_gym.offline.exports import _episode_row, from_huggingface, from_minari, read_published, write_published
from elicit_gym.offline.human_eval.answers import check_workers, read_answers
from elicit_gym.offline.human_eval.forms import write_batch
from elicit_gym.offline.human_eval.tasks import make_tasks, read_key, read_samples
from elicit_gym.offline.importing import import_transcript, write_transcripts
from elicit_gym.offline.load_corpus import SAMPLE, load_corpus, validate_dialogues
from elicit_gym.offline.minari_metadata import built_replay_spec
from elicit_gym.rollout.storage import RunStore, load_run
from elicit_gym.scenarios.generate import SETTING_FIELDS, _read_done, read_setting
from elicit_gym.scenarios.generate_deep import _Store
from elicit_gym.scenarios.load import BUNDLED, load_scenarios, validate_scenarios
from elicit_gym.scenarios.personas import read_personas
from elicit_gym.types import Message
from tests.conftest import ROOT
from tests.mutations import mutate_file
from tests.offline.human_eval.batches import rows_of, write
from tests.offline.importing.test_hostile import SAMPLES
from tests.readers import calls_that_open
from tests.test_json_files import CHATS

# --- Real files, small ones


def run_folder(folder: Path) -> None:
    collect_episodes(load_policy("ask-one"), scenario_ids=["00-a", "00-b"], out=folder / "run")


def scenario_file(folder: Path) -> None:
    lines = BUNDLED.read_text(encoding="utf-8").splitlines()[:2]
    plain = [{k: v for k, v in json.loads(line).items() if k not in ("facts", "items")} for line in lines]
    (folder / "written.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "plain.jsonl").write_text("".join(json.dumps(row) + "\n" for row in plain), encoding="utf-8")


def published_scenarios(folder: Path) -> None:
    rows = [json.loads(line) for line in BUNDLED.read_text(encoding="utf-8").splitlines()[:2]]
    halves = [
        {k: row[k] for k in ("description", "goal", "obstacle", "constraints", "solution", "checklist", "persona")}
        for row in rows
    ]
    tables = {
        "settings": {"id": 0, "seed_message": "Hi", "setting1": halves[0], "setting2": halves[1]},
        "seed_messages": {"id": 0, "seed_message": "Hi", "persona1": {"id": 1, "persona": "A"}, "persona2": {"id": 2, "persona": "B"}},
        "traits": {"id": 0, "traits1": "a, b, c", "traits2": "a, b, c"},
    }  # fmt: skip
    for name, row in tables.items():
        (folder / f"{name}.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")


def published_chats(folder: Path) -> None:
    published_scenarios(folder)
    rows = [{**row, "id": 0} for row in CHATS[:1]]
    (folder / "chats-u-p-j-1.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def short_dialogues() -> list[dict[str, Any]]:
    rows = [json.loads(line) for line in SAMPLE.read_text(encoding="utf-8").splitlines()[:2]]
    return [{**row, "turns": row["turns"][:8]} for row in rows]


def corpus_files(folder: Path) -> None:
    rows = short_dialogues()
    (folder / "list.json").write_text(json.dumps(rows), encoding="utf-8")
    (folder / "lines.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    with ZipFile(folder / "packed.zip", "w") as archive:
        archive.writestr("train/a.json", json.dumps(rows))


def windows(folder: Path) -> None:
    write_published(list(load_dataset("sample/all-v1", reward="reply_length").windows())[:2], folder / "w.jsonl")


def evaluation(folder: Path) -> None:
    AnswerFile(folder, the_evaluation(), resume=False).append(
        [Answer(policy="naive", index=i, said="A?", log_prob=-1.5, num_tokens=3, prompt_tokens=4) for i in (0, 1)]
    )


@lru_cache(maxsize=1)
def the_evaluation() -> Any:
    some = list(load_dataset("sample/all-v1", reward="reply_length").windows())[:2]
    return evaluation_manifest([load_policy("naive")], some, data="sample", settings={"new_tokens": 4})


def samples(folder: Path) -> None:
    rows = [
        {"block_id": f"d{n}:0", "domain": "x", "context": [["system", "s"], ["user", "ä"]], "said": {"real": "ö", "p": "q"}, "failed": {}}
        for n in range(3)
    ]  # fmt: skip
    (folder / "samples.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def batch(folder: Path) -> None:
    samples(folder)
    write_batch(make_tasks(read_samples(folder), 2), folder, seed=0)
    rows = [
        row
        for n in (3, 4)
        for row in rows_of(read_key(folder), f"worker {n}", lambda _, scale, n=n: n + len(scale) % 2)
    ]
    write(folder / "answers.csv", rows)


def generated(folder: Path) -> None:
    published_scenarios(folder)
    (folder / "rejected.jsonl").write_text('{"id": 1, "reason": "why"}\n', encoding="utf-8")


def generated_in_depth(folder: Path) -> None:
    shutil.copy(ROOT / "elicit_gym" / "scenarios" / "data" / "bundled.jsonl", folder / "all.jsonl")
    rows = (folder / "all.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)[:2]
    (folder / "scenarios.jsonl").write_text("".join(rows), encoding="utf-8")
    (folder / "rejected.jsonl").write_text('{"id": "001-b", "reason": "why"}\n', encoding="utf-8")


def build_facts(folder: Path) -> None:
    (folder / "x.json").write_text(json.dumps({"kind": BUILT, "dialogues": 2}), encoding="utf-8")


def read_build_facts(folder: Path) -> None:
    if not _is_of_a_build(folder / "x.json"):
        raise SettingError("not of a build")


def personas(folder: Path) -> None:
    rows = ['{"persona": "a cook"}', "a judge", '{"input persona": "a sailor"}', '{"description": "x"}']
    (folder / "p.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")
    (folder / "p.txt").write_text("a cook\na judge\na sailör\n", encoding="utf-8")


RESPONSE = ChatResponse(
    text="A", finish_reason="stop", model="m", input_tokens=1, output_tokens=1, cost_usd=0.5, flags=("think_removed",)
)


def response_cache(folder: Path) -> None:
    cache = ResponseCache(folder / "c.sqlite")
    cache.put("key", RESPONSE)
    cache._store._db.execute("PRAGMA journal_mode=DELETE")  # all of it in the one file that is attacked
    cache.close()


def entity_cache(folder: Path) -> None:
    reader = EntityReader(cache=folder / "e.sqlite")
    reader._store.put({"key": ["PERSON:anna", "GPE:rome"]})
    reader._store._db.execute("PRAGMA journal_mode=DELETE")
    reader._store.close()


def prompts(folder: Path) -> None:
    (folder / "ask.txt").write_text("Ask {slot} one question.\n", encoding="utf-8")


def policy_config(folder: Path) -> None:
    (folder / "elicit_gym.json").write_text(
        json.dumps({"base_model": "a/b", "method": "sft", "settings": {"lora_r": 4}})
    )


def whole_policy(folder: Path) -> None:
    from elicit_gym.agents.policy_folder import save_policy
    from tests.agents.tiny_model import tiny_model, tiny_tokenizer

    tokenizer = tiny_tokenizer()
    save_policy(folder / "policy", tiny_model(tokenizer), tokenizer, {"base_model": ""})


def adapted_policy(folder: Path) -> None:
    from peft import LoraConfig, get_peft_model

    from elicit_gym.agents.policy_folder import save_policy
    from elicit_gym.agents.training.value_head import make_value_head, save_value_head
    from tests.agents.tiny_model import tiny_model, tiny_tokenizer

    tokenizer = tiny_tokenizer()
    model = tiny_model(tokenizer)
    save_policy(folder / "base", model, tokenizer, {"base_model": ""})
    adapted = get_peft_model(model, LoraConfig(r=2, target_modules=["q_proj"]))
    save_policy(folder / "policy", adapted, tokenizer, {"base_model": str(folder / "base")})
    save_value_head(make_value_head(32), folder / "policy")


def training_state(folder: Path) -> None:
    import torch

    torch.save({"step": 1, "best": 0.5, "log": {}, "module": {"a": torch.zeros(2)}}, folder / "training_state.pt")


def exported_rows(folder: Path) -> None:
    rows = [_episode_row(episode) for episode in load_dataset("sample/all-v1", reward="reply_length")[:2]]
    (folder / "rows.json").write_text(json.dumps(rows), encoding="utf-8")


def transcripts(folder: Path) -> None:
    for kind in (".json", ".jsonl", ".csv", ".vtt", ".txt"):
        for i, sample in enumerate(SAMPLES[kind][:: 1 if kind == ".json" else 4]):
            (folder / f"{i}{kind}").write_bytes(sample)


def replies(folder: Path) -> None:
    setting = {
        field: json.loads(BUNDLED.read_text(encoding="utf-8").splitlines()[0])[field] for field in SETTING_FIELDS
    }
    (folder / "setting.json").write_text(json.dumps(setting), encoding="utf-8")
    (folder / "verdicts.json").write_text(json.dumps({"results": ["Yes", "No", True]}), encoding="utf-8")
    served = {
        "choices": [{"message": {"content": "A", "reasoning_content": None}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 4},
    }
    (folder / "served.json").write_text(json.dumps(served), encoding="utf-8")


def facts_of_a_build(folder: Path) -> None:
    facts = {"corpus": "sample", "domain": None, "reward": "factual_novelty(m)", "gamma": 0.9, "published": False}
    (folder / "built.arrow.json").write_text(json.dumps(facts), encoding="utf-8")


def settings_file(folder: Path) -> None:
    (folder / "run.yaml").write_text("seed: 3\npolicies: [naive, ask-one]\nsplit: test\n", encoding="utf-8")


# --- What reads them


def read_run(folder: Path) -> None:
    comparison = load_any_run(folder / "run").comparison
    json.dumps(comparison.to_row(), allow_nan=False)
    for record in comparison.records:
        json.dumps(record.to_row(), allow_nan=False)
        list(record.episode.transitions())


def resume_run(folder: Path) -> None:
    store = RunStore(folder / "run", load_run(folder / "run")[1], resume=True)
    store.take_records()
    store.close()


def read_scenarios(folder: Path) -> None:
    for name in ("written", "plain"):
        problems = validate_scenarios(folder / f"{name}.jsonl")
        assert all(isinstance(problem, str) for problem in problems)
        load_scenarios(folder / f"{name}.jsonl")


def read_corpora(folder: Path) -> None:
    for name in ("list.json", "lines.jsonl", "packed.zip"):
        assert all(isinstance(problem, str) for problem in validate_dialogues(folder / name))
        corpus = load_corpus("mine", path=folder / name)
        assert isinstance(corpus, Corpus)
        dataset = OfflineDataset.from_dialogues(corpus, ReplyLength())
        dataset.split()
        list(dataset.windows())
        dataset.save(folder / "built.arrow")


def read_evaluation(folder: Path) -> None:
    answers = AnswerFile(folder, the_evaluation(), resume=True).known("naive")
    for answer in answers.values():
        assert isinstance(answer.said, str)
        sum(x or 0 for x in (answer.log_prob, answer.num_tokens, answer.prompt_tokens))


def read_batch(folder: Path) -> None:
    key = read_key(folder)
    answers = read_answers([folder / "answers.csv"], key)
    check_workers(answers, min_seconds=1, min_agreement=0.0)
    [(task["domain"], task["dialogue"], task["block_id"]) for task in key.values()]


def read_samples_and_blind(folder: Path) -> None:
    write_batch(make_tasks(read_samples(folder), 2), folder / "batch", seed=0)


def read_response(folder: Path) -> None:
    for mode in ("replay", "read-write"):
        cache = ResponseCache(folder / "c.sqlite", mode)  # type: ignore[arg-type]
        try:
            found = cache.get("key")
            len(cache)
            cache.put("key2", RESPONSE)
        finally:
            cache.close()
        assert found is None or found.usage("policy").calls == 1


def read_entities(folder: Path) -> None:
    reader = EntityReader(cache=folder / "e.sqlite")
    try:
        for entities in reader._look_up(["key"]).values():
            assert all(isinstance(entity, str) for entity in entities)
        reader._store.put({"key2": ["x"]})
    finally:
        reader._store.close()


def read_prompts(folder: Path) -> None:
    load_prompt("elicit_gym.agents", "ask", ("slot",), folder).sha256  # noqa: B018
    load_system_prompt(str(folder / "ask.txt")).sha256  # noqa: B018


def read_policy_config(folder: Path) -> None:
    read_config(folder)
    base_model_of(folder)


def read_policy(folder: Path) -> None:
    policy = load_policy(str(folder / "policy"), max_tokens=2)
    policy.reset(0)
    with boundary("policy", "Asking"):  # as rollouts do
        policy.act((Message(role="user", content="Hi"),))


def read_value_head(folder: Path) -> None:
    from elicit_gym.agents.training.value_head import load_value_head

    load_value_head(folder / "policy")


def read_exports(folder: Path) -> None:
    try:
        rows = json.loads((folder / "rows.json").read_bytes())
    except (ValueError, RecursionError):  # a Hugging Face table has rows in any case
        return
    for read in (from_huggingface, from_minari):
        dataset = read(rows if read is from_huggingface else _Minari(rows))
        list(dataset.transitions())
        dataset.save(folder / "built.arrow")


class _Minari:
    """What Minari makes of its files, with our rows in the metadata of its episodes."""

    def __init__(self, rows: Any) -> None:
        rows = rows if isinstance(rows, list) else [rows]
        self.episode_indices = range(len(rows))
        self.storage = SimpleNamespace(
            get_episode_metadata=lambda indices: [{"episode": json.dumps(rows[i])} for i in indices]
        )


def read_transcripts(folder: Path) -> None:
    known = {sample for samples in SAMPLES.values() for sample in samples}
    for path in [path for path in sorted(folder.iterdir()) if path.read_bytes() not in known] or [folder / "0.json"]:
        for speakers in ((), ("X",), ("X", "Y")):
            with suppress(ElicitGymError):
                write_transcripts([import_transcript(path, speakers=speakers)], folder / "out" / "o.jsonl")


def read_replies(folder: Path) -> None:
    texts = {
        name: (folder / f"{name}.json").read_bytes().decode("utf-8", "replace") for name in ("setting", "verdicts")
    }
    verdicts, _ = parse_verdicts(texts["verdicts"], 3)
    assert all(verdict in (True, False, None) for verdict in verdicts)
    with suppress(ValueError):  # which the pipeline asks again on
        assert set(read_setting(texts["setting"], SETTING_FIELDS)) == set(SETTING_FIELDS)
    with suppress(ValueError, RecursionError, TransportError):  # the client reads what parses, and tries again
        served = json.loads((folder / "served.json").read_bytes())
        transport = HTTPTransport("m", api_base="http://localhost", api_key_env=None, timeout=1)
        assert isinstance(transport._unpack(served).content, str | None)


def read_settings(folder: Path) -> None:
    names = {"seed": False, "policies": True, "split": False}
    params = [click.Option([f"--{name}"], multiple=several) for name, several in names.items()]
    _read_config(typer.Context(click.Command("x", params=list(params))), folder / "run.yaml")


@dataclass(frozen=True)
class Reader:
    """A reader of strangers' files.

    Attributes:
        make: writes real files of the kind into a folder.
        attacked: which of them are mutated.
        read: reads them as the package does, and uses what it finds as the package does.
        examples: how many mutations are tried.
    """

    make: Callable[[Path], None]
    attacked: tuple[str, ...]
    read: Callable[[Path], Any]
    examples: int = 100


READERS: dict[str, Reader] = {
    "run": Reader(run_folder, ("run/manifest.json", "run/episodes.jsonl"), read_run, 80),
    "resumed run": Reader(run_folder, ("run/manifest.json", "run/episodes.jsonl"), resume_run),
    "scenarios": Reader(scenario_file, ("written.jsonl", "plain.jsonl"), read_scenarios),
    "published scenarios": Reader(
        published_scenarios, ("settings.jsonl", "seed_messages.jsonl", "traits.jsonl"), load_scenarios
    ),
    "published chats": Reader(
        published_chats, ("chats-u-p-j-1.jsonl",), lambda f: load_any_run(f / "chats-u-p-j-1.jsonl")
    ),
    "corpora": Reader(corpus_files, ("list.json", "lines.jsonl", "packed.zip"), read_corpora),
    "windows": Reader(
        windows, ("w.jsonl",), lambda f: [(w.action, w.return_to_go + 0.0) for w in read_published(f / "w.jsonl")]
    ),
    "evaluation": Reader(evaluation, ("manifest.json", "answers.jsonl"), read_evaluation),
    "samples": Reader(samples, ("samples.jsonl",), read_samples_and_blind),
    "ratings": Reader(batch, ("key.json", "answers.csv"), read_batch),
    "generated": Reader(
        generated, ("settings.jsonl", "seed_messages.jsonl", "traits.jsonl", "rejected.jsonl"), _read_done
    ),
    "generated in depth": Reader(generated_in_depth, ("scenarios.jsonl", "rejected.jsonl"), _Store),
    "facts of a build": Reader(build_facts, ("x.json",), read_build_facts),
    "personas": Reader(
        personas, ("p.jsonl", "p.txt"), lambda f: [read_personas(f / name) for name in ("p.jsonl", "p.txt")]
    ),
    "response cache": Reader(response_cache, ("c.sqlite",), read_response),
    "entity cache": Reader(entity_cache, ("e.sqlite",), read_entities),
    "prompts": Reader(prompts, ("ask.txt",), read_prompts),
    "training state": Reader(training_state, ("training_state.pt",), load_training_state, 40),
    "exported rows": Reader(exported_rows, ("rows.json",), read_exports),
    "transcripts": Reader(transcripts, (*(f"{i}.json" for i in range(8)), "0.jsonl"), read_transcripts, 40),
    "replies": Reader(replies, ("setting.json", "verdicts.json", "served.json"), read_replies),
    "policy": Reader(
        whole_policy,
        tuple(
            f"policy/{n}"
            for n in (
                "config.json",
                "model.safetensors",
                "tokenizer.json",
                "tokenizer_config.json",
                "generation_config.json",
                "elicit_gym.json",
            )
        ),
        read_policy,
        40,
    ),
    "adapter": Reader(
        adapted_policy,
        tuple(f"policy/{n}" for n in ("adapter_config.json", "adapter_model.safetensors", "elicit_gym.json")),
        read_policy,
        30,
    ),
    "value head": Reader(adapted_policy, ("policy/value_head.safetensors",), read_value_head),
    "Minari facts of a build": Reader(
        facts_of_a_build, ("built.arrow.json",), lambda f: built_replay_spec(f / "built.arrow")
    ),
    "settings file": Reader(settings_file, ("run.yaml",), read_settings),
    "policy config": Reader(policy_config, ("elicit_gym.json",), read_policy_config),
}


@pytest.fixture(scope="module")
def originals(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    made: dict[str, Path] = {}

    def make(name: str) -> Path:
        if name not in made:
            made[name] = tmp_path_factory.mktemp(name.replace(" ", "-"))
            READERS[name].make(made[name])
        return made[name]

    return make


@pytest.mark.parametrize("name", list(READERS))
def test_mutated_files_are_read_or_refused_in_a_sentence(name: str, originals: Callable[[str], Path]) -> None:
    reader = READERS[name]
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "x"
        shutil.copytree(originals(name), place)
        reader.read(place)  # the original is sound

    @settings(
        max_examples=int(os.environ.get("ELICIT_GYM_FUZZ", reader.examples)), deadline=None, derandomize=True,
        database=None, suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(st.integers(0, 2**32 - 1))
    def check(seed: int) -> None:
        rng = random.Random(seed)
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            place = Path(folder) / "x"
            shutil.copytree(originals(name), place)
            mutate_file(place / rng.choice(reader.attacked), rng)
            try:
                reader.read(place)
            except ElicitGymError as error:
                refused.append(str(error))
            else:
                refused.append("")

    refused: list[str] = []
    check()
    assert all(len(sentence) < 3000 for sentence in refused)
    assert any(refused) or name in ("transcripts", "replies"), "no mutation was noticed"
    assert not all(refused), "nothing was read"


OWN = "a file of the package's own"
FRAME = "what the readers are made of"
CLUSTER = "what the user's own process sends to the user's own cluster"
OF_THE_HUB = "files of a pinned revision, read by a reader of this table"
COVERED: dict[str, str] = {
    "agents.baselines.bank:bank": OWN,
    "cli.config_file:_read": "settings file",
    "judges.statements:_value_of": "replies",
    "offline.minari_metadata:built_replay_spec": "Minari facts of a build",
    "offline.ope.load:load_dialogues": "run",
    "offline.open_corpora:_from_hub": OF_THE_HUB,
    "offline.open_corpora:_rows": "tests/offline/test_open_corpora.py",
    "adapters.local_server:text_problem": "tests/adapters/test_local_server.py",
    "agents.local_model:_check_adapter_config": "adapter",
    "agents.local_model:_with_adapter": "adapter",
    "agents.local_model:load_model": "policy",
    "agents.policy_folder:_adapted": "adapter",
    "agents.policy_folder:read_config": "policy config",
    "agents.system_prompt:load_system_prompt": "prompts",
    "agents.training.checkpoint:load_training_state": "training state",
    "agents.training.value_head:load_value_head": "value head",
    "cli.cluster_options:ray_backend": "an address that the user types",
    "cli.data:export_command": "tests/offline/test_arrow.py",
    "episode:_unpack": "run",
    "evaluation.contrast:load_contrast_sentences": OWN,
    "file_limits:read_bytes": FRAME,
    "files:writing": "writes",
    "json_files:_line": FRAME,
    "json_files:parse_line": FRAME,
    "json_files:read_json": FRAME,
    "json_files:read_lines": FRAME,
    "json_files:read_records": FRAME,
    "json_files:read_text": FRAME,
    "json_files:resume_records": FRAME,
    "key_value:KeyValueStore.__init__": "response cache",
    "key_value:KeyValueStore._value": "response cache",
    "llm.cache:ResponseCache.__init__": "response cache",
    "llm.http_transport:HTTPTransport.send": "replies",
    "llm.prompts:load_prompt": "prompts",
    "llm.prompts:read_prompt": "prompts",
    "llm.weights:_file_sha256": "only hashed",
    "llm.weights:_folder_of": OF_THE_HUB,
    "offline.annotate:_is_of_a_build": "facts of a build",
    "offline.arrow:ArrowEpisodes.__init__": "tests/offline/test_arrow.py",
    "offline.arrow:ArrowEpisodes._checked_messages": "tests/offline/test_arrow.py",
    "offline.arrow:ArrowEpisodes._make": "tests/offline/test_arrow.py",
    "offline.entity_reader:EntityReader.__init__": "entity cache",
    "offline.evaluation.answers:AnswerFile.__init__": "evaluation",
    "offline.exports:_episode_from_row": "exported rows",
    "offline.exports:from_minari": "exported rows",
    "offline.exports:read_published": "windows",
    "offline.human_eval.answers:_rows": "ratings",
    "offline.human_eval.tasks:read_key": "ratings",
    "offline.human_eval.tasks:read_samples": "samples",
    "offline.importing.chats:load_and_read": "transcripts",
    "offline.importing.formats:_read_pdf": "tests/offline/importing/test_hostile.py",
    "offline.importing.formats:_read_txt": "tests/offline/importing/test_hostile.py",
    "offline.importing.formats:_text": "transcripts",
    "offline.importing.formats:read_file": "transcripts",
    "offline.importing.json_source:_parse": "transcripts",
    "offline.importing.pdf:_pages": "tests/offline/importing/test_hostile.py",
    "offline.importing.tables:_parse": "tests/offline/importing/test_hostile.py",
    "offline.importing.tables:_promise": "tests/offline/importing/test_hostile.py",
    "offline.importing.word:_main_part": "tests/offline/importing/test_hostile.py",
    "offline.importing.word:_parts": "tests/offline/importing/test_hostile.py",
    "offline.importing.word:_xml": "tests/offline/importing/test_hostile.py",
    "offline.importing.word_tables:_try_lines": "tests/offline/importing/test_hostile.py",
    "offline.load_corpus:_contents": "corpora",
    "offline.load_corpus:parsed_rows": "corpora",
    "offline.load_corpus:yield_folder": OF_THE_HUB,
    "offline.load_windows:_dataset": "tests/offline/test_arrow.py",
    "offline.load_windows:_holds_dialogues": "windows",
    "offline.load_windows:load_tokenizer": "policy",
    "offline.ner:_load": "a spaCy pipeline that is installed",
    "offline.ray_entities:entities_on_ray": "an address that the user types",
    "reporting.page:data_uri": OWN,
    "rollout.manifest:Manifest.read": "run",
    "rollout.parcels:unpack": CLUSTER,
    "rollout.published_chats:load_published_chats": "published chats",
    "rollout.ray_backend:RayBackend.__call__": "an address that the user types",
    "rollout.storage:RunStore._open": "resumed run",
    "rollout.storage:load_run": "run",
    "scenarios.generate:_read_rows": "generated",
    "scenarios.generate_deep:_read": "generated in depth",
    "scenarios.hub:check_sha256": "only hashed",
    "scenarios.hub:published_folder": OF_THE_HUB,
    "scenarios.load:_load": "scenarios",
    "scenarios.personas:read_personas": "personas",
    "scenarios.published:load_published": "published scenarios",
    "scenarios.replies:_parsed": "replies",
    "strict_json:parse_json": FRAME,
    "understanding.general:examples": OWN,
    "understanding.scorer:scorers": OWN,
    "understanding.vectors:word_vectors": OWN,
}
"""Every place that reads, and what attacks it here or elsewhere, or why nothing need."""


def test_every_reader_is_attacked() -> None:
    """Whoever adds a reader adds it to `READERS`, with a maker of small real files, and its place to `COVERED`."""
    assert set(calls_that_open()) == set(COVERED)
    reasons = {OWN, FRAME, CLUSTER, OF_THE_HUB, "only hashed", "writes", "an address that the user types"}
    for place, by in COVERED.items():
        known = by in READERS or by in reasons or (ROOT / by).is_file() or "installed" in by
        assert known, f"{place}: {by}"
    assert set(READERS) <= set(COVERED.values())
