"""The paper's tables of a corpus and its windows, and a figure of them."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any

from elicit_gym.errors import SettingError
from elicit_gym.files import replacing
from elicit_gym.offline.dataset import OfflineDataset
from elicit_gym.offline.licences import licence_of
from elicit_gym.offline.schema import Dialogue
from elicit_gym.offline.windows import Window, WindowRules

__all__ = ["check_plot", "corpus_statistics", "draw_statistics", "window_statistics"]


MEANS = ("tokens_a_segment", "reward_mean", "return_to_go_mean")
PLOTS = (".png", ".svg", ".pdf")


def _tokens(text: str) -> int:
    return len(text.split())


def corpus_statistics(dialogues: Sequence[Dialogue]) -> dict[str, Any]:
    """Count a corpus as the paper's Tables 2 and 4 do, and its licences.

    Tokens are what white space separates, as in the paper's numbers.

    Returns:
        JSON types: ``total`` (domains, dialogues, turns, tokens, turns per dialogue, tokens per turn), ``by_source``
        (one row per domain and source), ``licences`` (dialogues and turns by licence), ``splits`` and
        ``traps`` (empty utterances, neighbours of the same role, one-sided dialogues).

    References:
        YIELD, Tables 2 and 4; upstream, ``yield/utils/dataset_analysis.ipynb``, which splits at white space.
    """
    rows: dict[tuple[str, str], Counter[str]] = {}
    licences: dict[str, Counter[str]] = {}
    traps: Counter[str] = Counter()
    for dialogue in dialogues:
        row = rows.setdefault((dialogue.domain, dialogue.broad_source), Counter())
        tokens = sum(_tokens(turn.utterance) for turn in dialogue.turns)
        row.update(dialogues=1, turns=len(dialogue.turns), tokens=tokens)
        licences.setdefault(licence_of(dialogue), Counter()).update(dialogues=1, turns=len(dialogue.turns))
        traps["empty_utterances"] += sum(not turn.utterance.strip() for turn in dialogue.turns)
        roles = [turn.role for turn in dialogue.turns]
        traps["same_role_neighbours"] += sum(a == b for a, b in pairwise(roles))
        traps["one_sided_dialogues"] += len(set(roles)) < 2
    total: Counter[str] = Counter()
    for row in rows.values():
        total.update(row)
    return {
        "total": {
            "domains": len({domain for domain, _ in rows}),
            "dialogues": total["dialogues"],
            "turns": total["turns"],
            "tokens": total["tokens"],
            "turns_a_dialogue": total["turns"] / total["dialogues"] if total["dialogues"] else None,
            "tokens_a_turn": total["tokens"] / total["turns"] if total["turns"] else None,
        },
        "by_source": [
            {"domain": domain, "source": source, **{k: row[k] for k in ("dialogues", "turns", "tokens")}}
            for (domain, source), row in sorted(rows.items())
        ],
        "licences": {name: dict(counts) for name, counts in sorted(licences.items())},
        "splits": dict(Counter(dialogue.split or "none" for dialogue in dialogues)),
        "traps": {k: traps[k] for k in ("empty_utterances", "same_role_neighbours", "one_sided_dialogues")},
    }


def window_statistics(windows: Iterable[Window], counts: Counter[str], rules: WindowRules) -> dict[str, Any]:
    """Describe windows as the paper's Table 5 does.

    Args:
        windows: the windows of a dataset, which are read to the end.
        counts: the counter that was given to `make_windows`.
        rules: the rules by which the windows were made.

    Returns:
        JSON types: one row per domain; ``total``, whose means are the means of the domains' means, as in the paper's
        table; ``over_windows``, the means over all windows; and the counts by rule.

    References:
        YIELD, Table 5; upstream, ``yield/utils/factual_novelty_analysis.ipynb``.
    """
    by_domain: dict[str, list[tuple[int, float, float]]] = {}
    for window in windows:
        entry = (rules.count_tokens(window.messages), window.reward, window.return_to_go)
        by_domain.setdefault(window.domain, []).append(entry)
    pooled = _window_row([entry for entries in by_domain.values() for entry in entries])
    rows = {domain: _window_row(entries) for domain, entries in sorted(by_domain.items())}
    of_domains = {name: fmean(row[name] for row in rows.values()) for name in MEANS if rows}
    return {
        "by_domain": rows,
        "total": {**pooled, **of_domains},
        "over_windows": {name: pooled[name] for name in MEANS if rows},
        "counts": dict(counts),
    }


def _window_row(entries: Sequence[tuple[int, float, float]]) -> dict[str, Any]:
    if not entries:
        return {"segments": 0}
    tokens, rewards, returns = (list(column) for column in zip(*entries, strict=True))
    return {
        "segments": len(entries),
        "tokens": sum(tokens),
        "tokens_a_segment": fmean(tokens),
        "token_range": [min(tokens), max(tokens)],
        "reward_mean": fmean(rewards),
        "reward_range": [min(rewards), max(rewards)],
        "return_to_go_mean": fmean(returns),
        "return_to_go_range": [min(returns), max(returns)],
    }


def check_plot(path: Path) -> None:
    """Check that a figure can be drawn into a file of that name, before the work whose result it shows.

    Raises:
        SettingError: its ending is of no kind of figure.
    """
    if path.suffix.lower() not in PLOTS:
        raise SettingError(
            f"Drawing {path}: expected a name that ends in {', '.join(PLOTS)}, got {path.suffix!r}. Choose another."
        )


def draw_statistics(dialogues: Sequence[Dialogue], dataset: OfflineDataset, path: Path) -> None:
    """Draw turn lengths by role and rewards by domain, as PNG, SVG or PDF depending on the path's ending."""
    import matplotlib as mpl
    import numpy as np
    from matplotlib.figure import Figure

    from elicit_gym.reporting.style import STYLE, colour, drawable

    domains = sorted({dialogue.domain for dialogue in dialogues})
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(9.0, 0.9 + 0.78 * max(2, len(domains))), layout="constrained")
        left, right = figure.subplots(1, 2, sharey=True)
        for row, domain in enumerate(reversed(domains)):
            for role, shift, shade in (("elicitor", 0.2, "#0072B2"), ("respondent", -0.2, "#D55E00")):
                lengths = [
                    max(1, _tokens(turn.utterance))
                    for dialogue in dialogues
                    if dialogue.domain == domain
                    for turn in dialogue.turns
                    if turn.role == role
                ]
                if lengths:
                    low, middle, high = np.percentile(lengths, [5, 50, 95])
                    quarter, three = np.percentile(lengths, [25, 75])
                    left.plot([low, high], [row + shift] * 2, color=shade, lw=1.2)
                    left.plot([quarter, three], [row + shift] * 2, color=shade, lw=6, solid_capstyle="butt", alpha=0.85)
                    left.plot(middle, row + shift, "o", color="white", markersize=3.5)
            rewards = [r for episode in dataset if episode.domain == domain for r in episode.rewards]
            if rewards:
                edges = np.arange(0, 13)
                counts, _ = np.histogram(np.clip(rewards, 0, 11.5), bins=edges)
                share = counts / counts.sum()
                shade = colour(domains.index(domain))
                right.bar(edges[:-1], share * 0.85 / share.max(), width=0.85, bottom=row - 0.4, color=shade, alpha=0.85)
                right.text(12.2, row, f"mean {np.mean(rewards):.2f}", va="center", fontsize=8)
        left.set_xscale("log")
        left.set_xlabel("tokens per turn: median, quartiles, 5 to 95 %")
        left.set_yticks(range(len(domains)), [drawable(domain.replace("_", " "), 28) for domain in reversed(domains)])
        left.set_title("Turn lengths")
        for label, shade in (("elicitor", "#0072B2"), ("respondent", "#D55E00")):
            left.plot([], [], color=shade, lw=5, label=label)
        left.legend(loc="upper left", bbox_to_anchor=(0.62, 1.12), ncols=2, fontsize=8, handlelength=1.2)
        right.set_xlim(-0.7, 14.5)
        right.set_xticks([0, 2, 4, 6, 8, 11], ["0", "2", "4", "6", "8", "11+"])
        right.set_xlabel("reward per action")
        right.set_title("Rewards")
        right.grid(axis="y", visible=False)
        with replacing(path) as beside:
            figure.savefig(beside, dpi=160)
