"""Cut a message into clauses and say what each one is, by its form alone: question, statement, small talk, no grammar.

Nothing here knows a scenario. Linear in the first `READ_LIMIT` characters, whatever an agent sends.
"""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from elicit_gym.text import FUNCTION_WORDS, READ_LIMIT

__all__ = ["MAX_WORDS_TO_LISTEN", "Clause", "ClauseForm", "WhWord", "split_clauses"]

ClauseForm = Literal["question", "statement", "small_talk", "dismissal", "unclear"]
WhWord = Literal[
    "what", "when", "where", "who", "which", "how much", "how many", "how long", "how", "why", "whether", "request"
]
WH_WORDS: tuple[WhWord, ...] = (
    "what", "when", "where", "who", "which", "how much", "how many", "how long", "how", "why", "whether", "request",
)  # fmt: skip

MAX_WORDS_TO_LISTEN = 200
MAX_WORDS_IN_QUESTION = 34
MAX_CLAUSES = 24


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause of a message.

    Attributes:
        form: what it is by its form.
        text: in lower case, without lead-ins, examples and tags.
        words: of `text`, in order.
        wh: what kind of answer a question wants; None for what is no question.
        negated: whether a negation rules the clause ("never", "don't", "rather than").
        probe: whether the clause only asks to hear more of something ("tell me more about X", "what about X?").
    """

    form: ClauseForm
    text: str
    words: tuple[str, ...]
    wh: WhWord | None = None
    negated: bool = False
    probe: bool = False


_WORD = re.compile(r"[a-z0-9]+(?:'[a-z]+)*")
_SENTENCE = re.compile(r"[^.!?\n;]+(?:[.!?]+(?=\s|$|[\"')\]])|[.!?](?=[^\s.!?])[^.!?\n;]*)*[.!?;]*")
_MARKUP = re.compile(r"[*_`#>]+|^\s*(?:[-•–]|\d{1,2}[.)])\s+", re.MULTILINE)
_BRACKETS = re.compile(r"\([^()]{0,200}\)|\[[^\[\]]{0,200}\]")
_EXAMPLES = re.compile(
    r"[,:–-]?\s*\b(?:for example|for instance|e\.?\s?g\.?|such as|like,|say,|things like|i\.?e\.?|including|or something|"
    r"or similar|and so on|etc)\b.*$"
)

_AUX = (
    r"(?:do|does|did|don't|doesn't|didn't|is|isn't|are|aren't|was|were|can|can't|could|couldn't|will|won't|would|"
    r"wouldn't|should|have|haven't|has|hasn't|had|may|might|must|am)"
)
_WH = r"(?:what(?:'s|'re|s)?|when(?:'s)?|where(?:'s)?|who(?:'s|m|se)?|why|how(?:'s)?|which)"
_NOUNY = r"(?:much|many|long|old|big|large|often|far|soon|well|kind|type|sort|time|date|day|other|exactly|about|hours?|people|part|parts|things?)"
_SUBJECT = r"(?:you|your|there|it|they|he|she|we|the|this|that|these|those|any|anyone|anybody|anything|someone|somebody|people|a|an)"
_OPENER = re.compile(
    r"^(?:(?:please|so|and|but|or|ok|okay|well|then|first|firstly|first of all|second|secondly|next|lastly|finally|now|also|"
    r"great|perfect|alright|hi|hello|hey|thanks|thank you|thank you so much|got it|i see|understood|sure|of course|right|"
    r"yes|no problem|sorry|oh|ah|hm+|um+|quick question|one more thing|one question|another question|just|just one question|"
    r"just so i understand|just to be sure|to be clear|to start|to begin|to begin with|before we start|before we begin|"
    r"before anything else|out of curiosity|if i may ask|if i may|if you don't mind|if you don't mind me asking|"
    r"may i ask|might i ask|can i ask|could i ask|can i just ask|may i just ask|may i know|can i know|could i know|mind if i ask|"
    r"do you mind if i ask|would you mind if i asked?|i have to ask|let me ask|let me just ask|let me ask you|i'd like to ask|"
    r"i would like to ask|i want to ask|i wanted to ask|i'd ask|my question is|the question is|i guess my question is)\b[,:;!. –-]*)+"
)
_PERMISSION = re.compile(
    r"^(?:(?:you|about|for) )?(?:a |an |one |some |two |few |a few |a couple of |several |just )*"
    r"(?:quick |short |small |more |other |personal )*(?:something|questions?|things?|anything|first|you|so|that|this)?"
    r"(?: first| here| about (?:it|that|this|your situation))?$"
)
_PLEASANTRY = re.compile(
    r"^(?:how are (?:you|things)(?: doing| today| feeling| going)*|how is it going.*|how's it going.*|(?:does|did) (?:that|this|it|any of (?:that|this)) (?:make sense|help|sound (?:good|right|ok|okay|fair|reasonable))"
    r".*|(?:is|would) (?:that|this|it)(?: be)? (?:ok|okay|fine|alright|all right|right|correct|fair|good)(?: (?:with|for|by) you)?|"
    r"(?:sounds?|sound) (?:good|right|ok|okay|fair).*|(?:what|how) do you think|what say you|shall we (?:start|begin|go on|continue)?.*|(?:are you )?ready|"
    r"(?:you )?know what i mean|you know|(?:is )?(?:there )?anything else|anything else (?:i should know|you want to (?:add|share|tell me)|to add).*|"
    r"(?:how|what) (?:can|could|may) i (?:help|do for you|assist).*|(?:can|could|may|shall|should) i help.*|really|seriously|"
    r"do you (?:understand|agree|see|follow)(?: me)?|any (?:thoughts|ideas|questions)|(?:can|could|would) you (?:please )?help me(?: to)? understand(?: (?:better|more))?|"
    r"who doesn't.*|who wouldn't.*|who hasn't.*|isn't it.*|(?:isn't|doesn't|wouldn't|hasn't|don't) (?:that|it|this|life).{0,40}|"
    r"(?:tell|say)(?: me)? (?:a (?:bit|little) )?more(?: please)?|go on|more|and|so|yes|no|why)$"
)
_SENTIMENT = re.compile(
    r"\b(?:tough|hard|difficult|stressful|stress|frustrat\w*|overwhelm\w*|exciting|wonderful|great|lovely|nice|sad|scary|annoying|"
    r"painful|tricky|challeng\w*|heavy|awful|terrible|hurts?|exhausting|tiring|amazing|beautiful|brave|understandable|daunting|"
    r"natural|normal|worr\w*|pressure|lot to (?:carry|handle|deal with|take in)|a lot|sorry|hope|congratulations|good luck)\b"
)
_TAG = re.compile(
    r"^(?P<body>.+?)(?<!what)(?<!how)(?<!when)(?<!where)(?<!who)(?<!why)(?<!which),?\s+(?:(?:is|are|was|were|do|does|did|has|have|can|could|will|would|should)(?:n't|nt| not)?\s+"
    r"(?:it|you|they|he|she|we|that|this|there|i)|right|correct|no|yes|eh|huh|ok|okay|innit|am i right|is that right|"
    r"is that correct|or not|or am i wrong|true|don't you think|wouldn't you say|you agree)$"
)
_FIRST_PERSON = re.compile(r"\b(?:i|i'm|i'd|i've|i'll|me|my|myself|us|let's)\b")
_DISMISSAL = re.compile(
    r"\bbor(?:es|ed|ing) (?:me|us)\b|\b(?:is|are|sounds?|seems?) (?:so |very |really |quite |rather )?(?:boring|dull|irrelevant|"
    r"uninteresting|unimportant|pointless)\b|\b(?:do not|don't|doesn't|does not|couldn't|could not|can't|never|won't|would not|wouldn't|rather not|nobody|no one|not) "
    r"(?:really |even |at all )?(?:care|cares|want to (?:know|hear|talk|ask|discuss)|(?:talk|speak|ask|discuss|hear|know)(?:ing)? (?:about|of)|interest\w*|matters?|tell me|mention|going to ask|"
    r"be interested|wish to (?:know|hear))\b|\b(?:skip|ignore|forget(?: about)?|leave aside|set aside|never mind|drop) (?:the |your |that |this |all |about )|\bspare me\b|"
    r"\bi (?:hate|refuse|dislike|detest)\b|\bnot (?:interested|relevant|interesting|important|worth)\b|\bno (?:interest|matter)\b|\benough (?:about|of)\b|"
    r"\bwithout (?:asking|talking) about\b"
)
_META = re.compile(
    r"\b(?:did|does|do|has|is|was|should|can|will|must|as) (?:the|your|this) (?:assistant|agent|chatbot|model|ai|judge)\b|"
    r"\bthe (?:checklist|judge|assistant|hidden context)\b|\b(?:previous|prior|above) instructions\b"
)

_LEARN = r"(?:know|hear|understand|learn|see|find out|get|ask|clarify|confirm|check|figure out|get a (?:sense|feel|picture|idea) of)"
_REQUEST = re.compile(
    r"^(?:"
    r"(?:(?:can|could|would|will|might) you |would you mind |do you mind |mind )?(?:please |also |maybe |perhaps |kindly |just |then )*"
    r"(?:tell(?:ing)? me|telling|describ(?:e|ing)|explain(?:ing)?|shar(?:e|ing)|let(?:ting)? me know|walk(?:ing)? me through|talk(?:ing)? me through|"
    r"help(?:ing)? me (?:to )?understand|say(?:ing)?(?! (?:no|yes)\b)|sketch|give me|giving me|list|name|specify|clarify|elaborat\w+|expand\w*|paint me|outline|mention|fill me in|explain me|say me)"
    rf"|i(?:'d| would|'ll| will| should| must)?(?: (?:really|also|just|still|first|need|want|like|love|have|be|do|glad|happy|curious|interested|keen|eager|in))*(?: to)?(?: (?:better|first|really))? (?:{_LEARN}|picture|imagine)\b(?! (?:more|a bit more|a little more) (?:so|to|before)\b)"
    rf"|i(?:'d| would) be (?:curious|interested|glad|happy)(?: in| about| as to)?"
    rf"|(?:let|allow) me (?:to )?{_LEARN}"
    r"|i(?:'m| am)(?: just| also| still| really| a bit| quite)? (?:curious|wondering|interested|unsure|not sure|not clear|unclear)(?: to (?:know|hear))?"
    r"|i (?:was )?(?:just |also )?wonder(?:ed|ing)?"
    r"|i don't (?:yet |really )?(?:know|understand)(?: yet)?(?= (?:what|when|where|who|why|how|which|whether|if))"
    r"|(?:it|that)(?:'d|'s| would| will| might| is| could)?(?: also| really| be| so| very| most| more| quite| just)*(?: help| helpful| useful| good| great| nice| important| easier| interesting| handy| key| worth)+(?: me| us| a lot| for me| for us)*(?: to| if (?:i|we|you|you'd|you could))*(?: (?:could|can|would))?(?: better)?(?: (?:know|knew|hear|heard|understand|understood|learn|see|tell me|told me|say|said|share|shared|describe|described|explain|explained|have|get|find out|clarify))+"
    r"|(?:what|one thing|all) (?:i(?:'d| would)?|would|that)(?: \w+){0,4} (?:know|understand|help(?: me)?)(?: most)? is"
    r"|(?:need|want|would like|like|love) to (?:know|hear|understand|learn)"
    r"|(?:curious|wondering|interested|no idea|not sure|unsure)(?= |$)"
    r"|(?:we|let's|let us)(?:'ll| should| need to| must| could| can)?(?: first| start by| begin with| talk about| look at)+(?: how| what| when| where| who| which| whether| if)"
    r")(?P<rest>.*)$"
)
_BEFORE_REQUEST = re.compile(r"^[^,]{3,120}(?:, (?:so |and |but )?| so | - | – )(?=(?:please |also )?(?:tell|let me|i'd|i would|i need|i want|i should|it'd|it would|it might|it may|could you|can you))")
_HELPS = re.compile(
    r"^(?:knowing|hearing|understanding|learning)\b(?P<rest>.*?)\b(?:would|will|could|might|helps?)\b.*$"
)
_MORE = re.compile(
    r"^(?:,?\s*(?:a (?:bit|little)|some(?:thing)?|much|any)?\s*(?:more|further|else)?(?: details?)?"
    r"(?: so (?:that )?(?:i|we).*| to (?:help|assist|give|make|understand).*| before (?:i|we).*| first| please| here| in order to.*)?\s*)$"
)
_PLAIN_QUESTION = re.compile(
    rf"^(?:{_WH}(?: else| exactly| about)? (?:{_AUX}|{_NOUNY})\b|{_AUX} {_SUBJECT}\b|(?:any|anybody|anyone|anything|how about|what about|which|whose|how many|how much|how long|how come)\b)"
)
_LEAD_IN = re.compile(
    r"^(?:given|since|because|considering|knowing|now that|seeing|as (?:you|it)|with (?:that|this)|in (?:that|this) case|if so|"
    r"when it comes to|speaking of|as for|as regards|regarding|in terms of|so that i can|to (?:help|give|make|get|see|understand|find|point|tailor|narrow|be able)|before i|before we|in order to|from what you|based on|apart from|besides)\b[^,]*,\s*(?=\S)"
)
_SECOND_QUESTION = re.compile(
    rf",?\s+(?:and|or|also|plus|but|as well as)\s+(?=(?:also\s+|if so,?\s+|maybe\s+|perhaps\s+)*(?:{_WH}\b(?! ever)|{_AUX} {_SUBJECT}\b|whether\b|if (?:there|you|it|they)\b))|"
    rf",\s+(?=(?:{_WH} {_AUX}\b|{_AUX} (?:you|there|they|it|he|she|we)\b))|\s*[:–—]\s+(?=(?:{_WH}\b|{_AUX} {_SUBJECT}\b))"
)
_PROBE = re.compile(
    r"^(?:(?:(?:can|could|would|will) you )?(?:please |also |maybe |just )*(?:tell me|say|share|give me|explain|elaborate|expand|describe|talk|speak|clarify|walk me through|go into)\b(?: me)?"
    r"(?: a (?:bit|little)| some(?:thing)?| any)?(?: more| further| details?| detail| else)*(?: (?:about|on|of|regarding|into|with|to))?"
    r"|(?:and |so |but )?(?:what|how) about|what(?:'s| is| are| was|'re)(?: up| wrong| the matter| the (?:issue|problem|thing|story|deal|situation))?(?: with| about)?|how (?:is|are|was|were)|"
    r"what do you mean (?:by|with|when)|(?:anything|something)(?: else| more)? (?:about|on)|is (?:it|this|that) (?:about|because of)|"
    r"(?:are|is|were) (?:you|it|there) (?:worried|concerned|anxious|unsure|thinking|something|anything)(?: \w+){0,2} (?:about|with|of)|"
    r"how (?:do|does|did) (?:you|it)(?: \w+){0,2} feel about|why (?:is|are|do|does|did|the|that|this)?|what kind of|what sort of|what type of|what role (?:do|does)|how important (?:is|are)|"
    r"(?:do|does|did|is|are) (?=\w+ (?:\w+ )?(?:matter|bother|important|a problem|an issue|relevant|worry)))\b"
)
_NEGATION = re.compile(
    r"\b(?:not|no|never|don't|do not|doesn't|shouldn't|can't|cannot|won't|avoid|without|instead of|rather than|stop|skip|refrain|against|nor|neither|"
    r"rule out|stay away|keep away|give up|forget|nothing|nobody|none|wouldn't|isn't|aren't|refuse|ignore|drop|scrap|cancel|quit)\b"
)
_LIST_FRAME = re.compile(r"\b(?:about|of|on|for|with|regarding|the|your|any|what|how|and|is|to)\b")
_ASKING = frozenset(
    """what whats what's when where who whose whom why how which do does did is are was were can could will would should
    have has had any you your yours u ur need know tell describe explain share may might if whether anyone anybody there must""".split()
)


@lru_cache(maxsize=8_192)
def split_clauses(message: str) -> tuple[Clause, ...]:
    """Return the clauses of a message in order; the latest few thousand messages are remembered.

    A message of more than `MAX_WORDS_TO_LISTEN` words, or beyond the reading limit, is one unclear clause: nobody
    listens to that.
    """
    if len(message) > READ_LIMIT:
        return (Clause("unclear", "", ()),)
    text = _plain(message)
    if _foreign_letters(text) or len(_WORD.findall(text)) > MAX_WORDS_TO_LISTEN:
        return (Clause("unclear", text[:200], ()),)
    clauses: list[Clause] = []
    for found in _SENTENCE.finditer(text):
        sentence = found[0].strip(" \t\n;,\"'")
        if sentence.strip(".!?… "):
            clauses.extend(_clauses_of(sentence))
        if len(clauses) >= MAX_CLAUSES:
            break
    return tuple(clauses[:MAX_CLAUSES])


def _plain(message: str) -> str:
    text = message.replace("’", "'").replace("‘", "'").replace("“", '"').replace("”", '"').replace("…", "... ")
    if not text.isascii():
        text = unicodedata.normalize("NFKD", text)
        text = "".join([c for c in text if not unicodedata.combining(c)])
    text = _MARKUP.sub(" ", text.lower())
    if "(" in text or "[" in text:
        text = _BRACKETS.sub(" ", text)
    return text


def _foreign_letters(text: str) -> bool:
    """Say whether more than a few letters are none of the English alphabet: another script, or look-alikes."""
    if text.isascii():
        return False
    letters = sum(c.isalpha() for c in text)
    return sum(c.isalpha() and not c.isascii() for c in text) > max(2, 0.03 * letters)


def _clauses_of(sentence: str) -> list[Clause]:
    asked = "?" in sentence[len(sentence.rstrip(".!? \"')")) :]
    body = sentence.rstrip(".!?… \"')").strip()
    if _META.search(body):
        return [_make("unclear", body)]
    body = _strip_opener(body)
    if not body:
        return [Clause("small_talk", sentence, ())]
    if asked and _PERMISSION.match(body):
        return [Clause("small_talk", sentence, ())]
    if asked and (tag := _TAG.match(body)) and len(_WORD.findall(tag["body"])) >= 3:
        return [_tagged(tag["body"], body)]
    request = _request_rest(body)
    if request is not None:
        if _MORE.match(request):
            return [_make("small_talk", body)]
        return _questions(request.strip(" ,:"), "request", body)
    if asked or _PLAIN_QUESTION.match(body):
        if _PLEASANTRY.match(body):
            return [_make("small_talk", body)]
        return _questions(body, None, body)
    if _DISMISSAL.search(body):
        return [_make("dismissal", body)]
    if second := _SECOND_QUESTION.search(body):
        head, tail = body[: second.start()], body[second.end() :]
        if _PLAIN_QUESTION.match(tail):
            return [_statement(head), *_questions(tail, None, tail)]
    return [_statement(body)]


def _strip_opener(body: str) -> str:
    found = _OPENER.match(body)
    return body[found.end() :].strip() if found else body


def _request_rest(body: str) -> str | None:
    """Return what a request or an indirect question asks for; None for a sentence that is neither."""
    found = _REQUEST.match(body) or _HELPS.match(body)
    if found is None and (comma := _BEFORE_REQUEST.match(body)):
        found = _REQUEST.match(_strip_opener(body[comma.end() :]))
    return found["rest"] if found else None


def _statement(body: str) -> Clause:
    if len(body) < 140 and _SENTIMENT.search(body) and not re.search(r"\b(?:could|should|try|suggest|recommend)\b", body):
        return _make("small_talk", body)
    return _make("statement", body)


def _tagged(statement: str, whole: str) -> Clause:
    """Read "you rent the place, right?": a question about the user, unless it is about the speaker's own feelings."""
    if _DISMISSAL.search(statement) or _FIRST_PERSON.search(statement):
        return _make("dismissal", whole)
    if re.match(r"^(?:that|this|it|sounds|must)\b", statement) and (
        _SENTIMENT.search(statement) or not _topic_words(statement)
    ):
        return _make("small_talk", whole)
    return _make("question", statement, "whether")


