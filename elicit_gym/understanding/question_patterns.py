"""What makes a clause a question: its form, what may stand before it, and requests that ask without a question mark.

All are for text in lower case with straight apostrophes. Each pattern is linear or bounded by explicit counts.
"""

import re

from elicit_gym.understanding.patterns import either

__all__ = [
    "ADDRESSES",
    "ANNOUNCES",
    "ASKS_FIRST",
    "BARE_FOLLOW_UP",
    "BEFORE_REQUEST",
    "GENERAL_TRUTH",
    "HELPS",
    "LEAD_IN",
    "MORE",
    "NOT_KNOWN",
    "OPENER",
    "PLAIN_QUESTION",
    "POINTS_AT",
    "POLITE_TAIL",
    "REQUEST",
    "SECOND_QUESTION",
]

# Questions by their form --------------------------------------------------------------------------------------------

_AUX = either(
    "do", "does", "did", "don't", "doesn't", "didn't", "is", "isn't", "are", "aren't", "was", "were", "can", "can't",
    "could", "couldn't", "will", "won't", "would", "wouldn't", "should", "have", "haven't", "has", "hasn't", "had",
    "may", "might", "must", "am",
)  # fmt: skip
_WH = either(
    "what(?:'s|'re|s)?", "when(?:'s)?", "where(?:'s)?", "who(?:'s|m|se)?", "why", "how(?:'s)?", "which",
)  # fmt: skip
_NOUNY = either(
    "much", "many", "long", "old", "big", "large", "often", "far", "soon", "well", "kind", "type", "sort", "time",
    "date", "day", "other", "exactly", "about", "hours?", "people", "part", "parts", "things?",
)  # fmt: skip
"""What follows "what" or "how" in a question without an auxiliary behind it."""
_SUBJECT = either(
    "you", "your", "there", "it", "they", "he", "she", "we", "the", "this", "that", "these", "those", "any", "anyone",
    "anybody", "anything", "someone", "somebody", "people", "a", "an",
)  # fmt: skip

PLAIN_QUESTION = re.compile(
    r"^"
    + either(
        rf"{_WH}(?: else| exactly| about)? (?:{_AUX}|{_NOUNY})\b",
        rf"{_AUX} {_SUBJECT}\b",
        either(
            "any", "anybody", "anyone", "anything", "how about", "what about", "which", "whose", "how many", "how much",
            "how long", "how come",
        )
        + r"\b",
    )
)  # fmt: skip
"""A question, question mark or not."""

SECOND_QUESTION = re.compile(
    "|".join(
        (
            # "..., and when is it due", "... or whether they mind"
            r",?\s+(?:and|or|also|plus|but|as well as)\s+(?=(?:also\s+|if so,?\s+|maybe\s+|perhaps\s+)*"
            + either(
                rf"{_WH}\b(?! ever)", rf"{_AUX} {_SUBJECT}\b", r"whether\b", r"if (?:there|you|it|they)\b"
            )
            + ")",
            # "..., what is it for"
            r",\s+(?=" + either(rf"{_WH} {_AUX}\b", rf"{_AUX} (?:you|there|they|it|he|she|we)\b") + ")",
            # "the budget: how much is it"
            r"\s*[:–—]\s+(?=" + either(rf"{_WH}\b", rf"{_AUX} {_SUBJECT}\b") + ")",
        )
    )
)  # fmt: skip
"""Where a further question begins within a sentence."""

ADDRESSES = re.compile(r"\b(?:you|your|yours|there|they|it|he|she)\b")


POINTS_AT = re.compile(
    r"\b(?:you|your|yours|yourself|there|they|their|it|its|he|his|she|her|we|this|that|these|those)\b"
)
"""A statement that points at the user's own case and is not general wisdom."""

GENERAL_TRUTH = re.compile(
    r"^(?!.*\b(?:you|your|there|so)\b)"
    + either(
        r"(?:.* )?(?:many|most) (?:people|of us)\b", r".*\bisn't everything$", r".*\btakes? time$",
        r".*\bis half the\b",
        r".*\bis the key to\b", "one thing leads", r".*\bimportant to (?:think|remember|keep in mind|consider)\b",
        r".*\bcan be (?:an? )?(?:challenge|difficult|hard|found|tricky|stressful)\b", r"(\w+) (?:is|are) \1$",
    )
)  # fmt: skip
"""What is said of the world and not of the user, question mark or not: "money isn't everything?"."""

