"""Files are written whole or not at all, by one module, whoever writes them."""

import ast
import os
from pathlib import Path

import pytest

from elicit_gym.errors import SettingError
from elicit_gym.files import appending, check_output, replacing, writing
from tests.conftest import ROOT

OWN = {"write_text", "write_bytes", "symlink_to", "hardlink_to"}
"""Methods of `Path` that write; of the same name are functions of `elicit_gym.files`, which are no methods."""
LIBRARIES = {
    "savefig", "save_pretrained", "save_to_disk", "to_parquet", "to_csv", "to_json_file", "to_excel", "OSFile", "dump",
    "savez", "save_file", "imsave", "tofile",
}  # fmt: skip
"""Functions of libraries that write by name: they may do so into what `replacing` gives."""
SQLITE = {"key_value.py"}
"""SQLite writes its own files, and keeps them whole itself."""


def writers(source: str) -> list[str]:
    """Return the calls in a module's source that write files by themselves."""
    found = []
    tree = ast.parse(source)
    inside = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.With) and any("replacing(" in ast.unparse(item.context_expr) for item in node.items)
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        method = isinstance(node.func, ast.Attribute)
        whole = ast.unparse(node.func)
        if (method and name in OWN) or whole in ("os.open", "os.fdopen", "os.truncate", "shutil.copy", "shutil.move"):
            found.append(ast.unparse(node))
        elif name in LIBRARIES | ({"save"} if whole == "torch.save" else set()):
            if id(node) not in inside and not whole.startswith("json."):
                found.append(ast.unparse(node))
        elif name == "open" and (not method or whole not in ("pa.ipc.open", "OfflineDataset.open", "webbrowser.open")):
            modes = [a.value for a in [*node.args, *(k.value for k in node.keywords)] if isinstance(a, ast.Constant)]
            in_memory = any(keyword.arg == "fileobj" for keyword in node.keywords)
            if not in_memory and any(isinstance(m, str) and len(m) <= 3 and set(m) & set("wax+") for m in modes):
                found.append(ast.unparse(node))
    return found


MODULES = [
    path
    for folder in ("elicit_gym", "agents", "offline")
    for path in sorted((ROOT / folder).rglob("*.py"))
    if path.relative_to(ROOT) != Path("elicit_gym/files.py") and "__pycache__" not in path.parts
    if not any(parent.is_symlink() for parent in path.parents)
]
ALLOWED = {
    "elicit_gym/json_files.py": ["os.truncate(path, unfinished.start)"],  # takes away half a line that a kill left
}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_writer_goes_through_the_one_module(path: Path) -> None:
    assert writers(path.read_text(encoding="utf-8")) == ALLOWED.get(str(path.relative_to(ROOT)), [])


@pytest.mark.parametrize(
    "line",
    [
        'open("x", "w")', 'path.open("wb")', 'path.open(mode="a")', 'io.open(path, "x", encoding="utf-8")',
        'path.write_text("a")', "(folder / name).write_bytes(data)", 'figure.savefig("p.png")', "torch.save(state, path)",
        "model.save_pretrained(folder)", "table.to_parquet(out)", "pa.OSFile(str(path), 'wb')", "os.open(path, flags)",
    ],
)  # fmt: skip
def test_the_check_sees_every_way_to_write(line: str) -> None:
    assert writers(line) == [ast.unparse(ast.parse(line))]
    assert writers(f"with other(path) as beside:\n    {line}")


@pytest.mark.parametrize(
    "line", ['path.open("rb")', "open(path)", "path.read_text()", "write_text(path, text)", "ZipFile(path)"]
)
def test_the_check_lets_readers_be(line: str) -> None:
    assert writers(line) == []
    assert writers("with replacing(path) as beside:\n    figure.savefig(beside)") == []


def break_off(path: Path) -> None:
    with replacing(path, folder=path.is_dir()) as beside:
        assert beside.parent == path.parent
        assert beside.name.endswith(path.name)  # libraries choose a format by the ending
        (beside / "new" if path.is_dir() else beside).write_text("half")
        raise ValueError("broken")


def test_what_fails_leaves_the_old_file_or_folder(tmp_path: Path) -> None:
    file, folder = tmp_path / "f.png", tmp_path / "d"
    file.write_text("old")
    folder.mkdir()
    (folder / "old").touch()
    with pytest.raises(ValueError, match="broken"):
        break_off(file)
    with pytest.raises(ValueError, match="broken"):
        break_off(folder)
    assert file.read_text() == "old"
    assert os.listdir(folder) == ["old"]
    assert sorted(os.listdir(tmp_path)) == ["d", "f.png"]
    with replacing(folder, folder=True) as beside:
        (beside / "new").touch()
    assert os.listdir(folder) == ["new"]
    assert sorted(os.listdir(tmp_path)) == ["d", "f.png"]
    for path, as_folder in ((file, True), (folder, False)):
        with pytest.raises(SettingError, match="expected a f"), replacing(path, folder=as_folder):
            pass


def fill_disk(path: Path, full: int) -> None:
    with writing(path) as file:
        file.write("a")
        file.flush()
        os.dup2(full, file.fileno())
        file.write("b")


def test_a_full_disk_leaves_the_old_file(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full on this machine")
    path = tmp_path / "o.txt"
    path.write_text("old")
    full = os.open("/dev/full", os.O_WRONLY)
    with pytest.raises(SettingError, match="No space left on device"):
        fill_disk(path, full)
    os.close(full)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["o.txt"]


def test_outputs_are_checked_before_the_work(tmp_path: Path) -> None:
    source = tmp_path / "in" / "a.jsonl"
    source.parent.mkdir()
    source.touch()
    (tmp_path / "link").symlink_to(source)
    check_output(tmp_path / "new" / "below" / "o", [source])
    check_output(source.parent / "new.jsonl", [source.parent])  # new beside the inputs: nothing is lost
    for out, inputs in (
        (source, [source]),
        (tmp_path / "link", [source]),
        (source, [tmp_path]),
        (source, [tmp_path / "link"]),
    ):
        with pytest.raises(SettingError, match="expected another file than the input"):
            check_output(out, inputs)
    with pytest.raises(SettingError, match="expected a place to write to"):
        check_output(source / "below")


def test_what_is_gone_on_with_is_strict_and_made_if_need_be(tmp_path: Path) -> None:
    for text in ("one\n", "två\n"):
        with appending(tmp_path / "new" / "a.jsonl") as file:
            file.write(text)
    assert (tmp_path / "new" / "a.jsonl").read_bytes() == "one\ntvå\n".encode()
    with pytest.raises(UnicodeEncodeError), appending(tmp_path / "new" / "a.jsonl") as file:
        file.write("\ud83d")
    with pytest.raises(SettingError, match="expected a place to write to"):
        appending(tmp_path / "new")
