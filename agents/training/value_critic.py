"""The value head of a training by AWR as a critic for doubly robust off-policy evaluation."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elicit_gym.agents.batch import Row, collate
from elicit_gym.agents.load import load_policy
from elicit_gym.agents.local_policy import LocalPolicy
from elicit_gym.agents.policy_folder import read_config
from elicit_gym.agents.training.value_head import load_value_head, value_positions
from elicit_gym.errors import SettingError
from elicit_gym.offline.episodes import OfflineEpisode
from elicit_gym.offline.log_probs import PolicyView
from elicit_gym.offline.model_input import encode_example
from elicit_gym.offline.ope.critics import Values
from elicit_gym.policy import BatchPolicy, SeededBatchPolicy, StochasticPolicy
from elicit_gym.types import ChatHistory

__all__ = ["ValueHeadCritic"]


class ValueHeadCritic:
    """Values of histories and actions by a model and its value head.

    A head that reads the history alone values what was done as the history itself. One that reads the action, too,
    values the history by the mean over actions that are drawn from the target. Either keeps a doubly robust estimate
    unbiased, although the head was fitted to returns of the data and not of the target.

    Args:
        folder: the ``best`` folder of a training by AWR.
        num_samples: actions that are drawn per history, for heads that read the action.
        batch_size: examples per batch.

    Raises:
        SettingError: there is no value head, or one whose scale is not known.
    """

    name = "value head"

    def __init__(self, folder: Path, *, num_samples: int = 2, batch_size: int = 8) -> None:
        self._head = load_value_head(folder)
        config = read_config(folder)
        settings: dict[str, Any] = config.get("settings") or {}
        if settings.get("standardise_returns") == "batch":
            raise SettingError(
                f"Valuing with the head in {folder}: expected returns that were standardised by the dataset or not at "
                "all, got 'batch': its values have no scale. Train with standardise_returns 'dataset'."
            )
        returns = config.get("returns") or {"mean": 0.0, "std": 1.0}
        self._mean, self._std = float(returns["mean"]), float(returns["std"])
        self._value_input = str(settings.get("value_input", "history_action"))
        policy = load_policy(str(folder))
        assert isinstance(policy, LocalPolicy)
        self._policy = policy
        self._head.to(policy.model.device)
        self._num_samples, self._batch_size = num_samples, batch_size

    def values(
        self, episodes: Sequence[OfflineEpisode], target: StochasticPolicy, view: PolicyView, gamma: float
    ) -> Values:
        """Return the head's values, in the scale of returns.

        Raises:
            SettingError: the head reads actions, and the target cannot answer many histories at once.
        """
        histories = [history for episode in episodes for history in view.histories(episode)]
        actions = [action for episode in episodes for action in episode.actions]
        q_values = self._score(histories, actions)
        if self._value_input == "history":
            state_values = q_values
        else:
            drawn = [self._score(histories, said) for said in self._draw(target, histories)]
            state_values = np.mean(drawn, axis=0)
        ends = np.cumsum([len(episode) for episode in episodes])[:-1]
        return np.split(q_values, ends), np.split(state_values, ends)

    def _draw(self, target: StochasticPolicy, histories: Sequence[ChatHistory]) -> list[list[str]]:
        if isinstance(target, SeededBatchPolicy):
            return [target.act_seeded(histories, [seed] * len(histories)) for seed in range(self._num_samples)]
        drawn = []
        for seed in range(self._num_samples):
            target.reset(seed)
            if isinstance(target, BatchPolicy):
                drawn.append(target.act_batch(histories))
            else:
                drawn.append([target.act(history) for history in histories])
        return drawn

    def _score(self, histories: Sequence[ChatHistory], actions: Sequence[str]) -> NDArray[np.float64]:
        import torch

        from elicit_gym.agents.scoring import action_log_probs

        tokenizer, model = self._policy.tokenizer, self._policy.model
        examples = [encode_example(tokenizer, h, a) for h, a in zip(histories, actions, strict=True)]
        values = np.zeros(len(examples))
        order = sorted(range(len(examples)), key=lambda i: len(examples[i].input_ids))
        for start in range(0, len(order), self._batch_size):
            chosen = order[start : start + self._batch_size]
            batch = collate([Row.of(examples[i]) for i in chosen], tokenizer.pad_token_id or 0, model.device)
            with torch.inference_mode():
                hidden, _, _ = action_log_probs(model, batch.input_ids, batch.actions, len(chosen))
                rows, positions = value_positions(batch.actions, len(chosen), self._value_input)
                found = self._head(hidden[rows, positions].float()).squeeze(1)
            values[chosen] = found.cpu().numpy() * self._std + self._mean
        return values
