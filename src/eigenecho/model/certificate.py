"""Certificates, which compare a converted or reduced network with the original."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np

from eigenecho.checks import convert_fields
from eigenecho.errors import Words, bad_argument
from eigenecho.spectra import Spectrum
from eigenecho.types import AnyFloat, Count, NonNegative, NonNegativeArray, PositiveInt

WEIGHTINGS = {
    "white": "all inputs equally weighted",
    "rows": "inputs weighted by the given rows",
    "statistics": "inputs weighted by the training rows",
}
SIZES = ("standard deviation", "root mean square")


@dataclass(frozen=True)
class Certificate:
    """Report of a conversion: the form of the network, and its differences from the original.

    Attributes
    ----------
    form : {"diagonal", "sparse", "dense"}
        Form of the transition matrix in the converted network.
    reason : str
        Why this form was chosen.
    condition : float
        Condition number of Q, which bounds the loss of precision in the change of basis. 1 if W
        is unchanged.
    residual : float
        ‖W Q − Q [W]_Q‖ / ‖W‖ in the Frobenius norm.
    difference : float
        Largest difference between the outputs of the two networks on a probe series, both in
        double precision, relative to the largest output. 0 if W is unchanged.
        ``eigenecho.probe(model)`` returns the probe series.
    steps : int
        Length of the probe series.
    products_before, products_after : int
        Multiplications per step of the original, dense or sparse, and of the converted network.
    along : tuple of float
        Largest difference in each part of the probe series, in time order.
    radius : float
        Spectral radius, max |λ|, including the leak. If it exceeds 1, the states grow, and the
        probe series is shorter.
    readout : str
        Description of the rows of W_out.
    error : float, optional
        Largest difference between the outputs of the converted network and those of the original
        in extended precision, relative to the largest output, at the start of the probe series.
        None if it was not measured, because it would take too long or because the machine does
        not support extended precision.
    error_steps : int
        Number of steps for which ``error`` was measured.

    See Also
    --------
    eigenecho.diagonalize : Convert a network.
    eigenecho.plots.certificate : Plot a certificate.

    Examples
    --------
    >>> import eigenecho as ee
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> model = ee.diagonalize(rng.normal(size=(20, 20)) / 6, rng.normal(size=(1, 20)))
    >>> model.certificate.form, model.certificate.difference < 1e-12
    ('diagonal', True)
    """

    form: str
    reason: str
    condition: AnyFloat
    residual: AnyFloat
    difference: AnyFloat
    steps: Count
    products_before: PositiveInt
    products_after: PositiveInt
    along: tuple[AnyFloat, ...] = field(default=(), repr=False)
    radius: AnyFloat = float("nan")
    readout: str = ""
    error: AnyFloat | None = None
    error_steps: Count = 0

    @property
    def kept(self) -> bool:
        """True if W is unchanged, so that both networks are identical."""
        return self.form in ("sparse", "dense") and self.difference == 0

    @property
    def saving(self) -> float:
        """Multiplications of the original, divided by those of the converted network."""
        return self.products_before / self.products_after

    @property
    def change(self) -> str:
        """Description of the change in multiplications."""
        if self.saving == 1:
            return "unchanged"
        if self.saving > 1:
            return f"{self.saving:.1f} times fewer"
        return f"{1 / self.saving:.1f} times more"

    def __str__(self) -> str:
        kept = "  (no change of basis)" if self.form in ("sparse", "dense") else ""
        difference, error = "none: W is unchanged", "not measured"
        if not self.kept:
            difference = f"{self.difference:.2e}  of the largest output, {self.steps} steps"
        if self.error is not None:
            size = f"{self.error:.2e}  of the largest output"
            error = f"{size}, compared with extended precision, {self.error_steps} steps"
        grows = "  > 1: states grow, so the probe is short" if self.radius > 1 + 1e-9 else ""
        return "\n".join(
            [
                f"form           {self.form}: {self.reason}",
                f"readout        {self.readout}",
                f"radius         {self.radius:.6g}{grows}",
                f"cond(Q)        {self.condition:.2e}{kept}",
                f"residual       {self.residual:.2e}  of ‖W‖",
                f"difference     {difference}",
                f"error          {error}",
                f"products       {self.products_before:,} → {self.products_after:,}  "
                f"multiplications per step ({self.change})",
            ]
        )


@dataclass(frozen=True, eq=False)
class Reduction:
    """Report of a reduction: the number of remaining units, error bounds and measured errors.

    All errors refer to the network in double precision. A float32 network is rounded afterwards.

    Attributes
    ----------
    weighting : {"white", "rows", "statistics"}
        Inputs for which the error is minimised: all inputs ("white"), the given rows ("rows"), or
        the training rows, represented by their statistics ("statistics").
    values : array
        Singular values in descending order. For white weighting, these are the Hankel singular
        values; otherwise, those of the states along the rows, weighted by their effect on the
        outputs. If the rows distinguish too few states for a tolerance, the order is selected by
        the Hankel singular values instead.
    floor : float
        Fraction of the largest singular value below which singular values are treated as rounding
        errors.
    gain : float
        Largest gain at any tested frequency, a lower bound on ‖G‖∞.
    gain_error : float
        Largest difference between the gains of the two networks at any tested frequency, relative
        to ``gain``.
    probe_error : float
        ‖y − ŷ‖₂ / (gain ‖u‖₂) for white noise of ``steps`` rows.
    steps : int
        Length of the white-noise series.
    before : Spectrum
        Eigenvalues of the original.
    units : int
        Number of units that remain.
    bound : float, optional
        For white weighting, ‖y − ŷ‖₂ ≤ bound ‖G‖∞ ‖u‖₂ holds for every input u from a zero state,
        in standardised units if the network standardises. A bias counts as an additional unit
        impulse.
    promise : float, optional
        For other weightings, the RMS error over the rows is at most this fraction of the ``size``
        of the targets. It is measured on given rows. For training rows, it is proven from their
        statistics, provided that these include all rows.
    rows_error, held_out_error : float, optional
        RMS errors, relative to the ``size`` of the targets, on the rows used for the reduction and
        on the rows held out at the end of each series.
    radius_before, radius_after : float, optional
        Spectral radii of the closed loops before and after the reduction. None if the network
        cannot forecast, or if the original is too large to compute its radius.
    size : {"standard deviation", "root mean square"}
        Unit of the errors: the standard deviation of the targets, or their root mean square if
        only training statistics without a constant are known.

    See Also
    --------
    eigenecho.LinearESN : ``reduce`` returns a network with a certificate.
    eigenecho.plots.reduction : Plot a reduction.

    Examples
    --------
    >>> import eigenecho as ee
    >>> series = ee.tasks.mso(3, steps=400)
    >>> esn = ee.LinearESN(100, sr=0.95, warmup=50, seed=0).fit(series[:-1], series[1:])
    >>> certificate = esn.reduce(tol=1e-3).certificate_
    >>> certificate.units_before, certificate.units < 100
    (100, True)
    """

    weighting: Annotated[str, tuple(WEIGHTINGS)]
    values: NonNegativeArray = field(repr=False)
    floor: NonNegative
    gain: NonNegative
    gain_error: NonNegative
    probe_error: NonNegative
    steps: Count
    before: Spectrum
    units: PositiveInt
    bound: NonNegative | None = None
    promise: NonNegative | None = None
    rows_error: NonNegative | None = None
    held_out_error: NonNegative | None = None
    radius_before: NonNegative | None = None
    radius_after: NonNegative | None = None
    size: Annotated[str, tuple(SIZES)] = "standard deviation"

    def __post_init__(self) -> None:
        convert_fields(self)
        values = np.array(self.values, np.float64)
        if values.ndim != 1:
            raise bad_argument("values", Words(f"shape {values.shape}"), "a 1-D array")
        values.setflags(write=False)
        object.__setattr__(self, "values", values)

    @property
    def units_before(self) -> int:
        """Number of units of the original network."""
        return self.before.units

    def __str__(self) -> str:
        of_y = f"of the {self.size} of y"
        how = "proven from" if self.weighting == "statistics" else "measured on"
        before = "unknown" if self.radius_before is None else f"{self.radius_before:.8g}"
        lines = [
            f"units        {self.units_before} → {self.units}",
            f"weighting    {WEIGHTINGS[self.weighting]}",
        ]
        if self.bound is not None:
            lines.append(f"bound        {self.bound:.2e}  of ‖G‖∞ ‖u‖₂, for every input")
        if self.promise is not None:
            lines.append(f"guarantee    {self.promise:.2e}  {of_y}, {how} the rows")
        lines += [
            f"gain error   {self.gain_error:.2e}  of the largest gain, at any frequency",
            f"probe        {self.probe_error:.2e}  of ‖G‖∞ ‖u‖₂, {self.steps} steps of noise",
        ]
        if self.rows_error is not None:
            lines.append(f"rows         {self.rows_error:.2e}  {of_y}")
        if self.held_out_error is not None:
            lines.append(f"held out     {self.held_out_error:.2e}  {of_y}")
        if self.radius_after is not None:
            lines.append(f"closed loop  radius {before} → {self.radius_after:.8g}")
        return "\n".join(lines)
