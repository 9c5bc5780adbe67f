"""A Hugging Face causal language model as a policy: batched acting and scoring."""

import copy
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from elicit_gym.agents.batch import Row, collate
from elicit_gym.agents.local_model import best_device, load_model, loaded_sha256
from elicit_gym.agents.sampling import RowNoise, generate
from elicit_gym.agents.system_prompt import with_system_prompt
from elicit_gym.errors import SettingError
from elicit_gym.llm.content import spoken
from elicit_gym.llm.prompts import Prompt
from elicit_gym.llm.weights import weights_sha256
from elicit_gym.offline.model_input import (
    context_length,
    count_text_tokens,
    encode_example,
    encode_prompt,
    end_token_id,
)
from elicit_gym.parts import kind_of, prompt_hashes
from elicit_gym.policy import LogProb
from elicit_gym.types import ChatHistory, Description, Message

__all__ = ["LocalPolicy"]

MARGIN = 8


class LocalPolicy:
    """A local model that acts and scores in batches sorted by length, with one way of building its input.

    Args:
        model: an id on the hub, a folder, or a loaded model, whose tokenizer has to be given.
        adapter: a folder with a LoRA adapter.
        tokenizer: the tokenizer of a loaded model.
        name: the policy's name in reports; the folder's name by default.
        system: a prompt put before each history, after the system line that it may begin with; None for no prompt.
        temperature: the sampling temperature; 0 for greedy decoding.
        max_new_tokens: the largest number of tokens per utterance.
        batch_size: the number of histories per batch.
        thinking: whether a reasoning model may deliberate before it speaks; its deliberation is cut off.
        dtype: see `elicit_gym.agents.local_model.load_model`.
        device: see `elicit_gym.agents.local_model.load_model`.

    References:
        YIELD, Section 4.4 (policy) and 5.1 (scoring the human's utterance).
    """

    def __init__(
        self,
        model: Any,
        *,
        adapter: str | Path | None = None,
        tokenizer: Any = None,
        name: str | None = None,
        system: str | None = None,
        temperature: float = 0.0,
        max_new_tokens: int = 128,
        batch_size: int = 8,
        thinking: bool = False,
        dtype: str = "auto",
        device: str | None = None,
    ) -> None:
        if isinstance(model, str | Path):
            self.model, self.tokenizer = load_model(str(model), adapter=adapter, dtype=dtype, device=device)
            self.name = name or Path(str(adapter or model)).name
            self._files = [str(model), *([str(adapter)] if adapter is not None else [])]
        else:
            self.model, self.tokenizer, self.name = model, tokenizer, name or "local"
            self._files = []
        encode_prompt(self.tokenizer, (Message(role="user", content="x"),))  # a missing template is told now, not later
        self._end = end_token_id(self.tokenizer)
        self._system = system
        self.prompts = (Prompt("system", system),) if system else ()
        self._temperature = temperature
        self._max_new_tokens = max_new_tokens
        self._batch_size = batch_size
        self._thinking = thinking
        self._seed = 0
        self._checked = False
        self._device = device

    def __getstate__(self) -> dict[str, Any]:
        # It travels on the CPU: the other machine may have no such device, and moves it to its own.
        on_cpu = self.model if self.model.device.type == "cpu" else copy.deepcopy(self.model).cpu()
        return {**self.__dict__, "model": on_cpu}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.model = self.model.to(self._device or best_device())

    def __deepcopy__(self, memo: dict[int, Any]) -> "LocalPolicy":
        # Workers share the model; each has its own seed only.
        twin = object.__new__(LocalPolicy)
        twin.__dict__.update(self.__dict__)
        return twin

    def describe(self) -> Description:
        """Return what the utterances depend on; where the weights lie, and on which device they are, does not count."""
        template = str(self.tokenizer.chat_template).encode("utf-8", "surrogatepass")
        return Description(
            name=self.name,
            kind=kind_of(self),
            model=" + ".join(self._files) or None,
            sampling={
                "temperature": self._temperature, "max_new_tokens": self._max_new_tokens, "thinking": self._thinking,
            },
            weights_sha256=(weights_sha256(self._files) if self._files else None) or loaded_sha256(self.model),
            prompts=prompt_hashes(self),
            settings={"dtype": str(self.model.dtype), "chat_template_sha256": sha256(template).hexdigest()},
        )  # fmt: skip

    def reset(self, seed: int) -> None:
        """Start a new episode."""
        self._seed = seed

    def act(self, history: ChatHistory) -> str:
        """Return the model's next utterance."""
        return self.act_batch([history])[0]

    def act_batch(self, histories: Sequence[ChatHistory]) -> list[str]:
        """Return the model's next utterance for each history.

        A history that is too long for the model loses its oldest messages.
        """
        return self.act_seeded(histories, [self._seed] * len(histories))

    def act_seeded(self, histories: Sequence[ChatHistory], seeds: Sequence[int]) -> list[str]:
        """Return the model's next utterance for each history; it depends on that history and its seed alone.

        Args:
            histories: the histories, shape (n,).
            seeds: the episodes' seeds, shape (n,).
        """
        prompts = [self._fitting_prompt(self._with_system(history)) for history in histories]
        said: list[str] = [""] * len(prompts)
        order = sorted(range(len(prompts)), key=lambda i: len(prompts[i]))
        for start in range(0, len(order), self._batch_size):
            chosen = order[start : start + self._batch_size]
            noise = [RowNoise([seeds[i] + len(histories[i]) for i in chosen], self._temperature)]
            new = generate(
                self.model, self.tokenizer, [prompts[i] for i in chosen], max_new_tokens=self._max_new_tokens,
                end=self._end, processors=noise if self._temperature else (),
            )  # fmt: skip
            for ids, i in zip(new, chosen, strict=True):
                said[i] = spoken(self.tokenizer.decode(ids, skip_special_tokens=True))
        return said

    def log_prob(self, history: ChatHistory, action: str) -> float:
        """Return the log probability of an action, its end token left out."""
        return self.log_prob_batch([history], [action])[0].total

    def log_prob_batch(
        self,
        histories: Sequence[ChatHistory],
        actions: Sequence[str],
        *,
        with_end: bool = False,
        temperature: float = 1.0,
    ) -> list[LogProb]:
        """Return the log probability of each action after its history.

        Args:
            histories: the histories, shape (n,).
            actions: the actions, shape (n,).
            with_end: whether the token that ends the utterance counts too.
            temperature: the sampling temperature whose probabilities are asked for.

        Raises:
            SettingError: an example is longer than the model's context.
        """
        import torch

        from elicit_gym.agents.scoring import action_log_probs, check_output_layer

        examples = [
            encode_example(self.tokenizer, self._with_system(history), action, thinking=self._thinking, end=self._end)
            for history, action in zip(histories, actions, strict=True)
        ]
        limit = context_length(self.model)
        longest = max((len(example.input_ids) for example in examples), default=0)
        if limit is not None and longest > limit:
            raise SettingError(
                f"Scoring with {self.name}: expected at most {limit} tokens (the model's context), got {longest}. "
                "Leave out longer windows, or shorten the history."
            )
        if not self._checked:
            check_output_layer(self.model)
            self._checked = True
        scores: list[LogProb | None] = [None] * len(examples)
        order = sorted(range(len(examples)), key=lambda i: len(examples[i].input_ids))
        for start in range(0, len(order), self._batch_size):
            chosen = order[start : start + self._batch_size]
            batch = collate([Row.of(examples[i]) for i in chosen], self.tokenizer.pad_token_id, self.model.device)
            counted = batch.actions
            if not with_end:
                ends = torch.tensor([examples[i].end for i in chosen], device=counted.device)
                counted[torch.arange(len(chosen), device=counted.device), ends] = 0
            with torch.inference_mode():
                _, totals, counts = action_log_probs(
                    self.model, batch.input_ids, counted, len(chosen), temperature=temperature
                )
            for i, total, count in zip(chosen, totals.tolist(), counts.tolist(), strict=True):
                scores[i] = LogProb(total, int(count))
        return [score for score in scores if score is not None]

    def action_log_probs(self, histories: Sequence[ChatHistory], actions: Sequence[str]) -> list[float]:
        """Return the log probability of saying each action at the policy's temperature, and of ending there.

        Raises:
            SettingError: the policy decodes greedily, so that nearly every action has probability 0.
        """
        if not self._temperature:
            raise SettingError(
                f"Asking {self.name} how probable its actions are: expected a sampling temperature above 0, got 0 "
                "(greedy decoding). Give it one, for example 1."
            )
        scored = self.log_prob_batch(histories, actions, with_end=True, temperature=self._temperature)
        return [score.total for score in scored]

    def count_prompt_tokens(self, histories: Sequence[ChatHistory]) -> list[int]:
        """Return how many tokens the model reads before it answers each history, prompt and template included."""
        return [
            len(encode_prompt(self.tokenizer, self._with_system(history), thinking=self._thinking))
            for history in histories
        ]

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text, by the model's tokenizer."""
        return count_text_tokens(self.tokenizer, texts)

    def _with_system(self, history: ChatHistory) -> ChatHistory:
        return with_system_prompt(history, self._system or "")

    def _fitting_prompt(self, history: ChatHistory) -> list[int]:
        limit = context_length(self.model)
        ids = encode_prompt(self.tokenizer, history, thinking=self._thinking)
        while limit is not None and len(ids) + self._max_new_tokens + MARGIN > limit and len(history) > 2:
            keep = 1 if history[0].role == "system" else 0
            history = (*history[:keep], *history[keep + 2 :])  # a pair is dropped, so that roles still alternate
            ids = encode_prompt(self.tokenizer, history, thinking=self._thinking)
        return ids
