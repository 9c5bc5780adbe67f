"""The store behind the caches."""

import json
import sqlite3
import subprocess
import sys
from pathlib import Path
from threading import Thread

import pytest

from elicit_gym.errors import SettingError
from elicit_gym.key_value import KeyValueStore


@pytest.mark.parametrize("name", [None, "deep/er/store.sqlite"])
def test_values_come_back_and_the_first_stays(tmp_path: Path, name: str | None) -> None:
    store = KeyValueStore(None if name is None else tmp_path / name)
    values = {f"k{i}": [i, "ä\ud83d", {"x": None}] for i in range(1_200)}
    store.put(values)
    store.put({"k0": "other", "new": 1})
    store.put({})
    assert store.get([*values, "nothing", "new"]) == {**values, "new": 1}
    assert store.get([]) == {}
    assert len(store) == 1_201
    store.close()
    if name is not None:
        assert KeyValueStore(tmp_path / name).get(["k7"]) == {"k7": values["k7"]}


def test_values_are_json_so_that_nothing_runs_when_they_are_read(tmp_path: Path) -> None:
    KeyValueStore(tmp_path / "s").put({"k": {"a": 1}})
    (row,) = sqlite3.connect(tmp_path / "s").execute("SELECT key, value, typeof(value) FROM entries")
    assert (row[0], json.loads(row[1]), row[2]) == ("k", {"a": 1}, "text")


def test_all_or_none(tmp_path: Path) -> None:
    store = KeyValueStore(tmp_path / "s")
    with pytest.raises(TypeError):
        store.put({"a": 1, "b": object()})
    with pytest.raises(sqlite3.Error):
        store.put({"a": 1, object(): 2})  # type: ignore[dict-item]
    assert len(store) == 0
    store.put({"a": 2})
    assert store.get(["a"]) == {"a": 2}


def test_what_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no database, but long enough to be read as a header of one", encoding="utf-8")
    for path in (tmp_path / "text", tmp_path, tmp_path / "text" / "below"):
        with pytest.raises(SettingError, match="expected a SQLite file"):
            KeyValueStore(path)


WRITER = """
import sys
from elicit_gym.key_value import KeyValueStore
store = KeyValueStore(sys.argv[1])
for i in range(200):
    store.put({f"{sys.argv[2]}-{i}": i, "shared": int(sys.argv[2])})
"""


def test_several_processes_and_threads_write_at_once(tmp_path: Path) -> None:
    path = tmp_path / "s"
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(path), str(n)]) for n in range(3)]
    store = KeyValueStore(path)
    threads = [Thread(target=lambda n=n: [store.put({f"t{n}-{i}": i}) for i in range(200)]) for n in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [writer.wait() for writer in writers] == [0] * 3
    assert len(store) == 1_201
