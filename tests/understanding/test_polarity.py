"""What is advised and what is advised against, in many forms of English."""

from dataclasses import replace

import pytest

from elicit_gym.understanding.clauses import split_clauses
from elicit_gym.understanding.polarity import MAX_PARTS, advises_against, only_forbids, parts_of

AGAINST = (
    "Don't put it on wheels.",
    "Never put it on wheels.",
    "Please don't put it on wheels!",
    "Whatever you do, don't put it on wheels.",
    "I wouldn't put it on wheels.",
    "I would not put it on wheels if I were you.",
    "I'd never put it on wheels.",
    "I'd advise against putting it on wheels.",
    "I'd advise you not to put it on wheels.",
    "I strongly advise against wheels.",
    "I can't recommend putting it on wheels.",
    "I don't recommend wheels.",
    "I'd steer clear of wheels.",
    "I'd stay well away from wheels.",
    "I'd keep my hands off wheels.",
    "I'm not in favour of putting it on wheels.",
    "I'd be against wheels.",
    "You'd better not put it on wheels.",
    "You shouldn't put it on wheels.",
    "You must not put it on wheels.",
    "There's no point in putting it on wheels.",
    "There is no need to put it on wheels.",
    "It would be a mistake to put it on wheels.",
    "Putting it on wheels is not something I'd do.",
    "Putting it on wheels isn't a good idea.",
    "Putting it on wheels would be a waste of time.",
    "Putting it on wheels is the last thing I'd do.",
    "A set of wheels is exactly what I'd stay away from.",
    "Wheels are out of the question.",
    "Leave the wheels alone.",
    "Avoid wheels.",
)
FOR = (
    "Put it on wheels.",
    "I'd put it on wheels.",
    "You could put it on wheels.",
    "I would recommend wheels.",
    "Putting it on wheels is what I'd do.",
    "Putting it on wheels would be a good idea.",
    "Put it on wheels, so that nothing has to be screwed in.",
    "I wouldn't mind a set of wheels.",
    "Leave the house early and put it on wheels.",
    "Let the carpenter put it on wheels, without any screws.",
)
BOTH = {
    "Don't drill, put it on wheels.": "put it on wheels",
    "Don't drill but put it on wheels.": "put it on wheels",
    "I wouldn't drill at all, I'd put it on wheels.": "i'd put it on wheels",
    "Nobody has to drill, so put it on wheels.": "put it on wheels",
    "You can't drill into a rented wall, put it on wheels instead.": "put it on wheels instead",
    "Never drill a rented wall; put it on wheels.": "put it on wheels",
    "Whatever you do, don't drill, just put it on wheels.": "put it on wheels",
}


def parts(sentence: str) -> list[tuple[str, bool]]:
    return [(part.text, against) for clause in split_clauses(sentence) for part, against in parts_of(clause)]


@pytest.mark.parametrize("sentence", AGAINST)
def test_what_is_advised_against(sentence: str) -> None:
    assert only_forbids(sentence)


@pytest.mark.parametrize("sentence", FOR)
def test_what_is_advised(sentence: str) -> None:
    assert not only_forbids(sentence)
    assert not any(against for _, against in parts(sentence))


@pytest.mark.parametrize("sentence", BOTH)
def test_each_part_is_read_by_itself(sentence: str) -> None:
    found = parts(sentence)
    assert found[-1] == (BOTH[sentence], False)
    assert not only_forbids(sentence)


def test_the_second_part_may_be_against_too() -> None:
    assert [against for _, against in parts("Leave the wall alone, I wouldn't drill there.")] == [True, True]
    assert advises_against("i wouldn't drill there")


@pytest.mark.parametrize("sentence", ["Why don't you put it on wheels?", "Wouldn't it be better on wheels?"])
def test_a_question_with_a_negation_suggests(sentence: str) -> None:
    assert not any(against for _, against in parts(sentence))


def test_a_chain_of_prohibitions_has_few_parts() -> None:
    chain = ", ".join(f"don't do the {word} thing there" for word in ("first", "second", "third") * 20)
    (clause, *_) = split_clauses("Don't do that there at all.")
    found = parts_of(replace(clause, text=chain))
    assert len(found) == MAX_PARTS
    assert all(against for _, against in found)
