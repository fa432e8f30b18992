"""What is said where nothing could be learnt, and the last value is given."""

from __future__ import annotations

from collections.abc import Sequence

from eigenecho.data.panel import History
from eigenecho.errors import FewRowsWarning, warn
from eigenecho.forecasting.fitted import FittedForecaster
from eigenecho.forecasting.plan import fewest, longest

UNJUDGED = (
    "no way to forecast y could be judged: the rows held back hold no observation, or forecasts of "
    "them leave the range of numbers"
)


def warn_if_naive(fitted: FittedForecaster, *, updated: bool = False) -> None:
    """Warn, once for all series, where a fit learnt nothing, and an update keeps to that."""
    if not fitted.is_naive:
        return
    why, remedy = _reason(fitted)
    if updated and not remedy:
        why = "nothing could be learnt when this was fitted, and update keeps to that"
        remedy = "Fit it anew."
    given = "The last value is given for every step, without intervals."
    warn(f"{why}. {given} {remedy}".rstrip(), FewRowsWarning)


def warn_of_origins(naive: Sequence[FittedForecaster], count: int) -> None:
    """Warn, once for all, of those of ``count`` origins at which a fit learnt nothing."""
    if not naive:
        return
    why, _ = _reason(naive[0])
    where = f"at {len(naive)} of {count} origins the last value is given, without intervals"
    warn(f"{where}. At the first of them, {why}. Test on fewer, later ones.", FewRowsWarning)


def warn_without_width(flat: int, total: int, what: str) -> None:
    """Warn, once for all, of intervals of width 0."""
    if flat:
        warn(
            f"intervals of {flat} of {total} {what} have width 0, because no change was observed "
            "that errors could be learnt from. The true width is not known.",
            FewRowsWarning,
        )


def _reason(fitted: FittedForecaster) -> tuple[str, str]:
    """Return why nothing can be learnt, and what to do where rows are too few."""
    panel, horizon, units = fitted.panel, fitted.wanted.horizon, fitted.measures.units
    # Constant series teach nothing, however long they are.
    moving = [one for one in panel.histories if units[one.name] > 0]
    best = max(moving or panel.histories, key=_rows)
    rows, wanted = _rows(best), fewest(horizon)
    if rows >= wanted:
        return UNJUDGED, ""
    has, takes = f"has {rows} row{'s' * (rows != 1)}", f"a horizon of {horizon} takes {wanted}"
    shorter = f", or a horizon of {most} at most" if (most := longest(rows)) else ""
    if len(panel) == 1:
        return f"y {has}, too few to learn from: {takes}", f"Use a longer series{shorter}."
    which = "the longest that is not constant" if 0 < len(moving) < len(panel) else "the longest"
    return (
        f"none of the {len(panel)} series of y has enough rows to learn from: {which}, "
        f"{best.name!r}, {has}, and {takes}"
    ), f"Use longer series{shorter}."


def _rows(history: History) -> int:
    """From the first observation on."""
    return len(history) - history.start
