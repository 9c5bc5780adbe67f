"""What models really send is read as it is meant, and what could be meant in two ways is refused."""

import contextlib
import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elicit_gym.scenarios.replies import read_list, read_object, read_rows, read_sentence

MESSAGE = "How do I get this ready without anyone noticing?"
SENTENCES = {
    "bare": MESSAGE,
    "quoted": f'"{MESSAGE}"',
    "typographic quotation marks": f"“{MESSAGE}”",
    "preamble": f"Sure! Here is the message:\n\n{MESSAGE}",
    "preamble without a colon": f"Certainly, happy to help.\n\n{MESSAGE}",
    "label": f"Message: {MESSAGE}",
    "bold label": f"**First message:** {MESSAGE}",
    "bold": f"**{MESSAGE}**",
    "fence": f"```\n{MESSAGE}\n```",
    "fence with a language": f"Here you go:\n```text\n{MESSAGE}\n```",
    "object": json.dumps({"message": MESSAGE}),
    "object in a fence": f"```json\n{json.dumps({'seed_message': MESSAGE})}\n```",
    "a JSON string": json.dumps(MESSAGE),
    "list of one": json.dumps([MESSAGE]),
    "bullet": f"- {MESSAGE}",
    "number": f"1. {MESSAGE}",
    "heading": f"## Message\n{MESSAGE}",
    "afterword": f"{MESSAGE}\n\nLet me know if you would like another one!",
    "rule": f"---\n{MESSAGE}\n---",
}
TRAITS = ["blunt short sentences", "no capital letters", 'ends with "cheers"']
LISTS = {
    "commas": ", ".join(TRAITS),
    "and before the last": "blunt short sentences, no capital letters, and ends with \"cheers\"",
    "semicolons": "; ".join(TRAITS),
    "lines": "\n".join(TRAITS),
    "numbers": "\n".join(f"{i}. {t}" for i, t in enumerate(TRAITS, 1)),
    "numbers in brackets": "\n".join(f"{i}) {t}" for i, t in enumerate(TRAITS, 1)),
    "numbers on one line": " ".join(f"{i}. {t}" for i, t in enumerate(TRAITS, 1)),
    "numbers and commas on one line": ", ".join(f"({i}) {t}" for i, t in enumerate(TRAITS, 1)),
    "letters": "\n".join(f"{c}) {t}" for c, t in zip("abc", TRAITS, strict=True)),
    "bullets": "\n".join(f"- {t}" for t in TRAITS),
    "stars": "\n".join(f"* {t}" for t in TRAITS),
    "dots": "\n".join(f"• {t}" for t in TRAITS),
    "bold": "\n".join(f"{i}. **{t}**" for i, t in enumerate(TRAITS, 1)),
    "labels": "\n".join(f"Trait {i}: {t}" for i, t in enumerate(TRAITS, 1)),
    "preamble": "Here are three traits:\n\n" + "\n".join(f"- {t}" for t in TRAITS),
    "preamble and commas": "Sure! Here they are:\n" + ", ".join(TRAITS),
    "afterword": "\n".join(f"- {t}" for t in TRAITS) + "\n\nI hope these fit!",
    "JSON": json.dumps(TRAITS),
    "object": json.dumps({"traits": TRAITS}),
    "object of objects": json.dumps({"traits": [{"trait": t} for t in TRAITS]}),
    "object with a remark": json.dumps({"persona": "a cook", "traits": TRAITS}),
    "keys": json.dumps({f"trait_{i}": t for i, t in enumerate(TRAITS, 1)}),
    "keys in an object": json.dumps({"traits": {str(i): t for i, t in enumerate(TRAITS, 1)}}),
    "fence": f"```json\n{json.dumps({'traits': TRAITS}, indent=2)}\n```",
    "fence behind a preamble": f"Certainly!\n\n```json\n{json.dumps(TRAITS)}\n```\nHope this helps.",
    "trailing comma": json.dumps({"traits": TRAITS})[:-2] + ",]}",
    "list behind a preamble": f"Here is the list: {json.dumps(TRAITS)}",
    "Python's quotation marks": str({"traits": TRAITS}),
}  # fmt: skip
SETTING = {"goal": 'reach the "thing"', "obstacle": "a wall, or {two}", "constraints": ["one", "two"]}
OBJECTS = {
    "bare": json.dumps(SETTING),
    "indented": json.dumps(SETTING, indent=2),
    "fence": f"```json\n{json.dumps(SETTING)}\n```",
    "preamble": f"Sure! Here is {{the}} object:\n{json.dumps(SETTING)}\nAnything else?",
    "thinking aloud with braces": f"I should fill {{goal}} and {{obstacle}}.\n\n{json.dumps(SETTING)}",
    "wrapped": json.dumps({"scenario": SETTING}),
    "wrapped in a list": json.dumps([SETTING]),
    "capital keys": json.dumps({key.title(): value for key, value in SETTING.items()}),
    "more fields": json.dumps({**SETTING, "notes": "none"}),
    "trailing commas": json.dumps(SETTING, indent=1).replace('"two"', '"two",').replace("\n ]", "\n ],"),
    "comments": json.dumps(SETTING, indent=1).replace('"one",', '"one", // the first'),
    "Python's quotation marks": str(SETTING),
    "real newlines in a text": json.dumps({**SETTING}).replace("a wall, ", "a wall,\n").replace("\\n", "\n"),
    "an example before": f'{{"goal": "..."}}\n{json.dumps(SETTING)}',
}


@pytest.mark.parametrize("name", SENTENCES)
def test_a_sentence(name: str) -> None:
    assert read_sentence(SENTENCES[name]) == MESSAGE


