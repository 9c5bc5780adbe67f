"""Mutations of real files, as strangers and broken disks make them: of the bytes, and of the values in JSON."""

import json
import random
import sqlite3
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

DEEP = "\x02deep\x02"
"""Stands for a value of thousands of levels, which no encoder could write."""
VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 7, 2**63, 10**400, -0.0, 0.5, 1e308, float("nan"), float("inf"), -float("inf"), "", " ", "\x00", "\ud800",
    "a\nb", "NaN", "../../etc/passwd", [], [[]], [None], [0, "x"], {}, {"": None}, {"a": {"b": []}}, DEEP,
)  # fmt: skip
TOKENS = (
    b"\x00", b"\xff", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\xff\xfe", b"\n", b"\r\n", b"\n\n", b"\t", b'"', b"'", b",", b"{", b"}", b"[", b"]",
    b"[" * 3000, b'{"a":' * 3000, b"null", b"NaN", b"-Infinity", b"1e999", b"9" * 5000, b"true", b"\\ud800", b"\\u0000", b"{}", b"PK\x03\x04",
    b"{slot}", b"=1+1",
)  # fmt: skip


def _paths(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [at]
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        found += _paths(inner, (*at, key))
    return found


def _changed(value: Any, at: tuple[Any, ...], change: Callable[[Any, Any], None]) -> None:
    for key in at[:-1]:
        value = value[key]
    change(value, at[-1])


def _one_change(holder: list[Any], rng: random.Random) -> None:
    """Change one value, anywhere: another in its place, gone, under another name, twice, or wrapped."""
    paths = _paths(holder)[1:]
    # Half of the changes hit what is few in a file: its outer levels.
    at = rng.choice([path for path in paths if len(path) <= 3] if rng.random() < 0.5 else paths)

    def change(inner: Any, key: Any) -> None:
        kind = rng.choice(["swap", "swap", "swap", "gone", "rename", "twice", "wrap", "other"])
        if kind == "gone" and at != (0,):
            del inner[key]
        elif kind == "rename" and isinstance(inner, dict):
            inner[rng.choice(["", "\x00", "\ud800", "__proto__", "x" * 300, key.upper()])] = inner.pop(key)
        elif kind == "twice" and isinstance(inner, list):
            inner.insert(key, deepcopy(inner[key]))
        elif kind == "wrap":
            inner[key] = rng.choice([[inner[key]], {"a": inner[key]}, [inner[key], deepcopy(inner[key])]])
        elif kind == "other":
            other = holder
            for part in rng.choice(paths):
                other = other[part]
            inner[key] = deepcopy(other)
        else:
            inner[key] = deepcopy(rng.choice(VALUES))

    _changed(holder, at, change)


def _written(value: Any, rng: random.Random) -> str:
    deep = rng.choice(
        ["[" * 101 + "]" * 101, "[" * 900 + "]" * 900, "[" * 5000 + "]" * 5000, '{"a":' * 5000 + "1" + "}" * 5000]
    )
    return json.dumps(value, ensure_ascii=rng.random() < 0.5).replace(json.dumps(DEEP), deep)


def mutate_json(text: str, rng: random.Random) -> str:
    """Change one to three values of a JSON text."""
    holder = [json.loads(text)]
    for _ in range(rng.randint(1, 3)):
        _one_change(holder, rng)
    return _written(holder[0], rng)


def mutate_lines(text: str, rng: random.Random) -> str:
    """Change one line of JSON lines, or leave one out, or write one twice."""
    lines = text.splitlines()
    at = rng.randrange(len(lines))
    kind = rng.choice(["value", "value", "value", "value", "gone", "twice"])
    if kind == "value" and lines[at][:1] in ("{", "["):
        lines[at] = mutate_json(lines[at], rng)
    elif kind == "gone":
        del lines[at]
    else:
        lines.insert(at, lines[at])
    return "\n".join(lines) + "\n"


def mutate_bytes(data: bytes, rng: random.Random) -> bytes:
    """Cut, double, move, flip or insert something, one to four times."""
    made = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        at, length = rng.randrange(len(made) + 1), rng.choice([1, 1, 2, 4, 8, 40, 400])
        kind = rng.choice(["cut", "double", "flip", "bytes", "token", "move", "end"])
        if kind == "cut":
            del made[at : at + length]
        elif kind == "double":
            made[at:at] = made[at : at + length]
        elif kind == "flip" and at < len(made):
            made[at] ^= 1 << rng.randrange(8)
        elif kind == "bytes" and at < len(made):
            made[at : at + 4] = rng.choice([b"\x00" * 4, b"\xff" * 4, b"\xff\xff\xff\x7f", b"\x80\x00\x00\x00"])
        elif kind == "token":
            made[at:at] = rng.choice(TOKENS)
        elif kind == "move":
            source = rng.randrange(len(made) + 1)
            made[at : at + length] = bytes(made[source : source + length])
        elif kind == "end":
            del made[at:]
    return bytes(made)


def mutate_database(path: Path, rng: random.Random) -> None:
    """Change what a row of a SQLite file holds."""
    database = sqlite3.connect(path)
    tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    table = rng.choice(tables)
    (key, value) = database.execute(f"SELECT key, value FROM {table} LIMIT 1").fetchone()
    made: Any = rng.choice([mutate_json(value, rng), mutate_json(value, rng), b"\xff\x00", 7, 1.5, "", "{", "[" * 5000])
    if isinstance(made, str):
        made = made.encode("utf-8", "surrogatepass") if rng.random() < 0.2 else made.encode("utf-8", "replace").decode()
    database.execute(f"UPDATE {table} SET value = ? WHERE key = ?", (made, key))
    database.commit()
    database.close()


def mutate_file(path: Path, rng: random.Random) -> None:
    """Mutate a file in the way of its kind, or just its bytes."""
    by_value = rng.random() < 0.7
    if path.suffix == ".sqlite" and by_value:
        mutate_database(path, rng)
        return
    data = path.read_bytes()
    if path.suffix in (".json", ".jsonl") and by_value:
        change = mutate_json if path.suffix == ".json" else mutate_lines
        data = change(data.decode("utf-8"), rng).encode("utf-8", "surrogatepass")
    else:
        data = mutate_bytes(data, rng)
    path.write_bytes(data)
