"""The wordings by which a reply gives away that no user speaks: one alternative a line, in lower case."""

import re

__all__ = [
    "ADVISES", "ASKS_BACK", "CHECKLIST", "ENGLISH", "FOREIGN", "HELPER", "RULES", "SPEAKERS", "STATE", "STRUCTURE",
]  # fmt: skip


def _any_of(*alternatives: str, flags: int = 0) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{alternative})" for alternative in alternatives), re.IGNORECASE | flags)


_MODEL = (
    r"(?:ai|artificial intelligence|(?:large )?language model|llm|chatbot|bot|computer program|"
    r"assistant(?! (?:to|at|in|teacher|manager|coach|cook|nurse|professor|director|editor|trainer|clerk)\b))\b"
)

HELPER = _any_of(
    rf"\bas an? (?:\w+ ){{0,2}}{_MODEL}",
    rf"\bi(?:'m| am) (?:just |only |merely )?an? (?:\w+ ){{0,2}}{_MODEL}",
    r"\b(?:artificial intelligence|language model)\b",
    r"\bi (?:don't|do not) have (?:feelings|personal|opinions|a body)",
    r"\bhow (?:can|may|could) i (?:help|assist)\b",
    r"\b(?:help|assist) you with (?:that|your|this|anything)\b",
    r"\bi(?:'m| am|'d be| would be) (?:here|happy|glad|pleased|delighted) to (?:help|assist)\b",
    r"\bi can (?:certainly |gladly |definitely )?(?:help|assist) you\b",
    r"\bhere to (?:help|assist)\b",
    r"\blet me know if you (?:need|have|want|would)\b",
    r"\bfeel free to\b",
    r"\bi understand your (?:concern|situation|problem)",
    r"\bwould you like (?:some|a few|help|more|any|to know more)\b",
    r"\bsorry,? but i (?:can't|cannot|am not able to|'m unable to) "
    r"(?:help|assist|comply|do that|fulfil|provide|continue)\b",
    r"\bi (?:can't|cannot|am unable to) (?:help|assist) (?:you )?with\b",
    r"\b(?:could|can) you (?:please )?(?:tell me more about your|(?:share|provide) (?:more|some)|describe your)",
    r"\bplease (?:describe|provide|share|specify|clarify|tell me (?:about|more))\b",
    r"\b(?:great|good|excellent) questions?\b.{0,30}\bhow\b",
    r"\bhere(?:'s| is| are) .{0,30}\b(?:tips?|ideas?|suggestions?|steps|advice)\b",
)
"""The one who helps speaks: a model, an offer, an interview."""

_MAY_DO = (
    r"(?!ask|tell|say|hear|see|imagine|guess|know|call|be (?:a bit|more|plainer)|find out|answer|believe|think|smell|"
    r"help|feel|fit|lose|cut)"
)
_START = r"(?:^|[.!?,;:…]\s*|[-–—]\s+|\b(?:and|but|so|then|maybe|perhaps|well) )"
ADVISES = _any_of(
    rf"{_START}you (?:should|ought to|could|might want to|may want to)"
    rf"(?: (?:also|always|first|just|consider))* {_MAY_DO}[a-z]+\b",
    r"\bi(?:'d| would)? (?:suggest|recommend|advise)\b",
    r"\bmy (?:advice|recommendation|suggestion) (?:is|would be)",
    rf"{_START}(?:try to|try (?!telling|explaining)\w+ing|make sure|consider \w+ing|remember to|don't forget to)\b",
    rf"{_START}(?:start by|begin (?:with|by))\b",
    r"\bit(?:'s| is) important to (?!me|us|him|her|them|my|our|the|a)[a-z]+\b",
)
"""Advice, which the user wants and never gives."""

ASKS_BACK = _any_of(r"\byou(?:'d| would)?(?: have| need)? (?:to |could |should |might |may )?ask(?:ed|ing)?\b")

