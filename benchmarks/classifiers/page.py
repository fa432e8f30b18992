"""Write the page of the classification benchmark in Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean

from classifiers.methods import OURS, PEER, SMALL
from classifiers.scores import Comparison, SetScore
from classifiers.sets import DESIGN, LabelledSet

Scores = Mapping[str, Mapping[str, SetScore]]
"""Scores by method and set."""

SHOWN_LOSSES = 5
"""Number of sets in the list of the largest losses."""

PROTOCOL = """- **Splits and seeds.** The official training and test splits are used. Accuracies are means over {seeds} seeds.
- **Methods.** `ee.ReservoirClassifier` is used with default settings and with a smaller grid of 1024 features (8 time
  constants, 4 frequencies, 2 phases, 4 thresholds). The classifiers of aeon are used with their default settings.
- **Choice of settings.** The grid of time constants and frequencies, the thresholds and the range of ridge penalties
  were chosen on the data sets that are marked by *. These sets are a random half of 32 data sets, drawn before the first
  experiment. The other sets were evaluated after the settings had been chosen.
- **Unequal lengths.** Means are computed over the sets that all methods support. aeon's classifiers do not support series of
  unequal lengths; these sets are at the end of the last table.
- **Time.** Times are CPU seconds of `fit` and `predict`, summed over all sets, on one thread. eigenecho and MiniRocket are measured
  alternately on each set, in the same run. The times of the other methods may be from an earlier run.
