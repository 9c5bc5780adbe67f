"""What a user never says, by its form and its manner: the party, the rules, the state of the game, another language.

Each check answers for one kind of misconduct and reads the reply, and the conversation where it needs to.
"""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from elicit_gym.text import content_stems, words

__all__ = [
    "echoes", "forms_of_checklist", "is_degenerate", "is_foreign", "is_structured", "leaks_rules", "names_checklist",
    "plays_both_sides", "repeats_itself", "shows_state", "speaks_as_helper", "without_manner",
]  # fmt: skip

COPIED = 0.8
"""Share of a reply's words that are somebody's former words in their order, from which on it is a copy."""
MIN_COPIED = 4
NAMED = 0.6
"""Share of a checklist question's content words that a reply has to hold to name it."""
MAX_FOREIGN_LETTERS = 0.3

_LETTER = re.compile(r"[^\W\d_]")
_QUOTED = re.compile(r"\"([^\"]+)\"")
_LOOP = re.compile(r"(?<!\w)((?:[\w'’]+[\s,.!?…-]+){1,4}?)(?:\1){3,}", re.IGNORECASE)

_HELPER = re.compile(
    r"\bas an? (?:\w+ ){0,2}(?:ai|assistant|language model|chatbot|bot)\b"
    r"|\bi(?:'m| am) (?:just |only |merely )?an? (?:\w+ ){0,2}(?:ai|artificial intelligence|computer program|chatbot|bot|"
    r"(?:virtual|digital|ai) assistant|assistant|language model|llm)\b|\bartificial intelligence\b|\blanguage model\b"
    r"|\bi (?:don't|do not) have (?:feelings|personal|opinions|a body)"
    r"|\bhow (?:can|may|could) i (?:help|assist)\b|\b(?:help|assist) you with (?:that|your|this|anything)\b"
    r"|\bi(?:'m| am|'d be| would be) (?:here|happy|glad|pleased|delighted) to (?:help|assist)\b"
    r"|\bi can (?:certainly |gladly |definitely )?(?:help|assist) you\b|\bhere to (?:help|assist)\b"
    r"|\blet me know if you (?:need|have|want|would)\b|\bfeel free to\b|\bi understand your (?:concern|situation|problem)"
    r"|\bwould you like (?:some|me|a few|help|more|any|to know more)\b"
    r"|\b(?:i'm|i am|we're)? ?sorry,? but i (?:can't|cannot|am not able to|'m unable to) (?:help|assist|comply|do that|"
    r"fulfil|provide|continue)\b|\bi (?:can't|cannot|am unable to) (?:help|assist) (?:you )?with\b"
    r"|\b(?:could|can) you (?:please )?(?:tell me more about your|share (?:more|some)|provide (?:more|some)|describe your)"
    r"|\bplease (?:describe|provide|share|specify|clarify|tell me (?:about|more))\b"
    r"|\b(?:great|good|excellent) questions?\b.{0,30}\bhow\b"
    r"|^(?:sure|certainly|of course|absolutely)?[,!]? ?here(?:'s| is| are) (?:a|an|some|the|my|three|five|several)\b.{0,20}"
    r"\b(?:tips?|ideas?|suggestions?|steps|options|ways|list|advice)\b|\bhere(?:'s| is) a (?:tip|suggestion|piece of advice)",
    re.IGNORECASE,
)
_ADVISES = re.compile(
    r"\byou (?:should|ought to|need to|must|could|can|might want to|may want to)(?: (?:also|always|first|just|consider))* "
    r"(?!ask|tell|say|hear|see|imagine|guess|know|call|be (?:a bit|more|plainer)|find out|answer|believe|think|smell|help)"
    r"[a-z]+\b|\bi(?:'d| would)? (?:suggest|recommend|advise)\b|\bmy (?:advice|recommendation|suggestion) (?:is|would be)"
    r"|(?:^|[.!?,;:]\s*|[-–—]\s+)(?:try to|try \w+ing|make sure|consider \w+ing|remember to|start by|begin (?:with|by)|don't forget to)\b"
    r"|\bit(?:'s| is) important (?:to|that)\b",
    re.IGNORECASE,
)
_ASKS_BACK = re.compile(r"\byou(?:'d| would)?(?: have| need)? (?:to |could |should |might |may )?(?:ask|asked|asking)\b", re.I)
_RULES = re.compile(
    r"\bguessing game\b|\b(?:game|conversation) rules?\b|\brules? of (?:the|this) (?:game|conversation)\b"
    r"|\b(?:the|my|these|those|according to the) (?:rules|instructions|guidelines)\b|\brule (?:one|two|three|four|five|six|seven|\d)\b"
    r"|\bsystem prompt\b|\bmy (?:system )?(?:prompt|persona|character|role|constraints?)\b|\bin character\b"
    r"|\b(?:one|another|any|a|more|only) (?:single )?pieces? of information\b|\binformation (?:per|in each|at a time)\b"
    r"|\bi(?:'m| am|'ve been| was| have been) (?:only |just )?(?:supposed|allowed|told|instructed|required|meant|programmed|asked) "
    r"(?:only )?to\b|\bnot (?:allowed|supposed|permitted) to (?:say|tell|reveal|give|answer|disclose)\b"
    r"|\b(?:can't|cannot|can not|mustn't|may not|may only|can only|won't|will not|shouldn't|must not|don't|do not|couldn't) "
    r"(?:\w+ )?(?:reveal|disclose|give (?:anything|nothing|it|that|this|you|more|one|away|any))\b"
    r"|\bgive (?:anything|nothing|it|that|too much|much) away\b|\breveal (?:any|anything|more|it|that)\b"
    r"|\b(?:answer|answering) (?:only )?(?:the|your) first\b|\b(?:only|just) (?:answer|the first)\b.{0,20}\bfirst\b"
    r"|\bas many questions as\b|\blead you (?:indirectly|to)\b|\bhint (?:at|about) the next\b|\bi(?:'m| am) playing\b"
    r"|\bmy job (?:here )?is to\b|\bpretend(?:ing)? to be\b|\brole-?play",
    re.IGNORECASE,
)
_STATE = re.compile(
    r"\bstate of the game\b|\bgame (?:progress|state)\b|\bnext (?:open|pending) (?:point|item)\b"
    r"|\buser (?:is|was|:)? ?(?:not |currently |now )?stuck\b|^\s*\[\s*(?:the )?(?:state|user|progress|status|game)\b"
    r"|^\s*(?:progress|state|status)\s*:|\b\d of \d (?:answered|items|points|questions)\b|^\s*<<|@[0-9a-f]{12}@"
    r"|\{[a-z_]+\}|\b(?:the checklist|yes/no question)\b|\bthe user (?:is|has|asked|asks|did|wants|should|must)\b",
    re.IGNORECASE | re.MULTILINE,
)
_CHECKLIST = re.compile(r"\bdid the (?:assistant|user|agent|other player)\b", re.IGNORECASE)
_ANSWERED = re.compile(r"(?:\b(?:yes|no)\b\s*(?:$|[,;]|—|-))", re.IGNORECASE | re.MULTILINE)
_ASK = re.compile(r"\bask(?:ed|ing)?\b", re.IGNORECASE)
_LABEL = re.compile(
    r"(?:^|\n)[\s#*_>]*(?:user|human|assistant|agent|bot|ai|helper|system|me|you|customer|client|player \d)[*_]*\s*:"
    r"|(?:^|\n)#+\s*(?:user|human|assistant|agent)\b|<\|?(?:user|assistant|im_start|start_header_id)\b",
    re.IGNORECASE,
)
_STRUCTURE = re.compile(
    r"\A\s*[{\[]\s*[\"'{]|```|^\s*(?:[-*•]|\d+[.)])\s+\S[^\n]*\n\s*(?:[-*•]|\d+[.)])\s+\S|^#{1,4}\s+\S|^\s*\|.*\|\s*$"
    r"|^\s*\*\*[^*\n]{1,40}(?:\*\*:?|:\*\*)(?:\s|$).*\n|</?[a-z_]{3,20}>|\A\s*[\"']?\w+[\"']?\s*[:=]\s*[{\[\"]",
    re.IGNORECASE | re.MULTILINE,
)
_FOREIGN = {
    "German": "der die das und ist ich nicht ein eine mit den dem von zu auf für es sie er wir ihr mein meine dass auch mir mich "
    "aber noch was wie hat habe haben sind wird kann immer schon nur gibt ja leute ihm ihn",
    "French": "le la les des et est je ne pas un une avec dans pour que qui ce il elle nous vous mon ma mes au du sur mais c'est "
    "j'ai n'ai suis très merci ça se sont qu'il",
    "Spanish": "el la los las y es yo no un una con por para que se lo mi mis pero muy está esto todo sé qué como más hay "
    "tengo gracias ya todavía eso cuando hacer del al",
    "Italian": "il lo la gli e è io non un una con per che si mio mia ma molto sono ho ancora come più grazie di del della nel fare so",
    "Portuguese": "o os as e é eu não um uma com por para que se meu minha mas muito já ele ela tenho mais como isso do da no na me",
    "Dutch": "de het een en is ik niet met van voor op dat die maar mijn wij zijn heb heeft nog ook wat hoe als er naar te",
    "Polish": "i w na nie się jest to że z do jak ale mam mój czy co po tak bardzo już",
    "Swedish": "och är jag inte en ett med för att det som på men min har kan också vad hur till av den",
    "Turkish": "ve bir bu için değil ben çok ama ne daha var yok gibi mi da de olarak",
}
_ENGLISH = frozenset(
    """the a an and is are was i i'm i've it it's to of in on at for with my me you your that this not no but be have has had do
    does can't don't what who how when there so as if by he she they we his her him them from or all just one more up out
    about then than would could will isn't doesn't didn't too any some by""".split()
)


