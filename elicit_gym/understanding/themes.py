"""Plain questions of a theme that every life has: time, money, rules, helpers, tools, experience, place.

"Is there a deadline?" has next to no word of its own, and means the fact whose examples speak of deadlines. A question
that says nothing beyond its theme goes for the fact with the largest share of examples on that theme.
"""

import re
from collections.abc import Sequence

from elicit_gym.text import FUNCTION_WORDS
from elicit_gym.types import FactId, Scenario
from elicit_gym.understanding.patterns import either

__all__ = ["Themes"]

MIN_EXAMPLES = 2
MIN_SHARE = 0.2
MIN_WEAKER_SHARE = 0.4
STANDS_OUT = 1.5

_THEMES: dict[str, re.Pattern[str]] = {
    theme: re.compile(r"\b" + either(*forms) + r"\b")
    for theme, forms in {
        "time": (
            "deadlines?", "by when", "until when", "due", "how soon", "time ?frames?", "timelines?",
            "(?:what|which|fixed|set) dates?", "how much time (?:is|do you have|have you got) left", "finished by",
            "how long (?:do you have|have you got|is left)",
            "when (?:does|do|must|should) (?:it|this|that|you|they|everything) (?:need|have|be|start|happen|take)",
        ),
        "money": (
            "budgets?", "money", "afford", "costs?", "spend(?:ing)?", "pay(?:ing)?", "prices?", "funds?", r"financ\w+",
            "savings?",
        ),
        "rules": (
            "rules?", "allowed", "permissions?", "permits?", "regulations?", "restrictions?", "forbidden", "laws?",
            "legal(?:ly)?", r"approv\w+", "conditions?",
        ),
        "helpers": (
            "help(?:ers?|ing)?", "support", "alone", "(?:anyone|anybody|someone|somebody) else", "who else", "involved",
            "team", r"assist\w*", "by yourself", "on your own",
        ),
        "tools": ("equipment", "tools?", "materials?", "machines?", "gear", "supplies"),
        "experience": (
            "experienced?", "skills?", "skilled", "how good are you", "ever done",
            "(?:done|tried) (?:this|it|that|anything like (?:this|it|that)) before",
        ),
        "place": ("where", "location", "which place", "what place"),
    }.items()
}  # fmt: skip
_PLAIN = frozenset(
    """deadline deadlines due finished finish done need needed needs time times date dates day frame timeline left soon
    ready happen budget money afford cost costs spend spending pay price funds financial finances limit rule rules
    allowed permission permissions permit regulation regulations restriction restrictions law legal respect follow
    condition conditions approval help helper helpers helping support alone involved team assist assistance person
    people persons equipment tool tools material materials machine machines gear supplies own have already hand
    experience experienced skill skills skilled before ever background place location happen happens take takes exactly
    currently else available fixed set kind sort matter situation thing things issue""".split()
)
"""Words that a plain question of a theme may have."""


_WEAKER = {"time": re.compile(r"\b(?:when|dates?|weeks?|how (?:soon|long)|days?|months?)\b")}
"""What has to do with a theme, where no fact of the scenario is plainly on it."""


class Themes:
    """Which fact of a scenario each theme means.

    Args:
        scenario: with examples; without, no theme means anything.
    """

    def __init__(self, scenario: Scenario) -> None:
        self._facts: dict[str, FactId] = {}
        for theme, pattern in _THEMES.items():
            shares = _shares(scenario, pattern, MIN_SHARE)
            if not shares and theme in _WEAKER:
                # Of facts that only have to do with the theme, one must stand out.
                shares = _shares(scenario, _WEAKER[theme], MIN_WEAKER_SHARE)
                best = sorted(shares.values())
                shares = {} if len(best) > 1 and best[-1] < STANDS_OUT * best[-2] else shares
            if shares:
                self._facts[theme] = max(shares, key=lambda fact: shares[fact])

    def fact_of(self, text: str, words: Sequence[str]) -> FactId | None:
        """Return the fact that a plain question means; None for a question with words of its own, or of no theme."""
        if any(word not in FUNCTION_WORDS and word not in _PLAIN for word in words):
            return None
        found = {
            self._facts[theme] for theme, pattern in _THEMES.items() if theme in self._facts and pattern.search(text)
        }
        return found.pop() if len(found) == 1 else None


def _shares(scenario: Scenario, pattern: re.Pattern[str], least: float) -> dict[FactId, float]:
    """Return the facts of whose examples so many are on a theme, with how many."""
    shares = {}
    for fact in scenario.facts:
        hits = sum(pattern.search(question.lower()) is not None for question in fact.questions)
        if hits >= MIN_EXAMPLES and hits >= least * len(fact.questions):
            shares[fact.id] = hits / len(fact.questions)
    return shares
