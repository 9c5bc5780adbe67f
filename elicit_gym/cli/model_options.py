"""Options of the commands that call models, in any seat."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from elicit_gym.llm.cache import CacheMode

__all__ = [
    "JUDGE",
    "MAX_NEW_TOKENS",
    "POLICIES",
    "ApiBaseOption",
    "BudgetTokensOption",
    "BudgetUsdOption",
    "CacheModeOption",
    "CacheOption",
    "JudgeModeOption",
    "JudgeOption",
    "JudgeRepliesOption",
    "MannerOption",
    "MaxNewTokensOption",
    "PriceOption",
    "PromptsOption",
    "SystemPromptOption",
    "TemperatureOption",
    "UserOption",
]

_MODELS = "Models"

POLICIES = typer.Argument(
    help="Run these policies: names of baselines, litellm:MODEL, http:MODEL, hf:MODEL, folders of trained policies, or "
    "module:Class. LABEL=POLICY names one, and MODEL,temperature=0,max-tokens=64 gives one options of its own."
)
SystemPromptOption = Annotated[
    str,
    typer.Option(
        "--system-prompt",
        help="Give model policies this system prompt: 'plain', 'clarify', 'elicitor', or a file; MODEL+PROMPT gives "
        "one policy its own.",
        rich_help_panel=_MODELS,
    ),
]
ApiBaseOption = Annotated[
    str | None,
    typer.Option(
        "--api-base",
        help="Call the model on the server at this URL, for example http://localhost:8000/v1.",
        rich_help_panel=_MODELS,
    ),
]
TemperatureOption = Annotated[
    float | None,
    typer.Option(
        "--temperature",
        min=0,
        help="Sample a model's words at this temperature.",
        rich_help_panel=_MODELS,
    ),
]
MAX_NEW_TOKENS = typer.Option(
    "--max-new-tokens",
    min=1,
    help="Let a model write at most this many tokens per message.",
    rich_help_panel=_MODELS,
)
MaxNewTokensOption = Annotated[int | None, MAX_NEW_TOKENS]
UserOption = Annotated[
    str | None,
    typer.Option(
        "--user", help="Let this user simulator reply, for example 'scripted' or 'llm'.", rich_help_panel=_MODELS
    ),
]
JUDGE = typer.Option(
    "--judge", help="Let this judge decide, for example 'scripted', 'embedding' or 'llm'.", rich_help_panel=_MODELS
)
JudgeOption = Annotated[str | None, JUDGE]
MannerOption = Annotated[
    list[str] | None,
    typer.Option(
        "--manner",
        help="Let the scripted user take part in this manner (open, guarded, wandering or impatient); give it several "
        "times to compare under each.",
    ),
]
JudgeModeOption = Annotated[
    Literal["item", "checklist"] | None,
    typer.Option(
        "--judge-mode",
        help="Let the judge's model answer one item per call, as in the paper, or the whole checklist in one.",
        rich_help_panel="The judge's model",
    ),
]
JudgeRepliesOption = Annotated[
    bool,
    typer.Option(
        "--judge-replies/--no-judge-replies",
        help="Keep what a judging model wrote in the run and show it in the report.",
        rich_help_panel=_MODELS,
    ),
]
PromptsOption = Annotated[
    Path | None,
    typer.Option(
        "--prompts",
        help="Use the prompt files in this folder in place of those of the same name.",
        rich_help_panel=_MODELS,
    ),
]
CacheOption = Annotated[
    Path | None,
    typer.Option(
        "--cache",
        help="Keep every response of a model in this SQLite file, so that a second run need not ask for it again.",
        rich_help_panel=_MODELS,
    ),
]
CacheModeOption = Annotated[
    CacheMode,
    typer.Option(
        "--cache-mode",
        help="Use the cache in this way; with 'replay', a response that is missing from it is an error.",
        rich_help_panel=_MODELS,
    ),
]
BudgetUsdOption = Annotated[
    float | None,
    typer.Option(
        "--budget-usd",
        help="Start no episode that would make the models cost more US dollars than this, resumed runs included.",
        rich_help_panel=_MODELS,
    ),
]
BudgetTokensOption = Annotated[
    int | None,
    typer.Option(
        "--budget-tokens",
        help="Start no episode that would make the models use more tokens than this, resumed runs included.",
        rich_help_panel=_MODELS,
    ),
]
PriceOption = Annotated[
    list[str] | None,
    typer.Option(
        "--price",
        help="Count the model in a seat (policy, user or judge), or the model of this name, at this price in US "
        "dollars per million tokens of input and output. Repeat the option to name several.",
        metavar="SEAT=IN/OUT",
        rich_help_panel=_MODELS,
    ),
]
