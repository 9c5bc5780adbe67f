"""Re-judging saved runs."""

import pytest

from elicit_gym import collect_episodes, load_scenarios
from elicit_gym.agents import load_policy
from elicit_gym.errors import SettingError
from elicit_gym.evaluation.rejudge import rejudge
from elicit_gym.judges.scripted import ScriptedJudge
from elicit_gym.types import JudgeRequest, Verdict

IDS = [s.id for s in load_scenarios()[:10]]


class Fixed:
    """Gives one answer, unscored for the items in `unscored`."""

    name = "fixed"

    def __init__(self, answer: bool, unscored: tuple[int, ...] = ()) -> None:
        self.answer = answer
        self.unscored = unscored

    def judge(self, request: JudgeRequest) -> tuple[Verdict, ...]:
        return tuple(
            Verdict(satisfied=None, reason="x") if i in self.unscored else Verdict(satisfied=self.answer)
            for i in request.pending
        )


def test_the_same_judge_agrees_with_itself_and_changes_nothing() -> None:
    records = [r for p in ("ask-one", "oracle", "adaptive") for r in collect_episodes(load_policy(p), scenario_ids=IDS)]
    result = rejudge(records, load_scenarios(), ScriptedJudge())
    assert result.records == tuple(records)
    assert [result.kappa[kind].value for kind in ("all", "ask", "advice")] == [1.0] * 3
    assert result.kappa["all"].reason == "no interval: all 5 opening messages alike"
    assert result.agreement["all"].value == 1.0
    assert result.agreement["all"].low == pytest.approx(0.05 ** (1 / 5))  # five alike leave much room
    assert all(first == second for first, second in result.returns.values())
    assert result.rankings() == (["oracle", "adaptive", "ask-one"],) * 2


def test_another_judge_changes_returns_and_ranking() -> None:
    records = collect_episodes(load_policy("oracle"), scenario_ids=IDS)
    never = rejudge(records, load_scenarios(), Fixed(False))
    assert never.returns["oracle"] == (5.0, 0.0)
    assert never.kappa["all"].value == pytest.approx(0.0)
    assert all(record.episode.truncated for record in never.records)
    always = rejudge(records, load_scenarios(), Fixed(True))
    assert always.returns["oracle"] == (5.0, 5.0)
    assert all(record.episode.turns[0].reward == 5 for record in always.records)


def test_unscored_pairs_are_counted_and_in_no_kappa() -> None:
    records = collect_episodes(load_policy("ask-one"), scenario_ids=IDS)
    result = rejudge(records, load_scenarios(), Fixed(False, unscored=(4,)))
    assert result.num_unscored == sum(len(r.episode.turns) for r in records)  # item 4, the advice, stays pending
    assert result.agreement["advice"].num == 0
    assert (result.kappa["advice"].value, result.kappa["advice"].reason) == (None, "nothing measured")
    assert all(4 in record.episode.doubtful for record in result.records)


def test_scenarios_must_be_there() -> None:
    records = collect_episodes(load_policy("ask-one"), scenario_ids=IDS)
    with pytest.raises(SettingError, match="'00-a' is not among them"):
        rejudge(records, load_scenarios()[20:], ScriptedJudge())
