"""The command that tests a judge on contrast sentences."""

from collections.abc import Mapping
from typing import Annotated

from elicit_gym.cli import model_options as m
from elicit_gym.cli import options as o
from elicit_gym.cli.seat_options import CallOptions, SeatOptions, models, seat_kwargs, takes_calls, takes_seats

__all__ = ["contrast_command"]


@takes_seats("judge")
@takes_calls
def contrast_command(
    judge: Annotated[str, m.JUDGE] = "scripted",
    judge_mode: m.JudgeModeOption = None,
    prompts: m.PromptsOption = None,
    as_json: o.JsonOption = None,
    *,
    seats: Mapping[str, SeatOptions],
    calls: CallOptions,
) -> None:
    """Test a judge on contrast sentences: what meets an item, its opposite, its negation, and the user's own words.

    Only the first should be credited. There are 272 sentences, each of which is one call of a model that judges.
    """
    from elicit_gym.envs.infoquest import check_parts
    from elicit_gym.evaluation.contrast import contrast
    from elicit_gym.evaluation.contrast_table import print_contrast
    from elicit_gym.json_files import write_json
    from elicit_gym.registry import JUDGES
    from elicit_gym.rollout.estimate import check_prices

    seat = seat_kwargs("judge", judge, seats["judge"], env=None, prompts=prompts, mode=judge_mode)
    tested = JUDGES.make(judge, seat.get("judge_kwargs"))
    with o.stoppable("Nothing was saved."), models(16, calls) as runtime:
        check_prices(runtime.budget, runtime.prices, (), judge=tested)
        check_parts(tested)
        result = contrast(tested)
    if as_json is not None:
        write_json(as_json, result.as_json())
    print_contrast([result], wrong=20)
    if result.failure is not None and result.unscored == sum(result.num.values()):
        raise result.failure
