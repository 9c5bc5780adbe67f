"""The forms of English sentences that a message is cut and read by: one named pattern for each.

All are for text in lower case with straight apostrophes, as `elicit_gym.understanding.clauses` makes it. Each pattern
is linear or bounded by explicit counts, whatever an agent sends.
"""

import re

__all__ = [
    "BARE_WH",
    "BRACKETS",
    "DISMISSAL",
    "DISMISSED_QUESTION",
    "EMPTY_FRAME",
    "EXAMPLES",
    "IMPERATIVE",
    "LETTERS",
    "MARKUP",
    "META",
    "MORE_ABOUT",
    "NEGATION",
    "OF_THE_SPEAKER",
    "PROBE",
    "SENTENCE",
    "SUGGESTING_QUESTION",
    "SUGGESTS",
    "TAG",
    "UNSPECIFIC",
    "WAVED_AWAY",
    "WORD",
    "either",
]  # fmt: skip


def either(*choices: str) -> str:
    """Return a group of alternatives."""
    return "(?:" + "|".join(choices) + ")"


# Characters, words and sentences ------------------------------------------------------------------------------------

LETTERS = re.compile(r"(?<![\w'])[a-z]+(?![\w'])")
"""A run of letters that no apostrophe, digit or other letter touches: what spelling may be mended in."""

WORD = re.compile(r"[a-z0-9]+(?:'[a-z]+)*")

SENTENCE = re.compile(
    r"[^.!?\n;]+"
    # A mark ends a sentence before white space or a closing quote; "3.5" and "e.g.x" go on.
    r"(?:[.!?]+(?=\s|$|[\"')\]])|[.!?](?=[^\s.!?])[^.!?\n;]*)*[.!?;]*"
)

MARKUP = re.compile(r"[*_`#>]+|^[^\S\n]*(?:[-•–]|\d{1,2}[.)])\s+", re.MULTILINE)
"""Markdown, bullets and the numbers of a list."""

GAP = re.compile(r"[^\S\n]{2,}")
"""More than one space: the patterns below may look at each of them once for every other, so that none are left."""

BRACKETS = re.compile(r"\([^()]{0,200}\)|\[[^\[\]]{0,200}\]")

EXAMPLES = re.compile(
    r"[,:–-]?\s*\b"
    + either(
        "for example", "for instance", r"e\.?\s?g\.?", "such as", "like,", "say,", "things like", r"i\.?e\.?",
        "including", "or something", "or similar", "and so on", "etc",
    )
    + r"\b.*$"
)  # fmt: skip
"""Examples behind a question: they are not what it asks."""


IMPERATIVE = re.compile(r"^(?:have|do|does|has|will|can) (?:a|an|the|your|some|any|it|this|that|these|those)\b")
"""Without a question mark no question: "have a carpenter ...", "do the shopping"."""
TAG = re.compile(
    r"^(?P<body>.+?)(?<!what)(?<!how)(?<!when)(?<!where)(?<!who)(?<!why)(?<!which),?\s+"
    + either(
        "(?:is|are|was|were|do|does|did|has|have|can|could|will|would|should)(?:n't|nt| not)?"
        r"\s+(?:it|you|they|he|she|we|that|this|there|i)",
        "right", "correct", "no", "yes", "eh", "huh", "ok", "okay", "innit", "am i right", "is that right",
        "am i getting (?:that|this) right", "have i got that right", "is that correct", "or not", "or am i wrong",
        "true", "don't you think", "wouldn't you say", "you agree",
    )
    + "$"
)  # fmt: skip
"""A statement with a tag that asks for a yes: "you rent the place, right"."""

OF_THE_SPEAKER = re.compile(r"(?:i|i'd|i'm|i'll|let's|we)\b(?! (?:right|correct))")
"""A tagged statement about the speaker and not about the user."""

UNSPECIFIC = re.compile(r"^(?:that|this|it|sounds|must)\b")


# Suggestions, dismissals, talk about the game -----------------------------------------------------------------------

SUGGESTING_QUESTION = re.compile(
    r"\b(?:why (?:not|don't)|how about|what about|what if|have you (?:thought|considered|tried|looked)|"
    r"did you (?:think|consider|try)|"
    r"(?:could|can|would|might|should|will|couldn't|can't|wouldn't) (?:you|we|it|they|he|she|the|your|that|this|there)|"
    r"is it an option|is there (?:a way|any way)|do you think you|suggest|recommend|instead|let's)\b"
)
"""A question that may be advice in disguise."""
SUGGESTS = re.compile(
    r"\b(?:could|should|try|suggest|recommend|advise|consider|might want|ought|better|instead|need to|have to|"
    r"i'd (?:put|use|go|start|buy|ask|make|take|keep|set|split|move|hire|rent|borrow)|why not|how about)\b"
)

