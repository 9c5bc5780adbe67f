"""The table of an off-policy evaluation for the terminal."""

from rich.console import Console

from elicit_gym.offline.ope.evaluate import FEW, OffPolicyEvaluation
from elicit_gym.reporting.footnotes import Footnotes
from elicit_gym.reporting.terminal import Column, print_table, print_text

__all__ = ["print_off_policy"]


def print_off_policy(result: OffPolicyEvaluation, console: Console | None = None) -> None:
    """Print the estimates with 95 % intervals, and how much evidence there is behind them."""
    notes = Footnotes()
    source = "recorded dialogues" if result.behaviour is None else f"dialogues of {result.behaviour}"
    print_table(
        f"Expected return of {result.policy} from {source} (discount {result.gamma:g})",
        (Column("estimator", right=False), Column("return")),
        [
            *((name.replace("_", " "), notes.estimate(found)) for name, found in result.estimates.items()),
            None,
            ("the dialogues as they are", notes.estimate(result.behaviour_return)),
        ],
        console=console,
    )
    notes.print(console)
    last, fewest = result.effective_sample_size, min(result.effective_sizes)
    print_text(
        f"{result.num_episodes} dialogues with {result.num_steps} actions. Effective sample size: {last:.1f} for whole "
        f"returns, {fewest:.1f} at the worst step. Dialogues in which the policy never takes an action: "
        f"{result.unsupported:.1%}. Clipped at a weight of {result.clip:g}."
        + (f" Critic: {result.critic}." if result.critic else ""),
        console,
    )
    if last < FEW:
        print_text(
            f"Fewer than {FEW} effective dialogues: these estimates rest on a handful of dialogues, and their "
            "intervals do not show it. Choose a policy nearer to the behaviour, or collect more.",
            console,
            style="bold",
        )
