"""The scripted user keeps the rules of the game."""

import re

from elicit_gym.scenarios.cues import compile_scenario
from hypothesis import given, settings
from hypothesis import strategies as st

from elicit_gym.agents.baselines import QUESTION_BANK
from elicit_gym.envs.conversation import Conversation
from elicit_gym.judges.scripted import ScriptedJudge
from elicit_gym.scenarios.load import load_scenarios
from elicit_gym.text import analyse, content_stems
from elicit_gym.types import Scenario
from elicit_gym.user_simulators import scripted
from elicit_gym.user_simulators.scripted import ScriptedUserSimulator

SCENARIOS = load_scenarios()
JUDGE, USER = ScriptedJudge(), ScriptedUserSimulator()


def say(conversation: Conversation, action: str) -> str | None:
    verdicts = JUDGE.judge(conversation.judge_request(action))
    turn = conversation.user_turn(action, verdicts)
    reply = USER.reply(turn) if turn else None
    conversation.advance(action, verdicts, turn, reply)
    return reply.text if reply else None


def talk(scenario: Scenario, actions: list[str], seed: int = 0) -> list[str | None]:
    conversation = Conversation(scenario, max_turns=50, seed=seed)
    return [say(conversation, action) for action in actions]


ACTIONS = st.one_of(
    st.sampled_from(QUESTION_BANK),
    st.text(max_size=80),
    st.sampled_from([f"What about {item.topic}?" for s in SCENARIOS[::7] for item in s.checklist]),
    st.sampled_from([fact.disclosure for s in SCENARIOS[::9] for fact in s.facts]),
    st.lists(st.sampled_from(QUESTION_BANK), min_size=2, max_size=8).map(" ".join),
).filter(str.strip)


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(SCENARIOS), st.lists(ACTIONS, min_size=1, max_size=9), st.integers(0, 2**31 - 1))
def test_one_fact_a_message_and_only_one_that_was_asked_for(scenario: Scenario, actions: list[str], seed: int) -> None:
    conversation = Conversation(scenario, max_turns=10, seed=seed)
    cues = compile_scenario(scenario)
    for action in actions:
        if conversation.done:
            break
        reply = say(conversation, action)
        if reply is None:
            break
        disclosed = cues.disclosed_in(reply)
        assert len(disclosed) <= 1
        analysis = analyse(action)
        if disclosed:
            assert analysis.num_questions > 0, f"{action!r} asked for nothing, got {reply!r}"
            assert disclosed == {cues.asked_fact(analysis)}


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(SCENARIOS), st.lists(ACTIONS, min_size=1, max_size=9), st.integers(0, 1000))
def test_replies_are_one_short_sentence_without_rules_or_role_swaps(
    scenario: Scenario, actions: list[str], seed: int
) -> None:
    for reply in talk(scenario, actions, seed):
        if reply is not None:
            assert len(reply.split()) <= 40
            assert "\n" not in reply
            assert len(re.findall(r"(?<!\.)[.!?](?!\.)(?=\s+\w)", reply)) <= 1
            for leak in ("checklist", "as an assistant", "constraint", "game rule", "persona", "{topic}"):
                assert leak not in reply.lower()


@given(st.sampled_from(SCENARIOS), st.integers(0, 2**31 - 1))
def test_the_same_seed_gives_the_same_words(scenario: Scenario, seed: int) -> None:
    actions = ["Try harder.", "What is your goal?", "Is it blue?", "Make a plan."]
    assert talk(scenario, actions, seed) == talk(scenario, actions, seed)


def test_two_seeds_differ_for_every_persona() -> None:
    for scenario in SCENARIOS:
        actions = ["Try harder.", "Make a plan.", "Stay calm."]
        assert len({tuple(talk(scenario, actions, seed)) for seed in range(5)}) >= 2


def test_only_the_first_of_several_questions_is_answered() -> None:
    scenario = SCENARIOS[0]
    (reply,) = talk(scenario, ["How much money can you spend? Does the landlord allow changes?"])
    assert compile_scenario(scenario).disclosed_in(reply or "") == {"constraint_3"}


def test_a_message_that_is_no_question_is_nudged() -> None:
    scenario = next(s for s in SCENARIOS if "trails off" in s.traits and "all lower case" not in s.traits)
    (reply,) = talk(scenario, ["Here is a list of general tips. Make a plan."])
    assert any(content_stems(nudge) <= content_stems(reply or "") for nudge in scripted._NUDGES)


def test_a_stuck_agent_gets_a_hint_at_the_next_pending_item() -> None:
    for scenario in SCENARIOS:
        replies = talk(scenario, ["Make a plan.", "Stay calm.", "Be patient."])
        topic = content_stems(scenario.checklist[0].topic)
        assert topic <= content_stems(replies[1] or "")
        assert topic <= content_stems(replies[2] or "")
        assert not topic <= content_stems(replies[0] or "")


def test_it_does_not_repeat_itself_while_nothing_happens() -> None:
    for scenario in SCENARIOS[:20]:
        replies = talk(scenario, [f"Tip number {i}." for i in range(6)])
        assert len(set(replies)) >= 5


def test_a_fact_asked_for_again_is_said_to_be_known() -> None:
    first, second = talk(SCENARIOS[0], ["How much money can you spend?", "What is your budget?"])
    assert first != second
    assert "six hundred" in (second or "")
