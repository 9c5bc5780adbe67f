"""A verifiers run plays the same conversations as the environment, through the real package in a venv of its own."""

import json
import subprocess
from pathlib import Path

import gymnasium as gym

import elicit_gym  # noqa: F401 - registers the ids
from elicit_gym.seeding import unit_seed
from tests.adapters.venvs import python_with

WORDS = ("What is your budget?", "When is it due?", "Who else has a say?")


def test_a_run_is_the_environment(tmp_path: Path) -> None:
    script = Path(__file__).parent / "verifiers_script.py"
    # Its dependencies (mcp 2, a newer openai) cannot live beside those of the other extras.
    command = [str(python_with("verifiers==0.4.0")), str(script)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    played = json.loads(done.stdout.strip().splitlines()[-1])
    assert len(played) == 4
    for episode in played:
        assert episode["errors"] == []
        assert episode["ok"]
        env = gym.make("elicit_gym/InfoQuest-v0", split="test", max_turns=3)
        scenario_id = episode["scenario_id"]
        history, _ = env.reset(seed=unit_seed(5, scenario_id, 0), options={"scenario_id": scenario_id})
        total = 0.0
        for word in WORDS:
            history, reward, _, _, info = env.step(word)
            total += float(reward)
        assert episode["messages"] == [[m.role, m.content] for m in history]
        assert episode["reward"] == total
        assert episode["metrics"] == {"success": 0.0, "turns": 3.0}
        assert episode["checklist"] == list(info["checklist"])
