"""The command that evaluates a policy from recorded dialogues."""

from pathlib import Path
from typing import Annotated, Any

import typer

from elicit_gym.cli import data_options as d
from elicit_gym.cli import model_options as m
from elicit_gym.errors import SettingError

__all__ = ["ope_command"]


def ope_command(
    policy: Annotated[
        str,
        typer.Argument(
            help="Evaluate this policy, which has to know the probabilities of its actions: 'random', hf:MODEL, the "
            "folder of a trained policy, or module:Class."
        ),
    ],
    data: Annotated[
        str,
        typer.Option(
            "--data",
            help="Take the data from here. They are dialogues: a dataset id (see 'elicit-gym data list'), a built "
            "Arrow file, or the folder of a run in InfoQuest.",
        ),
    ],
    behaviour: Annotated[
        str | None,
        typer.Option(
            "--behaviour",
            help="Name the policy that held the dialogues, or a model of it; without it, the data's own column of log "
            "probabilities is used.",
        ),
    ] = None,
    split: d.DataSplitOption = None,
    path: d.PathOption = None,
    reward: d.RewardOption = "factual_novelty",
    entity_cache: d.EntityCacheOption = None,
    gamma: Annotated[
        float, typer.Option("--gamma", min=0.0, max=1.0, help="Discount the return-to-go by this factor per turn.")
    ] = 1.0,
    clip: Annotated[
        float, typer.Option("--clip", min=1.0, help="Cut the weights of the clipped estimate at this value.")
    ] = 10.0,
    value_head: Annotated[
        Path | None,
        typer.Option(
            "--value-head",
            help="Add doubly robust estimates with the value head in this folder, the 'best' of a training by AWR.",
        ),
    ] = None,
    fitted_q: Annotated[
        bool,
        typer.Option(
            "--fitted-q", help="Add doubly robust estimates with values fitted to the dialogues, for question banks."
        ),
    ] = False,
    context: Annotated[
        int | None,
        typer.Option(
            "--context", min=1, help="Show the policies this many messages; the default is five, and all in InfoQuest."
        ),
    ] = None,
    temperature: m.TemperatureOption = 1.0,
    as_json: Annotated[Path | None, typer.Option("--json", help="Write the numbers to this JSON file, too.")] = None,
) -> None:
    """Estimate what a policy would earn from the dialogues of another, with intervals and effective sample size."""
    from elicit_gym.agents import load_policy
    from elicit_gym.json_files import write_json
    from elicit_gym.offline.log_probs import PolicyView
    from elicit_gym.offline.ope.critics import Critic, FittedQ
    from elicit_gym.offline.ope.evaluate import evaluate_off_policy
    from elicit_gym.offline.ope.load import load_dialogues
    from elicit_gym.offline.ope.table import print_off_policy

    if fitted_q and value_head is not None:
        raise SettingError("Evaluating off-policy: expected one critic, got --fitted-q and --value-head. Choose one.")
    options: dict[str, Any] = {"temperature": temperature}
    target = load_policy(policy, **options)
    acted = load_policy(behaviour, **options) if behaviour is not None else None
    dialogues = load_dialogues(
        data, split, acted=acted.name if acted else None, path=path, reward=reward, cache=entity_cache
    )
    critic: Critic | None = FittedQ() if fitted_q else None
    if value_head is not None:
        from elicit_gym.agents.training.value_critic import ValueHeadCritic

        critic = ValueHeadCritic(value_head)
    view = PolicyView() if context is None else PolicyView(context=context)
    result = evaluate_off_policy(dialogues, target, behaviour=acted, critic=critic, view=view, gamma=gamma, clip=clip)
    if as_json is not None:
        write_json(as_json, result.to_row())
    print_off_policy(result)
