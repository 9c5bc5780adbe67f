"""Read a verdict from a judge's reply, strictly, since a wrong guess is worse than an unscored item.

What counts is a line of its own that says ``Result: Yes`` or ``Result: No`` (any case, any markdown, before or after
the reasons), a JSON object with a ``result``, or a bare yes or no as the whole reply. Anything else is not a verdict:
words quoted inside the reasons, "yes and no", "yes (partially)", "I cannot tell", lines that contradict each other.
"""

import re

from elicit_gym.strict_json import parse_json

__all__ = ["parse_verdict", "parse_verdicts"]

# Zero-width characters, joiners and direction marks can hide a word from a reader or a pattern.
_INVISIBLE = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff\u00ad]")
_MARKDOWN = re.compile(r"[*_`#>]+")
_FENCE = "```"
_RESULT_LINE = re.compile(
    r"^[^\S\n]{0,99}[-•]?[^\S\n]{0,99}(?:final\s{1,9})?(?:result|verdict|judge?ment|answer)\s{0,99}(?P<number>\d{1,9})?"
    r"\s{0,9}[:=\-–—]\s{0,99}(?P<answer>[^\n]*)",
    re.IGNORECASE | re.MULTILINE,
)
_YES_OR_NO = re.compile(r"^[\[(<\"'“]*(?P<word>yes|no)[\])>\"'”]*[.!]?$", re.IGNORECASE)

Reading = tuple[bool | None, str | None]


def _answer(text: str) -> bool | None:
    found = _YES_OR_NO.match(text.strip())
    return None if found is None else found["word"].lower() == "yes"


def _plain(text: str) -> str:
    return _MARKDOWN.sub("", _INVISIBLE.sub("", text)).strip()


def _json_of(text: str) -> object:
    """Return the JSON if it is the whole reply, in a fence or not; otherwise None.

    JSON inside other text is never read: it may be a quotation of what is judged.
    """
    candidate = text.strip()
    inside = candidate.removeprefix(_FENCE).removesuffix(_FENCE)
    if len(candidate) == len(inside) + 2 * len(_FENCE) and _FENCE not in inside:
        candidate = (inside[4:] if inside[:4].lower() == "json" else inside).strip()
    if candidate[:1] not in ("{", "["):
        return None
    try:
        return parse_json(candidate)
    except ValueError:
        return None


def _answer_of_json(value: object) -> bool | None:
    if isinstance(value, bool):
        return value
    return _answer(value) if isinstance(value, str) else None


def parse_verdict(text: str) -> Reading:
    """Read the one verdict of a reply.

    Returns:
        True, False or None, and the reason if it is None.
    """
    verdicts, reason = parse_verdicts(text, 1)
    return verdicts[0], reason


def parse_verdicts(text: str, count: int) -> tuple[list[bool | None], str | None]:
    """Read `count` verdicts of a reply, numbered from 1.

    Returns:
        One answer per item, and a reason if any of them is None.
    """
    value = _json_of(text)
    if value is not None:
        return _from_json(value, count)
    plain = _plain(text)
    if count == 1 and (bare := _answer(plain)) is not None:
        return [bare], None
    found: dict[int, set[bool | None]] = {}
    for line in _RESULT_LINE.finditer(plain):
        number = int(line["number"]) if line["number"] else 1
        if line["number"] is None and count > 1:
            continue  # without a number it is unclear which item it answers
        found.setdefault(number, set()).add(_answer(line["answer"]))
    verdicts: list[bool | None] = []
    reason: str | None = None
    for number in range(1, count + 1):
        answers = found.get(number, set())
        if len(answers) == 1 and None not in answers:
            verdicts.append(answers.pop())
            continue
        verdicts.append(None)
        which = f" for item {number}" if count > 1 else ""
        if not answers:
            reason = f"no result line{which}"
        elif None in answers:
            reason = f"a result line that is neither yes nor no{which}"
        else:
            reason = f"result lines that contradict each other{which}"
    return verdicts, reason


def _from_json(value: object, count: int) -> tuple[list[bool | None], str | None]:
    answers: list[object] = []
    if isinstance(value, dict):
        lowered = {str(key).lower(): entry for key, entry in value.items()}
        results = lowered.get("results", lowered.get("result", lowered.get("verdict", lowered.get("answer"))))
        if isinstance(results, dict):
            answers = [results.get(str(i), results.get(f"result {i}")) for i in range(1, count + 1)]
        else:
            answers = results if isinstance(results, list) else [results]
        if count > 1 and results is None:
            answers = [
                lowered.get(str(i), lowered.get(f"result {i}", lowered.get(f"result_{i}"))) for i in range(1, count + 1)
            ]
    elif isinstance(value, list):
        answers = value
    if len(answers) != count:
        return [None] * count, f"JSON with {len(answers)} results instead of {count}"
    verdicts = [_answer_of_json(answer) for answer in answers]
    return verdicts, None if None not in verdicts else "JSON with a result that is neither yes nor no"
