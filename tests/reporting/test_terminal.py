"""Tables and texts in terminals of any width."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from elicit_gym.reporting.terminal import Column, print_table, print_text, printable
from tests.widths import check_widths, shown

NUMBERS = ("1.25 [1.00, 1.50]", "-0.10 [-0.30, 0.10]", "–")
COLUMNS = (
    Column("policy", right=False),
    *map(Column, ("mean return", "difference")),
    Column("episodes", optional=True),
)
ROWS = [(f"policy-{i}", NUMBERS[i % 3], NUMBERS[(i + 1) % 3], "240") for i in range(4)]


def table(rows: list[tuple[str, ...] | None], **more: Any) -> Any:
    return lambda console: print_table("A title", COLUMNS, rows, console=console, **more)


def test_a_wide_terminal_gets_one_line_per_row() -> None:
    lines = shown(table([*ROWS, None, ("total", "", "", "960")]), 100).splitlines()
    assert lines[0] == "A title"
    assert [part.strip() for part in lines[4].strip("│").split("│")] == list(ROWS[0])
    assert lines[8].startswith("├")
    assert "960" in lines[9]


def test_a_narrow_one_breaks_between_words_then_lists_a_column_then_makes_paragraphs() -> None:
    breaks = shown(table(ROWS), 60)
    assert "│ policy-0 │         1.25 │               -0.10 │      240 │" not in breaks
    assert "│ policy-0 │" in breaks
    assert "episodes ┃" in breaks
    listed = shown(table(ROWS), 44)
    assert "┃ policy   ┃" in listed
    assert "episodes ┃" not in listed
    assert "episodes: 240 in every row." in listed
    several = shown(table([*ROWS, ("other", "–", "–", "17")]), 44)
    assert "episodes: policy-0 240, policy-1 240, policy-2 240," in " ".join(several.split())
    assert "other 17." in several
    paragraphs = shown(table(ROWS), 38).splitlines()
    assert paragraphs[1:4] == ["policy policy-0", "  mean return 1.25 [1.00, 1.50]", "  difference -0.10 [-0.30, 0.10]"]
    assert paragraphs[4] == "  episodes 240"


def test_a_table_without_a_header_has_none_as_paragraphs_either() -> None:
    rows = [("words", "a long text that is broken between words"), ("unbreakable" * 3, "x")]
    columns = (Column("what", right=False), Column("value", right=False))

    def show(console: Console) -> None:
        print_table("T", columns, rows, console=console, header=False)

    assert "what" not in shown(show, 100)
    assert "value" not in shown(show, 30)
    check_widths(show, (40, 60))


WORDS = st.text("abcdeäß日-", min_size=1, max_size=12)


@settings(max_examples=60, deadline=None)
@given(
    names=st.lists(st.lists(WORDS, min_size=1, max_size=3).map(" ".join), min_size=1, max_size=4, unique=True),
    titles=st.lists(st.lists(WORDS, min_size=1, max_size=2).map(" ".join), min_size=1, max_size=6),
    cell=st.sampled_from(NUMBERS),
    optional=st.integers(0, 2),
    width=st.integers(40, 120),
)
def test_no_table_is_cut_broken_or_too_wide(
    names: list[str], titles: list[str], cell: str, optional: int, width: int
) -> None:
    columns = [Column("name", right=False), *(Column(t, optional=i < optional) for i, t in enumerate(titles))]
    rows = [(name, *[cell] * len(titles)) for name in names]
    if cell == "–":
        rows.append(("last", *["0.00 [0.00, 0.00]"] * len(titles)))
    check_widths(lambda console: print_table("T", columns, rows, console=console, dim=(0,)), (width,))


def test_text_from_users_is_shown_as_it_is_and_never_read_as_markup() -> None:
    text = "[red]a [bold]policy[/] \x1b[31m said \ud800"
    assert shown(lambda console: print_text(text, console), 80) == printable(text) + "\n"
    assert "\\x1b[31m" in printable(text)
    wide = shown(lambda console: print_table("[red]T", [Column("[b]n", right=False)], [("[i]x",)], console=console), 80)
    assert all(part in wide for part in ("[red]T", "[b]n", "[i]x"))


def test_an_interval_in_a_sentence_stays_on_one_line() -> None:
    sentence = "Mean return 3.15 [3.05, 3.30]: this interval comes from the choice of scenarios."
    for width in range(20, 60):
        text = shown(lambda console: print_text(sentence, console), width)
        assert "[3.05, 3.30]:" in text
        assert " ".join(text.split()) == sentence
