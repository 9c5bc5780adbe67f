"""Cut a message into clauses and say what each one is, by its form alone: question, statement, small talk, no grammar.

Nothing here knows a scenario. Linear in the first `READ_LIMIT` characters, whatever an agent sends.
"""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from elicit_gym.text import FUNCTION_WORDS, READ_LIMIT
from elicit_gym.understanding.spelling import mended

__all__ = ["MAX_WORDS_TO_LISTEN", "WH_WORDS", "Clause", "ClauseForm", "Probe", "WhWord", "split_clauses", "words_of"]

ClauseForm = Literal["question", "statement", "small_talk", "dismissal", "unclear"]
WhWord = Literal[
    "what", "when", "where", "who", "which", "how much", "how many", "how long", "how", "why", "whether", "request"
]
Probe = Literal["more", "plain"]
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
        probe: ``more`` for a clause that only asks to hear more of something ("tell me more about X", "what about X?",
            "X?"); ``plain`` for one whose frame says nothing by itself ("what is X", "how do you feel about X").
        suggests: whether a question may be a suggestion in disguise ("Why not ...?", "Have you thought of ...?").
    """

    form: ClauseForm
    text: str
    words: tuple[str, ...]
    wh: WhWord | None = None
    negated: bool = False
    probe: Probe | None = None
    suggests: bool = False


_LETTERS = re.compile(r"(?<![\w'])[a-z]+(?![\w'])")
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
    r"do you mind if i ask|am i right(?: that| in thinking(?: that)?)?|is it (?:right|true|correct|fair to say) that|i (?:take it|assume|suppose|guess|imagine|gather)(?: that)?|as far as you know|roughly|would you mind if i asked?|i have to ask|let me ask|let me just ask|let me ask you|i'd like to ask|"
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
_EMPATHY = re.compile(
    r"^(?:i(?:'m|'d| am| would| can| want| really| do| hear| see| understand| get| feel| know| appreciate| love)?\b.{0,20}\b(?:sorry|hear you|see|"
    r"understand|get it|get that|feel for you|imagine|appreciate|love to|glad to|happy to|here to|sympathi\w+|help)\b|(?:that|this|it|what|how|there)\b"
    r"(?=.*\b(?:tough|hard|difficult|stress\w*|frustrat\w*|overwhelm\w*|exciting|wonderful|great|lovely|nice|sad|scary|annoying|painful|tricky|heavy|"
    r"awful|terrible|exhausting|tiring|amazing|beautiful|brave|understandable|daunting|natural|normal|pressure|a lot|challeng\w*|worry\w*)\b)|sounds\b|"
    r"(?:that )?must (?:be|feel)|you(?:'re| are) (?:right|not alone|doing|brave|clearly|not the only)|no wonder|congrat\w*|good luck|thank\w*|sorry|wow|"
    r"well done|don't worry|of course|no problem|take your time|let's (?:see|sort|figure|work|get|start|take a look)|we'll|welcome|absolutely|certainly)"
)
_SUGGESTING_QUESTION = re.compile(
    r"\b(?:why (?:not|don't)|how about|what about|what if|have you (?:thought|considered|tried|looked)|did you (?:think|consider|try)|"
    r"(?:could|can|would|might|should|will|couldn't|can't|wouldn't) (?:you|we|it|they|he|she|the|your|that|this|there)|"
    r"is it an option|is there (?:a way|any way)|do you think you|suggest|recommend|instead|let's)\b"
)
_SUGGESTS = re.compile(
    r"\b(?:could|should|try|suggest|recommend|advise|consider|might want|ought|better|instead|need to|have to|i'd (?:put|use|go|start|buy|ask|make|take|"
    r"keep|set|split|move|hire|rent|borrow)|why not|how about)\b"
)
_TAG = re.compile(
    r"^(?P<body>.+?)(?<!what)(?<!how)(?<!when)(?<!where)(?<!who)(?<!why)(?<!which),?\s+(?:(?:is|are|was|were|do|does|did|has|have|can|could|will|would|should)(?:n't|nt| not)?\s+"
    r"(?:it|you|they|he|she|we|that|this|there|i)|right|correct|no|yes|eh|huh|ok|okay|innit|am i right|is that right|"
    r"am i getting (?:that|this) right|have i got that right|is that correct|or not|or am i wrong|true|don't you think|wouldn't you say|you agree)$"
)
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
    rf"|i(?:'d| would|'ll| will| should| must| need| want| like| love| have| still need| first need| really need| also need)(?: (?:really|also|just|still|first|need|want|like|love|have|be|do|glad|happy|curious|interested|keen|eager|in))*(?: to)?(?: (?:better|first|really))? (?:{_LEARN}|picture|imagine)\b(?! (?:more|a bit more|a little more) (?:so|to|before)\b)"
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
_BEFORE_REQUEST = re.compile(
    r"^[^,]{3,120}(?:, (?:so |and |but )?| so | - | – )(?=(?:please |also )?(?:tell|let me|i'd|i would|i need|i want|i should|it'd|it would|it might|it may|could you|can you))"
)
_HELPS = re.compile(
    r"^(?:knowing|hearing|understanding|learning)\b(?P<rest>.*?)\b(?:would|will|could|might|helps?)\b.*$"
)
_NOT_KNOWN = re.compile(
    r"^(?:so |and |but |though |still |perhaps |maybe |for now |as yet |from here |honestly |before [^,]{3,60}?(?=i (?:should|need|would|must)))*(?:"
    r"(?:no idea|not sure|unsure|unclear)\b|i(?:'m| am) (?:asking myself|wondering|curious|thinking about)\b|"
    r"(?:i|we)\b.{0,30}\b(?:can(?:'|no)t (?:yet )?(?:tell|see|picture|judge|say|work out|quite)|have no idea|don't (?:yet )?(?:know|understand|see|get)|"
    r"do not (?:yet )?(?:know|understand|see)|not (?:yet )?(?:sure|certain|clear)|haven't (?:heard|asked|understood|got|seen)|"
    r"(?:could|would|might) (?:use|do with|need|like|appreciate|want)|need|(?:would|should|'d)(?: rather| sooner)? (?:like|need|ask|check|know|hear)|wonder)\b"
    r"|you (?:haven't|have not|didn't|did not|never)(?: yet| really)? (?:say|said|tell|told|mention|mentioned|explain\w*|describ\w*)\b"
    r"|(?:it|that|this) (?:isn't|is not|'s not|is still not|wasn't)(?: yet| quite| really| all that)? (?:clear|obvious|said|known)\b"
    r"|(?:it|that|this|much|a lot|everything|all|my (?:answer|advice|suggestion))\b.{0,25}\b(?:depends?|hangs?|hinges?|turns?|matters?|makes? (?:a |all the )?difference|helps?|worth)\b"
    r"|(?:what|the (?:one )?thing|one thing|something|all)(?: that)? i(?:'m| am| do| still| really| can|'d| would)*(?: not|n't| don't| can't| cannot| need| like| want)\b(?: know| tell| see| say| understand| find out| to know| to hear| help me)*(?: is| are)?"
    r"|(?:perhaps|maybe|there)\b.{3,80}\bi (?:don't|do not|can't) (?:know|tell)"
    r")(?: me| us| to me)?(?: (?:to (?:know|hear|understand|learn)|yet|about|on|of|is|from|a (?:rough )?(?:picture|idea|sense|feel)(?: of| for)?|much|quite|really|exactly))*"
    r"(?P<rest>\b.*)$"
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
_ADDRESSES = re.compile(r"\b(?:you|your|yours|there|they|it|he|she)\b")
_SECOND_QUESTION = re.compile(
    rf",?\s+(?:and|or|also|plus|but|as well as)\s+(?=(?:also\s+|if so,?\s+|maybe\s+|perhaps\s+)*(?:{_WH}\b(?! ever)|{_AUX} {_SUBJECT}\b|whether\b|if (?:there|you|it|they)\b))|"
    rf",\s+(?=(?:{_WH} {_AUX}\b|{_AUX} (?:you|there|they|it|he|she|we)\b))|\s*[:–—]\s+(?=(?:{_WH}\b|{_AUX} {_SUBJECT}\b))"
)
_MORE_ABOUT = re.compile(
    r"^(?:(?:(?:can|could|would|will) you )?(?:please |also |maybe |just |perhaps )*(?:tell me|say|share|give me|explain|elaborate|expand|describe|talk|"
    r"speak|clarify|walk me through|go into|let me hear|let me know)\b|(?:i(?:'d| would) (?:like|love) to|let me) (?:hear|know|learn|understand)\b|"
    r"(?:and |so |but )?(?:what|how) about|(?:anything|something|any)(?: else| more)? (?:more |else )?(?:about|on)\b|(?:it|that) would (?:help|be)\b|"
    r"(?:and )?(?:the|your|that|this|those|these|a|an)\b(?!.*\b(?:is|are|was|were|do|does|did|have|has|can|could|will|would|must|may|should)\b))"
)
_BARE_WH = re.compile(r"^(?:what|how) about\b")
_WH_FIRST = frozenset("what when where who whom whose which why how whether if".split())
_PROBE = re.compile(
    r"^(?:what(?:'s| is| are| was|'re)(?: up| wrong| the matter| the (?:issue|problem|thing|story|deal|situation))?(?: with| about)?|how (?:is|are|was|were)|"
    r"what do you mean (?:by|with|when)|is (?:it|this|that) (?:about|because of)|"
    r"(?:are|is|were) (?:you|it|there) (?:worried|concerned|anxious|unsure|thinking|something|anything)(?: \w+){0,2} (?:about|with|of)|"
    r"how (?:do|does|did) (?:you|it)(?: \w+){0,2} feel about|why (?:is|are|do|does|did|the|that|this)?|what kind of|what sort of|what type of|what role (?:do|does)|"
    r"how important (?:is|are)|(?:do|does|did|is|are) (?=\w+ (?:\w+ )?(?:matter|bother|important|a problem|an issue|relevant|worry)))\b"
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
    return _mend(text)


def _mend(text: str) -> str:
    """Mend typing errors, unless so many words would change that this is another language."""
    words = _LETTERS.findall(text)
    changed = {word: new for word in dict.fromkeys(words) if (new := mended(word)) != word}
    if not changed or len(changed) > max(2, 0.6 * len(words)):
        return text
    return _LETTERS.sub(lambda found: changed.get(found[0], found[0]), text)


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
    if request is None and not asked:
        unknown = _NOT_KNOWN.search(body)
        request = unknown["rest"] if unknown else None
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
        if _PLAIN_QUESTION.match(tail) and len(_WORD.findall(tail)) >= 4 and _ADDRESSES.search(tail):
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
    if len(body) < 160 and _EMPATHY.match(body) and not _SUGGESTS.search(body):
        return _make("small_talk", body)
    return _make("statement", body)


def _tagged(statement: str, whole: str) -> Clause:
    """Read "you rent the place, right?": a question about the user, unless it is about the speaker's own feelings."""
    if _DISMISSAL.search(statement) or re.match(r"(?:i|i'd|i'm|i'll|let's|we)\b(?! (?:right|correct))", statement):
        return _make("dismissal", whole)
    if re.match(r"^(?:that|this|it|sounds|must)\b", statement) and (
        _SENTIMENT.search(statement) or not _topic_words(statement)
    ):
        return _make("small_talk", whole)
    return _make("question", statement, "whether")


