"""Windows as token ids."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elicit_gym.errors import SettingError
from elicit_gym.offline.windows import Window

__all__ = ["tokenize_windows"]

BATCH = 512


def tokenize_windows(windows: Sequence[Window], tokenizer: Any, max_length: int) -> dict[str, NDArray[Any]]:
    """Tokenize windows in batches; see `elicit_gym.offline.dataset.OfflineDataset.tokenize`."""
    if getattr(tokenizer, "chat_template", None) is None:
        raise SettingError(
            f"Tokenizing windows: expected a tokenizer with a chat template, got {type(tokenizer).__name__} without. "
            "Set tokenizer.chat_template."
        )
    kept: list[tuple[int, list[int], int]] = []
    for start in range(0, len(windows), BATCH):
        batch = windows[start : start + BATCH]
        rows = [[{"role": m.role, "content": m.content} for m in window.messages] for window in batch]
        wholes = tokenizer.apply_chat_template(rows, tokenize=False)
        prompts = tokenizer.apply_chat_template([row[:-1] for row in rows], tokenize=False, add_generation_prompt=True)
        for prompt, whole in zip(prompts, wholes, strict=True):
            if not whole.startswith(prompt):
                raise SettingError(
                    "Tokenizing windows: expected a chat template whose prompt is the beginning of the whole "
                    f"conversation, got a prompt that ends in {prompt[-40:]!r}. Use another template."
                )
        # Prompt and action are tokenized apart, so that no token spans the border between them.
        prompt_ids = tokenizer(prompts, add_special_tokens=False)["input_ids"]
        actions = [whole[len(prompt) :] for prompt, whole in zip(prompts, wholes, strict=True)]
        action_ids = tokenizer(actions, add_special_tokens=False)["input_ids"]
        for i, (given, said) in enumerate(zip(prompt_ids, action_ids, strict=True)):
            if len(given) + len(said) <= max_length:
                kept.append((start + i, given + said, len(given)))
    longest = max((len(ids) for _, ids, _ in kept), default=0)
    pad = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else tokenizer.eos_token_id or 0
    input_ids = np.full((len(kept), longest), pad, dtype=np.int64)
    attention = np.zeros((len(kept), longest), dtype=np.int64)
    action_mask = np.zeros((len(kept), longest), dtype=np.int64)
    for row, (_, ids, border) in enumerate(kept):
        input_ids[row, : len(ids)] = ids
        attention[row, : len(ids)] = 1
        action_mask[row, border : len(ids)] = 1
    block_ids = np.empty(len(kept), dtype=object)
    block_ids[:] = [windows[i].block_id for i, _, _ in kept]
    return {
        "input_ids": input_ids,
        "attention_mask": attention,
        "action_mask": action_mask,
        "rewards": np.array([windows[i].reward for i, _, _ in kept], dtype=np.float32),
        "returns_to_go": np.array([windows[i].return_to_go for i, _, _ in kept], dtype=np.float32),
        "block_ids": block_ids,
    }