def _questions(body: str, wh: WhWord | None, whole: str) -> list[Clause]:
    """Cut a question into the questions that it is made of, each without examples and lead-in."""
    if re.search(r"\b(?:bores?|bored) (?:me|us)\b|\bi (?:hate|refuse|dislike|don't care)\b|^(?:never|don't|do not|skip|forget|ignore)\b", body):
        return [_make("dismissal", whole)]
    parts: list[str] = []
    rest = body
    while len(parts) < 8 and (second := _SECOND_QUESTION.search(rest)):
        head = rest[: second.start()]
        if len(_WORD.findall(head)) >= 3 and not _LEAD_IN.match(head + ", x"):
            parts.append(head)
        rest = rest[second.end() :]
    parts.append(rest)
    clauses = []
    for i, part in enumerate(parts):
        text = part.strip(" ,:-–—\"'")
        if lead_in := _LEAD_IN.match(text):
            text = text[lead_in.end() :]
        text = _strip_opener(text) or text
        without = _EXAMPLES.sub("", text)
        if len(_WORD.findall(without)) >= 2:
            text = without
        inner = _request_rest(text) if i or wh is None else None
        kind: WhWord | None = wh if i == 0 else None
        if inner is not None and not _MORE.match(inner):
            text, kind = inner.strip(" ,:"), "request"
        clauses.append(_make("question", text, kind, probe=bool(_PROBE.match(whole if i == 0 else part.strip()))))
    return clauses


