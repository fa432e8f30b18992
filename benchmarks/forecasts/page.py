"""Write the page of the forecast benchmark in Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from forecasts.methods import COVERAGE, METHODS, OURS, PEERS
from forecasts.protocol import ORIGINS, TRAINING_ROWS, Series
from forecasts.scores import MUCH_WORSE, Line, Scores, Summary

PROTOCOL = f"""This page compares the accuracy, coverage and speed of `Forecaster` with those of other methods. Run
`make bench-forecast BENCH=--write` to reproduce it.

- **Origins.** Each series has up to {ORIGINS} forecast origins, spread evenly over the last 40 % of its rows. At each
  origin, every method is refitted on at most {TRAINING_ROWS} preceding rows. The horizon depends on the frequency of the series.
- **Methods.** `Forecaster` gets only the horizon and selects its models on the training rows. All other methods also
  get the season; a separate line shows `Forecaster` with the season. AutoARIMA, AutoETS and AutoTheta are from
  statsforecast. If the season has more than 24 rows, AutoARIMA and AutoETS are applied after an MSTL decomposition.
- **MASE.** The mean absolute error divided by that of the seasonal naive forecast on the training rows. The table shows
  the geometric mean over series.
- **Much worse.** The number of series with an error above {MUCH_WORSE} times that of the best of the naive, drift and seasonal naive forecasts.
- **Expected error.** `Forecaster` also predicts its own error before the test. The table shows the relative deviation
  |expected / actual − 1| of this prediction, as the median over series.
"""  # noqa: E501


def page(title: str, series: Sequence[Series], scores: Scores, results: Summary) -> str:
    """Return the whole page."""
    tables = [overall(results), ratio(results), by_series(series, scores)]
    parts = [f"# {title}\n", summarise(results), PROTOCOL, *tables]
    return "\n".join(part for part in parts if part)


def summarise(results: Summary) -> str:
    """Return a sentence that compares eigenecho with the best other method."""
    if results.ratio is None:
        return ""
    mase = {line.method: line.mase for line in results.lines}
    low, high = results.ratio.low, results.ratio.high
    chance = "is not" if low <= 1 <= high else "is"
    return (
        f"On {len(results.series)} real series, the mean absolute scaled error (MASE) of {OURS} is "
        f"{mase[OURS]:.3f}. That of the best other\nmethod, {results.best_peer}, is "
        f"{mase[str(results.best_peer)]:.3f}. The difference {chance} significant: the 95 % "
        f"confidence interval of the ratio is {low:.2f} to {high:.2f}.\n"
    )


def overall(results: Summary) -> str:
    """Return a table with one row per method, best first."""
    head = f"| {len(results.series)} series | MASE | much worse | coverage of {COVERAGE:.0%} intervals | error of expected error | seconds per fit | failed |"  # noqa: E501
    return "\n".join([head, "|---|" + 6 * "---:|", *map(_row, results.lines), ""])


def _row(line: Line) -> str:
    name = f"**{line.method}**" if line.method == OURS else line.method
    cells = [name, f"{line.mase:.3f}", str(line.much_worse), _share(line.coverage),
             _share(line.claim_off), f"{line.seconds:.2g}", str(line.failed)]  # fmt: skip
    return f"| {' | '.join(cells)} |"


def _share(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.1f} %"


def ratio(results: Summary) -> str:
    """Return the ratio of eigenecho to the best other method."""
    if results.ratio is None:
        return ""
    r = results.ratio
    return (
        f"Ratio of {OURS} to {results.best_peer}: {r.value:.3f} (paired bootstrap over series: 95 "
        f"% confidence interval {r.low:.3f} to {r.high:.3f}; {r.better:.1%} of draws below 1).\n"
    )


def by_series(series: Sequence[Series], scores: Scores) -> str:
    """Return the MASE of every series and method."""
    methods = [method for method in _columns() if scores.get(method)]
    rows = [f"| series | rows | frequency | horizon | {' | '.join(methods)} |"]
    rows.append("|---|---:|---|---:|" + "---:|" * len(methods))
    for entry in series:
        row = [scores[method].get(entry.name) for method in methods]
        cells = ["" if value is None else f"{value.mase:.3f}" for value in row]
        about = [entry.name, str(len(entry.values)), entry.frequency, str(entry.horizon)]
        rows.append(f"| {' | '.join([*about, *cells])} |")
    return "\n".join([*rows, ""])


def _columns() -> list[str]:
    others = [name for name in METHODS if name not in (OURS, *PEERS)]
    return [OURS, *reversed(PEERS), *others]
