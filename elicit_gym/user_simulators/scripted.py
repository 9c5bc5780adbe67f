"""A user without a language model: follows all seven game rules, and says the same words for the same seed."""

from elicit_gym.scenarios.cues import compile_scenario
from elicit_gym.text import Analysis, analyse, is_echo
from elicit_gym.types import Scenario, UserReply, UserTurn
from elicit_gym.user_simulators.voice import voice_of

__all__ = ["ScriptedUserSimulator"]

_NUDGES = (
    "That is all rather general, and you don't know my situation yet.",
    "Hm, this could have been written to anybody.",
    "I can't do much with that, it doesn't touch my case.",
    "You are guessing instead of finding out what I'm up against.",
    "That's a lot of words for someone who knows nothing of me yet.",
    "I've read lines like these elsewhere already.",
    "None of that tells me that you know what I'm dealing with.",
    "You could find out a bit more before you talk.",
)
_TOO_MUCH = (
    "That's too much at once for me.",
    "Slow down, I can answer one thing at a time.",
    "You lost me with all these points together.",
    "Pick one of them, I can't follow so many.",
)
_ECHOES = (
    "Yes, that's what I said.",
    "You are only repeating me.",
    "Those were my own words.",
    "I know, I've just told you so.",
)
_VAGUE = (
    "That isn't what weighs on me, there are other matters.",
    "Not so important here, something else matters more.",
    "There is more to it than that.",
    "I wouldn't know, it hardly plays a part in this.",
    "That part is fine, other parts are not.",
    "Nothing special to say there, but some things do stand in my way.",
    "It's not where the trouble lies.",
    "You haven't hit on what makes this tricky yet.",
)
_PROGRESS = (
    "Yes, that could work for somebody like me.",
    "Now that fits my situation.",
    "Good, I hadn't thought of it that way.",
    "That's the sort of thing I was hoping for.",
)
_HINTS = (
    "I keep thinking about {topic}.",
    "Nobody ever talks to me about {topic}.",
    "I'm not at ease about {topic}.",
    "My mind keeps going back to the question about {topic}.",
    "I wish somebody cared about {topic}.",
)
_ADVICE_HINTS = (
    "I'd be glad of an idea about {topic}.",
    "I wonder about {topic}.",
    "Nobody has told me anything about {topic}.",
)
_REPEATS = ("As I said, ", "Like I told you, ", "Again, ", "I mentioned it, ")


class ScriptedUserSimulator:
    """A rule-based user.

    It answers the first question of a message with the one fact that the question goes for; nudges without a fact when
    a message is no question or cannot be listened to; stays vague while the agent makes progress; hints at the next
    pending item when the agent is stuck. Keeps no state.

    References:
        InfoQuest, Appendix A.5, game rules 1 to 7. Difference: rule 6's "vaguely related to all pending objectives"
        becomes a sentence that says that other things matter, since without a language model anything closer would
        give a topic away.
    """

    name = "scripted"

    def reply(self, turn: UserTurn) -> UserReply:
        """Return the user's next message: one sentence, at most one fact."""
        scenario = turn.scenario
        analysis = analyse(turn.history[-1].content)
        pick = (turn.seed + turn.turn) % 840  # divisible by 1 to 8: successive turns walk through every list above
        sentence = _echo_reply(turn, analysis, pick) or _answer(turn, analysis, pick) or _no_fact(turn, analysis, pick)
        return UserReply(text=voice_of(scenario.traits).say(sentence, pick))


def _echo_reply(turn: UserTurn, analysis: Analysis, pick: int) -> str | None:
    history = turn.history
    if is_echo(analysis.words, history[-2].content) or is_echo(analysis.words, turn.scenario.opening_message):
        return _hint(turn, pick) if turn.stuck else _ECHOES[pick % len(_ECHOES)]
    return None


def _answer(turn: UserTurn, analysis: Analysis, pick: int) -> str | None:
    fact_id = compile_scenario(turn.scenario).asked_fact(analysis)
    if fact_id is None:
        return None
    disclosure = turn.scenario.fact(fact_id).disclosure
    if fact_id in turn.disclosed:
        first = disclosure.split(" ", 1)[0]
        rest = disclosure if first in {"I", "I'm", "I've", "I'd"} else disclosure[0].lower() + disclosure[1:]
        return _REPEATS[pick % len(_REPEATS)] + rest
    return disclosure


def _no_fact(turn: UserTurn, analysis: Analysis, pick: int) -> str:
    if turn.newly_satisfied:
        return _PROGRESS[pick % len(_PROGRESS)]
    if turn.stuck:
        return _hint(turn, pick)
    if analysis.num_questions == 0 or (analysis.too_long and not analysis.specific):
        return _NUDGES[pick % len(_NUDGES)]
    sentences = _VAGUE if analysis.specific else _TOO_MUCH
    return sentences[pick % len(sentences)]


def _hint(turn: UserTurn, pick: int) -> str:
    scenario: Scenario = turn.scenario
    item = scenario.checklist[turn.satisfied.index(False)]
    sentences = _ADVICE_HINTS if item.kind == "advice" and item.fact in turn.disclosed else _HINTS
    return sentences[pick % len(sentences)].format(topic=item.topic.replace("{", "(").replace("}", ")"))