_ABOUT_WANTING = either(
    "care", "cares", "want to (?:know|hear|talk|ask|discuss)",
    "(?:talk|speak|ask|discuss|hear|know)(?:ing)? (?:about|of)", "interest\\w*", "matters?", "tell me", "mention",
    "going to ask", "be interested", "wish to (?:know|hear)",
)  # fmt: skip
DISMISSAL = re.compile(
    "|".join(
        (
            r"\bbor(?:es|ed|ing) (?:me|us)\b",
            r"\b(?:is|are|sounds?|seems?) (?:so |very |really |quite |rather )?"
            r"(?:boring|dull|irrelevant|uninteresting|unimportant|pointless)\b",
            r"\b(?:do not|don't|doesn't|does not|couldn't|could not|can't|never|won't|would not|wouldn't|rather not|"
            rf"nobody|no one|not) (?:really |even |at all )?{_ABOUT_WANTING}\b",
            r"^(?:please |just |let's |let us |(?:we|you) (?:can |could |should )?(?:just )?)*"
            r"(?:skip|ignore|forget(?: about)?|leave aside|set aside|never mind) (?:the |your |that |this |all |"
            r"about )",
            r"\bspare me\b",
            r"\bi (?:hate|refuse|dislike|detest)\b",
            r"\bnot (?:interested|relevant|interesting|important|worth)\b",
            r"\bno (?:interest|matter)\b",
            r"\benough (?:about|of)\b",
            r"\bwithout (?:asking|talking) about\b",
        )
    )
)
"""A sentence that names a matter to say that it does not interest the speaker."""

DISMISSED_QUESTION = re.compile(
    r"\b(?:bores?|bored) (?:me|us)\b|\bi (?:hate|refuse|dislike|don't care)\b|"
    r"^(?:never|don't|do not|skip|forget|ignore)\b"
)
"""The same with a question mark behind it; narrower, since a user's troubles are asked for in such words too."""

_TALKING = "(?:talk|speak|hear|ask|know|discuss|mention|go into)(?:ing)?"
_TELLING = (
    "(?:tell(?:ing)? (?:me|us)|talk(?:ing)? (?:to me )?about|mention(?:ing)?|explain(?:ing)?|answer(?:ing)?|"
    "discuss(?:ing)?)"
)
_LEAVE = "(?:skip|drop|leave|forget|ignore)"
WAVED_AWAY = re.compile(
    "^(?:please |just |really |honestly |then )*"
    + either(
        # the speaker does not want to hear
        r"(?:i|we)(?:'m| am|'re| are)?(?: really| just| certainly)? (?:won't|will not|wouldn't|would not|don't|do not|"
        r"needn't|need not|shan't|not|never) "
        rf"(?:\w+ ){{0,3}}?(?:{_TALKING}|care|interested) (?:\w+ )?(?:about|of|in|into|for)",
        rf"(?:i|we)(?:'d| would) (?:rather|sooner|prefer) not (?:to )?{_TALKING}",
        "(?:i|we) (?:couldn't|could not|can't|cannot) care less",
        "(?:i|we) (?:have|had|take) no (?:interest|wish)",
        # nor does anybody
        "(?:who|nobody|no one)(?: really| even| here)? (?:cares|cared|wants? to (?:know|hear|talk))",
        # nor has the user to talk
        rf"(?:you )?(?:needn't|need not|(?:don't|do not)(?: need to| have to| ever)?) {_TELLING}",
        rf"(?:there(?:'s| is) )?no (?:need|point|reason|use) (?:to|in|of) {_TELLING}",
        "(?:must|do) we(?: really| have to| need to)* (?:talk|speak|hear|go into|discuss)",
        rf"(?:(?:can|could|shall|should|may) we|we (?:can|could|shall|should|may|might)|let's|let us)"
        rf"(?: just| please| rather)? (?:not {_TALKING}|{_LEAVE})",
        "(?:stop|quit) (?:talking|going on|asking|telling)", "(?:enough|no more)(?: talk)? (?:about|of)",
        "forget about", "never mind", "spare me",
        r"(?:it|that|this)(?: really| just)? (?:doesn't|does not|makes no) (?:matter|difference)(?: to (?:me|us))?",
        r".{1,80} (?:is|are) none of (?:my|our) (?:business|concern)$",
    )
    + r"\b"
)  # fmt: skip
"""A matter named to be left aside, question mark or not: "I won't ask about X", "let's not talk about X, okay?"."""

