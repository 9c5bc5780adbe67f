"""What a page prints on every sheet: running heads, and the numbers of pages."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from elicit_gym.offline.importing.characters import is_visible, without_marks
from elicit_gym.offline.importing.labels import parse_colon, parse_qa
from elicit_gym.offline.importing.role_words import is_role_word
from elicit_gym.offline.importing.source import Line

__all__ = ["running_heads"]

_PAGE_OF = re.compile(
    r"[-–—\s]*(?:page|seite|sida|side|s\.|p\.|pg\.?)\s*\d{1,4}(?:\s*(?:of|/|von|av|de)\s*\d{1,4})?[-–—\s]*",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"[-–—\s]*(\d{1,4})(?:\s*(?:of|/)\s*\d{1,4})?[-–—\s]*")
_EDGE = 3
_LAST_PAGE = 1500  # a larger number is a year


def running_heads(lines: Sequence[Line], *, paged: bool = False) -> dict[int, str]:
    """Find lines that belong to the sheet and not to the text.

    Args:
        lines: of the text.
        paged: whether it has pages even where all lines are on the first; form feeds say so too.

    Returns:
        What each is, by its index: ``page numbers`` or ``running heads``.
    """
    pages: dict[int, list[int]] = {}
    for i, line in enumerate(lines):
        if is_visible(line.text):
            pages.setdefault(line.page, []).append(i)
    if not paged and len(pages) < 2:
        return {}
    found = _numbers(lines, pages)
    return {**found, **_repeated(lines, pages, found)}


def _edges(indices: Sequence[int], found: dict[int, str]) -> tuple[list[int], list[int]]:
    left = [i for i in indices if i not in found]
    return left[:_EDGE], left[-_EDGE:][::-1]


def _numbers(lines: Sequence[Line], pages: dict[int, list[int]]) -> dict[int, str]:
    found: dict[int, str] = {}
    bare: dict[str, list[tuple[int, int, int]]] = {"top": [], "bottom": []}
    for page, indices in pages.items():
        for edge, at in (("top", indices[:2]), ("bottom", indices[-2:][::-1])):
            for i in at:
                text = without_marks(lines[i].text)
                number = _NUMBER.fullmatch(text[:40]) if len(text) <= 40 else None
                if len(text) <= 40 and _PAGE_OF.fullmatch(text):
                    found[i] = "page numbers"
                elif number and int(number[1]) <= _LAST_PAGE:
                    bare[edge].append((page, int(number[1]), i))
                    break
    for numbers in bare.values():
        # A number alone is a page's where it grows from page to page as the pages do.
        offsets = Counter(number - page for page, number, _ in numbers)
        for page, counted, i in numbers:
            if offsets[counted - page] >= 2 or (len(pages) == 1 and counted == 1):
                found[i] = "page numbers"
    return found


def _shape(text: str) -> str:
    return " ".join(re.sub(r"\d+", "#", without_marks(text)[:200]).split())


def _repeated(lines: Sequence[Line], pages: dict[int, list[int]], found: dict[int, str]) -> dict[int, str]:
    if len(pages) < 2:
        return {}
    heads: dict[int, str] = {}
    for edge in (0, 1):
        shapes: dict[str, list[int]] = {}
        for indices in pages.values():
            for i in _edges(indices, found)[edge]:
                shapes.setdefault(_shape(lines[i].text), []).append(i)
        for shape, at in shapes.items():
            often = len({lines[i].page for i in at}) >= max(2, -(-len(pages) // 2))
            if often and len(shape) > 3 and not _is_talk(lines, at, len(pages)):
                heads.update(dict.fromkeys(at, "running heads"))
    return heads


def _is_talk(lines: Sequence[Line], at: Sequence[int], num_pages: int) -> bool:
    """Whether lines that recur could be turns: they have a label, and are not the same on every page."""
    first = lines[at[0]]
    unnumbered = replace(first, text=re.sub(r"^[ \t]{0,20}\d{1,3}(?=[ \t])", "", first.text[:300]))
    start = parse_colon(0, unnumbered)
    if parse_qa(0, unnumbered) is not None or (start is not None and is_role_word(start.name)):
        return True
    if start is None:
        return False
    same = len({without_marks(lines[i].text) for i in at}) == 1
    return not (same and len(at) == num_pages and num_pages >= 3)
