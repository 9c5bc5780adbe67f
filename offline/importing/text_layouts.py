"""Lines of text as turns: which layout they have, and what is said in it."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from elicit_gym.errors import SettingError
from elicit_gym.offline.importing import labels
from elicit_gym.offline.importing.characters import is_visible, without_marks
from elicit_gym.offline.importing.chat_cha import looks_like_cha, read_cha
from elicit_gym.offline.importing.labels import Start
from elicit_gym.offline.importing.names import NameKind, classify, name_key
from elicit_gym.offline.importing.numbering import read_numbering
from elicit_gym.offline.importing.pages import running_heads
from elicit_gym.offline.importing.role_words import role_by_name
from elicit_gym.offline.importing.source import Line, Reading
from elicit_gym.offline.importing.subtitles import looks_like_cues, read_cues
from elicit_gym.offline.importing.turns import Turns
from elicit_gym.offline.importing.zoom_chat import looks_like_zoom_chat, read_zoom_chat

__all__ = ["LAYOUTS", "read_lines"]

LAYOUTS = (
    "'Name: text', 'Name (0:03): text', '[0:03] Name: text', a line 'Name  0:03' above the text (Otter, Rev, Teams), "
    "'Q. text' and 'A. text', 'Mr. Name. Text', a name on a line of its own above each paragraph, 'Name<tab>text', "
    "Zoom's chat, subtitles, CHAT"
)
_EXAMINER = re.compile(
    r"(?:FURTHER\s+)?"
    r"(?:BY\s+(?:MR|MS|MRS|DR|THE)\b.{0,40}:?|(?:(?:RE)?(?:DIRECT|CROSS)[- ]?|FURTHER\s+)?EXAMINATION\b.{0,40})"
)
_Parse = Callable[[int, Line], Start | None]


@dataclass(frozen=True, slots=True)
class Found:
    """A layout that fits."""

    name: str
    starts: tuple[Start, ...]


def read_lines(
    lines: Sequence[Line],
    path: str,
    *,
    forced: Collection[str] = (),
    speaker: bool = False,
    wrapped: bool = False,
) -> Reading:
    """Read the lines of a text, of a Word file or of a PDF.

    Args:
        lines: in order, empty ones included.
        path: for messages.
        forced: keys of names that are speakers in any case.
        speaker: whether a text in which nobody is named is taken nevertheless, as paragraphs of one speaker.
        wrapped: whether lines end where the page does, so that they are joined by a space.

    Raises:
        SettingError: nobody speaks, or the layout is not recognised.
    """
    if not any(is_visible(line.text) for line in lines):
        raise SettingError(f"Importing {path}: expected text, got none. Check the file.")
    if looks_like_cha(lines):
        return read_cha(lines, path)
    if looks_like_cues(lines):
        return read_cues(lines, path, forced=forced, speaker=speaker)
    if looks_like_zoom_chat(lines):
        return read_zoom_chat(lines)
    heads = running_heads(lines, paged=wrapped)
    body = [line for i, line in enumerate(lines) if i not in heads]
    if not any(is_visible(line.text) for line in body):  # numbers and nothing else: no pages' numbers
        heads, body = {}, list(lines)
    numbering = read_numbering(body)
    texts = numbering.lines if numbering else body
    found = _layout(texts, forced)
    if found is None and not speaker:
        raise SettingError(_refusal(path, texts))
    reading = Reading(found.name if found else "text without names")
    seen = set()
    for i, line in enumerate(lines):
        if i in heads:
            keep = heads[i] == "running heads" and line.text not in seen
            seen.add(line.text)
            reading.leave_out(line.unit, heads[i], line.text, keep=keep, where=line.where)
    if numbering:
        reading.layout += ", numbered lines"
        for line, number in numbering.numbers:
            reading.leave_out(line.unit, "line numbers", number, where=line.where)
    printed = found is not None and found.name == "Mr. Name. Text"
    turns = Turns(reading, wrapped=wrapped or numbering is not None or printed)
    if found is None:
        _paragraphs(turns, texts)
    else:
        _turns(turns, texts, found)
    turns.finish()
    if found is not None:
        _note_colons(reading, texts, found, forced)
        _note_labels_inside(reading, texts, found)
    reading.finish()
    return reading


def _layout(lines: Sequence[Line], forced: Collection[str]) -> Found | None:
    header = _headers(lines, forced)
    colon = _colons(lines, forced)
    if header and 2 * len(header) >= len(colon):
        return Found("a name and a time on a line above the text", header)
    qa = _questions_and_answers(lines, forced)
    if qa and len(qa) >= len(colon):
        return Found("Q. and A.", qa)
    titled = _titled(lines, forced)
    if len(titled) > len(colon):
        return Found("Mr. Name. Text", titled)
    others = {
        "<Name> text": _recurring(lines, labels.parse_irc, forced),
        "Name<tab>text": _recurring(lines, labels.parse_tab, forced),
    }
    best = max(others, key=lambda name: len(others[name]))
    if others[best] and len(others[best]) > len(colon):
        return Found(best, others[best])
    if colon:
        return Found("Name: text", colon)
    alone = _names_alone(lines, forced)
    return Found("a name on a line above each paragraph", alone) if alone else None


def _with_surroundings(start: Start, lines: Sequence[Line]) -> Start:
    """Say what stands before a candidate: an empty line, the end of a sentence, another page."""
    before = start.index - 1
    if before < 0 or not is_visible(lines[before].text):
        return start
    text = without_marks(lines[before].text)
    return replace(start, after_break=False, after_sentence=labels.ends_sentence(text) or bool(labels.time_alone(text)))


def _candidates(lines: Sequence[Line], parse: _Parse) -> list[Start]:
    made = (parse(i, line) for i, line in enumerate(lines) if is_visible(line.text[:400]))
    return [_with_surroundings(start, lines) for start in made if start is not None]


def _colons(lines: Sequence[Line], forced: Collection[str]) -> tuple[Start, ...]:
    starts = _candidates(lines, labels.parse_colon)
    first = next((s.index for s in starts if s.kind is not NameKind.prose), len(lines))
    spoken = [line for line in lines[first:] if is_visible(line.text) and not labels.time_alone(line.text)]
    chosen = labels.accept([s for s in starts if s.index >= first], len(spoken), forced)
    return tuple(_without_heading(chosen, lines))


def _without_heading(chosen: Sequence[Start], lines: Sequence[Line]) -> Sequence[Start]:
    """Drop the fields of a heading: ``Interviewer: Anna Lind``, above the turns, by names that stand nowhere else."""
    forms = Counter(start.name for start in chosen)
    end = next((i for i, start in enumerate(chosen) if forms[start.name] > 1), 0)
    if end == 0 or len({s.key for s in chosen[end:]}) < 2:
        return chosen
    head = chosen[:end]
    blank_follows = any(not is_visible(lines[i].text) for i in range(head[-1].index, chosen[end].index))
    no_talk = all(not without_marks(start.line.text[start.text_at :]).endswith((".", "?", "!", "？")) for start in head)
    return chosen[end:] if blank_follows and no_talk else chosen


def _headers(lines: Sequence[Line], forced: Collection[str]) -> tuple[Start, ...]:
    starts = [s for s in _candidates(lines, labels.parse_header) if s.kind is not NameKind.prose or s.key in forced]
    at = {start.index for start in starts}
    # A header has its text below it; "[0:05] Yes" over and over is text with times.
    with_text = [s for s in starts if (below := _next_text(lines, s.index)) is not None and below not in at]
    if 5 * len(with_text) < 4 * len(starts):
        return ()
    return tuple(labels.accept(starts, len(starts), forced))


def _next_text(lines: Sequence[Line], index: int) -> int | None:
    return next((i for i in range(index + 1, min(len(lines), index + 4)) if is_visible(lines[i].text)), None)


def _questions_and_answers(lines: Sequence[Line], forced: Collection[str]) -> tuple[Start, ...]:
    letters = _candidates(lines, labels.parse_qa)
    if {start.key[0] for start in letters} != {"q", "a"}:
        return ()
    taken = {start.index for start in letters}
    # Others speak in capitals: MR. EK:, THE WITNESS:
    others = [
        start
        for start in _candidates(lines, labels.parse_colon)
        if start.index not in taken
        and (start.key in forced or (start.name.upper() == start.name and start.kind in (NameKind.name, NameKind.role)))
        and not _EXAMINER.fullmatch(without_marks(start.line.text))
    ]
    return tuple(sorted((*letters, *others), key=lambda start: start.index))


def _titled(lines: Sequence[Line], forced: Collection[str]) -> tuple[Start, ...]:
    starts = _candidates(lines, labels.parse_titled)
    indented = [start for start in starts if start.line.text[:1].isspace()]
    chosen = labels.accept(indented or starts, len(lines), forced)
    return tuple(chosen) if len({start.key for start in chosen}) >= 2 else ()


def _recurring(lines: Sequence[Line], parse: _Parse, forced: Collection[str]) -> tuple[Start, ...]:
    starts = [s for s in _candidates(lines, parse) if s.kind is not NameKind.prose or s.key in forced]
    spoken = sum((is_visible(line.text)) for line in lines)
    return tuple(labels.accept(starts, spoken, forced))


def _names_alone(lines: Sequence[Line], forced: Collection[str]) -> tuple[Start, ...]:
    """Find names on lines of their own: every paragraph opens with one, and each of them recurs."""
    openings: list[Start] = []
    for i, line in enumerate(lines):
        text = without_marks(line.text)
        if text and (i == 0 or not is_visible(lines[i - 1].text)):
            name = text[:200].rstrip(":")
            kind = classify(name)
            openings.append(Start(i, line, name, "", len(line.text), "", kind))
    first = next((i for i, s in enumerate(openings) if s.kind in (NameKind.role, NameKind.name)), len(openings))
    openings = openings[first:]
    counts: dict[str, int] = {}
    for start in openings:
        counts[start.key] = counts.get(start.key, 0) + 1
    fits = (NameKind.role, NameKind.name)
    every = all(s.kind in fits for s in openings) and any(count >= 2 for count in counts.values())
    named = [
        s
        for s in openings
        if s.key in forced or s.kind is NameKind.role or (s.kind is NameKind.name and (every or counts[s.key] >= 2))
    ]
    have_text = all((below := _next_text(lines, s.index)) is not None and below == s.index + 1 for s in named)
    enough = len({s.key for s in named}) >= 2 and 5 * len(named) >= 4 * len(openings)
    return tuple(named) if enough and have_text else ()


def _turns(turns: Turns, lines: Sequence[Line], found: Found) -> None:
    starts = {start.index: start for start in found.starts}
    in_court = found.name == "Q. and A."
    for i, line in enumerate(lines):
        text = without_marks(line.text)
        start = starts.get(i)
        if start is not None:
            turns.begin(start)
        elif in_court and text.isupper() and _EXAMINER.fullmatch(text):
            turns.aside(line, "headings of examinations")
        elif (time := labels.time_alone(text)) and (not turns.wrapped or text[0] in "[(<"):
            turns.time(line, time, begins_turn=_next_text(lines, i) in starts)
        elif text:
            turns.go_on(line)


def _paragraphs(turns: Turns, lines: Sequence[Line]) -> None:
    for i, line in enumerate(lines):
        time, text_at = labels.bracketed_time(line.text)
        after_sentence = i == 0 or labels.ends_sentence(lines[i - 1].text) or not is_visible(lines[i - 1].text)
        change = labels.change_mark(line.text[text_at : text_at + 60], after_sentence=after_sentence)
        text_at += len(change)
        if is_visible(line.text) and (i == 0 or time or change or not is_visible(lines[i - 1].text)):
            prefix = line.text[:text_at]
            turns.reading.begin(line.unit, None, time=time, prefix=prefix, where=line.where, changes=bool(change))
        if is_visible(line.text):
            turns.reading.say(line.unit, line.text[text_at:], join=turns.join, where=line.where)


def _note_colons(reading: Reading, lines: Sequence[Line], found: Found, forced: Collection[str]) -> None:
    """Show what could have been a label and was taken as text, and speakers that stand once."""
    taken = {start.index for start in found.starts}
    candidates = _candidates(lines, labels.parse_colon)
    opened = Counter(start.key for start in candidates)
    for start in candidates:
        is_heading = _EXAMINER.fullmatch(without_marks(start.line.text))
        in_talk = start.index > found.starts[0].index and start.index not in taken
        recurs = opened[start.key] >= (2 if len(start.name.split()) <= 3 else 3)
        if in_talk and not is_heading and (recurs or start.kind is not NameKind.prose):
            name = start.name[:40]
            reading.count(f"'{name}:' was taken as text; --role '{name}=...' makes it a speaker", start.line.where)
    counts: dict[str, int] = {}
    for start in found.starts:
        counts[start.key] = counts.get(start.key, 0) + 1
    for start in found.starts:
        certain = start.key in forced or role_by_name(start.name, ()) is not None
        is_short_for = start.key in map(name_key, (*reading.aliases, *reading.aliases.values()))
        if counts[start.key] == 1 and not certain and not is_short_for and len(found.starts) > 2:
            reading.note(f"'{start.name}' speaks once ({start.line.where}): please check that this is a speaker")


def _note_labels_inside(reading: Reading, lines: Sequence[Line], found: Found) -> None:
    """Show where somebody may speak in the middle of another's line: ``Where? A: There.``."""
    names = sorted({re.escape(start.name) for start in found.starts}, key=len, reverse=True)[:50]
    inside = re.compile(rf"[.?!…。？！\"”)]\s{{0,9}}(?<!\w)({'|'.join(names)})(?:\s?[:：]|\.\s)")
    for line in lines:
        if hit := inside.search(line.text):
            reading.count(
                f"somebody else may speak in the middle of a line, after {hit[1]!r}; if so, begin a new line there",
                line.where,
            )


def _refusal(path: str, lines: Sequence[Line]) -> str:
    first = next((without_marks(line.text) for line in lines if is_visible(line.text)), "")
    dashes = sum(bool(labels.change_mark(line.text[:60], after_sentence=True)) for line in lines) > 1
    twice = ", twice for two who take turns at dashes" if dashes else ""
    starts = [start for start in _candidates(lines, labels.parse_colon) if start.kind is not NameKind.prose]
    listed = ", ".join(repr(name) for name in list(dict.fromkeys(start.name for start in starts))[:5])
    seen = f" What might be names does not recur: {listed}." if listed else ""
    return (
        f"Importing {path}: expected somebody who speaks, in one of the layouts {LAYOUTS}; got {first[:60]!r}.{seen} "
        "Name the speakers in the file, give --role NAME=elicitor for a name in it, or --speaker NAME if all is by one"
        f"{twice}."
    )
