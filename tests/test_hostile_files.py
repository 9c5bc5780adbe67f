"""Every reader of the package on mutated real files: what it finds, or an error of ours, and never another one."""

import json
import os
import random
import shutil
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from elicit_gym import collect_episodes
from elicit_gym.agents import load_policy
from elicit_gym.agents.policy_folder import base_model_of, read_config
from elicit_gym.agents.system_prompt import load_system_prompt
from elicit_gym.errors import ElicitGymError
from elicit_gym.evaluation.saved import load_any_run
from elicit_gym.llm.cache import ResponseCache
from elicit_gym.llm.prompts import load_prompt
from elicit_gym.llm.types import ChatResponse
from elicit_gym.offline import load_dataset
from elicit_gym.offline.corpus import Corpus
from elicit_gym.offline.dataset import OfflineDataset
from elicit_gym.offline.dialogue_rewards import ReplyLength
from elicit_gym.offline.entity_reader import EntityReader
from elicit_gym.offline.evaluation.answers import Answer, AnswerFile, evaluation_manifest
from elicit_gym.offline.exports import read_published, write_published
from elicit_gym.offline.human_eval.answers import check_workers, read_answers
from elicit_gym.offline.human_eval.forms import write_batch
from elicit_gym.offline.human_eval.tasks import make_tasks, read_key, read_samples
from elicit_gym.offline.load_corpus import SAMPLE, load_corpus, validate_dialogues
from elicit_gym.rollout.storage import RunStore, load_run
from elicit_gym.scenarios.generate import _read_done, read_personas
from elicit_gym.scenarios.load import BUNDLED, load_scenarios, validate_scenarios
from tests.mutations import mutate_file
from tests.offline.human_eval.batches import rows_of, write
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
    "personas": Reader(
        personas, ("p.jsonl", "p.txt"), lambda f: [read_personas(f / name) for name in ("p.jsonl", "p.txt")]
    ),
    "response cache": Reader(response_cache, ("c.sqlite",), read_response),
    "entity cache": Reader(entity_cache, ("e.sqlite",), read_entities),
    "prompts": Reader(prompts, ("ask.txt",), read_prompts),
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
    assert any(refused), "no mutation was noticed"
    assert not all(refused), "nothing was read"
