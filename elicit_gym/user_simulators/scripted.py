"""A user without a language model: answers what was asked, and says the same words for the same seed."""

from typing import get_args

from elicit_gym.errors import SettingError
from elicit_gym.types import FactId, Manner, UserReply, UserTurn
from elicit_gym.understanding.acts import reader_of, understand
from elicit_gym.understanding.dialogue_acts import DialogueAct, Understanding
from elicit_gym.user_simulators import phrases
from elicit_gym.user_simulators.voice import behind, voice_of

__all__ = ["ScriptedUserSimulator"]

PATIENCE = 3
"""Useless turns in a row after which an impatient user leaves."""
STUCK_AFTER = 2
SHORT_ADVICE = 60
MEMORY = 11
"""Own messages that the user looks back on, so as not to tell the same a third time."""

_PERIOD = 840
"""Divisible by 1 to 8: successive turns walk through every list of phrases."""


class ScriptedUserSimulator:
    """A rule-based user with an agenda: the facts of the scenario.

    It answers the first question of a message if one of its facts does, with the short form at first and the fuller
    one to somebody who asks again; says that there is nothing to tell otherwise, in words that fit the question; asks
    back where it does not understand; nudges without a fact where nothing was asked. When the agent is stuck, and has
    really asked something in this message or the one before, it hints at the next pending item by a consequence or a
    feeling. Keeps no state.

    Args:
        manner: ``open`` keeps to the paper's rules; ``guarded`` stays vague until the agent follows up; ``wandering``
            adds remarks beside the point; ``impatient`` leaves after three useless turns in a row.

    References:
        InfoQuest, Appendix A.5, game rules 1 to 7; Schatzmann et al. (2007) for a user with an agenda behind a
        component that understands. Difference: rule 6's "vaguely related to all pending objectives" becomes the
        answer to what was asked, or a sentence without a fact, since without a language model anything closer would
        give a topic away.
    """

    name = "scripted"
    manner: Manner = "open"

    def __init__(self, manner: Manner = "open") -> None:
        if manner not in get_args(Manner):
            known = ", ".join(get_args(Manner))
            raise SettingError(f"Making the user simulator 'scripted': expected a manner of {known}, got {manner!r}.")
        self.manner = manner

    def reply(self, turn: UserTurn) -> UserReply:
        """Return the user's next message: one sentence, at most one fact."""
        pick = (turn.seed + turn.turn) % _PERIOD
        voice = voice_of(turn.scenario.traits)
        if self.manner == "impatient" and turn.idle_turns >= PATIENCE:
            return UserReply(text=voice.say(_one_of(phrases.LEAVING, pick), pick), leaves=True)
        sentence = self._sentence(turn, pick)
        if self.manner == "wandering" and pick % 2 == 0 and sentence.endswith("."):
            sentence = f"{sentence[:-1]}, {_one_of(phrases.REMARKS, pick // 2)}."
        return UserReply(text=voice.say(sentence, pick))

    def _sentence(self, turn: UserTurn, pick: int) -> str:
        scenario = turn.scenario
        history = turn.history
        read = understand(history[-1].content, scenario, user_message=history[-2].content, disclosed=turn.disclosed)
        first = next(iter(read.questions), None)
        fact = _fact_to_tell(first, turn)
        if self.manner == "guarded":
            before = _asked_before(turn)
            if before is not None and before not in turn.disclosed and _prods(read):
                fact = before
            elif fact is not None and fact != before and fact not in turn.disclosed:
                return _one_of(phrases.GUARDED, pick)
        if fact is not None:
            return _tell(turn, fact, pick, wants_more=first is not None and first.kind == "more")
        if turn.stuck and (read.asks or _really_asked(turn)):
            return _hint(turn, read, first, pick)
        return _without_fact(read, first, turn, pick)


