"""The beginnings of turns in lines of text: a name and a colon, a name and a time, Q and A.

Everything here looks at the first 200 characters of a line, so that no line is slow, whatever it holds.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from elicit_gym.offline.importing.characters import without_marks
from elicit_gym.offline.importing.names import NameKind, classify, name_key, split_remark
from elicit_gym.offline.importing.source import Line

__all__ = [
    "CLOCK",
    "Start",
    "accept",
    "bracketed_time",
    "change_mark",
    "ends_sentence",
    "parse_colon",
    "parse_header",
    "parse_irc",
    "parse_qa",
    "parse_tab",
    "parse_titled",
    "time_alone",
]

_HEAD = 200
_NAME = 90
CLOCK = r"\d{1,3}:\d{1,2}(?::\d{1,2})?(?:[.,;]\d{1,3}|:\d{2})?(?:\s?[AaPp]\.?[Mm]\b\.?)?"
_DATE = r"(?:\d{1,4}[./-]\d{1,2}[./-]\d{1,4}|\d{4}-\d{2}-\d{2}T)"
_TIME = rf"(?:{_DATE},?\s?)?{CLOCK}(?:\s?(?:-->|->|-|–|—|to)\s?{CLOCK})?|\d{{1,5}}\.\d{{1,3}}s?"
_F4 = r"\d{2}:\d{2}:\d{2}-\d{1,3}(?=#)"
_TIME_FIRST = re.compile(rf"[\[(<{{#]?\s?(?P<time>{_F4}|{_TIME})\s?[\])>}}#]?")
_TIME_LAST = re.compile(rf"(?:^|(?<=[\s\[(<,|–—-]))[\[(<]?(?P<time>{_TIME})[\])>]?\s?:?$")
_BRACKETED_TIME = re.compile(rf"[\[(<](?P<time>{_TIME})[\])>]")
_QA = re.compile(r"(?P<name>[QAqa]\d{0,3})[.):](?=\s|[A-Z\"“'(\[—-]|$)|(?P<bare>[QA]\d{0,3})(?=\s{2}|\t)")
_TITLED = re.compile(
    r"[ \t]{0,20}(?P<name>(?:(?:Mr|Ms|Mrs|Miss|Dr|Prof|Sen|Rep|Gen|Col)\.|Senator|Representative|Secretary|General|"
    r"Judge|Justice|Ambassador|Director|Professor|Commissioner|Governor|Mayor)(?: [A-Z][\w'’-]{1,30}){1,3}|"
    r"(?:The|Madam) (?:Chairman|Chairwoman|Chair|Clerk|Witness|President|Speaker|Court))\.\s{1,4}(?=[A-Z\"“‘(\[])"
)
_AROUND = " \t\xa0*_#>•·-–—|"
_SENTENCE_ENDS = tuple(".?!…\"”’':)]}>-–—。？！」』；;*_")
_CHANGE = re.compile(r"[ \t]{0,9}(?:>>+|[-–—‐])[ \t]{0,9}(?=[^\s\d–—‐-])")
_BRACKETS = {"[": "]", "<": ">", "(": ")", "“": "”", '"': '"', "【": "】"}


@dataclass(frozen=True, slots=True)
class Start:
    """Where a turn may begin.

    Attributes:
        index: of the line.
        name: as written, without brackets, remark and marks.
        text_at: where the text begins in the line.
        remark: that the label holds beside the name: "laughing".
        kind: how much the name looks like one.
        after_break: whether the line stands first or after an empty one.
        after_sentence: whether what stands before it is at an end.
    """

    index: int
    line: Line
    name: str
    time: str
    text_at: int
    remark: str
    kind: NameKind
    after_break: bool = True
    after_sentence: bool = True

    @property
    def key(self) -> str:
        """What equal names share."""
        return name_key(self.name)

    @property
    def prefix(self) -> str:
        """The label as written."""
        return self.line.text[: self.text_at]


def _skip(text: str, at: int, characters: str) -> int:
    end = min(len(text), _HEAD)
    while at < end and text[at] in characters:
        at += 1
    return at


def _unwrap(name: str) -> str:
    name = without_marks(name).strip(_AROUND)
    while len(name) > 2 and _BRACKETS.get(name[0]) == name[-1]:
        name = name[1:-1].strip(_AROUND)
    return without_marks(name)


def _leading_time(text: str, at: int) -> tuple[str, int]:
    found = _TIME_FIRST.match(text, at, _HEAD)
    if not found:
        return "", at
    after = text[found.end("time") : found.end("time") + 1]
    # "10:30am: ..." is a time; "3:14159" and "12:30pm-ish" are none.
    return (found["time"], found.end()) if not (after.isalnum() or after == ".") else ("", at)


def parse_colon(index: int, line: Line) -> Start | None:
    """Read ``Name: text``, with a time before the name, inside the label or right after the colon."""
    text = line.text
    at = _skip(text, 0, _AROUND + "\u200e\u200f\ufeff\u202a\u202b\u2067\u2068")
    time, at = _leading_time(text, at)
    at = _skip(text, at, _AROUND)
    colon = _label_colon(text, at)
    if colon is None:
        return None
    label = text[at:colon]
    if not time and (found := _TIME_LAST.search(without_marks(label))):
        time = found["time"]
        label = without_marks(label)[: found.start()]
    end = colon + 1
    opened = text[:at].strip()[-2:] in ("**", "__") or text[at:colon].lstrip()[:2] in ("**", "__")
    if opened and text[end : end + 2] in ("**", "__"):
        end += 2
    if not time:
        start = _skip(text, end, " \t\xa0")
        if found := _BRACKETED_TIME.match(text, start, start + 40):
            time, end = found["time"], found.end()
    if any(label.count(a) > label.count(b) for a, b in ("[]", "()", "（）")):
        return None  # the colon is inside of brackets: [Interruption: telephone rings]
    name, remark = split_remark(_unwrap(label))
    name = _unwrap(name)
    kind = classify(name)
    glued = end < len(text) and not text[colon].isspace() and text[colon] == ":" and text[end].isalnum()
    if not name or (glued and kind not in (NameKind.role, NameKind.name)):
        return None
    return Start(index, line, name, time, end, remark, kind)


def _label_colon(text: str, at: int) -> int | None:
    """Find the colon that ends a label: not a clock's, not an address's."""
    for i in range(at, min(len(text), at + _NAME)):
        if text[i] == "：":
            return i
        if text[i] == ":":
            after = text[i + 1 : i + 2]
            if after == "/" or (after.isdigit() and text[i - 1 : i].isdigit()):
                continue
            return i
    return None


def parse_header(index: int, line: Line) -> Start | None:
    """Read a line that holds a name and a time and nothing else, in either order."""
    text = without_marks(line.text)
    if not text or len(text) > 120:
        return None
    if found := _TIME_LAST.search(text):
        name = text[: found.start()]
        time = found["time"]
    else:
        time, at = _leading_time(text, 0)
        name = text[at:]
    name = _unwrap(name.rstrip(" \t,:[(<").rstrip(_AROUND))
    if not time or not name or ":" in name:
        return None
    name, remark = split_remark(name)
    return Start(index, line, name, time, len(line.text), remark, classify(name))


def bracketed_time(text: str) -> tuple[str, int]:
    """Return a time in brackets that a line begins with, and where it ends."""
    at = _skip(text, 0, " \t\xa0")
    found = _BRACKETED_TIME.match(text, at, _HEAD)
    return (found["time"], found.end()) if found else ("", 0)


def time_alone(text: str) -> str:
    """Return the time where a line holds nothing else, else ""."""
    text = without_marks(text)
    balanced = (text[:1] in "[(<{") == (text[-1:] in "])>}")
    found = _TIME_FIRST.fullmatch(text) if len(text) <= 60 and balanced else None
    # A number with a full stop alone is as likely to be a section's.
    return found["time"] if found and ":" in found["time"] else ""


def parse_qa(index: int, line: Line) -> Start | None:
    """Read ``Q. text`` and ``A.   text``."""
    at = _skip(line.text, 0, " \t\xa0")
    found = _QA.match(line.text, at, _HEAD)
    if not found:
        return None
    name = found["name"] or found["bare"]
    return Start(index, line, name[0], "", found.end(), name[1:], NameKind.role)  # Q1 is Q's first


def parse_titled(index: int, line: Line) -> Start | None:
    """Read ``Mr. Lind. Text``, as printed hearings have it."""
    found = _TITLED.match(line.text, 0, _HEAD)
    return Start(index, line, found["name"], "", found.end(), "", NameKind.name) if found else None


def parse_irc(index: int, line: Line) -> Start | None:
    """Read ``<Name> text``."""
    at = _skip(line.text, 0, " \t")
    time, at = _leading_time(line.text, at) if line.text[at : at + 1] != "<" else ("", at)
    at = _skip(line.text, at, " \t")
    end = line.text.find(">", at, at + _NAME)
    if line.text[at : at + 1] != "<" or end < 0:
        return None
    name = line.text[at + 1 : end].strip(" @+%~&")
    # Whatever stands there is a name, where a chat is written so.
    kind = NameKind.prose if classify(name) is NameKind.prose else NameKind.role
    return Start(index, line, name, time, end + 1, "", kind)


def parse_tab(index: int, line: Line) -> Start | None:
    """Read ``Name<tab>text`` and ``time<tab>Name<tab>text``."""
    cells = line.text[: 2 * _HEAD].split("\t", 2)
    time = without_marks(cells[0]) if len(cells) == 3 and time_alone(cells[0]) else ""
    if len(cells) < 2 or not without_marks(cells[1]) or not without_marks(cells[0]):
        return None
    name = _unwrap(cells[1] if time else cells[0]).rstrip(":.")
    text_at = len(cells[0]) + 1 + (len(cells[1]) + 1 if time else 0)
    return Start(index, line, name, time_alone(time), text_at, "", classify(name)) if name else None


def accept(starts: Sequence[Start], num_lines: int, forced: Collection[str] = ()) -> list[Start]:
    """Choose the labels that are speakers; the rest is text.

    A role's name counts at once, and so do names that the caller gives. Another name counts where it recurs, or where
    it stands once and the layout says so: after a break, or where the sentence before it is at an end. What only
    might be a name must recur, or every line must have a label. Where sentences end before labels, a name that stands
    in the middle of them, time and again, is the beginning of a line ("may it please the / Court: ..."). Prose is
    never a speaker.

    Args:
        starts: candidates, in order.
        num_lines: that are not empty, in the text.
        forced: keys of names that count in any case.
    """
    counts: dict[str, int] = {}
    for start in starts:
        counts[start.key] = counts.get(start.key, 0) + 1
    timed = [start for start in starts if start.time and start.kind is not NameKind.prose]
    # Where turns have times, a label without one is prose, unless its name has been seen with one.
    by_time = len(timed) >= 2 and 5 * len(timed) >= 4 * sum(s.kind is not NameKind.prose for s in starts)
    with_time = {start.key for start in timed}
    every_line = num_lines >= 2 and sum(start.kind is not NameKind.prose for start in starts) == num_lines
    inside = _inside_of_sentences([start for start in starts if start.kind is not NameKind.prose])
    chosen = []
    for start in starts:
        key, kind = start.key, start.kind
        recurs = counts[key] >= 2 and key not in inside
        once = counts[key] == 1 and (start.after_break or start.after_sentence)
        counted = (
            key in forced
            or kind is NameKind.role
            or (kind is NameKind.name and (recurs or once or every_line))
            or (kind is NameKind.weak and (recurs or every_line))
        )
        if counted and (key in forced or not by_time or key in with_time):
            chosen.append(start)
    keys = {start.key for start in chosen}
    certain = any(s.kind is NameKind.role or s.key in forced or counts[s.key] >= 2 for s in chosen)
    # Names that all stand once are those of a short talk, or the headwords of a list: in a talk somebody asks.
    asks = any(mark in start.line.text for start in chosen for mark in "?？؟")
    return chosen if certain or (len(keys) >= 2 and (every_line or asks)) else []


def _inside_of_sentences(starts: Sequence[Start]) -> set[str]:
    """Find the keys that stand in the middle of sentences mostly, in a text where the others do not."""
    at_end: dict[str, list[bool]] = {}
    for start in starts:
        at_end.setdefault(start.key, []).append(start.after_break or start.after_sentence)
    capitals = {start.key for start in starts if start.name.isupper()}
    ended, every = sum(map(sum, at_end.values())), len(starts)
    return {
        key
        for key, own in at_end.items()
        if key not in capitals and 2 * sum(own) < len(own) and 10 * (ended - sum(own)) >= 7 * (every - len(own)) > 0
    }


def ends_sentence(text: str) -> bool:
    """Say whether a line ends where a sentence does, or is broken off by a dash."""
    return without_marks(text).endswith(_SENTENCE_ENDS)


def change_mark(text: str, *, after_sentence: bool) -> str:
    """Return the mark at a line's beginning that says that somebody else speaks, "" where there is none.

    ``>>`` always does. A dash does before a capital, where a sentence is at an end: elsewhere it is one of the text's.
    """
    found = _CHANGE.match(text, 0, 60)
    if not found:
        return ""
    first = text[found.end()]
    is_sign = ">" in found[0] or (after_sentence and (first.isupper() or first.lower() == first.upper()))
    return found[0] if is_sign else ""
