"""A corpus: dialogues that can be filtered, split and shuffled."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from random import Random
from typing import overload

from elicit_gym.errors import SettingError
from elicit_gym.offline.licences import COMMERCIAL, licence_of
from elicit_gym.offline.schema import Dialogue
from elicit_gym.offline.splits import (
    DEFAULT_SHARES,
    FEW_DIALOGUES,
    SPLITS,
    MissingSplitsWarning,
    Shares,
    shared_out,
)

__all__ = ["Corpus"]


class Corpus(Sequence[Dialogue]):
    """An immutable sequence of dialogues.

    Args:
        dialogues: the dialogues, in order.
        name: the corpus' name in reports.
    """

    def __init__(self, dialogues: Sequence[Dialogue], name: str = "corpus") -> None:
        self._dialogues = tuple(dialogues)
        self.name = name

    def __len__(self) -> int:
        return len(self._dialogues)

    @overload
    def __getitem__(self, index: int) -> Dialogue: ...

    @overload
    def __getitem__(self, index: slice) -> "Corpus": ...

    def __getitem__(self, index: int | slice) -> "Dialogue | Corpus":
        if isinstance(index, slice):
            return Corpus(self._dialogues[index], self.name)
        return self._dialogues[index]

    def __iter__(self) -> Iterator[Dialogue]:
        return iter(self._dialogues)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Corpus) and other._dialogues == self._dialogues

    def __hash__(self) -> int:
        return hash(tuple(dialogue.dialogue_id for dialogue in self._dialogues))

    def __repr__(self) -> str:
        return f"Corpus({self.name!r}, {len(self)} dialogues)"

    def filter(
        self,
        *,
        domain: str | None = None,
        split: str | None = None,
        licence: str | None = None,
        commercial: bool = False,
        where: Callable[[Dialogue], bool] | None = None,
    ) -> "Corpus":
        """Return the dialogues that meet every condition given.

        Args:
            domain: the dialogue's domain.
            split: the dialogue's split.
            licence: the dialogue's licence, as `elicit_gym.offline.licences` names it.
            commercial: whether to keep only what may be used commercially, which excludes unknown licences.
            where: any condition of your own.
        """
        return Corpus(
            [
                dialogue
                for dialogue in self._dialogues
                if (domain is None or dialogue.domain == domain)
                and (split is None or dialogue.split == split)
                and (licence is None or licence_of(dialogue) == licence)
                and (not commercial or licence_of(dialogue) in COMMERCIAL)
                and (where is None or where(dialogue))
            ],
            self.name,
        )

    def with_splits(self, seed: int = 0, shares: Shares = DEFAULT_SHARES) -> "Corpus":
        """Return the corpus with new splits, stratified by domain, with no dialogue in two splits.

        Dialogues with the same id (a corpus put together twice) go to the same split.

        Args:
            seed: of the draw.
            shares: the percentages of ``train``, ``dev`` and ``test``.

        References:
            YIELD, Section 3.3: 80/10/10.
        """
        ids: dict[str, set[str]] = {}
        seen: set[str] = set()
        for dialogue in self._dialogues:
            if dialogue.dialogue_id not in seen:
                ids.setdefault(dialogue.domain, set()).add(dialogue.dialogue_id)
                seen.add(dialogue.dialogue_id)
        chosen = shared_out(ids, shares, seed)
        return Corpus([replace(d, split=chosen[d.dialogue_id]) for d in self._dialogues], self.name)

    def with_some_splits(self, seed: int = 0) -> "Corpus":
        """Return the corpus as it is if a dialogue of it has a split, else with the default shares.

        Whatever is amiss with the splits is said in a `MissingSplitsWarning`.
        """
        without = sum(dialogue.split is None for dialogue in self._dialogues)
        if without < len(self):
            if without:
                warnings.warn(
                    f"{self.name}: {without} of {len(self)} dialogues have no split, so that no part holds them. Give "
                    "shares (--split 80/10/10 with 'elicit-gym data build') to split all of them anew.",
                    MissingSplitsWarning,
                    stacklevel=2,
                )
            return self
        made = self.with_splits(seed)
        sizes = ", ".join(f"{sum(d.split == split for d in made)} {split}" for split in SPLITS)
        shares = "/".join(f"{share:g}" for share in DEFAULT_SHARES)
        few = f" Fewer than {FEW_DIALOGUES} dialogues cannot be in all parts." if len(made) < FEW_DIALOGUES else ""
        warnings.warn(
            f"{self.name}: the {len(made)} dialogues have no splits, so that they were split {shares} by dialogue, "
            f"stratified by domain, with seed {seed}: {sizes}. Choose others with 'elicit-gym data build --split'."
            + few,
            MissingSplitsWarning,
            stacklevel=2,
        )
        return made

    def shuffled(self, seed: int = 0) -> "Corpus":
        """Return the control corpus, in which the utterances of each dialogue are shuffled among its turns.

        Speakers, roles, timestamps and ids stay where they are, so that questions turn up as answers and answers as
        questions. The shuffle of a dialogue derives from (seed, dialogue id).

        References:
            YIELD, Section 6.5.2 and 6.5.3, "Shuffled".
        """
        dialogues = []
        for dialogue in self._dialogues:
            utterances = [turn.utterance for turn in dialogue.turns]
            Random(f"{seed}/{dialogue.dialogue_id}".encode("utf-8", "surrogatepass")).shuffle(utterances)
            turns = tuple(replace(t, utterance=u) for t, u in zip(dialogue.turns, utterances, strict=True))
            dialogues.append(replace(dialogue, turns=turns))
        return Corpus(dialogues, f"{self.name}, shuffled")

    def sample(self, count: int, seed: int = 0) -> "Corpus":
        """Return `count` dialogues drawn without replacement, in their order.

        Raises:
            SettingError: there are fewer.
        """
        if not 0 <= count <= len(self):
            raise SettingError(f"Sampling dialogues: expected at most {len(self)}, got {count}. Ask for fewer.")
        chosen = sorted(Random(seed).sample(range(len(self)), count))
        return Corpus([self._dialogues[i] for i in chosen], self.name)
