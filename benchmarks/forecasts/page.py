"""What the scores say, as Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from forecasts.methods import COVERAGE, METHODS, OURS, PEERS
from forecasts.protocol import ORIGINS, TRAINING_ROWS, Series
from forecasts.scores import MUCH_WORSE, Line, Scores, Summary

PROTOCOL = f"""Made by `make bench-forecast BENCH=--write`. Up to {ORIGINS} origins a series, evenly over the last 40 % of its rows. At each, every method
is fitted to the rows before (the last {TRAINING_ROWS} at most) and forecasts as far as the frequency says;
ours is told the horizon and nothing else, and chooses on those rows alone; a second line is told
the season too, as all peers are. Errors are MASE, over the mean error of the seasonal naive forecast in the rows before the origin; the geometric mean
over series. *Much worse*: series on which a method is above {MUCH_WORSE} times the best of naive, drift and
seasonal naive. *Claimed*: the error that a method states before the test, |claimed / real − 1|,
median over series. AutoARIMA, AutoETS and AutoTheta are statsforecast's; above a season of 24 the
first two forecast what MSTL leaves.
"""  # noqa: E501


def page(title: str, series: Sequence[Series], scores: Scores, found: Summary) -> str:
    """The whole page."""
    tables = [overall(found), ratio(found), by_series(series, scores)]
    parts = [f"# {title}\n", in_short(found), PROTOCOL, *tables]
    return "\n".join(part for part in parts if part)


def in_short(found: Summary) -> str:
    """Ours and the best peer in a sentence, and whether chance would do as well."""
    if found.ratio is None:
        return ""
    mase = {line.method: line.mase for line in found.lines}
    low, high = found.ratio.low, found.ratio.high
    chance = "is within chance" if low <= 1 <= high else "is more than chance"
    return (
        f"**In short:** on {len(found.series)} series the mean scaled error of {OURS} is "
        f"{mase[OURS]:.3f}, that of {found.best_peer}, the best of the others,\n"
        f"{mase[str(found.best_peer)]:.3f}. The difference {chance}: in 95 % of draws over series "
        f"the ratio is between {low:.2f} and {high:.2f}.\n"
    )


def overall(found: Summary) -> str:
    """One row a method, best first."""
    head = f"| {len(found.series)} series | MASE | much worse | {COVERAGE:.0%} interval holds | claimed off by | seconds a fit | failed |"  # noqa: E501
    return "\n".join([head, "|---|" + 6 * "---:|", *map(_row, found.lines), ""])


def _row(line: Line) -> str:
    name = f"**{line.method}**" if line.method == OURS else line.method
    cells = [name, f"{line.mase:.3f}", str(line.much_worse), _share(line.coverage),
             _share(line.claim_off), f"{line.seconds:.2g}", str(line.failed)]  # fmt: skip
    return f"| {' | '.join(cells)} |"


def _share(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.1f} %"


def ratio(found: Summary) -> str:
    """Ours against the best peer."""
    if found.ratio is None:
        return ""
    r = found.ratio
    return (
        f"Ours / {found.best_peer}: {r.value:.3f}, 95 % of paired bootstrap draws over series in "
        f"{r.low:.3f} to {r.high:.3f}, {r.better:.1%} below 1.\n"
    )


def by_series(series: Sequence[Series], scores: Scores) -> str:
    """MASE of every series and method: ours, then peers from the best known to the simplest."""
    methods = [method for method in _columns() if scores.get(method)]
    rows = [f"| series | rows | frequency | ahead | {' | '.join(methods)} |"]
    rows.append("|---|---:|---|---:|" + "---:|" * len(methods))
    for one in series:
        known = [scores[method].get(one.name) for method in methods]
        cells = ["" if value is None else f"{value.mase:.3f}" for value in known]
        about = [one.name, str(len(one.values)), one.frequency, str(one.horizon)]
        rows.append(f"| {' | '.join([*about, *cells])} |")
    return "\n".join([*rows, ""])


def _columns() -> list[str]:
    others = [name for name in METHODS if name not in (OURS, *PEERS)]
    return [OURS, *reversed(PEERS), *others]
