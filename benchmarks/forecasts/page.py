"""Write the page of the forecast benchmark in Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from forecasts.methods import COVERAGE, METHODS, OURS, PEERS, TOLD
from forecasts.protocol import ORIGINS, TRAINING_ROWS, Series
from forecasts.scores import MUCH_WORSE, Line, Scores, Summary

LABELS = {"lag ridge": "ridge regression on lags", TOLD: f"{OURS}, given the season length"}
"""Names of methods in the tables, where they differ from those of stored forecasts."""

PROTOCOL = f"""This page compares the accuracy, coverage and speed of `Forecaster` with those of other methods. Run
`make bench-forecast BENCH=--write` to reproduce the results.

- **Origins.** Each series has up to {ORIGINS} forecast origins, spread evenly over the last 40% of its rows. At each
  origin, every method is refitted on the preceding rows (at most the last {TRAINING_ROWS} rows). The horizon depends on the
  frequency of the series.
- **Methods.** `Forecaster` is given only the horizon and selects its models on the training rows. All other methods are
  also given the season length; a separate row shows `Forecaster` with the season length. AutoARIMA, AutoETS and AutoTheta
  are the implementations in statsforecast. For seasons of more than 24 rows, AutoARIMA and AutoETS are applied after
  a decomposition of the series by MSTL (multiple seasonal-trend decomposition). Ridge regression on lags predicts each
  step from the most recent values of the series.
- **MASE.** The mean absolute scaled error is the mean absolute error divided by the mean absolute error of the seasonal
  naive forecast on the training rows. Lower is better. The first table shows the geometric mean over series.
- **Much worse.** This column contains the number of series on which the error of the method is more than {MUCH_WORSE} times the
  error of the best naive baseline (naive, drift or seasonal naive).
- **Deviation of expected error.** `Forecaster` estimates its mean absolute error from the validation split
  (`expected_error_`). This column contains the median over series of the relative deviation |expected / actual − 1|.
- **Failures.** This column contains the number of forecasts that raised an error. In these cases, the seasonal naive
  forecast is scored instead.
"""  # noqa: E501


def page(title: str, series: Sequence[Series], scores: Scores, results: Summary) -> str:
    """Return the whole page."""
    each = "The second table shows the MASE of each method on each series:\n"
    tables = [overall(results), ratio(results), each, by_series(series, scores)]
    parts = [f"# {title}\n", summarise(results), PROTOCOL, *tables]
    return "\n".join(part for part in parts if part)


def summarise(results: Summary) -> str:
    """Return a sentence that compares eigenecho with the best other method."""
    if results.ratio is None:
        return ""
    mase = {line.method: line.mase for line in results.lines}
    low, high = results.ratio.low, results.ratio.high
    return (
        f"On {len(results.series)} real series, the mean absolute scaled error (MASE) of {OURS} is "
        f"{mase[OURS]:.3f}. The best of the other\nmethods, {results.best_peer}, has a MASE of "
        f"{mase[str(results.best_peer)]:.3f}. The 95% confidence interval "
        f"for the ratio of the first to the second\nof these errors is {low:.3f} to {high:.3f}.\n"
    )


def overall(results: Summary) -> str:
    """Return a table with one row per method, best first."""
    head = f"| method | MASE | much worse | coverage of {COVERAGE:.0%} intervals | deviation of expected error | CPU seconds per fit | failures |"  # noqa: E501
    return "\n".join([head, "|---|" + 6 * "---:|", *map(_row, results.lines), ""])


def _row(line: Line) -> str:
    name = f"**{OURS}**" if line.method == OURS else LABELS.get(line.method, line.method)
    cells = [name, f"{line.mase:.3f}", str(line.much_worse), _share(line.coverage),
             _share(line.claim_off), f"{line.seconds:.2g}", str(line.failed)]  # fmt: skip
    return f"| {' | '.join(cells)} |"


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.1%}"


def ratio(results: Summary) -> str:
    """Return the ratio of eigenecho to the best other method."""
    if results.ratio is None:
        return ""
    r = results.ratio
    return (
        f"The MASE of {OURS} is {r.value:.3f} times that of {results.best_peer}. In a paired "
        f"bootstrap over the series, the 95% confidence interval for this ratio is {r.low:.3f} to "
        f"{r.high:.3f}, and the ratio is below 1 in {r.better:.1%} of the bootstrap samples. "
        "The interval does not account for the fact that earlier versions of `Forecaster` were "
        "evaluated on the same series.\n"
    )


def by_series(series: Sequence[Series], scores: Scores) -> str:
    """Return the MASE of every series and method."""
    methods = [method for method in _columns() if scores.get(method)]
    names = [LABELS.get(method, method) for method in methods]
    rows = [f"| series | rows | frequency | horizon | {' | '.join(names)} |"]
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
