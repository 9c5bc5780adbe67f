"""Run the README's first command from Python and keep its main figure and its table of policies."""

import shutil
import tempfile
from pathlib import Path

from common import RESULTS, write_result

from elicit_gym import compare
from elicit_gym.agents import load_policy
from elicit_gym.cli.compare import DEFAULT_POLICIES

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        comparison = compare([load_policy(name) for name in DEFAULT_POLICIES], repeats=3, out=Path(folder) / "run")
        (RESULTS / "figures").mkdir(exist_ok=True)
        shutil.copy(Path(folder) / "run" / "figures" / "cumulative_reward.png", RESULTS / "figures")
    write_result(
        "baselines",
        {
            "policies": {
                policy.policy: {
                    "return": policy.metrics["return"].to_row(),
                    "success_rate": policy.metrics["success_rate"].to_row(),
                }
                for policy in comparison.policies
            }
        },
    )
