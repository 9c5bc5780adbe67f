"""Show a conversation beside its checklist in a terminal."""

from typing import TYPE_CHECKING

from elicit_gym.envs.conversation import Conversation
from elicit_gym.reporting.terminal import printable

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["LATEST", "conversation_view", "print_conversation", "render_text"]


LATEST = 20
"""Messages that are shown at every step: to show all of them would take longer and longer."""


def conversation_view(
    conversation: Conversation, *, show_hidden: bool = False, latest: int | None = None
) -> "RenderableType":
    """Build the rich view: the chat on the left, the checklist on the right.

    Args:
        conversation: the episode.
        show_hidden: whether the persona and the goal are shown too.
        latest: how many messages are shown, the latest; None for all.
    """
    from rich.panel import Panel
    from rich.table import Table
    from rich.text import Text

    chat = Text()
    shown = conversation.history if latest is None else conversation.history[-latest:]
    earlier = len(conversation.history) - len(shown)
    if earlier:
        chat.append(f"({earlier} earlier messages)\n", style="dim")
    for message in shown:
        style = "cyan" if message.role == "user" else "green"
        chat.append(f"{message.role}: ", style=f"bold {style}")
        chat.append(printable(message.content) + "\n")
    side = Text()
    for item, done in zip(conversation.scenario.checklist, conversation.satisfied, strict=True):
        side.append("[x] " if done else "[ ] ", style="bold green" if done else "dim")
        side.append(printable(item.question) + "\n", style="" if done else "dim")
    side.append(f"\nturn {conversation.turn}/{conversation.max_turns}", style="bold")
    if conversation.stuck:
        side.append("  stuck", style="bold yellow")
    if show_hidden:
        side.append(f"\n\n{printable(conversation.scenario.persona)}\ngoal: {printable(conversation.scenario.goal)}")
    grid = Table.grid(expand=True, padding=(0, 1))
    grid.add_column(ratio=3)
    grid.add_column(ratio=2)
    grid.add_row(
        Panel(chat, title="conversation", title_align="left"), Panel(side, title="checklist", title_align="left")
    )
    return grid


def render_text(conversation: Conversation) -> str:
    """Return the view as plain text, 110 columns wide, without colours."""
    from io import StringIO

    from rich.console import Console

    console = Console(file=StringIO(), width=110, force_terminal=False, color_system=None, legacy_windows=False)
    with console.capture() as capture:
        console.print(conversation_view(conversation))
    return capture.get()


def print_conversation(conversation: Conversation) -> None:
    """Print the view with the latest messages."""
    from rich.console import Console

    Console().print(conversation_view(conversation, latest=LATEST))
