"""Views of a series, which combine filters with the inputs to which they are applied."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from eigenecho import spectra
from eigenecho.basis import interleave, separate
from eigenecho.errors import bad_argument
from eigenecho.forecasting.signals import RemovedEffects, steps, steps_so_far
from eigenecho.forecasting.states import Rows
from eigenecho.reservoir import Reservoir
from eigenecho.spectra import Spectrum
from eigenecho.transition import Diagonal
from eigenecho.types import Array

SHORTEST_FADE = 1e-6
"""Lower bound of 1 − |λ|² in input weights. Modes below it hardly decay within a series."""

LARGEST_GROWTH = 250.0
"""Maximum logarithm of the growth of a mode over a series, so that its square is finite."""

PLAIN = RemovedEffects(False)

LONGEST = 336
"""Maximum number of modes in a ring."""

LONG = 20 * LONGEST
"""Number of rows from which long rings replace short ones."""

SLOW = 3
"""Number of slow modes added to a ring."""

ASIDE = 2 ** (1 / 16)
"""Factor that is applied to a time constant if other modes have the same time constant."""


@dataclass(frozen=True)
class Filter:
    """Diagonal reservoir that is driven by the steps of a series.

        u(t) = y(t) − y(t−1),   r(t) = r(t−1) Λ + u(t) b

    The rows are x = [c, r], where c is the root mean square step so far, whose weight acts as a
    drift. The rows scale with the series, and depend neither on later rows nor on a constant added
    to the series. The input weights are not random: |b|² = 1 − |λ|² gives each mode unit variance
    for white noise.

    Parameters
    ----------
    spectrum : Spectrum
        Λ.
    """

    spectrum: Spectrum

    @cached_property
    def size(self) -> int:
        """Number of columns in a row, N + 1."""
        return self.spectrum.units + 1

    @cached_property
    def reservoir(self) -> Reservoir:
        """Reservoir with Λ and b."""
        real, pairs = (
            np.sqrt(np.maximum(1 - np.abs(modes) ** 2, SHORTEST_FADE))[None]
            for modes in (self.spectrum.real, self.spectrum.pairs)
        )
        b = interleave(real, np.sqrt(2) * pairs.astype(complex))
        return Reservoir(Diagonal(self.spectrum), b)

    def run(self, y: Array) -> Rows:
        """Return the rows of series (S, T) without missing values."""
        return Rows(steps_so_far(y), [(self.reservoir, steps(y))])

    def closed_loop(self, weights: Array, horizon: int) -> Array:
        """Return the weights (…, N + 1, H) of closed loops with one-step weights (…, N + 1).

        Each forecast is used as the next value:

            û_h = x o_h,   o_1 = w,   o_{h+1} = Λ o_h + (b·o_h) w
            ŷ_h − y = x Σ_{j≤h} o_j

        If the loop overflows, the weights are not finite.
        """
        n = self.spectrum.real.size + 1  # the constant, and real modes
        modes = np.concatenate([[1.0], self.spectrum.real, self.spectrum.pairs.conj()])
        w = separate(weights, n)
        b = separate(np.concatenate([[0.0], self.reservoir.B[0]]), n).conj()
        loop, step = np.empty((horizon, *w.shape), complex), w
        with np.errstate(over="ignore", invalid="ignore"):
            for h in range(horizon):
                loop[h] = step
                step = modes * step + (step @ b).real[..., None] * w
            total = np.cumsum(interleave(loop[..., :n].real, loop[..., n:]), axis=0)
        return np.moveaxis(total, 0, -1)


def check_growth(spectrum: Spectrum, rows: int, name: str = "spectrum") -> None:
    """Raise an error if states overflow within the given number of rows."""
    if spectrum.radius > 1 and np.log(spectrum.radius) * rows > LARGEST_GROWTH:
        expected = f"a spectrum whose states do not overflow within {rows} rows"
        raise bad_argument(name, spectrum, expected, "Use eigenvalues inside the unit circle.")


@dataclass(frozen=True)
class View:
    """Filter with the inputs to which it is applied.

    Parameters
    ----------
    name : str
        Name of the spectrum, for reports.
    filter : Filter
    removed : RemovedEffects
        Effects that are removed before the filter and added to the forecasts. This attribute also
        determines whether the filter is applied to values or to logarithms.
    side : Filter, optional
        Filter of the past columns, whose states are appended to the rows.
    alone : bool
        Train each series on its own rows only. This is used if the other series are past columns,
        because a series that predicts one series need not predict another.
    """

    name: str
    filter: Filter
    removed: RemovedEffects = PLAIN
    side: Filter | None = None
    alone: bool = False

    @property
    def logarithm(self) -> bool:
        """True if the filter is applied to logarithms."""
        return self.removed.logarithm

    @property
    def removes(self) -> bool:
        """True if effects of known columns or the calendar are removed."""
        return self.removed.known or self.removed.calendar


def candidate_spectra(rows: int, seasons: Sequence[int]) -> dict[str, Spectrum]:
    """Return candidate spectra by name, for series with the given number of rows and seasons.

    The spectra combine seasonal rings (rings whose modes include the seasonal frequencies), small
    rings and slow modes.
    """
    slowest = _radius(_longest_memory(rows, seasons))
    slow = spectra.time_constants(SLOW, sr=slowest, shortest=2.0)
    small = int(np.clip(rows // 8, 4, 12))
    if rows >= LONG:
        return _long_spectra(seasons, small, slow)
    many = 2 * int(np.clip(rows // 12, 3, 30))
    # The law "log_ring" already contains the slowest mode, so slightly faster modes are added.
    slower = spectra.time_constants(SLOW, sr=0.999 * slowest, shortest=2.0)
    named = {
        "short": _join(
            spectra.ring(small, sr=0.9), spectra.time_constants(4, sr=slowest, shortest=1.5)
        ),
        "spread": _join(spectra.log_ring(many, sr=slowest, seed=0), slower),
    }
    for season in seasons:
        if not 2 <= season <= LONGEST or 4 * season > rows:
            continue
        named[f"season {season}"] = _join(_ring(season, 2 * season), slow)
        named[f"season {season}, short"] = _seasonal(season, small, slow)
        if 8 * season <= rows and 2 * season <= LONGEST:
            named[f"two seasons {season}"] = _join(_ring(2 * season, 3 * season), slow)
    return named


def _longest_memory(rows: int, seasons: Sequence[int]) -> float:
    """Return the time constant of the slowest modes, in rows."""
    longest = max(rows / 4, 10.0)
    # A ring also has real modes, which must differ from the slow modes: a mode that occurs twice
    # adds no memory. Slow modes have the time constants ``longest`` and √(2 · longest).
    rings = {lasts * season for season in seasons for lasts in (2, 3)}
    is_taken = longest in rings or 2 * longest in {lasts**2 for lasts in rings}
    return longest * ASIDE if is_taken else longest


def _long_spectra(seasons: Sequence[int], small: int, slow: Spectrum) -> dict[str, Spectrum]:
    fitting = [season for season in seasons if 2 <= season <= LONGEST]
    longest = max(fitting, default=1)
    modes = LONGEST // longest * longest
    named = {}
    if fitting and fitting[0] < modes:
        named[f"season {fitting[0]}, short"] = _seasonal(fitting[0], small, slow)
    return named | {
        "half as long": _join(_ring(modes // 2, 0.6 * modes), slow),
        "long": _join(_ring(modes, 0.6 * modes), slow),
        "long, slower": _join(_ring(modes, 1.2 * modes), slow),
        "long, slowest": _join(_ring(modes, 2.4 * modes), slow),
    }


def _seasonal(season: int, small: int, slow: Spectrum) -> Spectrum:
    """Return a spectrum that consists of a ring for a season, a small ring, and slow modes."""
    return _join(_ring(season, 3 * season), spectra.ring(small + 1, sr=0.8), slow)


def _join(*parts: Spectrum) -> Spectrum:
    """Join spectra without a warning about repeated modes, which are harmless with a ridge."""
    real, pairs = zip(*((part.real, part.pairs) for part in parts), strict=True)
    return Spectrum(np.concatenate(real), np.concatenate(pairs))


def _ring(modes: int, time_constant: float) -> Spectrum:
    return spectra.ring(modes, sr=_radius(time_constant))


def _radius(time_constant: float) -> float:
    return float(np.exp(-1 / time_constant))
