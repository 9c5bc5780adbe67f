"""The command that tests a judge on contrast sentences."""

from typing import Annotated

from elicit_gym.cli import model_options as m
from elicit_gym.cli import options as o

__all__ = ["contrast_command"]


def contrast_command(
    judge: Annotated[str, m.JUDGE] = "scripted",
    judge_model: m.JudgeModelOption = None,
    judge_api_base: m.JudgeApiBaseOption = None,
    max_new_tokens: m.MaxNewTokensOption = None,
    prompts: m.PromptsOption = None,
    as_json: o.JsonOption = None,
    cache: m.CacheOption = None,
    cache_mode: m.CacheModeOption = "read-write",
    budget_usd: m.BudgetUsdOption = None,
    budget_tokens: m.BudgetTokensOption = None,
) -> None:
    """Test a judge on contrast sentences: what meets an item, its opposite, its negation, and the user's own words.

    Only the first should be credited. There are 272 sentences, each of which is one call of a model that judges.
    """
    from elicit_gym.envs.infoquest import check_parts
    from elicit_gym.evaluation.contrast import contrast
    from elicit_gym.evaluation.contrast_table import print_contrast
    from elicit_gym.json_files import write_json
    from elicit_gym.registry import JUDGES

    seat = o.seat_kwargs(
        "judge",
        judge,
        env=None,
        model=judge_model,
        api_base=judge_api_base,
        max_new_tokens=max_new_tokens,
        prompts=prompts,
    )
    tested = JUDGES.make(judge, seat.get("judge_kwargs"))
    with (
        o.stoppable("Nothing was saved."),
        o.models(
            concurrency=16, cache=cache, cache_mode=cache_mode, budget_usd=budget_usd, budget_tokens=budget_tokens
        ),
    ):
        check_parts(tested)
        result = contrast(tested)
    print_contrast([result], wrong=20)
    if as_json is not None:
        write_json(as_json, result.as_json())
    if result.failure is not None and result.unscored == sum(result.num.values()):
        raise result.failure
