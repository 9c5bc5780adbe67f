"""Off-policy evaluation: the value of a policy from recorded dialogues."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from elicit_gym.errors import SettingError
from elicit_gym.offline.episodes import OfflineEpisode
from elicit_gym.offline.log_probs import PolicyView, score_episodes
from elicit_gym.offline.ope.critics import Critic
from elicit_gym.offline.ope.estimators import ESTIMATORS, EstimatorName, estimate_value, needs_critic
from elicit_gym.offline.ope.trajectories import Trajectories, padded
from elicit_gym.offline.returns import returns_to_go
from elicit_gym.policy import Policy, StochasticPolicy
from elicit_gym.statistics.estimates import Estimate, cluster_mean

__all__ = ["FEW", "OffPolicyEvaluation", "evaluate_off_policy"]

FEW = 10
"""Below so many effective dialogues an estimate rests on a handful of them, and its interval does not show it."""


@dataclass(frozen=True, kw_only=True)
class OffPolicyEvaluation:
    """What the data say of a policy.

    Attributes:
        policy: the policy that is evaluated.
        behaviour: whose dialogues they are; None if the data's own log probabilities were used.
        critic: what the doubly robust estimates correct; None without.
        gamma: the discount.
        clip: the largest weight of the clipped estimate.
        num_episodes: dialogues with at least one action.
        num_steps: actions.
        behaviour_return: the mean return of the dialogues as they are.
        estimates: of the policy's expected return, by estimator.
        effective_sizes: the effective number of dialogues at each step; the last one counts for whole returns.
        unsupported: the share of dialogues in which the policy never takes one of the actions.
    """

    policy: str
    behaviour: str | None
    critic: str | None
    gamma: float
    clip: float
    num_episodes: int
    num_steps: int
    behaviour_return: Estimate
    estimates: Mapping[EstimatorName, Estimate]
    effective_sizes: tuple[float, ...]
    unsupported: float

    @property
    def effective_sample_size(self) -> float:
        """The effective number of dialogues behind whole returns."""
        return self.effective_sizes[-1]

    def to_row(self) -> dict[str, Any]:
        """Convert to JSON types."""
        return {
            "policy": self.policy, "behaviour": self.behaviour, "critic": self.critic, "gamma": self.gamma,
            "clip": self.clip, "num_episodes": self.num_episodes, "num_steps": self.num_steps,
            "behaviour_return": self.behaviour_return.to_row(),
            "estimates": {name: estimate.to_row() for name, estimate in self.estimates.items()},
            "effective_sample_size": self.effective_sample_size, "effective_sizes": list(self.effective_sizes),
            "unsupported": self.unsupported,
        }  # fmt: skip


def evaluate_off_policy(
    episodes: Sequence[OfflineEpisode],
    target: Policy,
    *,
    behaviour: Policy | None = None,
    critic: Critic | None = None,
    view: PolicyView | None = None,
    gamma: float = 1.0,
    clip: float = 10.0,
    cluster_of: Callable[[OfflineEpisode], str] | None = None,
) -> OffPolicyEvaluation:
    """Estimate what a policy would earn in the conversations that another one held.

    Args:
        episodes: the dialogues; a dataset is one. Those without an action are left out.
        target: the policy to evaluate, a `elicit_gym.policy.StochasticPolicy`.
        behaviour: the policy that acted, or a model of it; by default, the dialogues' own log probabilities are used.
        critic: for the doubly robust estimates.
        view: what both policies see of a dialogue.
        gamma: the discount; 1 estimates the plain return.
        clip: the largest weight of the clipped estimate, at least 1.
        cluster_of: what a dialogue counts as in intervals; by default, each is one of its own, and in InfoQuest all
            episodes of a scenario are one.

    Raises:
        SettingError: there are no probabilities of the behaviour, or they contradict the data.
    """
    if clip < 1:
        raise SettingError(f"Evaluating off-policy: expected a largest weight of at least 1, got {clip:g}. Raise it.")
    acted = [episode for episode in episodes if len(episode)]
    view = view or PolicyView()
    if behaviour is not None:
        log_probs: Sequence[Sequence[float]] = list(score_episodes(behaviour, acted, view))
    else:
        unknown = next((episode for episode in acted if episode.behaviour_log_probs is None), None)
        if unknown is not None:
            raise SettingError(
                f"Evaluating off-policy: expected dialogues with the log probabilities of their actions, got "
                f"{unknown.id!r} without. Name the policy that acted, or a model of it (--behaviour), or add the "
                "column: with_log_probs(dataset, policy)."
            )
        log_probs = [episode.behaviour_log_probs or () for episode in acted]
    scores = list(score_episodes(target, acted, view))
    names = [cluster_of(episode) for episode in acted] if cluster_of else None
    data = Trajectories.of(acted, scores, log_probs, names)
    q_values = state_values = None
    if critic is not None:
        assert isinstance(target, StochasticPolicy)  # score_episodes has checked it
        q_values, state_values = map(padded, critic.values(acted, target, view, gamma))
    estimates = {
        name: estimate_value(name, data, gamma=gamma, clip=clip, q_values=q_values, state_values=state_values)
        for name in ESTIMATORS
        if critic is not None or not needs_critic(name)
    }
    returns = [returns_to_go(episode.rewards, gamma)[0] for episode in acted]
    return OffPolicyEvaluation(
        policy=target.name, behaviour=behaviour.name if behaviour else None,
        critic=critic.name if critic else None, gamma=gamma, clip=clip, num_episodes=len(acted),
        num_steps=int(data.lengths.sum()), behaviour_return=cluster_mean(returns, data.clusters, unit=data.unit),
        estimates=estimates, effective_sizes=tuple(data.effective_sizes().tolist()), unsupported=data.unsupported,
    )  # fmt: skip
