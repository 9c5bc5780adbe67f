"""The forms of English sentences that a message is cut and read by: one named pattern for each.

All are for text in lower case with straight apostrophes, as `elicit_gym.understanding.clauses` makes it. Each pattern
is linear or bounded by explicit counts, whatever an agent sends.
"""

import re

__all__ = [
    "ADDRESSES", "BARE_WH", "BEFORE_REQUEST", "BRACKETS", "DISMISSAL", "DISMISSED_QUESTION", "EMPATHY", "EMPTY_FRAME", "EXAMPLES",
    "FORBIDS", "GENERAL_TRUTH", "HELPS", "LEAD_IN", "LETTERS", "MARKUP", "META", "MORE", "MORE_ABOUT", "NEGATION", "NOT_KNOWN", "OF_THE_SPEAKER",
    "OPENER", "PERMISSION", "PLAIN_QUESTION", "PLEASANTRY", "PROBE", "REQUEST", "SECOND_QUESTION", "SENTENCE",
    "SENTIMENT", "SUGGESTS", "TAG", "UNSPECIFIC", "WAVED_AWAY", "WORD",
]  # fmt: skip


def _either(*choices: str) -> str:
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

MARKUP = re.compile(r"[*_`#>]+|^\s*(?:[-•–]|\d{1,2}[.)])\s+", re.MULTILINE)
"""Markdown, bullets and the numbers of a list."""

BRACKETS = re.compile(r"\([^()]{0,200}\)|\[[^\[\]]{0,200}\]")

EXAMPLES = re.compile(
    r"[,:–-]?\s*\b"
    + _either(
        "for example", "for instance", r"e\.?\s?g\.?", "such as", "like,", "say,", "things like", r"i\.?e\.?",
        "including", "or something", "or similar", "and so on", "etc",
    )
    + r"\b.*$"
)  # fmt: skip
"""Examples behind a question: they are not what it asks."""


# Questions by their form --------------------------------------------------------------------------------------------

_AUX = _either(
    "do", "does", "did", "don't", "doesn't", "didn't", "is", "isn't", "are", "aren't", "was", "were", "can", "can't",
    "could", "couldn't", "will", "won't", "would", "wouldn't", "should", "have", "haven't", "has", "hasn't", "had",
    "may", "might", "must", "am",
)  # fmt: skip
_WH = _either(
    "what(?:'s|'re|s)?", "when(?:'s)?", "where(?:'s)?", "who(?:'s|m|se)?", "why", "how(?:'s)?", "which",
)  # fmt: skip
_NOUNY = _either(
    "much", "many", "long", "old", "big", "large", "often", "far", "soon", "well", "kind", "type", "sort", "time",
    "date", "day", "other", "exactly", "about", "hours?", "people", "part", "parts", "things?",
)  # fmt: skip
"""What follows "what" or "how" in a question without an auxiliary behind it."""
_SUBJECT = _either(
    "you", "your", "there", "it", "they", "he", "she", "we", "the", "this", "that", "these", "those", "any", "anyone",
    "anybody", "anything", "someone", "somebody", "people", "a", "an",
)  # fmt: skip

