"""Cues, hand-written and derived."""

from elicit_gym.scenarios.cues import Rarity, derive_cues, guess_kind, parse_cues


def stems(*words: str) -> frozenset[str]:
    return frozenset(words)


def test_a_cue_needs_all_its_words_and_takes_alternatives() -> None:
    cues = parse_cues(["how much spend|pay", "budget"])
    assert cues.strength(stems("how", "much", "pay")) > 0
    assert cues.strength(stems("how", "much")) == 0
    assert cues.strength(stems("budget", "how", "much", "spend")) > cues.strength(stems("budget"))


def test_words_are_compared_by_stem() -> None:
    assert parse_cues(["scheduling"]).strength(stems("schedul")) == 1


def test_derived_cues_prefer_rare_words_and_leave_the_genre_out() -> None:
    pool = Rarity(["busy schedule limits time"] * 9 + ["a harp limits time"])
    cues = derive_cues("Did the assistant ask about the harp and the time?", "a harp limits time", pool)
    assert cues[0] == "harp"
    assert not any("assist" in cue or "limit" in cue or "ask" in cue for cue in cues)
    assert derive_cues("Did the assistant ask?", "", pool) == ()


def test_the_kind_is_guessed_from_the_verb() -> None:
    assert guess_kind("Did the assistant inquire about the budget?") == "ask"
    assert guess_kind("Did the assistant recommend specific platforms?") == "advice"
