"""What a careful interviewer says to what a user mentions: general rules, without a word of any scenario."""

import re
from dataclasses import dataclass

__all__ = ["FOLLOW_UPS", "PROBLEM", "REQUEST", "TOLD", "Rule", "Topic"]


@dataclass(frozen=True, slots=True)
class Rule:
    """What to say to a user who mentions something.

    Attributes:
        heard: what the user mentions, looked for in lower-case text.
        say: the message; "{}" stands for the words of the first group of `heard`.
    """

    heard: re.Pattern[str]
    say: str


@dataclass(frozen=True, slots=True)
class Topic:
    """A matter to begin with.

    Attributes:
        question: goes for it.
        again: the question in other words, for a user who had nothing to say to the first.
    """

    question: str
    again: str


def _rule(heard: str, say: str) -> Rule:
    return Rule(re.compile(rf"\b(?:{heard})"), say)


def _told(words: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{words})")


_KIN = (
    "mother|mum|mom|father|dad|sister|brother|aunt|uncle|cousin|grandmother|grandma|granny|gran|grandfather|grandpa|"
    "son|daughter|husband|wife|niece|nephew|granddaughter|grandson|fiancé"
)
_MATES = "colleague|workmate|mate|friend|apprentice|trainee|intern|assistant|deputy|helper|partner"
_AUTHORITY = "council|authority|committee|ministry|association|union|management|bank|insurer|court|office"
_DAYS = "(?:mon|tues|wednes|thurs|fri|satur|sun)days?"

REQUEST = Topic("Could you tell me what this is about?", again="What kind of thing is it?")
PROBLEM = Topic("What is the main problem at the moment?", again="What makes it so difficult?")
TOLD = {
    "Which hours of the day do you have for it?": _told(
        r"every morning|in the evenings?\b|hours? (?:a|each|every) (?:day|week)|from \w+ (?:till|until|to) \w+"
    ),
    "Are there any rules or permissions that you have to respect?": _told(
        r"allowed\b|forbid|banned|bans?\b|the law\b|lease says|has to (?:sign|approve)"
    ),
    "Is there a deadline?": _told(
        rf"deadline|(?:in|within) (?:a |\w+ )?(?:days?|weeks?|months?|fortnight)\b|weeks from|"
        rf"(?:by|before|until) (?:{_DAYS}|the end|spring|summer|autumn|winter)"
    ),
    "Do you have any help?": _told(r"(?:can|would) help|lends?\b|alone\b"),
    "How much money do you have for it?": _told(r"euros?\b|pounds\b|dollars\b|budget|afford|savings"),
}
"""The words of a user who has said it unasked, so that there is no need to ask."""

FOLLOW_UPS = (
    # What is missing, and the way round it.
    _rule(r"(licen[cs]e|certificate|permit|diploma)\b", "How could you get the {}?"),
    _rule(r"no (?:computer|internet|tools?|car)\b|only one old (?:tele)?phone", "Where could you get one?"),
    _rule(r"(?:van|car|truck|machine|engine)\b.{0,40}(?:broken?|dead|bits)\b", "Could you rent or borrow another one?"),
    _rule(r"failed|is banned|not allowed|forbid|switched off", "How would you manage without it?"),
    _rule(r"versions|copies|two lists", "Which one is the valid one?"),
    # People who want something, or do not.
    _rule(r"complain|object\b|sues?\b|to court|quarrel|reject|against", "What would they accept?"),
    _rule(r"demands?\b|insists?\b|requires?\b", "What do they want it for?"),
    _rule(rf"(?:the|our|my|an?)(?: \w+)? ({_AUTHORITY})\b", "What does the {} want before it agrees?"),
    _rule(r"refus|turned down|never hear|no answer|form letters|fail to|never walk|stay away|don't come",
          "What reasons do they give?"),
    _rule(r"boss|chief|manager|supervisor", "Who could talk to them instead of you?"),
    _rule(r"walked out|before me|predecessor", "Who could tell you the truth about it?"),
    _rule(rf"({_KIN}|{_MATES})\b.{{0,40}}(?:away|far|lives)\b", "How could your {} be reached?"),
    _rule(rf"({_KIN}|{_MATES})\b.{{0,40}}(?:help|come|lend|mornings|{_DAYS})", "What is your {} able to do?"),
    _rule(r"retired|moved away|has left|wrote it|made it", "How can you reach them?"),
    _rule(r"parental leave|broke (?:his|her|an) arm|is ill\b|fell ill", "Who could step in?"),
    # What somebody can do and bear, likes and dislikes.
    _rule(r"diabet|vegetarian|eats? no\b|won't eat", "What can they eat, and what not?"),
    _rule(r"diabet|allerg|prescri|specialist", "What would the health insurance pay for?"),
    _rule(r"stammer|nerv|panic|stage fright|freeze", "What helps you when that happens?"),
    _rule(r"for a (?:colleague|friend)|surprise|farewell", "What do they like, and what can't they stand?"),
    _rule(r"(?<!good )nights?\b", "What happens at night?"),
    # Plans.
    _rule(r"(exam|audit|inspection|test)\b", "What will the {} be about?"),
    _rule(r"concert|recital|performance", "What is on the programme?"),
    _rule(r"walk .{0,30}days|on foot|hike|overnight", "Where do you sleep?"),
    _rule(r"apply for|application", "Which references do you have?"),
    _rule(r"manuscript|poems?\b|novel|thesis|memoirs", "How long is it?"),
    _rule(rf"({_KIN})\b", "What does your {} say about it?"),
)  # fmt: skip
"""To what the user has just said; the more special ones first."""
