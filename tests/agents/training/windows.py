"""Windows of the bundled sample and settings that learn in seconds."""

from elicit_gym.agents.training.awr import AWRConfig
from elicit_gym.offline import load_dataset
from elicit_gym.offline.windows import Window, WindowRules

WINDOWS: list[Window] = list(
    load_dataset("sample/all-v1", reward="new_content_words").windows(WindowRules(max_tokens=120))
)[:21]

FAST = AWRConfig(policy_lr=1e-2, value_lr=1e-2, eval_every=2, save_every=2)
