"""Find the verdicts that a judge's reply states in its own name, in every shape in which models write one."""

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from elicit_gym.judges.answers import Statement, answer_of, is_sentence_verdict, plain
from elicit_gym.strict_json import parse_json

__all__ = ["statements_in"]

_NAMES = r"(?:result|verdict|judge?ment|answer|decision|conclusion)"
_LABEL_TEXT = (
    rf"(?:(?:my|the)\s+)?(?:(?:final|overall)\s+)?(?:{_NAMES}(?:\s+(?:for|on)\s+(?:this|the)\s+criterion)?"
    r"|(?:criterion|item)(?=\s*\#?\d))[*_`]*\s*(?P<mark>@\w+@)?\s*(?:\#?\s*(?P<number>\d+))?[*_`]*"
)
_LABEL = re.compile(rf"{_LABEL_TEXT}\s*(?:[:=]|[-–—]+>?|→)[*_`]*\s*(?P<answer>[^\n]*)", re.IGNORECASE)
_LABEL_ALONE = re.compile(rf"{_LABEL_TEXT}\s*:?", re.IGNORECASE)
_INLINE = re.compile(rf"(?:(?<=[.!?:;,)\]}}])|(?<=\*\*)|\s(?=\*\*|__))\s*[*_`]*(?={_NAMES}\b|final\b)", re.IGNORECASE)
_PROSE = re.compile(
    rf"(?:^|[.!?,;:]\s+|\b(?:so|thus|hence|therefore|and)\s+)(?:the|my)\s+(?:final\s+|overall\s+)?{_NAMES}\s+is:?\s*[*_\"'“]*(?P<answer>yes|no)\b[^\w?]*$",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"\#?(?P<number>\d+)\s*[.:)]\s*(?P<answer>\S.*)")
_QUESTION = re.compile(
    r"(?:criterion|(?P<number>\d+)\s*[.:)])\s?.*\?\s*[-–—:→]*\s*(?P<answer>[*_\"“]*(?:yes|no)\W*)$", re.IGNORECASE
)
_TAG = re.compile(rf"<(?P<tag>{_NAMES})>\s*(?P<answer>.*?)\s*</(?P=tag)>", re.IGNORECASE | re.DOTALL)
_BOXED = re.compile(r"\\boxed\{\s*(?:\\text(?:bf)?\{)?\s*(?P<answer>[\w ]+)")
_BREAK = re.compile(r"[ \t]+(?=[*_`]*(?:Result|Criterion) \d+[*_`]*\s*:)", re.IGNORECASE)
_DECORATION = re.compile(r"[\s*_`#\-•·\[(“\"'\u2190-\u21ff\u2600-\u27bf\U0001f000-\U0001faff]+|\d+[.)]\s+(?=\D)")
_RULER = re.compile(r"\s*[=\-_*]{3,}\s*")
_ROW = re.compile(r"^\s*\|(.+)\|\s*$")
_SENTENCES = re.compile(r"(?<=[.!?])\s+|\n+")

