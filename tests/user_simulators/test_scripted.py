"""The scripted user answers what was asked, keeps the rules of the game, and has manners to choose from."""

import re
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elicit_gym.agents.baselines import QUESTION_BANK
from elicit_gym.envs.conversation import Conversation
from elicit_gym.errors import SettingError
from elicit_gym.judges.scripted import ScriptedJudge
from elicit_gym.scenarios.load import load_scenarios
from elicit_gym.text import content_stems
from elicit_gym.types import Manner, Scenario
from elicit_gym.understanding.acts import reader_of, understand
from elicit_gym.user_simulators import phrases
from elicit_gym.user_simulators.scripted import ScriptedUserSimulator

SCENARIOS = load_scenarios()
BAKER = SCENARIOS[0]
JUDGE, USER = ScriptedJudge(), ScriptedUserSimulator()


def say(conversation: Conversation, action: str, user: ScriptedUserSimulator = USER) -> str | None:
    verdicts = JUDGE.judge(conversation.judge_request(action))
    turn = conversation.user_turn(action, verdicts)
    reply = user.reply(turn) if turn else None
    conversation.advance(action, verdicts, turn, reply)
    return reply.text if reply else None


def converse(
    scenario: Scenario, actions: Sequence[str], seed: int = 0, user: ScriptedUserSimulator = USER
) -> list[str | None]:
    conversation = Conversation(scenario, max_turns=50, seed=seed)
    replies: list[str | None] = []
    for action in actions:
        if conversation.done:
            break
        replies.append(say(conversation, action, user))
    return replies


def disclosed(scenario: Scenario, reply: str | None) -> frozenset[str]:
    return reader_of(scenario).disclosed_in(reply or "")


ACTIONS = st.one_of(
    st.sampled_from(QUESTION_BANK),
    st.text(max_size=80),
    st.sampled_from([f"What about {item.topic}?" for s in SCENARIOS[::7] for item in s.checklist]),
    st.sampled_from([fact.disclosures[0] for s in SCENARIOS[::9] for fact in s.facts]),
    st.sampled_from([question for s in SCENARIOS[::11] for fact in s.facts for question in fact.questions[:2]]),
    st.lists(st.sampled_from(QUESTION_BANK), min_size=2, max_size=8).map(" ".join),
).filter(str.strip)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(SCENARIOS[::5]), st.lists(ACTIONS, min_size=1, max_size=9), st.integers(0, 2**31 - 1))
def test_a_fact_is_told_only_to_somebody_who_asked(scenario: Scenario, actions: list[str], seed: int) -> None:
    conversation = Conversation(scenario, max_turns=10, seed=seed)
    for action in actions:
        if conversation.done:
            break
        heard, known = conversation.history[-1].content, conversation.disclosed
        reply = say(conversation, action)
        told = disclosed(scenario, reply)
        if told:
            read = understand(action, scenario, user_message=heard, disclosed=known)
            assert read.questions, f"{action!r} asked for nothing, got {reply!r}"
            assert read.questions[0].facts[0][0] in told


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(SCENARIOS[::5]), st.lists(ACTIONS, min_size=1, max_size=9), st.integers(0, 1000),
    st.sampled_from(["open", "guarded", "wandering", "impatient"]),
)  # fmt: skip
def test_replies_are_one_short_sentence_without_rules_or_role_swaps(
    scenario: Scenario, actions: list[str], seed: int, manner: Manner
) -> None:
    for reply in converse(scenario, actions, seed, ScriptedUserSimulator(manner)):
        if reply is not None:
            assert len(reply.split()) <= 55
            assert "\n" not in reply
            assert len(re.findall(r"(?<!\.)[.!?](?!\.)(?=\s+\w)", reply)) <= 1
            for leak in ("checklist", "as an assistant", "game rule", "{topic}"):
                assert leak not in reply.lower()


@given(st.sampled_from(SCENARIOS[::5]), st.integers(0, 2**31 - 1))
@settings(max_examples=50, deadline=None)
def test_the_same_seed_gives_the_same_words(scenario: Scenario, seed: int) -> None:
    actions = ["Try harder.", "What is your goal?", "Is it blue?", "Make a plan."]
    assert converse(scenario, actions, seed) == converse(scenario, actions, seed)


def test_any_fact_is_told_when_asked_for_and_what_it_is_about() -> None:
    for scenario in SCENARIOS[::9]:
        told = sum(
            fact.id in disclosed(scenario, converse(scenario, [fact.questions[1]])[0]) for fact in scenario.facts
        )
        after = sum(item.after is not None for item in scenario.checklist)
        assert told >= 0.85 * len(scenario.facts) - after
        assert "request" in disclosed(scenario, converse(scenario, ["What is this about exactly?"])[0])


def test_only_the_first_of_several_questions_is_answered() -> None:
    (reply,) = converse(BAKER, ["How much have you put aside for this? Does the landlord allow changes?"])
    assert disclosed(BAKER, reply) == {"constraint_3"}