META = re.compile(
    r"\b(?:did|does|do|has|is|was|should|can|will|must|as) (?:the|your|this) "
    r"(?:assistant|agent|chatbot|model|ai|judge|user)\b|"
    r"\bthe (?:checklist|judge|assistant|hidden context|user has)\b|\b(?:previous|prior|above) instructions\b|"
    r"\b(?:did|should|shall|must) (?:i|one|we|someone|anybody) (?:ask|inquire|enquire)\b|\bone asks\b|"
    r"\bconstraint_\d|\bobstacles?,? (?:and|or) (?:\w+ )?constraints?\b|\bsystem prompt\b|"
    r"\b(?:all|every|any) (?:facts?|items?|criteri\w+|open points?)\b(?=.*\b(?:know|satisfied|fulfilled|met|yes)\b)|"
    r"\b(?:your|the) scenario\b"
)
"""Talk about the game instead of the user's matter."""

NEGATION = re.compile(
    r"(?<!why )\b"
    + either(
        "not", "no", "never", "don't", "do not", "doesn't", "shouldn't", "can't", "cannot", "won't", "avoid", "without",
        "instead of", "rather than", "stop", "skip", "refrain", "against", "nor", "neither", "rule out", "stay away",
        "keep away", "give up", "forget", "nothing", "nobody", "none", "wouldn't", "isn't", "aren't", "refuse",
        "ignore", "drop", "scrap", "cancel", "quit",
    )
    + r"\b"
)  # fmt: skip


# Questions whose frame says nothing by itself -----------------------------------------------------------------------

MORE_ABOUT = re.compile(
    "^"
    + either(
        # "could you please tell me about X"
        r"(?:(?:can|could|would|will) you )?(?:please |also |maybe |just |perhaps )*"
        r"(?:tell me|say|share|give me|explain|elaborate|expand|describe|talk|speak|clarify|walk me through|go into|"
        r"let me hear|let me know)\b",
        r"(?:i(?:'d| would) (?:like|love) to|let me) (?:hear|know|learn|understand)\b",
        "(?:and |so |but )?(?:what|how) about",
        r"(?:anything|something|any)(?: else| more)? (?:more |else )?(?:about|on)\b",
        r"(?:it|that) would (?:help|be)\b",
        # "X?"
        r"(?:and )?(?:the|your|that|this|those|these|a|an)\b"
        r"(?!.*\b(?:is|are|was|were|do|does|did|have|has|can|could|will|would|must|may|should)\b)",
    )
)
BARE_WH = re.compile(r"^(?:what|how) about\b")

PROBE = re.compile(
    "^"
    + either(
        "what(?:'s| is| are| was|'re)"
        "(?: up| wrong| the matter| the (?:issue|problem|thing|story|deal|situation))?(?: with| about)?",
        "how (?:is|are|was|were)",
        "what do you mean (?:by|with|when)",
        "is (?:it|this|that) (?:about|because of)",
        "(?:are|is|were) (?:you|it|there) (?:worried|concerned|anxious|unsure|thinking|something|anything)"
        r"(?: \w+){0,2} (?:about|with|of)",
        r"how (?:do|does|did) (?:you|it)(?: \w+){0,2} feel about",
        "why (?:is|are|do|does|did|the|that|this)?",
        "what kind of",
        "what sort of",
        "what type of",
        "what role (?:do|does)",
        "how important (?:is|are)",
        r"(?:do|does|did|is|are) (?=\w+ (?:\w+ )?(?:matter|bother|important|a problem|an issue|relevant|worry))",
    )
    + r"\b"
)

EMPTY_FRAME = re.compile(
    "^"
    + either(
        "(?:do|did) you (?:have|mean|say|like|want)", "have you (?:got)?", "(?:is|are|was|were) there", "any",
        "(?:it|that|this)(?:'s| is| was)(?: all)?(?: about)?", "(?:so )?you (?:have|mean|say|said)",
        "(?:has|does) (?:it|that|this)(?: have)? to do with", "(?:is|was) (?:it|that|this)", "(?:and|so|not)",
    )
    + r"\b(?: (?:just|only|really|perhaps|any|a|an|the|your|some|that|this|about|with|by))*(?: \w+){0,3}$"
)  # fmt: skip
"""A yes-no question around a name and no verb: "do you have X", "it is X", "has it to do with X"."""