def _fact_to_tell(act: DialogueAct | None, turn: UserTurn) -> FactId | None:
    """Return the fact that answers this question; None where there is none."""
    if act is None or not act.facts:
        return None
    fact = act.facts[0][0]
    if act.kind == "echo":
        return fact if fact in turn.disclosed or fact == "request" else None
    if act.kind == "ask" and _is_told_in_full(turn, fact):
        return next((other for other, _ in act.facts if other not in turn.disclosed), fact)
    return fact if act.kind in ("ask", "more") else None


def _is_told_in_full(turn: UserTurn, fact: FactId) -> bool:
    """Say whether the user has lately given the fuller account of a fact."""
    if fact not in turn.disclosed:
        return False
    said = [message.content for message in turn.history[-2 * MEMORY : -1 : 2]]
    return reader_of(turn.scenario).is_told_in_full(fact, said)


def _asked_before(turn: UserTurn) -> FactId | None:
    """Return the fact that the agent's previous message asked for, if any."""
    history = turn.history
    if len(history) < 4:
        return None
    read = understand(history[-3].content, turn.scenario, user_message=history[-4].content)
    first = next(iter(read.questions), None)
    return first.facts[0][0] if first is not None and first.facts and first.kind == "ask" else None


def _really_asked(turn: UserTurn) -> bool:
    history = turn.history
    if len(history) < 4:
        return False
    read = understand(history[-3].content, turn.scenario, user_message=history[-4].content, disclosed=turn.disclosed)
    return read.asks


def _prods(read: Understanding) -> bool:
    """Say whether the message asks to hear more without naming anything."""
    return all(act.kind == "more" or not act.facts for act in read.questions)


def _tell(turn: UserTurn, fact: FactId, pick: int, *, wants_more: bool) -> str:
    short, fuller = turn.scenario.fact(fact).disclosures
    if fact not in turn.disclosed:
        return short
    if _is_told_in_full(turn, fact):
        return _one_of(phrases.TOLD, pick)
    return behind(_one_of(phrases.MORE if wants_more else phrases.REPEATS, pick), fuller)


def _without_fact(read: Understanding, first: DialogueAct | None, turn: UserTurn, pick: int) -> str:
    if turn.newly_satisfied:
        return _one_of(phrases.PROGRESS, pick)
    if first is not None:
        if first.kind == "echo":
            return _one_of(phrases.ECHOES, pick)
        if first.kind == "unclear":
            return _one_of(phrases.UNCLEAR, pick)
        return _one_of(phrases.NOTHING_TO_TELL[first.wh or "what"], pick)
    kinds = {act.kind for act in read.acts}
    if "suggest" in kinds and any(act.contrary for act in read.acts) and turn.disclosed:
        return _one_of(phrases.CONTRARY, pick)
    if "echo" in kinds:
        return _one_of(phrases.ECHOES, pick)
    if "suggest" in kinds and turn.disclosed and read.num_words <= SHORT_ADVICE:
        return _one_of(phrases.ADVICE_HEARD, pick)
    if kinds == {"small_talk"}:
        talk = next((act.talk for act in reversed(read.acts) if act.talk is not None), None)
        return _one_of(phrases.SMALL_TALK[talk], pick)
    if kinds == {"unclear"}:
        return _one_of(phrases.UNCLEAR, pick)
    return _one_of(phrases.NUDGES, pick)


def _hint(turn: UserTurn, read: Understanding, first: DialogueAct | None, pick: int) -> str:
    """Hint at the next pending item, behind words that fit what was said: no fact answers it."""
    pending = [i for i, done in enumerate(turn.satisfied) if not done]
    waited = max(0, turn.idle_turns - STUCK_AFTER)  # two hints at an item, then at the next
    item = turn.scenario.checklist[pending[waited // 2 % len(pending)]]
    hint = _one_of(item.hints or phrases.STUCK, waited)
    if first is not None and first.kind == "ask":
        return behind(_one_of(phrases.BEFORE_HINT[first.wh or "what"], pick), hint)
    if first is None and any(act.kind == "suggest" for act in read.acts):
        return behind(_one_of(phrases.BEFORE_HINT["suggestion"], pick), hint)
    return hint


def _one_of(sentences: tuple[str, ...], pick: int) -> str:
    return sentences[pick % len(sentences)]