"""  # noqa: E501


def page(sets: Sequence[LabelledSet], scores: Scores, speeds: Scores, seeds: int) -> str:
    """Return the whole page."""
    common = [s for s in sets if all(s.name in of_set for of_set in scores.values())]
    parts = [
        "# Classification benchmark\n",
        summarise(common, scores),
        "This page compares the accuracy and speed of `ee.ReservoirClassifier` with those of the "
        "classifiers of aeon. Run\n`make bench-classification BENCH=FOLDER` to repeat the "
        "benchmark on your own data sets; `benchmarks/classifiers/sets.py`\ndescribes their "
        "formats.\n",
        PROTOCOL.format(seeds=seeds),
        overall(common, scores),
        compared(common, scores),
        losses(common, scores),
        "## Speed\n",
        "The table shows the CPU seconds of `fit` and `predict` on simulated sets of two classes. "
        "The size of a set is given as\nthe number of series times the number of steps. Each value "
        "is the minimum of three rounds, in which the methods are\nmeasured alternately.\n",
        speed(speeds),
        "## All sets\n",
        by_set(sets, scores),
    ]
    return "\n".join(parts)


def summarise(sets: Sequence[LabelledSet], scores: Scores) -> str:
    """Return sentences that compare our classifier with MiniRocket."""
    kept = [s for s in sets if s.name not in DESIGN]
    other, ours = ([scores[method][s.name].accuracy for s in kept] for method in (PEER, OURS))
    comparison = Comparison.of(ours, other)
    return (
        f"On {len(kept)} data sets that were not used to choose the settings, the mean accuracy of "
        f"`ee.ReservoirClassifier` is\n{mean(ours):.2%}, and the mean accuracy of aeon's {PEER} is "
        f"{mean(other):.2%}. Compared with {PEER}, `ee.ReservoirClassifier` has\n"
        f"{comparison.wins} wins, {comparison.ties} ties and {comparison.losses} losses (Wilcoxon "
        f"signed-rank test: p = {comparison.p_value:.2f}).\n"
    )


def overall(sets: Sequence[LabelledSet], scores: Scores) -> str:
    """Return a table with one row per method."""
    groups = {
        "used for choices*": [s for s in sets if s.name in DESIGN],
        "other sets": [s for s in sets if s.name not in DESIGN],
        "all sets": list(sets),
    }
    groups = {f"{name} ({len(group)})": group for name, group in groups.items() if group}
    rows = [
        f"| mean accuracy | {' | '.join(groups)} | fit, s | predict, s |",
        "|---|" + "---:|" * (len(groups) + 2),
    ]
    for method, of_set in scores.items():
        cells = [f"{mean(of_set[s.name].accuracy for s in g):.2%}" for g in groups.values()]
        times = (sum(getattr(of_set[s.name], part) for s in sets) for part in ("fit", "predict"))
        rows.append(_row(_bold(method), *cells, *(f"{seconds:.1f}" for seconds in times)))
    return "\n".join([*rows, "", *_published(sets, scores)])


def _published(sets: Sequence[LabelledSet], scores: Scores) -> list[str]:
    """Return a sentence that compares our classifier with published accuracies of MiniRocket."""
    known = {s.name: s.published for s in sets if s.published is not None}
    if not known:
        return []
    ours = mean(scores[OURS][name].accuracy for name in known)
    return [
        f"For {len(known)} sets, the accuracy of {PEER} has been published. On these sets, the "
        f"mean of the published accuracies is {mean(known.values()):.2%}, and the mean accuracy of "
        f"{OURS} is {ours:.2%}.\n"
    ]


def compared(sets: Sequence[LabelledSet], scores: Scores) -> str:
    """Return wins, ties and losses against every other method."""
    head = f"| {OURS} on all sets, compared with | wins | ties | losses | Wilcoxon p |"
    rows = [head, "|---|---:|---:|---:|---:|"]
    ours = [scores[OURS][s.name].accuracy for s in sets]
    for method in scores:
        if method == OURS:
            continue
        c = Comparison.of(ours, [scores[method][s.name].accuracy for s in sets])
        rows.append(_row(method, c.wins, c.ties, c.losses, f"{c.p_value:.2f}"))
    return "\n".join([*rows, ""])


def losses(sets: Sequence[LabelledSet], scores: Scores) -> str:
    """Return the sets on which our classifier is furthest behind MiniRocket."""
    behind = {s.name: scores[PEER][s.name].accuracy - scores[OURS][s.name].accuracy for s in sets}
    worst = sorted((name for name in behind if behind[name] > 0), key=lambda name: -behind[name])
    listed = ", ".join(f"{name} ({100 * behind[name]:.1f})" for name in worst[:SHOWN_LOSSES])
    return (
        f"The sets with the largest losses to {PEER}, in percentage points, are: "
        f"{listed or 'none'}.\n"
    )


def speed(speeds: Scores) -> str:
    """Return a table of CPU times for each size."""
    sizes = list(next(iter(speeds.values())))
    rows = [
        "| fit / predict, s | " + " | ".join(sizes) + " |",
        "|---|" + "---:|" * len(sizes),
    ]
    for method, of_size in speeds.items():
        cells = (f"{of_size[size].fit:.3f} / {of_size[size].predict:.3f}" for size in sizes)
        rows.append(_row(_bold(method), *cells))
    for method, other in ((OURS, PEER), (SMALL, OURS)):
        if method in speeds and other in speeds:
            cells = [
                f"{speeds[method][size].fit / speeds[other][size].fit:.2f} / "
                f"{speeds[method][size].predict / speeds[other][size].predict:.2f}"
                for size in sizes
            ]
            rows.append(_row(f"ratio of “{method}” to “{other}”", *cells))
    return "\n".join([*rows, ""])


def by_set(sets: Sequence[LabelledSet], scores: Scores) -> str:
    """Return the accuracy of every method on every set."""
    rows = [
        f"| set | train / test | channels | steps | {' | '.join(scores)} | {PEER}, published |",
        "|---|---:|---:|---:|" + "---:|" * (len(scores) + 1),
    ]
    for s in sorted(sets, key=lambda s: any(s.name not in of_set for of_set in scores.values())):
        own = [of_set.get(s.name) for of_set in scores.values()]
        cells = ["–" if score is None else f"{100 * score.accuracy:.2f}" for score in own]
        published = "" if s.published is None else f"{100 * s.published:.2f}"
        name = f"{s.name}*" if s.name in DESIGN else s.name
        rows.append(_row(name, s.shape, *cells, published))
    return "\n".join([*rows, ""])


def _bold(method: str) -> str:
    return f"**{method}**" if method == OURS else method


def _row(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"