@pytest.mark.parametrize(
    ("reply", "problem"),
    {
        "several": ("One idea is this.\nAnother is that.", "got 2 lines"),
        "several fences": ("```\na b\n```\nor\n```\nc d\n```", "2 fenced blocks"),
        "several in JSON": ('["One.", "Two."]', "JSON with 2 entries"),
        "nothing": ("---", "got 0 lines"),
    }.values(),
)
def test_no_sentence(reply: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        read_sentence(reply)


@pytest.mark.parametrize("name", LISTS)
def test_a_list(name: str) -> None:
    assert read_list(LISTS[name]) == TRAITS


@pytest.mark.parametrize(
    "reply",
    ['["a", "b", "c', '{"traits": ["a", "b"], "more": ["c', '```json\n["a", "b", \n```', "Sure:\n{'traits': ['a'"],
)
def test_a_list_that_was_cut_off_is_no_shorter_list(reply: str) -> None:
    with pytest.raises(ValueError, match="ends early"):
        read_list(reply)


def test_a_list_that_could_be_meant_in_two_ways() -> None:
    with pytest.raises(ValueError, match="expected one list, got 2: good, bad"):
        read_list('{"good": ["a"], "bad": ["b"]}')
    with pytest.raises(ValueError, match="expected a text for each entry, got 3"):
        read_list("[1, 3]".replace("1", '"a"'))
    with pytest.raises(ValueError, match="expected a text for each entry"):
        read_list('[{"factor": "money", "complication": "little"}]')


@pytest.mark.parametrize("name", OBJECTS)
def test_an_object(name: str) -> None:
    found = read_object(OBJECTS[name], SETTING)
    if name == "real newlines in a text":
        assert found == {**SETTING, "obstacle": "a wall,\nor {two}"}
    else:
        assert found == SETTING


ROWS = [{"id": "goal", "short": "It is so."}, {"id": "tried", "short": "I did."}]
ROW_REPLIES = {
    "as asked for": json.dumps({"facts": ROWS}),
    "the list alone": json.dumps(ROWS),
    "the list alone in a fence": f"Here:\n```json\n{json.dumps(ROWS, indent=1)}\n```\nDone!",
    "wrapped": json.dumps({"result": {"facts": ROWS}}),
    "under another name": json.dumps({"person_facts": ROWS}),
    "capital keys": json.dumps({"Facts": [{key.upper(): value for key, value in row.items()} for row in ROWS]}),
    "by id": json.dumps({"facts": {row["id"]: {"short": row["short"]} for row in ROWS}}),
    "with a remark": json.dumps({"note": "as asked", "facts": ROWS}),
    "trailing commas": json.dumps({"facts": ROWS}).replace("}]", "},]"),
    "Python's quotation marks": str({"facts": ROWS}),
}


@pytest.mark.parametrize("name", ROW_REPLIES)
def test_rows(name: str) -> None:
    assert read_rows(ROW_REPLIES[name], "facts") == ROWS


@pytest.mark.parametrize(
    ("reply", "problem"),
    {
        "prose": ("No.", "no JSON object"),
        "cut off": (json.dumps({"facts": ROWS})[:-9], "or it ends early"),
        "cut off list": (json.dumps(ROWS)[:-9], "or it ends early"),
        "two lists": (json.dumps({"first": ROWS, "second": ROWS}), "expected the field facts, got first, second"),
        "words": ('{"facts": ["goal", "tried"]}', "expected a list of objects in facts"),
        "a number": ('{"facts": 7}', "expected a list of objects in facts, got 7"),
        "texts by id": ('{"facts": {"goal": "It is so."}}', "expected a list of objects"),
    }.values(),
)
def test_no_rows(reply: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        read_rows(reply, "facts")


@pytest.mark.parametrize(
    ("reply", "problem"),
    {
        "prose": ("I would rather not.", "no JSON object"),
        "cut off": (json.dumps(SETTING)[:-9], "ends early"),
        "a field is missing": (json.dumps({"goal": "x", "obstacle": "y"}), "none named constraints"),
    }.values(),
)
def test_no_object(reply: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        read_object(reply, SETTING)


PIECES = st.sampled_from(
    [
        "{",
        "}",
        "[",
        "]",
        '"',
        ",",
        ":",
        "\n",
        "```",
        "1. ",
        "- ",
        "**",
        "Sure! ",
        "a",
        "traits",
        "'",
        "//",
        "\\",
        "“",
        "null",
    ]
)


@given(st.lists(PIECES, max_size=40).map("".join) | st.text(max_size=80))
def test_any_reply_is_read_or_refused_with_a_sentence(reply: str) -> None:
    for read in (
        read_sentence,
        read_list,
        lambda text: read_object(text, ("traits",)),
        lambda text: read_rows(text, "traits"),
    ):
        found, problem = None, ""
        try:
            found = read(reply)
        except ValueError as error:
            problem = str(error)
        assert problem if found is None else not problem
        if isinstance(found, list):
            assert all(isinstance(text, str) and text.strip() for text in found)


@pytest.mark.parametrize(
    "reply",
    ["{" * 20_000, "[" * 20_000, '{"a": ' * 5_000, "a, " * 20_000, '"' * 30_000, "**a " * 10_000, "1. " * 20_000, "*" * 30_000,
     '"a" , ' * 8_000, "```" * 10_000, "'" * 30_000],
    ids=lambda reply: reply[:6],
)  # fmt: skip
def test_a_long_reply_is_read_or_refused_in_time(reply: str) -> None:
    start = time.process_time()
    for read in (
        read_sentence,
        read_list,
        lambda text: read_object(text, ("traits",)),
        lambda text: read_rows(text, "traits"),
    ):
        with contextlib.suppress(ValueError):
            read(reply)
    assert time.process_time() - start < 2
