"""The proof that comes with a converted network."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from eigenecho.checks import check_count, is_finite_number
from eigenecho.errors import bad_argument
from eigenecho.types import AnyFloat


@dataclass(frozen=True)
class Certificate:
    """What a conversion did, and how far the result is from the original network.

    Attributes
    ----------
    form : {"diagonal", "cascade", "sparse", "dense"}
        How the converted network steps.
    reason : str
        Why that form.
    condition : float
        cond(Q): how many digits the change of basis can cost; 1 where W is kept as it is.
    residual : float
        ‖W Q − Q [W]_Q‖ / ‖W‖ in the Frobenius norm.
    difference : float
        Largest output difference from the original, both in double precision, on a probe series,
        over the largest output; ``eigenecho.probe(model)`` gives the series to whoever wants to
        check. 0 where W is kept as it is: nothing was changed that could make one.
    steps : int
        Length of the probe.
    seconds_before, seconds_after : float
        Time per step of the original, dense or sparse, and of the converted network.
    along : tuple of float
        The largest difference in each stretch of the probe, in time order.
    radius : float
        max |λ|, the leak included. Above 1 states grow, and the probe is short.
    readout : str
        The rows of W_out as they were read.
    error : float, optional
        Largest distance of the outputs from those of the original with more digits (extended
        precision), over the largest output, at the start of the probe. None: not measured, for
        want of time or of such numbers on the machine.
    error_steps : int
        Over how many steps.

    See Also
    --------
    eigenecho.diagonalize : writes one
    eigenecho.plots.certificate : draws it

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
    steps: int
    seconds_before: float
    seconds_after: float
    along: tuple[AnyFloat, ...] = field(default=(), repr=False)
    radius: AnyFloat = float("nan")
    readout: str = ""
    error: AnyFloat | None = None
    error_steps: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "along", tuple(self.along))
        for name in ("form", "reason", "readout"):
            if not isinstance(getattr(self, name), str):
                raise bad_argument(name, getattr(self, name), "words")
        for name in ("condition", "residual", "difference", "radius"):
            _check_number(getattr(self, name), name)
        for value in self.along:
            _check_number(value, "along")
        if self.error is not None:
            _check_number(self.error, "error")
        check_count(self.steps, "steps")
        check_count(self.error_steps, "error_steps")
        for name in ("seconds_before", "seconds_after"):
            value = getattr(self, name)
            _check_number(value, name)
            if value <= 0:
                raise bad_argument(name, value, "a time > 0")

    @property
    def kept(self) -> bool:
        """Whether the network is the original as it was, so that there is nothing to compare."""
        return self.form in ("sparse", "dense") and self.difference == 0

    @property
    def speedup(self) -> float:
        """How many times faster a step became."""
        return self.seconds_before / self.seconds_after

    @property
    def change(self) -> str:
        """The same in words."""
        if self.speedup == 1:
            return "as before"
        if self.speedup > 1:
            return f"{self.speedup:.1f} times faster"
        return f"{self.seconds_after / self.seconds_before:.1f} times slower"

    def __str__(self) -> str:
        kept = "  (W stays in its own basis)" if self.form in ("sparse", "dense") else ""
        difference, error = "none: W is kept, nothing was changed", "not measured"
        if not self.kept:
            difference = f"{self.difference:.2e}  of the largest output, {self.steps} steps"
        if self.error is not None:
            size = f"{self.error:.2e}  of the largest output"
            error = f"{size}, against extended precision, {self.error_steps} steps"
        grows = "  > 1: states grow, the probe is short" if self.radius > 1 + 1e-9 else ""
        return "\n".join(
            [
                f"form         {self.form}: {self.reason}",
                f"readout      {self.readout}",
                f"radius       {self.radius:.6g}{grows}",
                f"cond(Q)      {self.condition:.2e}{kept}",
                f"residual     {self.residual:.2e}  of ‖W‖",
                f"difference   {difference}",
                f"error        {error}",
                f"time a step  {1e6 * self.seconds_before:.3g} µs → "
                f"{1e6 * self.seconds_after:.3g} µs  ({self.change})",
            ]
        )


def _check_number(value: Any, name: str) -> None:
    """A measured number, which may be infinite or none at all."""
    if not isinstance(value, float) and not is_finite_number(value):
        raise bad_argument(name, value, "a number")