ASKS_FIRST = re.compile(rf"^(?:{_WH}|{_AUX}|any\w*|at what|by when|by what|in which|from when|until (?:when|what))\b")
"""A question that begins as one, with or without an inversion."""


BARE_FOLLOW_UP = re.compile(
    "^(?:and |or |but |so |also |if so,? |if not,? )*"
    + either(
        "(?:since |by |until |from )?when",
        "where",
        "who",
        "which(?: ones?)?",
        "what for",
        "why not",
        "whose",
        "with whom",
        "how(?: (?:so|come|exactly|much|many|long|often))?",
        "for how long",
        "why(?: exactly)?",
        "what",
        "why (?:is|was|are|were|did|does) (?:that|this|it|they|those)(?: so| happen)?",
        "how (?:did|does|has|was) (?:that|this|it|they|those)(?: go| gone| work| happen)*",
        "(?:to |with )?what (?:came of (?:it|that|them)|happened(?: then)?|was the (?:result|outcome)|result|effect|"
        "end)",
        "(?:did|has|have) (?:it|that|they|any of (?:it|that|them|those))(?: at all)? (?:help|work|helped|"
        "worked)(?: out)?",
    )
    + "(?: (?:exactly|then|please))*$"
)
"""A question without a matter of its own, behind one that has it: "what have you tried, and how did it go"."""


# What may stand before a question -----------------------------------------------------------------------------------

OPENER = re.compile(
    "^(?:"
    + either(
        # fillers and thanks
        "please", "so", "and", "but", "or", "ok", "okay", "well", "then", "first", "firstly", "first of all",
        "second", "secondly", "next", "lastly", "finally", "now", "also", "great", "perfect", "alright", "hi",
        "hello", "hey",
        "thanks", "thank you", "thank you so much", "got it", "i see", "understood", "sure", "of course", "right",
        "yes",
        "no problem", "sorry", "oh", "ah", "hm+", "um+",
        # announcements of a question
        "quick question", "one more thing", "one question", "another question", "just", "just one question",
        "just so i understand", "just to be sure", "to be clear", "to start", "to begin", "to begin with",
        "before we start", "before we begin", "before anything else", "out of curiosity",
        # permission that is taken for granted
        "if i may ask", "if i may", "if you don't mind", "if you don't mind me asking", "may i ask", "might i ask",
        "can i ask", "could i ask", "can i just ask", "may i just ask", "may i know", "can i know", "could i know",
        "mind if i ask", "do you mind if i ask",
        # assumptions to be confirmed
        "am i right(?: that| in thinking(?: that)?)?", "is it (?:right|true|correct|fair to say) that",
        "i (?:take it|assume|suppose|guess|imagine|gather)(?: that)?", "as far as you know", "roughly",
        "would you mind if i asked?", "i have to ask", "let me(?: first| just)* ask(?: you)?(?: first)?",
        "i'd like to ask", "i would like to ask", "i want to ask", "i wanted to ask", "i'd ask", "my question is",
        "the question is", "i guess my question is",
    )
    + r"\b[,:;!. –-]*)+"
)  # fmt: skip

ANNOUNCES = re.compile(
    r"(?:\b(?:(?<!i'd )ask|question is|may i know|can i know|could i know|let me (?:know|understand|see))"
    r"(?: (?:you|first|just|about|then|again))*[,: ]*)$"
)
"""An opener that says that a question follows: "let me ask", "my question is"."""

LEAD_IN = re.compile(
    "^"
    + either(
        "given", "since", "because", "considering", "knowing", "now that", "seeing", "as (?:you|it)",
        "with (?:that|this)", "in (?:that|this) case", "if so", "when it comes to", "speaking of", "as for",
        "as regards", "regarding",
        "in terms of", "so that i can", "to (?:help|give|make|get|see|understand|find|point|tailor|narrow|be able)",
        "before i", "before we", "in order to", "from what you", "based on", "apart from", "besides",
    )
    + r"\b[^,]*,\s*(?=\S)"
)  # fmt: skip
"""A clause before the question proper: "given that money is short, ..."."""

