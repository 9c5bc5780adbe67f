"""A token-level view with which TD targets can be built: no step is dropped, and every state knows its successor."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elicit_gym.errors import SettingError
from elicit_gym.offline.episodes import OfflineEpisode
from elicit_gym.offline.log_probs import PolicyView
from elicit_gym.offline.model_input import encode_prompt, end_token_id
from elicit_gym.types import ChatHistory

__all__ = ["TokenView", "td_targets", "token_view"]

Ints = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class TokenView:
    """Episodes as token-level transitions, one row per action.

    A state is the position whose token the model reads before it says the next one. The action's tokens, the end token
    among them, are actions at the positions before them: at ``input_ids[row, i]`` with ``action_mask[row, i] == 1`` the
    state is position ``i - 1`` and the action is the token at ``i``. Within a row the next state is position ``i``;
    after the row's last token it is the last token of the next row's prompt, ``state_start[next_rows[row]]``: what the
    user replied lies between the two. An episode that was cut off has a last row with a prompt and no action, whose
    state the value of what would have followed is read from.

    Attributes:
        input_ids: prompt, action and end token, right-padded, shape (R, L).
        attention_mask: 1 at tokens and 0 at padding, shape (R, L).
        action_mask: 1 at the action's tokens and its end token, shape (R, L).
        token_rewards: the action's reward at its end token, 0 elsewhere, shape (R, L).
        terminals: 1 at the end token of an action after which the episode ended by itself, shape (R, L).
        state_start: the position of the first state of each row, which is the last token of the prompt, shape (R,).
        next_rows: the row that follows in the episode; -1 after the end. Shape (R,).
        episode_ids: shape (R,).
        steps: the number of the action in its episode, shape (R,).
        rewards: the reward of the action; 0 in rows without one. Shape (R,).
        returns_to_go: as in the episode; 0 in rows without an action. Shape (R,).
        dropped_messages: how many of the oldest messages were left out so that the row fits, shape (R,).
    """

    input_ids: Ints
    attention_mask: Ints
    action_mask: Ints
    token_rewards: NDArray[np.float32]
    terminals: Ints
    state_start: Ints
    next_rows: Ints
    episode_ids: NDArray[Any]
    steps: Ints
    rewards: NDArray[np.float32]
    returns_to_go: NDArray[np.float32]
    dropped_messages: Ints

    def __len__(self) -> int:
        return len(self.steps)


@dataclass(slots=True)
class _Row:
    ids: list[int]
    start: int
    episode: OfflineEpisode
    step: int
    dropped: int
    has_action: bool


def token_view(
    episodes: Sequence[OfflineEpisode], tokenizer: Any, *, max_length: int = 512, view: PolicyView | None = None
) -> TokenView:
    """Tokenize every action of every episode.

    Prompt, action and end token are those of `elicit_gym.offline.model_input`. A row that is too long loses its oldest
    messages, two at a time, and never its action: no step is dropped.

    Args:
        episodes: the episodes; a dataset is one.
        tokenizer: a Hugging Face tokenizer with a chat template.
        max_length: the largest number of tokens per row.
        view: what the agent sees of an episode.

    Raises:
        SettingError: there is no action, or an action is too long for `max_length` even with the last message alone.

    References:
        Snell et al. (2023), "Offline RL for natural language generation with implicit language Q-learning".
    """
    view = view or PolicyView()
    end = end_token_id(tokenizer)
    rows = [row for episode in episodes for row in _rows(episode, tokenizer, end, max_length, view)]
    if not rows:
        raise SettingError("Making a token view: expected episodes with actions, got none. Check the data.")
    pad = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else end
    shape = (len(rows), max(len(row.ids) for row in rows))
    input_ids = np.full(shape, pad, dtype=np.int64)
    attention, action, terminals = (np.zeros(shape, dtype=np.int64) for _ in range(3))
    token_rewards = np.zeros(shape, dtype=np.float32)
    next_rows = np.full(len(rows), -1, dtype=np.int64)
    for i, row in enumerate(rows):
        input_ids[i, : len(row.ids)], attention[i, : len(row.ids)] = row.ids, 1
        if i + 1 < len(rows) and rows[i + 1].episode is row.episode and rows[i + 1].step > row.step:
            next_rows[i] = i + 1
        if row.has_action:
            action[i, row.start + 1 : len(row.ids)] = 1
            token_rewards[i, len(row.ids) - 1] = row.episode.rewards[row.step]
            terminals[i, len(row.ids) - 1] = int(next_rows[i] < 0)
    ids = np.empty(len(rows), dtype=object)
    ids[:] = [row.episode.id for row in rows]
    return TokenView(
        input_ids=input_ids, attention_mask=attention, action_mask=action, token_rewards=token_rewards,
        terminals=terminals, state_start=np.array([row.start for row in rows], dtype=np.int64), next_rows=next_rows,
        episode_ids=ids, steps=np.array([row.step for row in rows], dtype=np.int64), rewards=token_rewards.sum(axis=1),
        returns_to_go=np.array(
            [row.episode.returns_to_go[row.step] if row.has_action else 0.0 for row in rows], dtype=np.float32
        ),
        dropped_messages=np.array([row.dropped for row in rows], dtype=np.int64),
    )  # fmt: skip


def _rows(episode: OfflineEpisode, tokenizer: Any, end: int, max_length: int, view: PolicyView) -> Iterator[_Row]:
    histories = view.histories(episode)
    for step, history in enumerate(histories):
        said = [*tokenizer(episode.actions[step], add_special_tokens=False)["input_ids"], end]
        prompt, dropped = _fitting(history, tokenizer, max_length - len(said), f"{episode.id}, action {step}")
        yield _Row([*prompt, *said], len(prompt) - 1, episode, step, dropped, True)
    if len(episode) and not episode.terminated:
        where = f"{episode.id}, the end"
        prompt, dropped = _fitting(view.last_history(episode), tokenizer, max_length, where)
        yield _Row(prompt, len(prompt) - 1, episode, len(episode), dropped, False)


def _fitting(history: ChatHistory, tokenizer: Any, room: int, where: str) -> tuple[list[int], int]:
    """Return a prompt of at most `room` tokens, and how many messages were left out for it."""
    dropped = 0
    while True:
        prompt = encode_prompt(tokenizer, history)
        if len(prompt) <= room:
            return prompt, dropped
        keep = 1 if history and history[0].role == "system" else 0
        if len(history) - keep <= 2:
            raise SettingError(
                f"Making a token view: expected room for the last message and the action, got {len(prompt)} tokens of "
                f"prompt where {room} fit ({where}). Raise max_length."
            )
        history = (*history[:keep], *history[keep + 2 :])  # a pair is dropped, so that roles still alternate
        dropped += 2


def td_targets(view: TokenView, values: NDArray[Any], *, gamma: float = 1.0) -> NDArray[np.float64]:
    """Return one-step TD targets ``r + gamma V(s')`` for every token of every action.

    The discount falls due once per action, at its end token, and not per token, so that a long utterance is not worth
    less than a short one.

    Args:
        view: the transitions.
        values: the value of the state at each position, shape (R, L).
        gamma: the discount per action.

    Returns:
        Shape (R, L), at the positions of ``action_mask``; NaN elsewhere.
    """
    targets = np.where(view.action_mask == 1, values, np.nan).astype(np.float64)  # within an action: V at the token
    rows = np.flatnonzero(view.action_mask.any(axis=1))
    ends = view.attention_mask[rows].sum(axis=1) - 1
    following = view.next_rows[rows]
    after = np.where(following >= 0, values[following, view.state_start[following]], 0.0)
    targets[rows, ends] = view.token_rewards[rows, ends] + gamma * after
    return targets
