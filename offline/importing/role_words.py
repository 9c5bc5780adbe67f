"""Names that say who asks and who answers, in the languages that transcripts come in."""

import re
import unicodedata
from collections.abc import Iterable

from elicit_gym.offline.schema import DialogueRole

__all__ = ["is_role_word", "role_by_name", "role_of_chat"]

_ELICITOR = frozenset(
    """elicitor interviewer interviewers interviewerin interviewors interviewing questioner question questions moderator
    moderatorin facilitator host examiner investigator researcher experimenter reporter journalist doctor physician
    clinician therapist counselor counsellor nurse assistant agent ai bot chatbot model gpt chatgpt claude gemini bard
    llm int
    intervjuare fråga frågor intervjuer spørsmål spørgsmål haastattelija kysymys
    befrager befragerin fragesteller fragestellerin frage interviewleiter
    enquêteur enquêtrice intervieweur intervieweuse
    entrevistador entrevistadora pregunta pergunta intervistatore intervistatrice domanda
    vraag ankieter pytanie tazatel otázka kérdés kérdező anketör soru
    интервьюер вопрос ведущий ведущая корреспондент интерв'юер питання
    访谈者 采访者 采访人 访问者 记者 主持人 提问者 提问 問者 访员 訪談者 採訪者 訪問者 記者 提問者 問
    インタビュアー 聞き手 質問者 質問 면접자 인터뷰어 질문자 질문 진행자
    מראיין מראיינת שואל שואלת שאלה المحاور المحاورة السائل سؤال""".split()
)
_RESPONDENT = frozenset(
    """respondent respondents interviewee interviewees narrator informant subject participant witness deponent answer
    answers patient client customer caller guest user human seeker
    intervjuperson intervjuad svar intervjuobjekt haastateltava vastaus
    befragter befragte interviewter interviewte antwort teilnehmer teilnehmerin proband probandin
    enquêté enquêtée interviewé interviewée réponse
    entrevistado entrevistada respuesta resposta intervistato intervistata risposta
    geïnterviewde antwoord odpowiedź odpověď válasz cevap yanıt
    респондент ответ собеседник информант опрашиваемый відповідь
    受访者 受訪者 被访者 被訪者 被采访者 被採訪者 采访对象 回答者 回答 答 嘉宾
    話し手 インタビュイー 응답자 인터뷰이 답변자 답변 피면접자
    מרואיין מרואיינת עונה תשובה الضيف المجيب جواب""".split()
)
# One letter says something only beside its partner: AssemblyAI's speakers are A and B.
_PAIRS: tuple[tuple[str, str], ...] = (
    ("q", "a"), ("i", "r"), ("i", "p"), ("i", "b"), ("i", "n"),
    ("f", "a"), ("f", "s"), ("p", "r"), ("d", "r"), ("v", "a"),
    ("в", "о"), ("п", "в"), ("问", "答"), ("問", "答"), ("ש", "ת"), ("س", "ج"),
)  # fmt: skip
_CHAT_ELICITOR = frozenset(
    "investigator interviewer examiner experimenter clinician therapist teacher doctor moderator leader".split()
)
_CHAT_RESPONDENT = frozenset(
    """participant target_child target_adult subject patient informant child student narrator respondent interviewee
    speaker client""".split()
)


def _word(name: str) -> str:
    folded = "".join(c for c in unicodedata.normalize("NFKC", name) if unicodedata.category(c) != "Cf").casefold()
    folded = re.sub(r"[\s_#.-]*\d{0,3}[\s.:]*$", "", folded.strip()[:80])
    return re.sub(r"^(?:the|der|die|das|el|la|le|l'|o|a)\s+(?=\w)", "", folded).strip()


def is_role_word(name: str) -> bool:
    """Say whether a label counts as a speaker at once: a role's name, or Q and A."""
    word = _word(name)
    return word in _ELICITOR or (word in _RESPONDENT and word != "subject") or word in ("q", "a", "问", "問", "答")


def role_by_name(name: str, others: Iterable[str]) -> DialogueRole | None:
    """Return the role that a name says, if any.

    Args:
        name: of a speaker.
        others: all names of the conversation; Q needs an A beside it, I an R or a P.
    """
    word = _word(name)
    if word in _ELICITOR or word.startswith(("justice ", "chief justice", "judge ")) or word in ("court", "judge"):
        return "elicitor"
    if word in _RESPONDENT:
        return "respondent"
    present = {_word(other) for other in others}
    for asks, answers in _PAIRS:
        if asks in present and answers in present and word in (asks, answers):
            return "elicitor" if word == asks else "respondent"
    # A file with questions alone, or with answers alone, is still marked as such.
    return "elicitor" if word == "q" else None


def role_of_chat(word: str) -> DialogueRole | None:
    """Return the role that CHAT's list of participants says."""
    word = word.casefold()
    return "elicitor" if word in _CHAT_ELICITOR else "respondent" if word in _CHAT_RESPONDENT else None
