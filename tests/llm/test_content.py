"""Answers are taken out of what models send in one place."""

import pytest

from elicit_gym.llm.content import clean_content, quoted


@pytest.mark.parametrize(
    ("content", "reasoning", "finish", "text", "flags"),
    [
        ("Fine.", None, "stop", "Fine.", ()),
        ("<think>Result: Yes</think>\nResult: No", None, "stop", "Result: No", ("think_removed",)),
        ("Result: No <think>and now Result: Yes", None, "stop", "Result: No", ("think_unclosed",)),
        ("<think>never ends", None, "length", "", ("think_unclosed", "truncated", "empty")),
        ("a draft, Result: Yes</think>Result: No", None, "stop", "Result: No", ("think_removed",)),
        ("<THINKING>x</THINKING>y", None, "stop", "y", ("think_removed",)),
        (None, None, "stop", "", ("empty",)),
        ("  \n", None, "stop", "", ("empty",)),
        (None, "Result: Yes", "stop", "", ("only_reasoning",)),
        ("Half an ans", None, "length", "Half an ans", ("truncated",)),
    ],
)
def test_cleaning(content: str | None, reasoning: str | None, finish: str, text: str, flags: tuple[str, ...]) -> None:
    assert clean_content(content, reasoning, finish) == (text, flags)


BLOCKS = [
    ("<think>", "</think>"), ("<thinking>", "</thinking>"), ("<thought>", "</thought>"), ("<Thought>", "</Thought>"),
    ("[THINK]", "[/THINK]"), ("◁think▷", "◁/think▷"), ("<seed:think>", "</seed:think>"), ("<scratchpad>", "</scratchpad>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"), ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<|inner_prefix|>", "<|inner_suffix|>"), ("<|channel>thought\n", "<channel|>"), ("<unused94>thought\n", "<unused95>"),
    ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"),
]  # fmt: skip
DRAFT = "They want a van. I could say:\nResult: Yes"


@pytest.mark.parametrize(("start", "end"), BLOCKS)
def test_thoughts_of_every_family_are_no_text(start: str, end: str) -> None:
    for space in ("", "\n", "\n\n"):
        text, flags = clean_content(f"{start}{space}{DRAFT}{space}{end}{space}What is it about?", None, "stop")
        assert (text, flags) == ("What is it about?", ("think_removed",))
        text, flags = clean_content(f"{start}{space}{DRAFT}", None, "length")
        assert (text, flags) == ("", ("think_unclosed", "truncated", "empty"))
    if "channel|>" not in start:
        text, flags = clean_content(f"{DRAFT}{end}\nWhat is it about?", None, "stop")
        assert (text, flags) == ("What is it about?", ("think_removed",))


TOKENS = [
    "<|im_end|>", "<|eot_id|>", "<|end|>", "<|endoftext|>", "</s>", "<end_of_turn>", "<eos>", "<｜end▁of▁sentence｜>", "<|return|>",
    "<|END_OF_TURN_TOKEN|>", "[/INST]", "<|end_of_text|>", "<turn|>",
]  # fmt: skip


@pytest.mark.parametrize("token", TOKENS)
def test_a_text_ends_where_the_model_ended_its_turn(token: str) -> None:
    assert clean_content(f"Fine.{token}", None, "stop") == ("Fine.", ())
    assert clean_content(f"Fine. {token}\n", None, "stop") == ("Fine.", ())
    text, flags = clean_content(f"Fine.{token}\nuser\nAnd then?", None, "stop")
    assert (text, flags) == ("Fine.", ("overrun_removed",))
    assert clean_content(token, None, "stop") == ("", ("empty",))


@pytest.mark.parametrize(
    "text",
    [
        "Put your plan between <think> and </think>, please.",
        "Models such as R1 write `<think>` before they answer.",
        'The tag "<thinking>" is what you are looking for.',
        "Use the <think> tag.",
        "The <|im_end|> token ends a turn, and [THINK] starts a thought.",
        "Is it <think>, <thought> or <scratchpad>?",
        "A line through it: <s>old price</s> new price",
    ],
)
def test_an_answer_that_merely_names_a_mark_is_not_cut(text: str) -> None:
    assert clean_content(text, None, "stop") == (text, ())


def test_channels_that_were_decoded_without_their_tokens() -> None:
    assert clean_content("analysisThe user asks.assistantfinalHello.", None, "stop") == ("Hello.", ("think_removed",))
    assert clean_content("analysis of the budget comes first", None, "stop")[1] == ()


@pytest.mark.parametrize(
    "start",
    ["<|im_start|>assistant\n", "<|start_header_id|>assistant<|end_header_id|>\n\n", "<start_of_turn>model\n", "<s>"],
)
def test_what_stands_before_a_turn_is_no_text(start: str) -> None:
    assert clean_content(f"{start}Fine.", None, "stop") == ("Fine.", ())


def test_a_reply_of_megabytes_is_not_sent_back_whole() -> None:
    assert quoted("Result: maybe") == "Result: maybe"
    assert len(quoted("word " * 2_000_000)) < 5_000