def _questions(body: str, wh: WhWord | None, whole: str) -> list[Clause]:
    """Cut a question into the questions that it is made of, each without examples and lead-in."""
    if re.search(
        r"\b(?:bores?|bored) (?:me|us)\b|\bi (?:hate|refuse|dislike|don't care)\b|^(?:never|don't|do not|skip|forget|ignore)\b",
        body,
    ):
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
        clauses.append(_make("question", text, kind, probe=_probe_of(whole if i == 0 else part.strip(), text)))
    return clauses


_CONTRACTED = {"s": "is", "re": "are", "ve": "have", "ll": "will", "d": "would", "m": "am", "t": "not"}
_HOSTS = frozenset("i you he she it we they that this there here what who where when how why which let".split())


def words_of(text: str) -> tuple[str, ...]:
    """Return the words of a text with contractions written out and genitives dropped."""
    found: list[str] = _WORD.findall(text)
    if "'" not in text:
        return tuple(found)
    words: list[str] = []
    for word in found:
        base, mark, rest = word.partition("'")
        if not mark:
            words.append(word)
        elif rest == "t" and base.endswith("n"):
            words += [_NEGATED.get(base, base[:-1]), "not"]
        elif rest in _CONTRACTED and (rest != "s" or base in _HOSTS):
            words += [base, _CONTRACTED[rest]]
        else:
            words.append(base)
    return tuple(words)


_NEGATED = {"can": "can", "won": "will", "shan": "shall"}


def _probe_of(whole: str, text: str) -> Probe | None:
    words = _WORD.findall(text)
    if _MORE_ABOUT.match(whole):
        return None if any(word in _WH_FIRST for word in words[:3]) and not _BARE_WH.match(text) else "more"
    return "plain" if _PROBE.match(whole) else None


def _make(form: ClauseForm, text: str, wh: WhWord | None = None, *, probe: Probe | None = None) -> Clause:
    words = words_of(text)
    if form == "question":
        if not words:
            return Clause("small_talk", text, ())
        if not _sounds_english(words, asking=wh is None):
            return Clause("unclear", text, words)
        wh = _wh_of(words, wh)
    suggests = form == "question" and bool(_SUGGESTING_QUESTION.search(text))
    return Clause(form, text, words, wh, bool(_NEGATION.search(text)), probe, suggests)


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
