"""Every function that works on a text of somebody else's: models' replies, messages, fields of files, names."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from elicit_gym.agents import load_policy
from elicit_gym.episode import Episode, EpisodeRecord, Turn
from elicit_gym.evaluation.metrics import questions_per_message, repeated_questions, words_per_message
from elicit_gym.file_limits import decode_text
from elicit_gym.judges.parse_verdict import parse_verdict, parse_verdicts
from elicit_gym.llm.content import clean_content
from elicit_gym.llm.prompts import Prompt
from elicit_gym.offline.importing.characters import is_visible, replace_non_characters, unescape, visible, without_marks
from elicit_gym.offline.importing.formats import _note_damage
from elicit_gym.offline.importing.labels import (
    bracketed_time,
    change_mark,
    ends_sentence,
    parse_colon,
    parse_header,
    parse_irc,
    parse_qa,
    parse_tab,
    parse_titled,
    time_alone,
)
from elicit_gym.offline.importing.names import classify, name_key, split_remark
from elicit_gym.offline.importing.source import Line, Reading
from elicit_gym.offline.windows import count_simple_tokens
from elicit_gym.redaction import public_addresses, redact, redact_message
from elicit_gym.reporting.terminal import printable
from elicit_gym.scenarios.depth import _is_one_sentence
from elicit_gym.scenarios.derived import derived_scenario, guess_kind, plain_question, rarity_of
from elicit_gym.scenarios.generate import SETTING_FIELDS, _read_opening, _read_traits, read_setting
from elicit_gym.scenarios.load import load_scenarios
from elicit_gym.scenarios.replies import read_list, read_rows, read_sentence
from elicit_gym.strict_json import parse_json
from elicit_gym.text import content_stems, words
from elicit_gym.types import Message, Scenario, UserTurn
from elicit_gym.understanding.acts import reader_of
from elicit_gym.understanding.clauses import questions_in, split_clauses
from elicit_gym.user_simulators.checks import mend_reply, problem_of_reply, sentences_of, strip_label
from elicit_gym.user_simulators.scripted import ScriptedUserSimulator
from elicit_gym.user_simulators.voice import voice_of

UNITS = (
    " ", "\t", "\u3000", "\n", "\r\n", "\x0c", "\x00", ":", "：", "a", "A", "a:", "A:\n", "A: ", "Q. ", "- ", "--", "—", "<", "<v ", "<think>",
    "</think>", "<think></think>", "&", "&amp;", "[", "]", "[]", "(", ")", "()", "((a) ", "{", "{}", "{a}", "0", "0:", "1.", "12:00 ", ".",
    ". ", ".\n", "? ", "?", "! ", "!\"", "\"", "\"\"", "'", "’", "“", "”", "`", "```", "```json", "```json\n", "*", "**", "* ", "_", "#", "> ", ">> ",
    "|", ",", ", ", ",\n", ";", "@", "%", "$", "\\", "/", "//", "://", "://a@", "http://a?b ", "sk-", "sk-aaaaaa", "key_", "Bearer ", "AIza", "a'",
    "a-", "a ", "Ab ", "the ", "you ", "Yes ", "Result: ", "Result: Yes\n", "Result 1: ", "result", "- final verdict", "user: ", "user", "as an ai ",
    "what about ", "how ", "why? ", "not ", "and ", "or ", "a, b and c ", "because ", "let me know if ", "don't ", "word-\n", "\u200f", "\u200b",
    "e\u0301", "\ufeff", "\U0001f600", "\ud800", "ß", "İ", "ǅ", "\x15", "\x85", "\u2028", "\x1b[", "\x1b]8;;", "\u202e",
)  # fmt: skip
"""What is repeated: every class of characters, and what the patterns begin with."""


@lru_cache(maxsize=1)
def scenario() -> Scenario:
    return load_scenarios()[0]


def _turn(text: str) -> UserTurn:
    history = (Message(role="user", content="Hi"), Message(role="assistant", content=text))
    return UserTurn(
        scenario=scenario(), history=history, turn=1, satisfied=(False,) * 5, newly_satisfied=(), stuck=False,
        idle_turns=0, disclosed=frozenset(), seed=0,
    )  # fmt: skip


def _understand(text: str) -> Any:
    from elicit_gym.envs.conversation import Conversation
    from elicit_gym.judges.scripted import ScriptedJudge

    return ScriptedJudge().judge(Conversation(scenario(), max_turns=3, seed=0).judge_request(text))


def _metrics(text: str) -> Any:
    turns = tuple(Turn(action=text, reply="So.", reward=0.0) for _ in range(2))
    episode = Episode(opening_message="Hi", turns=turns, terminated=False, truncated=True)
    record = EpisodeRecord(policy="p", env_id="e", scenario_id="s", repeat=0, seed=0, episode=episode)
    return questions_per_message(record), words_per_message(record), repeated_questions(record)


def _derived(text: str) -> Any:
    row = {
        "id": "x", "opening_message": "Hi", "persona": text, "traits": ["x"] * 3, "description": "x", "goal": text or "x",
        "obstacle": "x", "constraints": ["x"] * 5, "solution": "x", "checklist": [text, *["x"] * 4],
    }  # fmt: skip
    made = derived_scenario(row, rarity_of([row]))
    return reader_of(made).disclosed_in(text)


def _baselines(text: str) -> Any:
    for name in ("ask-many", "ask-one", "adaptive", "naive"):
        policy = load_policy(name)
        policy.reset(0)
        policy.act((Message(role="user", content=text),))
        policy.act(tuple(Message(role="assistant" if i % 2 else "user", content=text) for i in range(3)))


def _refused(function: Callable[[str], Any]) -> Callable[[str], Any]:
    """Let a function say no: only its time counts here."""

    def call(text: str) -> Any:
        try:
            return function(text)
        except (ValueError, OverflowError):
            return None

    return call


FUNCTIONS: dict[str, Callable[[str], Any]] = {
    "words": words,
    "content stems": content_stems,
    "questions": questions_in,
    "clauses": split_clauses,
    "the scripted judge": _understand,
    "the scripted user": lambda text: ScriptedUserSimulator().reply(_turn(text)),
    "metrics": _metrics,
    "a derived scenario": _derived,
    "kind of a question": guess_kind,
    "a plain question": plain_question,
    "one sentence": _is_one_sentence,
    "a voice": lambda text: [
        voice_of((text, traits)).say(text, i) for i in range(2) for traits in ("no articles, typos", "formal")
    ],
    "baselines": _baselines,
    "thinking": lambda text: clean_content(text, None, "stop"),
    "thinking, begun": lambda text: clean_content("<think>" + text, None, "stop"),
    "thinking, ended": lambda text: clean_content(text + "</think>", None, "stop"),
    "a verdict": parse_verdict,
    "verdicts": lambda text: parse_verdicts(text, 5),
    "a fenced verdict": lambda text: parse_verdict("```" + text),
    "sentences": sentences_of,
    "a reply's problem": lambda text: problem_of_reply(text, _turn("Why?")),
    "a mended reply": lambda text: mend_reply(text, _turn("Why?")),
    "a label": strip_label,
    "an opening": _refused(lambda text: _read_opening(text, [frozenset({"a"})])),
    "traits": _refused(lambda text: _read_traits(text, False)),
    "traits, quoted": _refused(lambda text: _read_traits('"' + text, False)),
    "a sentence": _refused(read_sentence),
    "a list": _refused(read_list),
    "rows": _refused(lambda text: read_rows(text, "facts")),
    "a setting": _refused(lambda text: read_setting("{" + text + "}", SETTING_FIELDS)),
    "a fenced setting": _refused(lambda text: read_setting("```json {" + text, SETTING_FIELDS)),
    "JSON": _refused(parse_json),
    "JSON of a text": _refused(lambda text: parse_json('["' + text + '"]')),
    "a prompt": lambda text: Prompt("x", text).fill(a="b"),
    "secrets": redact,
    "addresses": public_addresses,
    "a message of an error": redact_message,
    "tokens": lambda text: count_simple_tokens([Message(role="user", content=text)]),
    "a terminal": printable,
    "bytes": _refused(lambda text: decode_text(text.encode("utf-8", "surrogatepass"), "x")),
    "visible characters": lambda text: (visible(text), is_visible(text), without_marks(text), unescape(text)),
    "characters that are none": replace_non_characters,
    "damage": lambda text: _note_damage(Reading("x"), text),
    "a name": lambda text: (classify(text), name_key(text), split_remark(text)),
    "a time": lambda text: (bracketed_time(text), time_alone(text), ends_sentence(text)),
    "a change": lambda text: change_mark(text, after_sentence=True),
    "labels": lambda text: [
        parse(0, Line(0, "line 1", text))
        for parse in (parse_colon, parse_header, parse_irc, parse_qa, parse_tab, parse_titled)
    ],
}
"""Importers as wholes are attacked in tests/offline/importing/test_hostile.py."""