_TELL = (
    r"(?:say|tell|reveal|give|answer|disclose|share|withhold|hint|drop|lead|make you|act|play|stay vague|be vague)\b"
)
_OF_THE_GAME = r"(?=.*\b(?:questions?|answer|reveal|hint|piece of|first one|give (?:any|no)thing)\b)"
RULES = _any_of(
    r"\bguess?ing game\b",
    r"\b(?:game|conversation) rules?\b",
    r"\brules? of (?:the|this) (?:game|conversation)\b",
    r"\bmy (?:rules|instructions|guidelines)\b",
    rf"\A{_OF_THE_GAME}.*\b(?:the|these|those) (?:rules|instructions|guidelines)\b(?! (?:of|for|at|in)\b)",
    r"\brule (?:one|two|three|four|five|six|seven|\d)\b",
    r"\b(?:system prompt|in character|role-?play\w*)\b",
    r"\bmy (?:system prompt|prompt|persona)\b",
    r"\b(?:one|another|any|a|more|only) (?:single )?pieces? of information\b",
    r"\binformation (?:per|in each|at a time)\b",
    r"\bi(?:'m| am|'ve been| was| have been) (?:only |just )?"
    rf"(?:supposed|allowed|told|instructed|required|meant|programmed|asked) (?:only )?to (?:only |just )?{_TELL}",
    rf"\bnot (?:allowed|supposed|permitted) to {_TELL}",
    r"\b(?:can't|cannot|can not|mustn't|may not|may only|can only|won't|will not|shouldn't|must not|don't|do not) "
    r"(?:\w+ )?(?:reveal|disclose|give (?:anything|nothing|this|more|too much|that) away)\b",
    r"\bgive (?:anything|nothing|too much|any \w+|more) away\b",
    r"\bgive away (?:any|more|one|only|nothing)\b",
    r"\breveal (?:any|anything|more|it|that)\b",
    r"\banswer(?:ing)? (?:only |just )?(?:the|your) first\b",
    r"\bas many questions as\b",
    r"\blead you (?:indirectly|to (?:ask|the next))\b",
    r"\bhint (?:at|about) the next\b",
    r"\bmy job (?:here )?is to (?:make you|give away|answer your|lead you)\b",
    r"\bpretend(?:ing)? to be (?:a|an|the) (?:user|person|human|character)\b",
    flags=re.DOTALL,
)
"""The player speaks of the game, where only the person whom they play has a voice."""

STATE = _any_of(
    r"\bstate of the game\b",
    r"\bgame (?:progress|state)\b",
    r"\bnext (?:open|pending) (?:point|item)\b",
    r"\buser (?:is|was|:)? ?(?:not |currently |now )?stuck\b",
    r"^\s*\[\s*(?:the )?(?:state|user|progress|status|game)\b",
    r"^\s*(?:progress|state|status)\s*:",
    r"\b\d of \d (?:answered|items|points|questions)\b",
    r"^\s*<<|@[0-9a-f]{12}@",
    r"\{[a-z_]+\}",
    r"\b(?:the checklist|yes/no question)\b",
    r"\bthe user (?:is (?:not |now |still )?stuck|(?:has(?:n't| not)? (?:yet )?)?asked|asks|should ask|must ask"
    r"|did(?:n't| not)? ask|wants to know)\b",
    flags=re.MULTILINE,
)
CHECKLIST = _any_of(r"\bdid the (?:assistant|user|agent|other player)\b")

_PARTY = r"(?:user|human|assistant|agent|bot|ai|helper|system|me|you|customer|client|player \d)"
SPEAKERS = _any_of(
    rf"(?:^|\n)[\s#*_>]*{_PARTY}[*_]*\s*:",
    r"(?:^|\n)#+\s*(?:user|human|assistant|agent)\b",
    r"<\|?(?:user|assistant|im_start|start_header_id)\b",
)

_ENTRY = r"(?:[-*•]|\d+[.)])\s+\S"
STRUCTURE = _any_of(
    r"\A\s*[{\[]\s*[\"'{]",
    r"\A\s*[\"']?\w+[\"']?\s*[:=]\s*[{\[\"]",
    r"```",
    rf"^\s*{_ENTRY}[^\n]*\n\s*{_ENTRY}",
    r"^#{1,4}\s+\S",
    r"^\s*\|.*\|\s*$",
    r"^\s*\*\*[^*\n]{1,40}(?:\*\*:?|:\*\*)(?:\s|$).*\n",
    r"</?[a-z_]{3,20}>",
    flags=re.MULTILINE,
)

FOREIGN = tuple(
    frozenset(listed.split())
    for listed in (
        """der die das und ist ich nicht ein eine mit den dem von zu auf für es sie er wir ihr mein meine dass auch
        mir mich aber noch was wie hat habe haben sind wird kann immer schon nur gibt ja leute ihm ihn""",
        """le la les des et est je ne pas un une avec dans pour que qui ce il elle nous vous mon ma mes au du sur
        mais c'est j'ai n'ai suis très merci ça se sont qu'il""",
        """el la los las y es yo no un una con por para que se lo mi mis pero muy está esto todo sé qué como más
        hay tengo gracias ya todavía eso cuando hacer del al""",
        """il lo la gli e è io non un una con per che si mio mia ma molto sono ho ancora come più grazie di del
        della nel fare so""",
        """o os as e é eu não um uma com por para que se meu minha mas muito já ele ela tenho mais como isso do da
        no na me""",
        """de het een en is ik niet met van voor op dat die maar mijn wij zijn heb heeft nog ook wat hoe als er
        naar te""",
        "i w na nie się jest to że z do jak ale mam mój czy co po tak bardzo już",
        "och är jag inte en ett med för att det som på men min har kan också vad hur till av den",
        "ve bir bu için değil ben çok ama ne daha var yok gibi mi da de olarak",
    )
)
"""The smallest words of German, French, Spanish, Italian, Portuguese, Dutch, Polish, Swedish and Turkish."""

ENGLISH = frozenset(
    """the a an and is are was i i'm i've it it's to of in on at for with my me you your that this not no but be
    have has had do does can't don't what who how when there so as if by he she they we his her him them from or
    all just one more up out about then than would could will isn't doesn't didn't too any some""".split()
)
