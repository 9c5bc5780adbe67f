"""What is wrong with a simulated user's reply, measured on labelled replies; what a repair leaves is checked again."""

import json
import time
from hashlib import sha256

import pytest

from benchmarks.labelled_messages import FOLDER
from benchmarks.user_checks import HARMLESS, LabelledReply, load_replies, scripted_alarms, table
from elicit_gym.llm.scripted import ScriptedChatModel
from elicit_gym.user_simulators.checks import PROBLEMS, mend_reply, problem_of_reply
from elicit_gym.user_simulators.llm import LLMUserSimulator

REPLIES = list(load_replies())
KINDS = sorted({reply.kind for reply in REPLIES} - {HARMLESS})
EXPECTED = {
    "assistant": "role_swap", "both_sides": "both_sides", "checklist": "checklist_leak", "degenerate": "empty",
    "echo": "echo", "language": "language", "long": "too_long", "repeats": "repeated", "rules": "rule_leak",
    "several_facts": "several_facts", "state": "state_leak", "structure": "structured", "unasked": "unasked_fact",
}  # fmt: skip


def of(kind: str, *halves: str) -> list[LabelledReply]:
    return [reply for reply in REPLIES if reply.kind == kind and reply.half in halves]


def test_the_labelled_sets_are_those_that_were_frozen() -> None:
    sums = dict(reversed(line.split("  ")) for line in (FOLDER / "SHA256SUMS").read_text(encoding="utf-8").splitlines())
    for name in ("user_replies.jsonl", "user_replies_fresh.jsonl", "judge_replies.jsonl"):
        assert sha256((FOLDER / name).read_bytes()).hexdigest() == sums[name]
    assert all(len(of(kind, "tune", "held_out")) >= 15 for kind in KINDS)
    assert len(of(HARMLESS, "tune", "held_out")) >= 150


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_caught_on_what_was_not_tuned_on(kind: str) -> None:
    unseen = of(kind, "held_out", "fresh")
    missed = [reply.id for reply in unseen if reply.caught is None]
    assert len(missed) <= (3 if kind == "several_facts" else 1), missed


def test_all_kinds_together_and_false_alarms() -> None:
    for half in ("tune", "held_out", "fresh"):
        measured = table([reply for reply in REPLIES if reply.half == half])
        assert measured["all_kinds"]["share"] >= 0.97
        assert measured["kinds"][HARMLESS]["share"] <= 0.02


@pytest.mark.parametrize("kind", KINDS)
def test_a_caught_reply_is_told_for_what_it_is(kind: str) -> None:
    found = [reply.caught for reply in of(kind, "tune", "held_out", "fresh")]
    if kind == "thinking":
        assert set(found) <= {"think_removed", "think_unclosed"}
    else:
        assert found.count(EXPECTED[kind]) >= 0.7 * len(found)


def test_the_result_file_is_of_these_checks() -> None:
    written = json.loads(
        (FOLDER.parents[1] / "benchmarks" / "results" / "user_checks.json").read_text(encoding="utf-8")
    )
    for half in ("tune", "held_out", "fresh"):
        assert written[half] == table([reply for reply in REPLIES if reply.half == half])


def test_what_the_scripted_user_says_in_play_raises_hardly_an_alarm() -> None:
    measured = scripted_alarms()
    assert measured["replies"] > 1_000
    assert measured["share"] <= 0.02


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_repair_leaves_is_sound(kind: str) -> None:
    for reply in of(kind, "tune", "held_out", "fresh"):
        mended = mend_reply(reply.reply, reply.turn)
        assert mended is None or problem_of_reply(mended, reply.turn) is None


def test_a_model_that_misbehaves_in_every_way_never_reaches_the_history_unflagged() -> None:
    for reply in REPLIES:
        if reply.kind == HARMLESS or reply.caught is None:
            continue
        user = LLMUserSimulator(ScriptedChatModel([reply.reply or "...", "Well, I cannot say.", "Well, I cannot say."]))
        (answer,) = user.reply_batch([reply.turn])
        text, flags = getattr(answer, "text", ""), getattr(answer, "flags", ("failed",))
        assert flags or not text, reply.id
        assert text != reply.reply


