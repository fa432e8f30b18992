"""The proof that comes with a network that was made smaller."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from eigenecho.checks import check_known
from eigenecho.errors import Shown, bad_argument
from eigenecho.spectra import Spectrum
from eigenecho.types import Count, NonNegative, NonNegativeArray, PositiveInt

WEIGHTINGS = ("white", "rows", "statistics")
SIZES = ("deviation", "root mean square")


@dataclass(frozen=True, eq=False)
class Reduction:
    """What a reduction kept, what it promises, and how far the result is from the original.

    All in double precision: weights that are kept in float32 are rounded after it.

    Attributes
    ----------
    weighting : {"white", "rows", "statistics"}
        What counted: all inputs alike, the rows that were given, or those of training, of which
        the statistics are known.
    values : array
        Singular values, the largest first: those of the Hankel operator (white), or of the states
        that the rows reach, by what the outputs tell of them. Where rows tell too few states apart
        for a tolerance, the order was taken by the former.
    floor : float
        Share of the largest below which they are rounding.
    bound : float, optional
        White: ‖y − ŷ‖₂ ≤ bound ‖G‖∞ ‖u‖₂ from a zero state, for every input, in the network's own
        units; a bias counts as one more unit impulse.
    promise : float, optional
        Else: the rms error over the rows is at most this share of the targets' ``size``.
        Measured on rows that were given, proven from the statistics of others as far as these have
        all rows.
    gain : float
        The largest gain that was found, a lower bound of ‖G‖∞.
    gain_error : float
        The largest difference of gains at any frequency that was looked at, over ``gain``.
    probe_error : float
        ‖y − ŷ‖₂ over gain ‖u‖₂, on seeded noise of ``steps`` rows.
    steps : int
    rows_error, held_out_error : float, optional
        Rms error over the ``size`` of targets: on the rows that were weighed, and on those at their
        end that were not.
    radius_before, radius_after : float, optional
        Of the loop through the network's own output, where it can forecast; None also where the
        original is too large to look at.
    before : Spectrum
        The eigenvalues of the original; those that were kept are the model's.
    size : {"deviation", "root mean square"}
        Of targets, what errors are a share of: their standard deviation; the root of their mean
        square where statistics of training are all that is known, and hold no constant.

    See Also
    --------
    eigenecho.LinearESN : ``reduce`` writes one
    eigenecho.plots.reduction : draws it

    Examples
    --------
    >>> import eigenecho as ee
    >>> series = ee.tasks.mso(3, steps=400)
    >>> esn = ee.LinearESN(100, sr=0.95, warmup=50, seed=0).fit(series[:-1], series[1:])
    >>> certificate = esn.reduce(tol=1e-3).certificate_
    >>> certificate.units_before, certificate.units < 100
    (100, True)
    """

    weighting: str
    values: NonNegativeArray = field(repr=False)
    floor: NonNegative
    bound: NonNegative | None
    promise: NonNegative | None
    gain: NonNegative
    gain_error: NonNegative
    probe_error: NonNegative
    steps: Count
    rows_error: NonNegative | None
    held_out_error: NonNegative | None
    radius_before: NonNegative | None
    radius_after: NonNegative | None
    before: Spectrum
    units: PositiveInt
    size: str = "deviation"

    def __post_init__(self) -> None:
        check_known(self.weighting, "weighting", WEIGHTINGS)
        check_known(self.size, "size", SIZES)
        values = np.array(self.values, np.float64)
        if values.ndim != 1 or not np.all(values >= 0):
            raise bad_argument("values", Shown(f"shape {values.shape}"), "numbers ≥ 0")
        values.setflags(write=False)
        object.__setattr__(self, "values", values)
        for name, value in vars(self).items():
            if isinstance(value, float) and not 0 <= value < np.inf:
                raise bad_argument(name, value, "a finite number ≥ 0")

    @property
    def units_before(self) -> int:
        """N of the original."""
        return self.before.units

    def __str__(self) -> str:
        lines = [f"units        {self.units_before} → {self.units}", f"weighting    {self._what}"]
        if self.bound is not None:
            lines.append(f"bound        {self.bound:.2e}  of ‖G‖∞ ‖u‖₂, for every input")
        if self.promise is not None:
            how = "proven from" if self.weighting == "statistics" else "measured on"
            lines.append(
                f"promise      {self.promise:.2e}  of the {self.size} of y, {how} the rows"
            )
        lines.append(f"gain error   {self.gain_error:.2e}  of the largest gain, at any frequency")
        lines.append(
            f"probe        {self.probe_error:.2e}  of ‖G‖∞ ‖u‖₂, {self.steps} steps of noise"
        )
        if self.rows_error is not None:
            lines.append(f"rows         {self.rows_error:.2e}  of the {self.size} of y, weighed")
        if self.held_out_error is not None:
            lines.append(f"held out     {self.held_out_error:.2e}  of the {self.size} of y")
        if self.radius_after is not None:
            before = "not known" if self.radius_before is None else f"{self.radius_before:.8g}"
            lines.append(f"closed loop  radius {before} → {self.radius_after:.8g}")
        return "\n".join(lines)

    @property
    def _what(self) -> str:
        return {
            "white": "all inputs alike",
            "rows": "by the rows given",
            "statistics": "by the rows of training",
        }[self.weighting]