def without_manner(text: str, traits: Sequence[str]) -> str:
    """Return a reply without the words with which its persona begins or ends every message."""
    for trait in traits:
        for phrase in _QUOTED.findall(trait):
            text = re.sub(rf"\s*,?\s*{re.escape(phrase)}\s*", " ", text, flags=re.IGNORECASE)
    return text.strip(" ,-–—")


def is_degenerate(text: str) -> bool:
    """Say whether a reply has no word in it, or goes round in circles."""
    return not _LETTER.search(text) or _LOOP.search(text + " ") is not None


def speaks_as_helper(text: str) -> bool:
    """Say whether the one who needs help speaks as the one who helps: as a model, with an offer, with advice."""
    if _HELPER.search(text):
        return True
    return any(not _ASKS_BACK.search(text[found.start() : found.end() + 20]) for found in _ADVISES.finditer(text))


def leaks_rules(text: str) -> bool:
    """Say whether a reply speaks of what it may say."""
    return _RULES.search(text) is not None


def shows_state(text: str, questions: Sequence[str]) -> bool:
    """Say whether a reply repeats the state of the game, or lists what is answered and what is not."""
    if _STATE.search(text):
        return True
    return _CHECKLIST.search(text) is not None and _ANSWERED.search(text) is not None and len(questions) > 0


