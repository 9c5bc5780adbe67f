"""The baselines, and the order that makes the environment mean something."""

from collections.abc import Mapping
from itertools import pairwise

import pytest

from elicit_gym import Comparison, EpisodeRecord, compare
from elicit_gym.agents import load_policy
from elicit_gym.agents.baselines import QUESTION_BANK, Adaptive, Oracle
from elicit_gym.errors import PolicyFailure, SettingError, UnknownNameError
from elicit_gym.types import ChatHistory, Message

ORDER = ("naive", "ask-many", "ask-one", "adaptive", "oracle")


@pytest.fixture(scope="module")
def comparisons() -> Mapping[str, Comparison]:
    policies = [load_policy(name) for name in (*ORDER, "random")]
    return {split: compare(policies, env_kwargs={"split": split}) for split in ("train", "test")}


def records_of(comparisons: Mapping[str, Comparison], policy: str) -> list[EpisodeRecord]:
    return [record for found in comparisons.values() for record in found.records if record.policy == policy]


def history(*said: str) -> ChatHistory:
    """Return a history of alternating messages, the user's first."""
    return tuple(Message(role="assistant" if i % 2 else "user", content=text) for i, text in enumerate(said))


def after_the_problem(*said: str) -> ChatHistory:
    """Return a history in which request and problem have been asked for."""
    opening = ("Can you help me?", "Could you tell me what this is about?", "It is about my plan.")
    return history(*opening, "What is the main problem at the moment?", *said)


@pytest.mark.parametrize("split", ["train", "test"])
def test_the_order_holds_with_intervals_apart(comparisons: Mapping[str, Comparison], split: str) -> None:
    returns = {policy.policy: policy.metrics["return"] for policy in comparisons[split].policies}
    for worse, better in pairwise(ORDER):
        high, low = returns[worse].high, returns[better].low
        assert high is not None
        assert low is not None
        assert high < low, (worse, better)


@pytest.mark.parametrize("split", ["train", "test"])
def test_general_advice_earns_nothing(comparisons: Mapping[str, Comparison], split: str) -> None:
    value = comparisons[split].policies[0].metrics["return"].value
    assert value is not None
    assert value < 0.1


def test_oracle_uncovers_everything_mostly_in_five_to_eight_turns(comparisons: Mapping[str, Comparison]) -> None:
    episodes = [record.episode for record in records_of(comparisons, "oracle")]
    assert len(episodes) == 120
    assert all(episode.terminated and len(episode.turns) >= 5 for episode in episodes)
    assert sum(len(episode.turns) <= 8 for episode in episodes) >= 0.98 * len(episodes)


def test_adaptive_sometimes_finishes(comparisons: Mapping[str, Comparison]) -> None:
    assert any(record.episode.terminated for record in records_of(comparisons, "adaptive"))


def test_adaptive_says_nothing_twice(comparisons: Mapping[str, Comparison]) -> None:
    for record in records_of(comparisons, "adaptive"):
        messages = [turn.action for turn in record.episode.turns]
        sentences = [part for message in messages for part in message.replace(". ", ".\n").split("\n")]
        assert len(set(sentences)) == len(sentences), record.scenario_id


def test_random_order_earns_something_else_than_the_order_of_the_bank(comparisons: Mapping[str, Comparison]) -> None:
    def returns(policy: str) -> list[float]:
        return [sum(turn.reward for turn in record.episode.turns) for record in records_of(comparisons, policy)]

    pairs = list(zip(returns("random"), returns("ask-one"), strict=True))
    assert sum(drawn != ordered for drawn, ordered in pairs) > len(pairs) / 4
    assert sum(drawn for drawn, _ in pairs) < sum(ordered for _, ordered in pairs)


def test_ask_one_goes_through_the_bank_and_ask_many_through_half_of_it() -> None:
    one, many = load_policy("ask-one"), load_policy("ask-many")
    histories = [history(*["Well."] * (2 * turn + 1)) for turn in range(10)]
    assert [one.act(past) for past in histories] == list(QUESTION_BANK)
    asked = [many.act(past) for past in histories]
    assert all(message.count("?") == 5 for message in asked)
    assert {message.split("?")[0] + "?" for message in asked} == set(QUESTION_BANK[::2])


def test_adaptive_asks_what_it_is_about_and_then_for_the_problem() -> None:
    policy = Adaptive()
    assert policy.act(history("Help me.")).startswith("Could you tell me what this is about?")
    about = ("Help me.", "Could you tell me what this is about?")
    assert policy.act(history(*about, "It's my garden.")).startswith("What is the main problem at the moment?")


@pytest.mark.parametrize(
    "reply", ["Nothing special to say there.", "Yes, that's what I said!", "Sorry, I don't understand the question."]
)
def test_adaptive_asks_in_other_words_once(reply: str) -> None:
    about = ("Help me.", "Could you tell me what this is about?", reply)
    assert Adaptive().act(history(*about)).startswith("What kind of thing is it?")
    again = (*about, "What kind of thing is it?", reply)
    assert Adaptive().act(history(*again)).startswith("What is the main problem at the moment?")