def test_asked_again_it_tells_more() -> None:
    first, second = converse(BAKER, ["How much have you put aside for this?", "What is the budget for equipment?"])
    short, fuller = BAKER.fact("constraint_3").disclosures
    assert content_stems(short) <= content_stems(first or "")
    assert content_stems(fuller) <= content_stems(second or "")
    assert first != second


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("Here is a list of general tips. Make a plan.", phrases.NUDGES),
        ("How much hair do you have?", phrases.NOTHING_TO_TELL["how much"]),
        ("Who invented the telephone?", phrases.NOTHING_TO_TELL["who"]),
        ("budget deadline tools friends family money time?", phrases.UNCLEAR),
        ("That sounds really tough.", phrases.SMALL_TALK["sympathy"]),
        ("That sounds hard, doesn't it?", phrases.SMALL_TALK["sympathy"]),
        ("Can I ask you a question?", phrases.SMALL_TALK["permission"]),
        ("Does that make sense?", phrases.SMALL_TALK["check"]),
        ("Is there anything else I should know?", phrases.SMALL_TALK["anything_else"]),
        ("How are you today?", phrases.SMALL_TALK["greeting"]),
    ],
)
def test_what_no_fact_answers_gets_words_that_fit(message: str, expected: tuple[str, ...]) -> None:
    scenario = next(s for s in SCENARIOS if s.traits[0] == "measured tone" and "formal" not in str(s.traits))
    (reply,) = converse(scenario, [message])
    words = content_stems(reply or "") | set((reply or "").lower().split())
    assert any(content_stems(phrase) <= words for phrase in expected)


def test_a_stuck_agent_that_asks_gets_a_hint_and_one_that_does_not_gets_none() -> None:
    hinted = 0
    chosen = SCENARIOS[::7]
    for scenario in chosen:
        hints = [content_stems(hint) for item in scenario.checklist for hint in item.hints]
        silent = converse(scenario, ["Make a plan.", "Stay calm.", "Be patient.", "Sleep well."])
        assert not any(hint <= content_stems(reply or "") for reply in silent for hint in hints)
        asking = converse(scenario, [f"Who won the chess tournament of {1990 + i}?" for i in range(4)])
        hinted += any(hint <= content_stems(asking[-1] or "") for hint in hints)
    assert hinted >= 0.9 * len(chosen)  # now and then a fact answers even that


def test_it_does_not_repeat_itself_while_nothing_happens() -> None:
    for scenario in SCENARIOS[:20]:
        replies = converse(scenario, [f"Tip number {i}." for i in range(6)])
        assert len(set(replies)) >= 5


@pytest.mark.parametrize("question", ["Is there a deadline?", "Are there any rules?", "Who could help you with it?"])
def test_plain_questions_of_a_theme_are_answered_where_a_fact_speaks_of_it(question: str) -> None:
    answered = [bool(disclosed(s, converse(s, [question])[0])) for s in SCENARIOS]
    assert sum(answered) >= 0.5 * len(SCENARIOS)


def test_fitting_advice_on_what_is_known_is_not_brushed_off() -> None:
    _, reply = converse(BAKER, ["Do you rent the place?", "You could make the dough in the evening."])
    heard = content_stems(reply or "")
    assert any(content_stems(phrase) <= heard for phrase in (*phrases.ADVICE_HEARD, *phrases.CONTRARY))


@pytest.mark.parametrize(
    "prod", ["Could you tell me more?", "Can you elaborate?", "Why?", "How so?", "How can I help you?", "Please share more details."]
)  # fmt: skip
def test_who_wants_to_hear_more_hears_what_it_is_about_and_then_more_of_what_was_told(prod: str) -> None:
    (reply,) = converse(BAKER, [prod])
    assert disclosed(BAKER, reply) == {"request"}
    short, fuller, nothing = converse(BAKER, ["How much have you put aside for this?", prod, prod])
    assert disclosed(BAKER, short) == disclosed(BAKER, fuller) == {"constraint_3"}
    assert content_stems(BAKER.fact("constraint_3").disclosures[1]) <= content_stems(fuller or "")
    assert disclosed(BAKER, nothing) == frozenset()


def test_nothing_is_told_a_third_time() -> None:
    for scenario in SCENARIOS[::9]:
        *_, third = converse(
            scenario, ["What is your goal?", "What do you want to achieve?", "What are you aiming for?"]
        )
        assert disclosed(scenario, third) == frozenset()
        assert any(content_stems(phrase) <= content_stems(third or "") for phrase in phrases.TOLD)


def test_a_guarded_user_tells_only_who_follows_up() -> None:
    user = ScriptedUserSimulator("guarded")
    question = "How much have you put aside for this?"
    vague, told = converse(BAKER, [question, "What is the budget for equipment?"], user=user)
    assert disclosed(BAKER, vague) == frozenset()
    assert disclosed(BAKER, told) == {"constraint_3"}
    vague, told = converse(BAKER, [question, "Could you tell me a bit more?"], user=user)
    assert disclosed(BAKER, told) == {"constraint_3"}


def test_a_wandering_user_adds_remarks() -> None:
    replies = converse(BAKER, [f"Tip number {i}." for i in range(12)], user=ScriptedUserSimulator("wandering"))
    remarks = [content_stems(remark) for remark in phrases.REMARKS]
    hits = sum(any(remark <= content_stems(reply or "") for remark in remarks) for reply in replies)
    assert 3 <= hits < len(replies)


def test_an_impatient_user_leaves_after_three_useless_turns() -> None:
    conversation = Conversation(BAKER, max_turns=10, seed=3)
    user = ScriptedUserSimulator("impatient")
    for number in range(3):
        assert not conversation.done
        say(conversation, f"Tip number {number}.", user)
    assert conversation.done
    assert conversation.left
    assert not all(conversation.satisfied)


def test_an_unknown_manner_is_refused() -> None:
    with pytest.raises(SettingError, match="expected a manner of open, guarded, wandering, impatient, got 'rude'"):
        ScriptedUserSimulator("rude")  # type: ignore[arg-type]