POLITE_TAIL = re.compile(
    r",? (?:if (?:i|you) (?:may|might|can|could|don't mind|do not mind)(?: \w+){0,3}|if that's (?:ok|okay|all right)|"
    r"first)$"
)
"""Behind a question: "if I may ask"."""

BEFORE_REQUEST = re.compile(
    r"^[^,]{3,120}(?:, (?:so |and |but )?| so | - | – )(?=(?:please |also )?"
    + either(
        "tell", "let me", "i'd", "i would", "i need", "i want", "i should", "it'd", "it would", "it might", "it may",
        "could you", "can you",
    )
    + ")"
)  # fmt: skip


# Requests and indirect questions ------------------------------------------------------------------------------------

_LEARN = either(
    "know", "hear", "understand", "learn", "see", "find out", "get", "ask", "clarify", "confirm", "check", "figure out",
    "get a (?:sense|feel|picture|idea) of",
)  # fmt: skip
_TELL = either(
    "tell(?:ing)? me", "telling", "describ(?:e|ing)", "explain(?:ing)?", "shar(?:e|ing)", "let(?:ting)? me know",
    "walk(?:ing)? me through", "talk(?:ing)? me through", "help(?:ing)? me (?:to )?understand",
    r"say(?:ing)?(?! ['\"]?(?:no|yes)\b)", "sketch", "give me", "giving me", "list", "name", "specify", "clarify",
    "make me understand", r"elaborat\w+", r"expand\w*", "paint me", "outline", "mention", "fill me in", "explain me",
    "say me",
)  # fmt: skip
_WOULD_HELP = (
    "(?:it|that)(?:'d|'s| would| will| might| is| could)?(?: also| really| be| so| very| most| more| quite| just)*"
    "(?: help| helpful| useful| good| great| nice| important| easier| interesting| handy| key| worth)+"
    "(?: me| us| a lot| for me| for us)*(?: to| if (?:i|we|you|you'd|you could))*(?: (?:could|can|would))?(?: better)?"
    "(?: (?:know|knew|hear|heard|understand|understood|learn|see|tell me|told me|say|said|share|shared|describe|"
    "described|explain|explained|have|get|find out|clarify))+"
)

REQUEST = re.compile(
    "^"
    + either(
        # "could you please tell me ..."
        "(?:(?:perhaps|maybe|i was hoping|i hoped|i hope|i wish|i'd be (?:glad|happy|grateful) if|if) you "
        "(?:can|could|might|would) |(?:can|could|would|will|might) you |would you mind |do you mind |mind )?"
        "(?:please |also |maybe |perhaps |kindly |just |then |do )*(?:to (?=explain|tell|describe))?" + _TELL + r"\b",
        # "i'd really like to know ...", but not "i'd love to learn a bit more so that i can help"
        "i(?:'d| would|'ll| will| should| must| need| want| like| love| have| still need| first need| really need|"
        " also need)(?: (?:really|also|just|still|first|need|want|like|love|have|be|do|glad|happy|curious|interested|"
        "keen|eager|in))*"
        rf"(?: to)?(?: (?:better|first|really))? (?:{_LEARN}|picture|imagine)\b"
        r"(?! (?:more|a bit more|a little more) (?:so|to|before)\b)",
        "i(?:'d| would) be (?:curious|interested|glad|happy)(?: in| about| as to)?",
        r"i(?:'d| would|'ll| will)? (?:really |first |just )*(?:need|like|love|want|appreciate|could use|could do with)"
        r"(?= (?:some|any|a (?:bit|little)|more|further|the|your|other|a)\b.*\b(?:background|context|details?|"
        r"information|info|"
        r"picture)\b)",
        f"(?:let|allow) me (?:to )?{_LEARN}",
        "i(?:'m| am)(?: just| also| still| really| a bit| quite)? "
        "(?:curious|wondering|interested|unsure|not sure|not clear|unclear)(?: to (?:know|hear))?",
        "i (?:was )?(?:just |also )?wonder(?:ed|ing)?",
        "i don't (?:yet |really )?(?:know|understand)(?: yet)?(?= (?:what|when|where|who|why|how|which|whether|if))",
        _WOULD_HELP,
        r"(?:what|one thing|all) (?:i(?:'d| would)?|would|that)(?: \w+){0,4} "
        r"(?:know|understand|help(?: me)?)(?: most)? is",
        "(?:need|want|would like|like|love) to (?:know|hear|understand|learn)",
        "(?:curious|wondering|interested|no idea|not sure|unsure)(?= |$)",
        "(?:we|let's|let us)(?:'ll| should| need to| must| could| can)?"
        "(?: first| start by| begin with| talk about| look at)+(?: how| what| when| where| who| which| whether| if)",
    )
    + r"(?P<rest>.*)$"
)  # fmt: skip

