"""What is installed, what an import costs, and that the README's figures are the measured ones."""

import importlib
import json
import subprocess
import sys
import zipfile
from importlib.metadata import entry_points
from pathlib import Path

import pytest

import elicit_gym
from tests.conftest import ROOT

HEAVY = ("torch", "litellm", "matplotlib", "scipy", "spacy", "transformers", "pandas", "rich", "jinja2")


def run_python(code: str, cwd: Path) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    folder = tmp_path_factory.mktemp("wheel")
    # From a copy: building writes build/ and *.egg-info into the source tree.
    source = folder / "source"
    subprocess.run(["git", "clone", "-q", str(ROOT), str(source)], check=True)
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        capture_output=True, text=True, check=True, cwd=ROOT,
    ).stdout.split("\n")  # fmt: skip
    for name in filter(None, listed):
        origin, target = ROOT / name, source / name
        if origin.is_file() and not origin.is_symlink():
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(origin.read_bytes())
    done = subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(source)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return zipfile.ZipFile(next(folder.glob("*.whl")))


def test_wheel_holds_every_module_and_data_file_and_no_top_level_agents(wheel: zipfile.ZipFile) -> None:
    names = set(wheel.namelist())
    tops = {name.split("/")[0] for name in names if ".dist-info/" not in name}
    assert tops == {"elicit_gym", "elicit_gym_verifiers"}
    expected = set()
    for package, prefix in (("elicit_gym", ""), ("agents", "elicit_gym/"), ("offline", "elicit_gym/")):
        for path in (ROOT / package).rglob("*"):
            relative = path.relative_to(ROOT)
            through_link = package == "elicit_gym" and relative.parts[1] in ("agents", "offline")
            if path.is_file() and "__pycache__" not in path.parts and not through_link:
                # verifiers finds its plug-ins by top-level names.
                expected.add(
                    (prefix + str(relative)).replace("elicit_gym/adapters/verifiers/", "elicit_gym_verifiers/")
                )
    assert expected - names == set()
    assert "elicit_gym/py.typed" in names
    assert "elicit_gym/scenarios/data/bundled.jsonl" in names
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_import_and_make_load_nothing_heavy(tmp_path: Path) -> None:
    code = (
        "import sys, gymnasium as gym, elicit_gym\n"
        f"before = sorted(m for m in {HEAVY!r} if m in sys.modules)\n"
        "env = gym.make('elicit_gym/InfoQuest-v0'); env.reset(seed=0); env.step('What is your goal?')\n"
        f"print(before, sorted(m for m in {HEAVY!r} if m in sys.modules))"
    )
    assert run_python(code, tmp_path).strip() == "[] []"


def test_import_costs_little_more_than_gymnasium(tmp_path: Path) -> None:
    # CPU time and the best of three: the limit (0.3 s) is about what is imported, not about a busy machine.
    code = "import time; s = time.process_time(); import {}; print(time.process_time() - s)"
    ours = min(float(run_python(code.format("elicit_gym"), tmp_path)) for _ in range(3))
    theirs = min(float(run_python(code.format("gymnasium"), tmp_path)) for _ in range(3))
    assert ours - theirs <= 0.3


@pytest.mark.parametrize(
    "code",
    [
        "import gymnasium as gym; print(gym.make('elicit_gym:elicit_gym/InfoQuest-v0').spec.id)",
        "import elicit_gym, gymnasium as gym; print(gym.make('elicit_gym/InfoQuest-v0').spec.id)",
        "import gymnasium as gym, elicit_gym; print(gym.make('elicit_gym/InfoQuest-v0').spec.id)",
    ],
)
def test_gym_make_in_a_fresh_interpreter(code: str, tmp_path: Path) -> None:
    assert run_python(code, tmp_path).strip() == "elicit_gym/InfoQuest-v0"


def test_entry_point_registers_and_may_be_called_again() -> None:
    (entry,) = (e for e in entry_points(group="gymnasium.envs") if e.value.startswith("elicit_gym"))
    register = entry.load()
    register()
    register()
    import gymnasium as gym

    assert all(env_id in gym.registry for env_id in elicit_gym.ENV_IDS)


def test_public_names_are_sorted_and_resolve() -> None:
    assert list(elicit_gym.__all__) == sorted(elicit_gym.__all__, key=lambda n: (not n.isupper(), n.lower() == n, n))
    for name in elicit_gym.__all__:
        assert getattr(elicit_gym, name) is not None
    assert set(dir(elicit_gym)) == set(elicit_gym.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        importlib.import_module("elicit_gym").nothing  # noqa: B018


def test_version_is_the_same_everywhere() -> None:
    assert f'version = "{elicit_gym.__version__}"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f"## [{elicit_gym.__version__}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_every_result_says_how_it_was_made() -> None:
    results = sorted((ROOT / "benchmarks" / "results").glob("*.json"))
    assert results
    for path in results:
        result = json.loads(path.read_text(encoding="utf-8"))
        assert {"command", "commit", "created", "machine", "versions"} <= set(result), path.name
        script = result["command"].removeprefix("python ").removeprefix("-m benchmarks.").split()[0]
        assert (ROOT / "benchmarks" / f"{Path(script).stem}.py").is_file(), path.name
