"""Questions for what every user has, which mean the same in every conversation.

What it is about, what is wanted, what stands in the way, what was tried. All are for text in lower case, and each
pattern covers the whole clause: with a topic of its own a question is compared with the scenario's facts instead.
"""

import re

from elicit_gym.types import FactId
from elicit_gym.understanding.patterns import either

__all__ = ["UNIVERSAL"]

_TAIL = (
    either(
        " exactly", " precisely", " here", " there", " right now", " now", " at the moment", " in (?:more )?detail",
        " a bit", " first", " so far", " up to now", " already", " yet", " until now", " most", " mainly", " then",
        " in the end", r" at the end(?: of (?:this|it|all this))?", " for you", " to you",
        " (?:by|with|in|of|about|from) (?:all )?(?:this|that|it)",
    )
    + "*$"
)  # fmt: skip
_HEAD = "^(?:(?:a bit|a little|some|something|more|me) )*(?:more )?(?:about |on |of )?"
_WISH = (
    "(?:would you|do you|are you|were you)(?: most| really| actually)? "
    + either("like", "want", "wish", "hope", "hoping", "need", "trying", "looking")
    + "(?: to)?"
)
_WHAT_IS = "(?:what(?:'s| is| are| was| has been| would be| would you say is) )?"


def _asking(*forms: str) -> re.Pattern[str]:
    return re.compile(_HEAD + either(*forms) + _TAIL)


UNIVERSAL: dict[FactId, re.Pattern[str]] = {
    "request": _asking(
        r"what(?: exactly| precisely)?(?:'s| is| are| were)? (?:this|it|that|we|you|your \w+|the \w+)"
        "(?: all| really| exactly| actually| talking)* about",
        "what(?: exactly)? (?:this|it|that|we|you|all this) (?:is|are|'s|was)(?: all| really| exactly)* about",
        "what (?:kind|sort) of (?:thing|matter|situation) (?:is|are) (?:it|this|that)",
        "what (?:is it that )?(?:you mean|this is)",
        "what (?:exactly |precisely )?(?:do you mean|are you (?:referring to|talking about|writing about))",
        r"(?:what(?:'s| is) )?(?:the|your)(?: \w+)? "
        + either("situation", "context", "background", "circumstances", "subject", "topic", "matter", "story"),
        "what(?:'s| is) (?:going on|happening|this|the matter)",
        "(?:some|any) (?:background|context)",
        r"what (?:is it (?:that )?you|do you|would you) (?:need|want|like)(?: \w+)? help with",
    ),
    "goal": _asking(
        f"what (?:exactly |precisely |ideally )?{_WISH}"
        "(?: (?:have|achieve|accomplish|happen|get|reach|see|get to))?(?: for)?",
        f"{_WHAT_IS}(?:your|the) (?:main |ultimate |real |actual )?"
        + either("goals?", "aims?", "objectives?", "ideal (?:outcome|result)"),
        "what (?:would|does|will) (?:success|a good (?:outcome|result|ending)|the (?:ideal|best|perfect) "
        "(?:outcome|result)|it) (?:look like|be|mean)",
        "what (?:outcome|result)(?: exactly)? (?:would you like|do you want|are you hoping for)",
    ),
    "obstacle": _asking(
        "what(?:'s| is| has| has been| was)?(?: been)? (?:getting|standing|coming|in) (?:in )?(?:your|the) way",
        f"{_WHAT_IS}(?:the|your) (?:(?:main|biggest|real|greatest|hardest|single biggest) )?"
        + either("problem", "obstacle", "difficulty", "challenge", "hurdle", "trouble", "issue", "sticking point"),
        "what (?:makes|is making) (?:it|this|that)(?: so)? (?:hard|difficult|tricky)",
        "what(?:'s| is| has been)? "
        + either("stopping", "holding", "keeping", "preventing", "blocking", "stops", "holds", "keeps", "blocks")
        + " you(?: back)?",
        "where (?:are you|do you get|does it get) stuck",
    ),
    "tried": _asking(
        "(?:what|which things|anything)(?: exactly| else)? (?:have you|did you|you have)(?: already| actually)? "
        "(?:tried|done|attempted)",
        "have you(?: already)? (?:tried|done|attempted) (?:anything|something|things)",
    ),
}
"""By fact."""