PLAIN_QUESTION = re.compile(
    r"^"
    + _either(
        rf"{_WH}(?: else| exactly| about)? (?:{_AUX}|{_NOUNY})\b",
        rf"{_AUX} {_SUBJECT}\b",
        _either(
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
            + _either(
                rf"{_WH}\b(?! ever)", rf"{_AUX} {_SUBJECT}\b", r"whether\b", r"if (?:there|you|it|they)\b"
            )
            + ")",
            # "..., what is it for"
            r",\s+(?=" + _either(rf"{_WH} {_AUX}\b", rf"{_AUX} (?:you|there|they|it|he|she|we)\b") + ")",
            # "the budget: how much is it"
            r"\s*[:–—]\s+(?=" + _either(rf"{_WH}\b", rf"{_AUX} {_SUBJECT}\b") + ")",
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
    + _either(
        r"(?:.* )?(?:many|most) (?:people|of us)\b", r".*\bisn't everything$", r".*\btakes? time$", r".*\bis half the\b",
        r".*\bis the key to\b", "one thing leads", r".*\bimportant to (?:think|remember|keep in mind|consider)\b",
        r".*\bcan be (?:an? )?(?:challenge|difficult|hard|found|tricky|stressful)\b", r"(\w+) (?:is|are) \1$",
    )
)  # fmt: skip
"""What is said of the world and not of the user, question mark or not: "money isn't everything?"."""

ASKS_FIRST = re.compile(rf"^(?:{_WH}|{_AUX}|any\w*|at what|by when|by what|in which|from when|until (?:when|what))\b")
"""A question that begins as one, with or without an inversion."""


# What may stand before a question -----------------------------------------------------------------------------------

OPENER = re.compile(
    "^(?:"
    + _either(
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
        "would you mind if i asked?", "i have to ask", "let me ask", "let me just ask", "let me ask you",
        "i'd like to ask", "i would like to ask", "i want to ask", "i wanted to ask", "i'd ask", "my question is",
        "the question is", "i guess my question is",
    )
    + r"\b[,:;!. –-]*)+"
)  # fmt: skip

LEAD_IN = re.compile(
    "^"
    + _either(
        "given", "since", "because", "considering", "knowing", "now that", "seeing", "as (?:you|it)",
        "with (?:that|this)", "in (?:that|this) case", "if so", "when it comes to", "speaking of", "as for",
        "as regards", "regarding",
        "in terms of", "so that i can", "to (?:help|give|make|get|see|understand|find|point|tailor|narrow|be able)",
        "before i", "before we", "in order to", "from what you", "based on", "apart from", "besides",
    )
    + r"\b[^,]*,\s*(?=\S)"
)  # fmt: skip
"""A clause before the question proper: "given that money is short, ..."."""

BEFORE_REQUEST = re.compile(
    r"^[^,]{3,120}(?:, (?:so |and |but )?| so | - | – )(?=(?:please |also )?"
    + _either(
        "tell", "let me", "i'd", "i would", "i need", "i want", "i should", "it'd", "it would", "it might", "it may",
        "could you", "can you",
    )
    + ")"
)  # fmt: skip


# Requests and indirect questions ------------------------------------------------------------------------------------

_LEARN = _either(
    "know", "hear", "understand", "learn", "see", "find out", "get", "ask", "clarify", "confirm", "check", "figure out",
    "get a (?:sense|feel|picture|idea) of",
)  # fmt: skip
_TELL = _either(
    "tell(?:ing)? me", "telling", "describ(?:e|ing)", "explain(?:ing)?", "shar(?:e|ing)", "let(?:ting)? me know",
    "walk(?:ing)? me through", "talk(?:ing)? me through", "help(?:ing)? me (?:to )?understand",
    r"say(?:ing)?(?! (?:no|yes)\b)", "sketch", "give me", "giving me", "list", "name", "specify", "clarify",
    r"elaborat\w+", r"expand\w*", "paint me", "outline", "mention", "fill me in", "explain me", "say me",
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
    + _either(
        # "could you please tell me ..."
        "(?:(?:can|could|would|will|might) you |would you mind |do you mind |mind )?"
        "(?:please |also |maybe |perhaps |kindly |just |then )*" + _TELL,
        # "i'd really like to know ...", but not "i'd love to learn a bit more so that i can help"
        "i(?:'d| would|'ll| will| should| must| need| want| like| love| have| still need| first need| really need|"
        " also need)(?: (?:really|also|just|still|first|need|want|like|love|have|be|do|glad|happy|curious|interested|"
        "keen|eager|in))*"
        rf"(?: to)?(?: (?:better|first|really))? (?:{_LEARN}|picture|imagine)\b"
        r"(?! (?:more|a bit more|a little more) (?:so|to|before)\b)",
        "i(?:'d| would) be (?:curious|interested|glad|happy)(?: in| about| as to)?",
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

_LACKING = _either(
    "can(?:'|no)t (?:yet )?(?:tell|see|picture|judge|say|work out|quite)", "have no idea",
    "don't (?:yet )?(?:know|understand|see|get)", "do not (?:yet )?(?:know|understand|see)",
    "not (?:yet )?(?:sure|certain|clear)", "haven't (?:heard|asked|understood|got|seen)",
    "(?:could|would|might) (?:use|do with|need|like|appreciate|want)", "need",
    "(?:would|should|'d)(?: rather| sooner)? (?:like|need|ask|check|know|hear)", "wonder",
)  # fmt: skip
_DEPENDS = _either(
    "depends?", "hangs?", "hinges?", "turns?", "matters?", "makes? (?:a |all the )?difference", "helps?", "worth"
)

NOT_KNOWN = re.compile(
    "^(?:so |and |but |though |still |perhaps |maybe |for now |as yet |from here |honestly |"
    "before [^,]{3,60}?(?=i (?:should|need|would|must)))*"
    + _either(
        r"(?:no idea|not sure|unsure|unclear)\b",
        r"i(?:'m| am) (?:asking myself|wondering|curious|thinking about)\b",
        rf"(?:i|we)\b.{{0,30}}\b{_LACKING}\b",
        r"you (?:haven't|have not|didn't|did not|never)(?: yet| really)? "
        r"(?:say|said|tell|told|mention|mentioned|explain\w*|describ\w*)\b",
        "(?:it|that|this) (?:isn't|is not|'s not|is still not|wasn't)(?: yet| quite| really| all that)? "
        r"(?:clear|obvious|said|known)\b",
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
    r" in order to.*)?\s*)$"
)
"""The rest of a request that asks for nothing in particular."""


# Small talk ---------------------------------------------------------------------------------------------------------

PERMISSION = re.compile(
    r"^(?:(?:you|about|for) )?(?:a |an |one |some |two |few |a few |a couple of |several |just )*"
    r"(?:quick |short |small |more |other |personal )*(?:something|questions?|things?|anything|first|you|so|that|this)?"
    r"(?: first| here| about (?:it|that|this|your situation))?$"
)
"""What is left of "can I ask you a quick question" behind its opener."""

PLEASANTRY = re.compile(
    "^"
    + _either(
        "how are (?:you|things)(?: doing| today| feeling| going)*", "how is it going.*", "how's it going.*",
        "(?:does|did) (?:that|this|it|any of (?:that|this)) "
        "(?:make sense|help|sound (?:good|right|ok|okay|fair|reasonable)).*",
        "(?:is|would) (?:that|this|it)(?: be)? (?:ok|okay|fine|alright|all right|right|correct|fair|good)"
        "(?: (?:with|for|by) you)?",
        "(?:sounds?|sound) (?:good|right|ok|okay|fair).*", "(?:what|how) do you think", "what say you",
        "shall we (?:start|begin|go on|continue)?.*", "(?:are you )?ready", "(?:you )?know what i mean", "you know",
        "(?:is )?(?:there )?anything else",
        "anything else (?:i should know|you want to (?:add|share|tell me)|to add).*",
        "(?:how|what) (?:can|could|may) i (?:help|do for you|assist).*", "(?:can|could|may|shall|should) i help.*",
        "really", "seriously", "do you (?:understand|agree|see|follow)(?: me)?", "any (?:thoughts|ideas|questions)",
        "(?:can|could|would) you (?:please )?help me(?: to)? understand(?: (?:better|more))?",
        "who doesn't.*", "who wouldn't.*", "who hasn't.*", "isn't it.*",
        "(?:isn't|doesn't|wouldn't|hasn't|don't) (?:that|it|this|life).{0,40}",
        "(?:tell|say)(?: me)? (?:a (?:bit|little) )?more(?: please)?", "go on", "more", "and", "so", "yes", "no", "why",
    )
    + "$"
)  # fmt: skip
"""A question by form that wants no answer to the matter."""

_HARD = (
    r"tough|hard|difficult|stress\w*|frustrat\w*|overwhelm\w*|exciting|wonderful|great|lovely|nice|sad|scary|annoying|"
    r"painful|tricky|heavy|awful|terrible|exhausting|tiring|amazing|beautiful|brave|understandable|daunting|natural|"
    r"normal|pressure|a lot|challeng\w*|worry\w*"
)
EMPATHY = re.compile(
    "^"
    + _either(
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

TAG = re.compile(
    r"^(?P<body>.+?)(?<!what)(?<!how)(?<!when)(?<!where)(?<!who)(?<!why)(?<!which),?\s+"
    + _either(
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

SUGGESTS = re.compile(
    r"\b(?:could|should|try|suggest|recommend|advise|consider|might want|ought|better|instead|need to|have to|"
    r"i'd (?:put|use|go|start|buy|ask|make|take|keep|set|split|move|hire|rent|borrow)|why not|how about)\b"
)

_ABOUT_WANTING = _either(
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
            r"\b(?:skip|ignore|forget(?: about)?|leave aside|set aside|never mind|drop) "
            r"(?:the |your |that |this |all |about )",
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
_TELLING = "(?:tell(?:ing)? (?:me|us)|talk(?:ing)? (?:to me )?about|mention(?:ing)?|explain(?:ing)?|answer(?:ing)?|discuss(?:ing)?)"
_LEAVE = "(?:skip|drop|leave|forget|ignore)"
WAVED_AWAY = re.compile(
    "^(?:please |just |really |honestly |then )*"
    + _either(
        # the speaker does not want to hear
        r"(?:i|we)(?:'m| am|'re| are)?(?: really| just| certainly)? (?:won't|will not|wouldn't|would not|don't|do not|"
        rf"needn't|need not|shan't|not|never) (?:\w+ ){{0,3}}?(?:{_TALKING}|care|interested) (?:\w+ )?(?:about|of|in|into|for)",
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
    )
    + r"\b"
)  # fmt: skip
"""A matter named to be left aside, question mark or not: "I won't ask about X", "let's not talk about X, okay?"."""

FORBIDS = re.compile(r"^(?:whatever you do,? |please |just |but |and )*(?:never|don't|do not|avoid|stay away|keep away)\b")
"""A suggestion that says what not to do."""

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
    r"\b"
    + _either(
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
    + _either(
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
    + _either(
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
    + _either(
        "(?:do|did) you (?:have|mean|say|like|want)", "have you (?:got)?", "(?:is|are|was|were) there", "any",
        "(?:it|that|this)(?:'s| is| was)(?: all)?(?: about)?", "(?:so )?you (?:have|mean|say|said)",
        "(?:has|does) (?:it|that|this)(?: have)? to do with", "(?:is|was) (?:it|that|this)", "(?:and|so|not)",
    )
    + r"\b(?: (?:just|only|really|perhaps|any|a|an|the|your|some|that|this|about|with|by))*(?: \w+){0,3}$"
)  # fmt: skip
"""A yes-no question around a name and no verb: "do you have X", "it is X", "has it to do with X"."""
