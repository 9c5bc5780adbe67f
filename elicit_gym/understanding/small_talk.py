"""What is said to be polite: it asks for nothing definite, and a reply can fit it all the same."""

import re
from collections.abc import Mapping
from typing import Literal

from elicit_gym.understanding.patterns import either

__all__ = ["CLOSING", "EMPATHY", "PERMISSION", "SENTIMENT", "Talk", "pleasantry"]

Talk = Literal["permission", "sympathy", "check", "anything_else", "greeting", "more"]
"""May I ask; that must be hard; does that help; is there anything else; how are you; and a wish to hear more."""

CLOSING = re.compile(r"^(?:please |just |do )*let me know if\b(?! (?:it|they|he|she|the|your)\b)")
"""An offer at the end of a message: it asks for nothing."""
PERMISSION = re.compile(
    r"^(?:(?:you|about|for) )?(?:a |an |one |some |two |few |a few |a couple of |several |just )*"
    r"(?:quick |short |small |more |other |personal )*(?:something|questions?|things?|anything|first|you|so|that|this)?"
    r"(?: first| here| about (?:it|that|this|your situation))?$"
)
"""What is left of "can I ask you a quick question" behind its opener."""

_WHY = (
    "why|how so|how come|why (?:is|was) (?:that|this|it)(?: so)?|for what reason|in what way|"
    "what makes you say (?:that|so|this)"
)
_FORMS: Mapping[Talk, tuple[str, ...]] = {
    "greeting": (
        "how are (?:you|things)(?: doing| today| feeling| going)*", "how is it going.*", "how's it going.*",
    ),
    "check": (
        "(?:does|did) (?:that|this|it|any of (?:that|this)) "
        "(?:make sense|help|sound (?:good|right|ok|okay|fair|reasonable)).*",
        "(?:is|would) (?:that|this|it)(?: be)? (?:ok|okay|fine|alright|all right|right|correct|fair|good)"
        "(?: (?:with|for|by) you)?",
        "(?:sounds?|sound) (?:good|right|ok|okay|fair).*", "(?:what|how) do you think", "what say you",
        "(?:you )?know what i mean", "you know", "really", "seriously",
        "do you (?:understand|agree|see|follow)(?: me)?", "any (?:thoughts|ideas|questions)", "yes", "no", "so",
    ),
    "permission": (
        "shall we (?:start|begin|go on|continue)?.*", "(?:are you )?ready",
        "(?:can|could|may|shall|should) i (?:try to )?help.*",
    ),
    "anything_else": (
        "(?:is )?(?:there )?anything else", "(?:is there )?anything else (?:i should|you|to|that|i need).*",
    ),
    "more": (
        "(?:how|what) (?:can|could|may) i (?:help|do for you|assist).*",
        "(?:can|could|would) you (?:please )?help me(?: to)? understand(?: (?:better|more))?",
        "(?:tell|say)(?: me)? (?:a (?:bit|little) )?more(?: please)?", "go on", "more", "and", _WHY,
        "(?:can|could|would|will) you (?:please )?(?:clarify|explain|elaborate|expand)(?: (?:on )?(?:that|this|"
        "it))?"
        "(?: (?:a (?:bit|little)|more|further|please|for me))*", "which means",
    ),
    "sympathy": (
        "who (?:doesn't|wouldn't|hasn't)(?!.*\\b(?:you|your|it|this|that)\\b).*", "isn't it.*",
        "(?:isn't|doesn't|wouldn't|hasn't|don't) (?:that|it|this|life).{0,40}",
    ),
}  # fmt: skip
_PLEASANTRIES = {talk: re.compile("^" + either(*forms) + "$") for talk, forms in _FORMS.items()}


def pleasantry(body: str) -> Talk | None:
    """Return what kind of polite question this is, if it is one: a question by form that wants no answer."""
    return next((talk for talk, pattern in _PLEASANTRIES.items() if pattern.match(body)), None)


_HARD = (
    r"tough|hard|difficult|stress\w*|frustrat\w*|overwhelm\w*|exciting|wonderful|great|lovely|nice|sad|scary|annoying|"
    r"painful|tricky|heavy|awful|terrible|exhausting|tiring|amazing|beautiful|brave|understandable|daunting|natural|"
    r"normal|pressure|a lot|challeng\w*|worry\w*"
)
EMPATHY = re.compile(
    "^"
    + either(
        r"i(?:'m|'d| am| would| can| want| really| do| hear| see| understand| get| feel| know| appreciate| love)?"
        r"\b.{0,20}\b(?:sorry|hear you|see|understand|get it|get that|feel for you|imagine|appreciate|love to|glad to|"
        r"happy to|here to|sympathi\w+|help)\b",
        rf"(?:that|this|it|what|how|there)\b(?=.*\b(?:{_HARD})\b)",
        r"sounds\b",
        "(?:that )?must (?:be|feel)", "you(?:'re| are) (?:right|not alone|doing|brave|clearly|not the only)",
        "no wonder", r"congrat\w*", "good luck", r"thank\w*", "sorry", "wow", "well done", "don't worry", "of course",
        "no problem", "take your time", "let's (?:see|sort|figure|work|get|start|take a look)", "we'll", "welcome",
        "absolutely", "certainly",
    )
)  # fmt: skip

SENTIMENT = re.compile(
    r"\b(?:tough|hard|difficult|stressful|stress|frustrat\w*|overwhelm\w*|exciting|wonderful|great|lovely|nice|sad|"
    r"scary|annoying|painful|tricky|challeng\w*|heavy|awful|terrible|hurts?|exhausting|tiring|amazing|beautiful|brave|"
    r"understandable|daunting|natural|normal|worr\w*|pressure|lot to (?:carry|handle|deal with|take in)|a lot|sorry|"
    r"hope|congratulations|good luck)\b"
)
