"""Options of the commands that read human interviews or windows of them."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from elicit_gym.cli.options import SPLIT

__all__ = [
    "CommercialOption",
    "CorpusArgument",
    "DataOption",
    "DataSplit",
    "DataSplitOption",
    "DiscountOption",
    "DomainOption",
    "EntityCacheOption",
    "NerOption",
    "PathOption",
    "ProcessesOption",
    "PublishedOption",
    "RewardOption",
    "SplitOrSharesOption",
    "SplitSeedOption",
    "TokenizerOption",
    "WindowLimitOption",
    "WindowTokensOption",
]

CorpusArgument = Annotated[
    str, typer.Argument(help="Read this corpus: 'yield', 'sample', or your own name beside --path.")
]
DataOption = Annotated[
    str,
    typer.Option(
        "--data",
        help="Take the data from here. They are a dataset id (see 'elicit-gym data list'), a built Arrow file, "
        "dialogues in YIELD's schema, or released JSON lines.",
    ),
]
PathOption = Annotated[
    Path | None,
    typer.Option(
        "--path", help="Read dialogues in YIELD's schema from this file or folder instead of downloading them."
    ),
]
DataSplit = Literal["train", "dev", "test"]
DataSplitOption = Annotated[DataSplit | None, SPLIT]
SplitOrSharesOption = Annotated[
    str | None,
    typer.Option(
        "--split",
        help="Use only this part of the data. Percentages for train, dev and test, such as 80/10/10, split all of it "
        "anew instead, by dialogue and stratified by domain.",
    ),
]
SplitSeedOption = Annotated[
    int, typer.Option("--split-seed", help="Draw new splits with this seed; the same seed draws the same ones.")
]
DomainOption = Annotated[str | None, typer.Option("--domain", help="Use only the dialogues of this domain.")]
CommercialOption = Annotated[
    bool, typer.Option("--commercial", help="Leave out what must not be used commercially (the Oyez part).")
]
RewardOption = Annotated[
    str,
    typer.Option(
        "--reward", help="Reward a turn in this way: 'factual_novelty', 'new_content_words' or 'reply_length'."
    ),
]
NerOption = Annotated[
    str, typer.Option("--ner-model", help="Find the entities for factual_novelty with this spaCy pipeline.")
]
EntityCacheOption = Annotated[
    Path | None,
    typer.Option(
        "--entity-cache", help="Keep the entities found in this SQLite file, so that a second run has them at once."
    ),
]
ProcessesOption = Annotated[int, typer.Option("--processes", min=1, help="Look for entities in this many processes.")]
PublishedOption = Annotated[
    bool,
    typer.Option(
        "--published",
        help="Make everything as the released rows have it: rewards, returns, merged turns, and the numbers of turns.",
    ),
]
DiscountOption = Annotated[
    float, typer.Option("--gamma", min=0.0, max=1.0, help="Discount the return-to-go by this factor per turn.")
]
WindowTokensOption = Annotated[
    int, typer.Option("--max-window-tokens", min=8, help="Use only windows of at most this many tokens.")
]
TokenizerOption = Annotated[
    str | None,
    typer.Option(
        "--tokenizer",
        help="Count tokens with this tokenizer and its chat template: a folder, or an id on the Hugging Face hub. "
        "Without it, windows are counted in words and punctuation, and utterances as the first local model does.",
    ),
]
WindowLimitOption = Annotated[int | None, typer.Option("--limit", min=1, help="Use at most this many windows.")]