HELPS = re.compile(
    r"^(?:knowing|hearing|understanding|learning)\b(?P<rest>.*?)\b(?:would|will|could|might|helps?)\b.*$"
)

_LACKING = either(
    "can(?:'|no)t (?:yet )?(?:tell|see|picture|judge|say|work out|quite)", "have no idea",
    "don't (?:yet )?(?:know|understand|see|get)", "do not (?:yet )?(?:know|understand|see)",
    "not (?:yet )?(?:sure|certain|clear)", "haven't (?:heard|asked|understood|got|seen)",
    "(?:could|would|might) (?:use|do with|need|like|appreciate|want)", "need",
    "(?:would|should|'d)(?: rather| sooner)? (?:like|need|ask|check|know|hear)", "wonder",
)  # fmt: skip
_DEPENDS = either(
    "depends?", "hangs?", "hinges?", "turns?", "matters?", "makes? (?:a |all the )?difference", "helps?", "worth"
)

NOT_KNOWN = re.compile(
    "^(?:so |and |but |though |still |perhaps |maybe |for now |as yet |from here |honestly |"
    "before [^,]{3,60}?(?=i (?:should|need|would|must)))*"
    + either(
        r"(?:no idea|not sure|unsure|unclear)\b",
        r"i(?:'m| am) (?:asking myself|wondering|curious|thinking about)\b",
        rf"(?:i|we)\b.{{0,30}}\b{_LACKING}\b",
        r"you (?:haven't|have not|didn't|did not|never)(?: yet| really)? "
        r"(?:say|said|tell|told|mention|mentioned|explain\w*|describ\w*)\b",
        "(?:it|that|this)(?: isn't| is not|'s not| wasn't|'s| is)(?: still| yet| quite| really| all that| a bit| not)* "
        r"(?:clear|unclear|obvious|said|known)\b(?= .*\b(?:what|when|where|who|why|how|which|whether|if)\b)",
        rf"(?:it|that|this|much|a lot|everything|all|my (?:answer|advice|suggestion))\b.{{0,25}}\b{_DEPENDS}\b",
        "(?:what|the (?:one )?thing|one thing|something|all)(?: that)? i(?:'m| am| do| still| really| can|'d| would)*"
        r"(?: not|n't| don't| can't| cannot| need| like| want)\b"
        "(?: know| tell| see| say| understand| find out| to know| to hear| help me)*(?: is| are)?",
        r"(?:perhaps|maybe|there)\b.{3,80}\bi (?:don't|do not|can't) (?:know|tell)",
    )
    + "(?: me| us| to me)?(?: (?:to (?:know|hear|understand|learn)|yet|about|on|of|is|from|"
    "a (?:rough )?(?:picture|idea|sense|feel)(?: of| for)?|much|quite|really|exactly))*"
    r"(?P<rest>\b.*)$"
)
"""A statement of what the speaker lacks: "I can't tell yet how big it is", "it all depends on the budget"."""

MORE = re.compile(
    r"^(?:,?\s*(?:a (?:bit|little)|some(?:thing)?|much|any)?\s*(?:more|further|else)?(?: details?)?"
    r"(?: so (?:that )?(?:i|we).*| to (?:help|assist|give|make|understand).*| before (?:i|we).*| first| please| here|"
    r" in order to.*| (?:about|on) (?:it|this|that|these|those|what you (?:just )?(?:said|mentioned)))?\s*|"
    r" (?:all )?(?:about )?(?:it|that|this))$"
)
"""The rest of a request that asks for nothing in particular."""
