"""Make new scenarios of full depth with any chat model, resumable, in the package's own format.

Two for each opening message, as `elicit_gym.scenarios.generate` makes them; the stages of each are in
`elicit_gym.scenarios.deep_stages`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from elicit_gym.errors import BudgetExceeded, EpisodeFailure, FatalModelError
from elicit_gym.json_files import resume_records
from elicit_gym.llm.types import ChatModel
from elicit_gym.scenarios.deep_stages import DeepMaker
from elicit_gym.scenarios.generate import GenerationResult, append_row
from elicit_gym.scenarios.personas import draw_triples
from elicit_gym.scenarios.schema import scenario_from_row
from elicit_gym.scenarios.stages import Rejected
from elicit_gym.strict_json import typed
from elicit_gym.types import Scenario

__all__ = ["SCENARIOS_FILE", "generate_deep_scenarios"]

T = TypeVar("T")
SCENARIOS_FILE = "scenarios.jsonl"
HALVES = ("a", "b")


def generate_deep_scenarios(
    model: ChatModel,
    personas: Sequence[str],
    out: str | Path,
    *,
    count: int,
    seed: int = 0,
    prompts: str | None = None,
    check: Callable[[Scenario], Iterable[str]] = lambda scenario: (),
    on_done: Callable[[], None] = lambda: None,
) -> GenerationResult:
    """Make `count` opening messages with two scenarios of full depth each.

    Some 30 calls for each scenario. A scenario is written when it is whole, so that a run that was killed goes on with
    the next; of an opening message whose one scenario was rejected, the other is kept.

    Args:
        model: any chat model.
        personas: at least three.
        out: the folder; a run that was killed goes on where it was.
        count: opening messages to try for.
        seed: of the draws of personas and of the model's sampling.
        prompts: a folder with prompt files of your own.
        check: says what is wrong with a scenario that is whole and keeps every rule of depth, for example
            `elicit_gym.evaluation.playable.playable_problems`.
        on_done: called after each opening message.

    Raises:
        FatalModelError: the model cannot be called.
        BudgetExceeded: the budget is spent; what was made is saved.
        SettingError: the prompts are off.
    """
    store = _Store(Path(out))
    maker = DeepMaker(model, seed, prompts, check)
    for scenario in store.scenarios:
        maker.remember(scenario)
    num_rejected = len(store.refused)
    failure: EpisodeFailure | None = None
    for row_id, triple in enumerate(draw_triples(personas, count, seed)):
        try:
            _make_pair(maker, store, row_id, [personas[i] for i in triple])
        except (FatalModelError, BudgetExceeded):
            raise
        except EpisodeFailure as error:
            failure = failure or error
        on_done()
    return GenerationResult(
        path=store.path,
        num_made=len(set(store.openings.values())),
        num_scenarios=len(store.openings),
        num_rejected=len(store.refused) - num_rejected,
        failure=failure,
    )


class _Store:
    """The files of a run: what was made and what was rejected, earlier runs included.

    Attributes:
        path: of the scenarios.
        openings: the opening message of each scenario that was made, by its id.
        scenarios: those that were made before.
        refused: ids of what was rejected.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path, self._rejected = folder / SCENARIOS_FILE, folder / "rejected.jsonl"
        self.scenarios: tuple[Scenario, ...] = tuple(_read(self.path, scenario_from_row))
        self.openings = {scenario.id: scenario.opening_message for scenario in self.scenarios}
        self.refused: set[str] = set(_read(self._rejected, lambda row: typed(str, row["id"], "id")))

    def keep(self, row: Mapping[str, Any]) -> None:
        """Write a scenario."""
        append_row(self.path, row)
        self.openings[row["id"]] = row["opening_message"]

    def reject(self, name: str, reason: Rejected) -> None:
        """Write down why there is none."""
        append_row(self._rejected, {"id": name, "reason": str(reason)})
        self.refused.add(name)


def _read(path: Path, convert: Callable[[Any], T]) -> list[T]:
    return resume_records(path, convert, what="a generated row", advice="Remove the line; it will be made again.")


def _make_pair(maker: DeepMaker, store: _Store, row_id: int, people: Sequence[str]) -> None:
    """Make what is missing of the two scenarios of one opening message."""
    pair = f"{row_id:03d}"
    names = {f"{pair}-{half}": i for i, half in enumerate(HALVES)}
    missing = [name for name in names if name not in store.openings and name not in store.refused]
    if not missing or pair in store.refused:
        return
    opening = next((store.openings[name] for name in names if name in store.openings), None)
    try:
        if opening is None:
            opening, _ = maker.first.opening(row_id, people, maker.openings)
        traits = maker.first.traits(row_id, people[:2], commas=True)
    except Rejected as reason:
        store.reject(pair, reason)
        return
    for name in missing:
        place = names[name]
        try:
            row = maker.make(row_id, name, opening, people[place], traits[place])
        except Rejected as reason:
            store.reject(name, reason)
        else:
            store.keep(row)