@pytest.mark.parametrize(
    ("reply", "question"),
    [
        ("I'd need a certificate for that.", "How could you get the certificate?"),
        ("My granddaughter can come on Fridays.", "What is your granddaughter able to do?"),
        ("The monument office has to sign it.", "What does the office want before it agrees?"),
        ("Our neighbours complain all the time!", "What would they accept?"),
        ("they refuse me adn say nothing", "What reasons do they give?"),
        ("My sister loves it.", "What does your sister say about it?"),
    ],
)
def test_adaptive_follows_up_what_the_user_mentions(reply: str, question: str) -> None:
    said = Adaptive().act(after_the_problem(reply))
    assert said.count("?") == 2
    assert question in said


def test_adaptive_follows_up_once_and_not_at_all_where_the_user_repeats_himself() -> None:
    follow_up = "How could you get the permit?"
    first = after_the_problem("I have no permit.")
    assert follow_up in Adaptive().act(first)
    twice = after_the_problem("I have no permit.", follow_up, "That permit is hard to get.")
    assert follow_up not in Adaptive().act(twice)
    repeated = after_the_problem("As I said, I have no permit.")
    assert follow_up not in Adaptive().act(repeated)


def test_adaptive_does_not_ask_what_it_was_told() -> None:
    def asked(told: str) -> set[str]:
        past = after_the_problem(told)
        for _ in range(70):
            past = (*past, Message(role="assistant", content=Adaptive().act(past)), Message(role="user", content="Hm."))
        return {part for m in past if m.role == "assistant" for part in m.content.replace("? ", "?\n").split("\n")}

    assert "Is there a deadline?" in asked("It is a muddle.")
    assert "Is there a deadline?" not in asked("It has to be done within three weeks.")
    assert "How much money do you have for it?" in asked("It is a muddle.")
    assert "How much money do you have for it?" not in asked("I cannot afford much.")


def test_adaptive_asks_first_what_the_words_of_the_user_call_for() -> None:
    def place(told: str, question: str) -> int:
        past = after_the_problem(told)
        for turn in range(70):
            message = Adaptive().act(past)
            if question in message:
                return turn
            past = (*past, Message(role="assistant", content=message), Message(role="user", content="Hm."))
        raise AssertionError(question)

    for told, question in (
        ("I bake cakes and pastry for a dinner.", "Are there any allergies?"),
        ("My violin has a crack.", "What would the repair cost?"),
        ("I have to learn Polish.", "How do you learn best?"),
        ("My landlord owns the flat.", "Does the place belong to you, or do you rent it?"),
    ):
        assert place(told, question) < place("It is a muddle.", question)


def test_adaptive_advises_on_what_it_was_told_and_not_before_it_knows_the_problem() -> None:
    advice = "You could lay a ramp at the entrance and reserve a parking place beside it."
    early = history("My aunt has a wheelchair.", "Could you tell me what this is about?", "It's her wheelchair.")
    assert advice not in Adaptive().act(early)
    known = Adaptive().act(after_the_problem("Her wheelchair cannot get up the steps at the entrance."))
    assert known.startswith(advice)
    assert known.endswith("?")
    later = after_the_problem("Her wheelchair cannot get up the steps at the entrance.", known, "Thanks.")
    assert advice not in Adaptive().act(later)


def test_adaptive_knows_nothing_but_the_history() -> None:
    past = after_the_problem("My brother could help.", "What is your brother able to do?", "He cooks.")
    used, fresh = Adaptive(), Adaptive()
    used.reset(0)
    used.act(history("Something else entirely."))
    assert used.act(past) == fresh.act(past)


def test_adaptive_has_something_to_say_when_all_is_asked() -> None:
    past = history("Help me.")
    for _ in range(80):
        past = (*past, Message(role="assistant", content=Adaptive().act(past)), Message(role="user", content="Hm."))
    assert past[-2].content.endswith("Is there anything else that I should know?")


def test_oracle_needs_its_scenario() -> None:
    with pytest.raises(PolicyFailure, match="expected its scenario"):
        Oracle().reset(0)


def test_random_orders_differ_by_seed() -> None:
    policy = load_policy("random")
    first = []
    for seed in range(8):
        policy.reset(seed)
        first.append(policy.act(history("Help me.")))
    assert len(set(first)) > 2


def test_unknown_policies() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'ask-one'"):
        load_policy("ask-on")


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ("no_such_module:Policy", "ModuleNotFoundError"),
        ("elicit_gym.agents.baselines:Nobody", "AttributeError"),
        ("elicit_gym.types:Message", "TypeError"),
        ("elicit_gym.spaces:Utterance", "expected an object with name, reset"),
    ],
)
def test_policies_that_cannot_be_loaded(spec: str, problem: str) -> None:
    with pytest.raises(SettingError, match=problem):
        load_policy(spec)


def test_a_policy_of_ones_own() -> None:
    assert load_policy("elicit_gym.agents.baselines:AskOne").name == "ask-one"