_ALL_FENCED = re.compile(r"\s*(```|~~~)\w*[^\S\n]*\n?((?:(?!\1).)*)\1\s*", re.DOTALL)
_LAST_FENCE = re.compile(r"```(?:json)?\s*([{\[](?:(?!```).)*)```\s*\Z", re.DOTALL | re.IGNORECASE)
_QUOTATIONS = (
    re.compile(r"(```|~~~).*?(?:\1|\Z)", re.DOTALL),
    re.compile(r"^[ \t]*>[^\n]*$", re.MULTILINE),
    re.compile(r"(?:\A|(?<=\n\n))(?:(?: {4}|\t)[^\n]*(?:\n|\Z))+"),
    re.compile(r"<(quote|blockquote|cite|message|assistant_message)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE),
    re.compile(r"<<(?=[^\n]*\n).*?(?:>>|\Z)", re.DOTALL),
)
_IN_MARKS = re.compile(
    r"“[^”]{0,2000}”|„[^“”]{0,2000}[“”]|«[^»]{0,2000}»|‘[^’\n]*’(?!\w)|\"[^\"]{0,2000}\"|`[^`\n]*`|(?<!\w)'[^'\n]*'(?!\w)"
)
_SPEAKS_OF_VERDICT = re.compile(rf"\b{_NAMES}\b|\b(?:criterion|yes|no)\b", re.IGNORECASE)
_KEYS = (
    "result", "verdict", "answer", "decision", "judgment", "judgement", "met", "meets_criterion", "criterion_met",
    "satisfied",
)  # fmt: skip
_MOST_JSON = 50
_LONGEST_LITERAL = 4_000
_NO_WORDS = " \t\n\r_*`#>\"'“”‘’«».,;:!?()[]{}|-–—"
_BLANK = "\x00"

Found = tuple[int, Statement]
"""Where a statement starts, and the statement."""


def statements_in(reply: str, count: int, mark: str = "") -> list[Statement]:
    """Return the statements of a reply, in order.

    Args:
        reply: without thoughts and without marks of a turn's end.
        count: the number of criteria; of several, only numbered statements count.
        mark: the mark that makes a statement the judge's own beyond doubt.
    """
    text = plain(reply)
    fenced = _ALL_FENCED.fullmatch(text)
    text = (fenced[2] if fenced else text).strip("\n ")
    structured = _json_at_end(text)
    if structured is not None:
        at, raw, value = structured
        found = [(at, s) for s in _of_json(value, count, raw, len(text))]
        if found:
            text = text[:at]
    else:
        found = []
    own = _without_quotations(text)
    found += [*_in_lines(own, count, mark), *_in_tables(own, count), *_in_tags(own)]
    found.sort(key=lambda entry: entry[1].at)
    if not found and count == 1:
        found = [*_in_last_sentence(own), *_in_first_line(own)][:1]
    return [
        replace(s, adjoins=i + 1 < len(found) and not re.search(r"[^\W_]", own[s.at : found[i + 1][0]]))
        for i, (_, s) in enumerate(found)
    ]


def _without_quotations(text: str) -> str:
    """Blank out what is quoted, at equal length."""
    for quotation in _QUOTATIONS:
        text = quotation.sub(lambda found: re.sub(r"[^\n]", _BLANK, found[0]), text)

    last_word = len(text.rstrip(_NO_WORDS))

    def blank(found: re.Match[str]) -> str:
        if not _SPEAKS_OF_VERDICT.search(found[0]):
            return found[0]
        line = text[text.rfind("\n", 0, found.start()) + 1 : found.start()]
        ends = found.end() >= last_word and not re.search(r"[^\W_]", line) and "\n" not in found[0]
        own = ends and _LABEL.match(_undecorated(found[0])) is not None
        answers = answer_of(found[0]) is not None and re.search(rf"{_NAMES}[^\w\n]*$", line, re.IGNORECASE)
        return found[0] if own or answers else re.sub(r"[^\n]", _BLANK, found[0])

    return _IN_MARKS.sub(blank, text)


def _in_lines(text: str, count: int, mark: str) -> Iterator[Found]:
    broken = _BREAK.sub(lambda found: "\n" + found[0][1:], text)
    lines = broken.split("\n")
    start = 0
    for i, line in enumerate(lines):
        end = start + len(line)
        bare = _undecorated(line)
        statement = _of_line(bare, line, end, lines[i + 1 :], count, mark)
        if statement is not None:
            inside = line.find(statement.text)
            yield start + max(inside, 0), statement
        start = end + 1


def _of_line(bare: str, line: str, end: int, after: list[str], count: int, mark: str) -> Statement | None:
    label = _LABEL.match(bare)
    if label is not None and (label["answer"].strip(" *_`\x00") or not _LABEL_ALONE.fullmatch(bare.strip(" *_`|"))):
        return _labelled(label, answer_of(label["answer"]), end, mark)
    alone = _LABEL_ALONE.fullmatch(bare.strip(' *_`"”|]'))
    if alone is not None:
        following = [(k, text) for k, text in enumerate(after) if text.strip() and not _RULER.fullmatch(text)][:1]
        answer = answer_of(following[0][1]) if following else None
        until = end + sum(len(text) + 1 for text in after[: following[0][0] + 1]) if following else end
        statement = _labelled(alone, answer, until, mark)
        return replace(statement, text=f"{statement.text} {following[0][1] if following else ''}")
    question = _QUESTION.fullmatch(bare) or _QUESTION.fullmatch(line.strip())
    if question is not None and (count == 1 or question["number"]):
        number = int(question["number"]) if question["number"] and count > 1 else None
        return Statement(end, number, answer_of(question["answer"]), bare)
    if count > 1:
        numbered = _NUMBERED.match(line.strip(" *_`#-"))
        answer = answer_of(numbered["answer"]) if numbered else None
        return Statement(end, int(numbered["number"]), answer, line) if numbered and answer is not None else None
    prose = _PROSE.search(bare)
    if prose is not None and not bare.lower().startswith("if "):
        return Statement(end, None, answer_of(prose["answer"]), prose[0])
    for place in reversed(list(_INLINE.finditer(line))):
        inline = _LABEL.match(line, place.end())
        if inline is not None and len(inline["answer"].split()) <= 2 and answer_of(inline["answer"]) is not None:
            return _labelled(inline, answer_of(inline["answer"]), end, mark)
    return None


def _labelled(label: re.Match[str], answer: bool | None, end: int, mark: str) -> Statement:
    number = int(label["number"]) if label["number"] else None
    return Statement(end, number, answer, label[0], marked=bool(mark) and label["mark"] == mark)


def _undecorated(line: str) -> str:
    at = 0
    while (found := _DECORATION.match(line, at)) and found.end() > at:
        at = found.end()
    return line[at:].rstrip()


def _in_tables(text: str, count: int) -> Iterator[Found]:
    """Yield what the rows of a table say: in the column of the results, or beside a label."""
    header: list[str] | None = None
    start = 0
    for line in text.split("\n"):
        end = start + len(line)
        row = _ROW.match(line)
        cells = [cell.strip(" *_`") for cell in row[1].split("|")] if row else []
        if not row:
            header = None if line.strip() else header
        elif header is None:
            header = [cell.lower() for cell in cells]
        elif not all(re.fullmatch(r":?-+:?", cell) for cell in cells):
            column = next((k for k, name in enumerate(header) if re.fullmatch(rf"{_NAMES}|met\??", name)), None)
            number = next((int(cell) for cell in cells[:1] if cell.isdigit()), None)
            if column is not None and column < len(cells):
                answer = answer_of(cells[column])
            elif len(cells) == 2 and re.fullmatch(_NAMES, cells[0], re.IGNORECASE):
                answer = answer_of(cells[1])
            else:
                start = end + 1
                continue
            if count == 1 or number is not None:
                yield start, Statement(end, number, answer, line)
        start = end + 1


def _in_tags(text: str) -> Iterator[Found]:
    for found in (*_TAG.finditer(text), *_BOXED.finditer(text)):
        yield found.start(), Statement(found.end(), None, answer_of(found["answer"]), found[0])


def _in_last_sentence(text: str) -> Iterator[Found]:
    sentences = [s for s in _SENTENCES.split(text.strip()) if s.strip()]
    if sentences and is_sentence_verdict(sentences[-1]):
        yield 0, Statement(len(text), None, answer_of(sentences[-1]), sentences[-1])


def _in_first_line(text: str) -> Iterator[Found]:
    lines = text.strip().split("\n", 1)
    answer = answer_of(lines[0]) if lines[0].strip() else None
    if answer is not None and len(lines[0].split()) <= 2:
        rest = answer_of(text)
        yield 0, Statement(len(lines[0]), None, answer if rest is answer else None, lines[0])


def _json_at_end(text: str) -> tuple[int, str, object] | None:
    """Return where the JSON that ends a reply starts, its text and its value; JSON amid text may be a quotation."""
    fenced = _LAST_FENCE.search(text)
    body, limit = (fenced[1], fenced.start()) if fenced else (text, None)
    for place in islice(re.finditer(r"^[ \t]*[{\[]", body, re.MULTILINE), _MOST_JSON):
        try:
            raw = body[place.start() :]
            return (place.start() if limit is None else limit), raw, _value_of(raw)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            if limit is not None:
                return None
    return None


def _value_of(raw: str) -> object:
    """Read JSON, or what Python prints in its place: single quotes, True, None."""
    try:
        return parse_json(raw)
    except ValueError:
        if len(raw) > _LONGEST_LITERAL:
            raise
        return ast.literal_eval(raw.strip())


def _of_json(value: object, count: int, raw: str, end: int) -> list[Statement]:
    if isinstance(value, list) and count == 1 and len(value) == 1 and isinstance(value[0], dict):
        value = value[0]
    answers: dict[int, set[bool | None]] = {}
    if isinstance(value, dict):
        lowered = {re.sub(r"[\s\-]+", "_", str(key).lower()): entry for key, entry in value.items()}
        results = lowered.get("results", [lowered[key] for key in _KEYS if key in lowered])
        if isinstance(results, dict):
            lowered, results = {str(key).lower().replace(" ", "_"): v for key, v in results.items()}, []
        results = results if isinstance(results, list) else [results]
        if count == 1:
            answers[1] = {_of_entry(entry) for entry in results}
        elif len(results) == 1 and isinstance(results[0], list):
            results = results[0]
        if count > 1 and len(results) == count:
            answers = {i: {_of_entry(entry)} for i, entry in enumerate(results, 1)}
        for i in range(1, count + 1):
            named = [lowered[k] for k in (str(i), f"result_{i}", f"criterion_{i}", f"item_{i}") if k in lowered]
            answers.setdefault(i, set()).update(map(_of_entry, named))
    elif isinstance(value, list) and len(value) == count:
        for i, entry in enumerate(value, 1):
            number = entry.get("criterion", entry.get("number", i)) if isinstance(entry, dict) else i
            answers.setdefault(number if isinstance(number, int) else i, set()).add(_of_entry(entry))
    return [Statement(end, i, a.pop() if len(a) == 1 else None, raw) for i, a in sorted(answers.items()) if a]


def _of_entry(entry: object) -> bool | None:
    if isinstance(entry, dict):
        return next((_of_entry(v) for k, v in entry.items() if str(k).lower() in _KEYS), None)
    if isinstance(entry, bool):
        return entry
    return answer_of(entry) if isinstance(entry, str) else None