def _make(form: ClauseForm, text: str, wh: WhWord | None = None, *, probe: bool = False) -> Clause:
    words = tuple(_WORD.findall(text))
    if form == "question":
        if not words:
            return Clause("small_talk", text, ())
        if not _sounds_english(words, asking=wh is None):
            return Clause("unclear", text, words)
        wh = _wh_of(words, wh)
    return Clause(form, text, words, wh, bool(_NEGATION.search(text)), probe)


def _wh_of(words: tuple[str, ...], given: WhWord | None) -> WhWord:
    for i, word in enumerate(words[:4]):
        base = word.removesuffix("'s").removesuffix("'re")
        if base == "how" and i + 1 < len(words):
            follow = words[i + 1]
            if follow in ("much", "many", "long"):
                return f"how {follow}"  # type: ignore[return-value]
            return "when" if follow in ("soon", "quickly") else "how"
        if base == "whats":
            return "what"
        if base in ("whose", "whom"):
            return "who"
        if base in ("if", "whether"):
            return "whether"
        if base in ("what", "when", "where", "who", "which", "why", "how"):
            if base in ("what", "which") and i + 1 < len(words) and words[i + 1] in ("time", "date", "day"):
                return "when"
            return base  # type: ignore[return-value]
    return given or "whether"


def _topic_words(text: str) -> list[str]:
    return [word for word in _WORD.findall(text) if word not in FUNCTION_WORDS]


def _sounds_english(words: tuple[str, ...], *, asking: bool) -> bool:
    """Say whether these words can be one English question: no heap of nouns, no list, nothing endless."""
    count = len(words)
    if count > MAX_WORDS_IN_QUESTION:
        return False
    function = [word for word in words if word in FUNCTION_WORDS or word.split("'")[0] in _ASKING]
    if count > 4 and len(function) < 0.2 * count:
        return False
    if count > 9 and asking and _ASKING.isdisjoint([word.split("'")[0] for word in words]):
        return False
    content = count - len(function)
    pairs = [words[i : i + 2] for i in range(count - 1)]
    repeated = max((pairs.count(pair) for pair in pairs if pair[0] in FUNCTION_WORDS), default=0)
    if repeated >= 3 and content >= 3:
        return False
    if content > 16:
        return False
    # A heap of topics without a verb between them: "the money the rules the time the helpers".
    articles = sum(word in ("the", "your", "a", "any") for word in words)
    return not (articles >= 4 and content >= 4 and count <= 2.6 * articles)