def names_checklist(text: str, questions: Sequence[str]) -> bool:
    """Say whether a reply tells what to ask for in the checklist's words.

    Args:
        text: the reply.
        questions: what the checklist asks for, without "Did the assistant ask".
    """
    if _CHECKLIST.search(text):
        return True
    if not _ASK.search(text):
        return False
    said = content_stems(text)
    wanted = [content_stems(question) for question in questions]
    return any(stems and len(stems & said) >= NAMED * len(stems) for stems in wanted)


def forms_of_checklist(text: str, questions: Sequence[str]) -> bool:
    """Say whether a sentence is a checklist question, more or less as it stands."""
    said = words(text)
    return any(_copied(words(question), said) >= 0.9 for question in questions if len(words(question)) >= MIN_COPIED)


def plays_both_sides(text: str) -> bool:
    """Say whether a reply goes on with the other party's words."""
    return _LABEL.search(text) is not None


def is_structured(text: str) -> bool:
    """Say whether a reply is no prose: JSON, code, a list, a table, a heading, a tag."""
    return _STRUCTURE.search(text) is not None


def is_foreign(text: str) -> bool:
    """Say whether a reply is in another script or another language."""
    letters = _LETTER.findall(text)
    if letters and sum(letter > "\u024f" for letter in letters) > MAX_FOREIGN_LETTERS * len(letters):
        return True
    said = [word for word in re.findall(r"[^\W\d_]+(?:['’][^\W\d_]+)*", text.lower().replace("’", "'"))]
    english = sum(word in _ENGLISH for word in said)
    foreign = max(sum(word in known for word in said) for known in _KNOWN.values())
    return foreign >= 2 and foreign > english


_KNOWN = {language: frozenset(listed.split()) for language, listed in _FOREIGN.items()}


def echoes(text: str, message: str) -> bool:
    """Say whether a reply hands the other party's message back."""
    said = words(text)
    return len(said) >= MIN_COPIED and _copied(said, words(message)) >= COPIED


def repeats_itself(text: str, former: Sequence[str]) -> bool:
    """Say whether a reply is one of the user's former messages over again."""
    said = words(text)
    return any(
        len(said) >= MIN_COPIED - 1 and min(_copied(said, words(other)), _copied(words(other), said)) >= 0.9
        for other in former
    )


def _copied(said: list[str], source: list[str]) -> float:
    """Return the share of words that stand in the source, in the same order."""
    matcher = SequenceMatcher(None, said, source, autojunk=False)
    return sum(block.size for block in matcher.get_matching_blocks()) / max(1, len(said))
