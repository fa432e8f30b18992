"""Pooled features of series: proportions of steps at which outputs of modes exceed thresholds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from eigenecho import threads
from eigenecho.checks import check_floats, generator
from eigenecho.classify.kernel import Bank, make_bank, sample_outputs, shares_above
from eigenecho.classify.modes import ModeGrid, draw_mixes
from eigenecho.data.collection import Collection
from eigenecho.errors import Words, bad_argument
from eigenecho.progress import StageReport
from eigenecho.scaling import Scaling, Spread
from eigenecho.types import Array, Seed

SAMPLED_SERIES = 16
"""Largest number of training series whose outputs determine the thresholds."""

SAMPLED_STEPS = 1024
"""Approximate number of steps sampled from these series."""

EXTREME_LEVELS = (0.01, 0.99)
"""Lowest and highest quantile level of the thresholds."""

LARGEST_INPUT = 1e25
"""Largest magnitude of scaled values, so that states stay finite in single precision."""

BLOCK_STEPS = 1 << 15
"""Approximate number of steps per block, which takes a thread about ten milliseconds."""

BLOCK_SERIES = 256
"""Largest number of series per block, which limits the memory for their features."""


@dataclass(frozen=True, eq=False)
class PooledModes:
    """Modes and thresholds that map each series to one row of features.

    Attributes
    ----------
    grid : ModeGrid
        Grid of A time constants with B frequencies each.
    scaling : Scaling
        Centre and scale of each channel.
    mixes : array (2, A·B, D)
        Weights of the channels in the input of each mode, forwards and backwards.
    thresholds : array (2·phases, J, 2·A·B)
        Thresholds for the outputs of the series, then for those of its increments.
    """

    grid: ModeGrid
    scaling: Scaling
    mixes: Array
    thresholds: Array

    def __post_init__(self) -> None:
        modes, D = self.grid.size, len(self.scaling.mean)
        check_floats(self.mixes, "mixes", 2, modes, D, dtype=np.float32)
        check_floats(self.thresholds, "thresholds", None, None, 2 * modes, dtype=np.float32)
        if len(self.thresholds) % 2 or not self.thresholds.size:
            got = Words(f"shape {self.thresholds.shape}")
            raise bad_argument("thresholds", got, f"shape (2·phases, J, {2 * modes})")
        if np.abs(self.mixes).max() > 1:
            raise bad_argument("mixes", Words("weights outside [-1, 1]"), "weights from -1 to 1")

    @property
    def shape(self) -> tuple[int, ...]:
        """Axes of the features: input, phase, threshold, direction, time constant, frequency."""
        outputs, J, _ = self.thresholds.shape
        return (2, outputs // 2, J, 2, *self.grid.frequencies.shape)

    @property
    def size(self) -> int:
        """Number of features."""
        return self.thresholds.size

    @property
    def channels(self) -> int:
        """Number of channels of a series."""
        return self.mixes.shape[2]

    @cached_property
    def _bank(self) -> Bank:
        return make_bank(self.grid.rates, len(self.thresholds) // 2, self.mixes)

    def transform(self, series: Collection, report: StageReport | None = None) -> Array:
        """Return the features (series, features) in single precision."""
        out, done = np.empty((len(series), self.size), np.float32), 0
        for block in self.map(lambda features: features, series, report):
            out[done : done + len(block)] = block
            done += len(block)
        return out

    def map(
        self, task: Callable[[Array], Array], series: Collection, report: StageReport | None = None
    ) -> Iterator[Array]:
        """Apply a task to the features of each block of series, and yield the results in order.

        Blocks are computed in parallel threads. The results do not depend on the number of threads.
        """
        parts = max(-(-len(series.rows) // BLOCK_STEPS), -(-len(series) // BLOCK_SERIES))
        pieces = threads.even_split(len(series), parts)

        def compute(piece: tuple[int, int]) -> Array:
            block = series[slice(*piece)]
            out = np.empty((len(block), *self.thresholds.shape), np.float32)
            shares_above(
                *_scaled(block, self.scaling), block.starts, self._bank, self.thresholds, out
            )
            return task(out.reshape(len(block), -1))

        for (_, done), result in zip(pieces, threads.mapped(compute, pieces), strict=True):
            if report is not None:
                report("features", done, len(series))
            yield result


def fit_modes(series: Collection, counts: Sequence[int], seed: Seed) -> PooledModes:
    """Choose modes for the median length of the series, and thresholds from a sample of them.

    ``counts`` contains the numbers of time constants, frequencies, phases and thresholds.
    """
    time_constants, frequencies, phases, thresholds = counts
    for_mixes, for_thresholds = generator(seed).spawn(2)
    grid = ModeGrid.of(time_constants, frequencies, float(np.median(series.lengths)))
    mixes = draw_mixes(grid.size, series.rows.shape[1], for_mixes)
    scaling = Spread.of(series.rows).scaling
    bank = make_bank(grid.rates, phases, mixes)
    return PooledModes(
        grid, scaling, mixes, _draw_thresholds(series, scaling, bank, thresholds, for_thresholds)
    )


def _draw_thresholds(
    series: Collection, scaling: Scaling, bank: Bank, count: int, rng: np.random.Generator
) -> Array:
    """Return thresholds (outputs, count, lanes): quantiles of the outputs for a sample of series.

    The levels of the quantiles are random, one in each of ``count`` equal bands.
    """
    outputs, lanes = 2 * len(bank.cosines), 2 * bank.turn
    samples = []
    for i in rng.permutation(len(series))[:SAMPLED_SERIES]:
        one = series[i : i + 1]
        share = SAMPLED_STEPS // min(len(series), SAMPLED_SERIES)
        # The increments have no first step.
        times = 1 + rng.choice(len(one.rows) - 1, min(share, len(one.rows) - 1), replace=False)
        samples.append(np.empty((len(times), outputs, lanes), np.float32))
        sample_outputs(*_scaled(one, scaling), np.sort(times), bank, samples[-1])
    values = np.sort(np.concatenate(samples).transpose(1, 2, 0), axis=2)
    levels = (np.arange(count) + rng.random((outputs, lanes, count))) / count
    positions = np.clip(levels, *EXTREME_LEVELS) * (values.shape[2] - 1)
    chosen = np.take_along_axis(values, positions.astype(int), axis=2)
    return np.ascontiguousarray(chosen.transpose(0, 2, 1))


def _scaled(series: Collection, scaling: Scaling) -> tuple[Array, Array]:
    """Return the scaled rows without the level of their series, and the levels (series, D).

    Both are in single precision. A level is the mean of a series.
    """
    with np.errstate(over="ignore"):
        rows = np.clip(scaling.forward(series.rows), -LARGEST_INPUT, LARGEST_INPUT)
    sums = np.add.reduceat(rows, series.starts[:-1])
    levels = (sums / series.lengths[:, None]).astype(np.float32)
    return (rows - levels.repeat(series.lengths, axis=0)).astype(np.float32), levels