def test_every_problem_is_told_in_words() -> None:
    assert all(" " in told and not told.endswith(".") for told in PROBLEMS.values())


def test_a_bearable_fault_is_kept_in_the_end_and_flagged() -> None:
    reply = of("unasked", "tune")[0]
    answer = LLMUserSimulator(ScriptedChatModel([reply.reply] * 3)).reply(reply.turn)
    assert answer.text == reply.reply
    assert answer.flags == (*("user_simulator:retried:unasked_fact",) * 3, "user_simulator:kept:unasked_fact")


@pytest.mark.parametrize(
    "piece", ["a ", "the ice ", "Yes. ", "{", "- x\n", "**a", "“", "User", "you could ", "\n\n", "<a", "😀"]
)
def test_hostile_replies_are_checked_in_no_time(piece: str) -> None:
    turn = REPLIES[0].turn
    start = time.process_time()
    for size in (3_900, 200_000):
        problem_of_reply(piece * (size // len(piece)), turn)
        mend_reply(piece * (size // len(piece)), turn)
    assert time.process_time() - start < 3


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("As a large langauge model I have no kitchen.", "role_swap"),
        ("I'm just an AI asistant, sorry!", "role_swap"),
        ("That's against the ruels, I can't reveal anyting.", "rule_leak"),
        ("We've a good shelf that you can raise halfway.", None),
        ("I won't give that up!", None),
        ("You'd have to ask me that again.", None),
    ],
)
def test_typos_hide_nothing_and_everyday_words_are_no_fault(text: str, problem: str | None) -> None:
    assert problem_of_reply(text, REPLIES[0].turn) == problem


EVERYDAY = (
    "I was told to bring the forms by Friday.", "I'm only allowed to park there till six.",
    "I'm supposed to hand it in in May.", "I can't give it away, it was my mother's.", "The rules forbid any noise after ten.",
    "According to the rules we need a permit first.", "I'm playing the organ on Sunday.", "My job is to keep the place clean.",
    "My role at the firm is a small one.", "I pretend to be asleep when he comes in.", "You can walk there in ten minutes.",
    "You need to pass a test for that, they say.", "It's important to me that nobody feels left out.",
    "Try telling that to my wife!", "Would you like me to send you a photo?", "You could hear a pin drop in there.",
    "The user of the machine has to sign a paper.", "My customers are the users, and the user is king, they say.",
    "I have a list of ideas at home.", "My checklist is longer than my arm.", "Nobody asked me.", "I asked my sister about it.",
    "I don't want to give up.", "The state of the roof is a disgrace.", "We made progress last week.", "No idea, really.",
    "I've no instructions for that oven.", "He's stuck in traffic most days.", "That's the first question that makes sense!",
    "Let me know what you need to hear.", "As an assistant teacher I don't earn much.", "I'm not a computer person.",
    "My son helps me with that.", "Could you put that more simply?", "Is that a question?", "I'm sorry, I can't help it.",
    "Die-hard fans come every year.", "Was it my fault?", "C'est la vie, as they say.", "Hm.", "Yes!", "No, no, no.", "ok...", "1998",
    "We have 3 rules at home: shoes off, phones off, lights off.", "It's a game of patience.", "The answer is no.",
)  # fmt: skip


@pytest.mark.parametrize("text", EVERYDAY)
def test_what_people_say_every_day_is_no_fault(text: str) -> None:
    """None of these is on the scenario's facts: whatever is found wrong with them is a false alarm."""
    turn = next(reply.turn for reply in REPLIES if reply.turn.scenario.id == "45-a")
    assert problem_of_reply(text, turn) in (None, "unasked_fact")
