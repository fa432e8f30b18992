"""What is said where nothing could be learnt, and the last value is given."""

from __future__ import annotations

from collections.abc import Sequence

from eigenecho.errors import FewRowsWarning, warn
from eigenecho.forecasting.fitted import Fitted
from eigenecho.forecasting.plan import fewest, longest
from eigenecho.panels.panel import History, Panel

UNJUDGED = (
    "no way to forecast y could be judged: the rows held back hold no observation, or forecasts of "
    "them leave the range of numbers"
)


def warn_if_naive(fitted: Fitted, *, updated: bool = False) -> None:
    """Warn, once for all series, where a fit learnt nothing, and an update keeps to that."""
    if not fitted.is_naive:
        return
    why, remedy = _reason(fitted.panel, fitted.wanted.horizon)
    if updated and not remedy:
        why = "nothing could be learnt when this was fitted, and update keeps to that"
        remedy = "Fit it anew."
    given = "The last value is given for every step, without intervals."
    warn(f"{why}. {given} {remedy}".rstrip(), FewRowsWarning)


def warn_of_origins(naive: Sequence[Fitted], count: int) -> None:
    """Warn, once for all, of those of ``count`` origins at which a fit learnt nothing."""
    if not naive:
        return
    why, _ = _reason(naive[0].panel, naive[0].wanted.horizon)
    where = f"at {len(naive)} of {count} origins the last value is given, without intervals"
    warn(f"{where}. At the first of them, {why}. Test on fewer, later ones.", FewRowsWarning)


def _reason(panel: Panel, horizon: int) -> tuple[str, str]:
    """Why nothing can be learnt, and what to do where rows are too few."""
    best = max(panel.histories, key=_rows)
    rows, wanted = _rows(best), fewest(horizon)
    if rows >= wanted:
        return UNJUDGED, ""
    has, takes = f"has {rows} row{'s' * (rows != 1)}", f"a horizon of {horizon} takes {wanted}"
    shorter = f", or a horizon of {most} at most" if (most := longest(rows)) else ""
    if len(panel) == 1:
        return f"y {has}, too few to learn from: {takes}", f"Use a longer series{shorter}."
    return (
        f"none of the {len(panel)} series of y has enough rows to learn from: the longest, "
        f"{best.name!r}, {has}, and {takes}"
    ), f"Use longer series{shorter}."


def _rows(history: History) -> int:
    """From the first observation on."""
    return len(history) - history.start
