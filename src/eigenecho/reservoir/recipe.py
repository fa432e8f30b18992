"""What a reservoir is drawn from."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from eigenecho.errors import bad_argument, check_flag, unknown_name
from eigenecho.spectra.sim import check_connectivity
from eigenecho.spectra.spectrum import check_lr, check_sr


@dataclass(frozen=True)
class Recipe:
    """What a reservoir is drawn from. ``basis`` is "eigen" or "neuron".

    ``eigenvectors=False`` draws [W_in]_Q directly, so that a named spectrum never needs an
    N×N matrix; the neuron basis is then unknown. ``even_defective=True`` diagonalises a matrix
    that has no usable eigenbasis all the same, as the paper does, where otherwise it takes the
    form that ``choose`` finds.
    """

    units: int = 100
    spectrum: Any = "golden"
    basis: str = "eigen"
    sr: float = 0.9
    lr: float = 1.0
    input_scaling: Any = 1.0
    input_connectivity: float = 1.0
    rc_connectivity: float = 1.0
    input_bias: bool = False
    fb_scaling: float = 1.0
    eigenvectors: bool = True
    even_defective: bool = False
    dtype: str = "float64"

    def __post_init__(self) -> None:
        check_sr(self.sr)
        if self.basis not in ("eigen", "neuron"):
            raise unknown_name("basis", self.basis, ("eigen", "neuron"))
        check_lr(self.lr)
        check_flag(self.input_bias, "input_bias")
        check_connectivity(self.input_connectivity, "input_connectivity")
        check_connectivity(self.rc_connectivity, "rc_connectivity")
        if not (isinstance(self.fb_scaling, Real) and np.isfinite(self.fb_scaling)):
            raise bad_argument("fb_scaling", self.fb_scaling, "a finite number")
        if not _is_float(self.dtype):
            raise unknown_name("dtype", self.dtype, ("float64", "float32"))

    @property
    def is_drawn(self) -> bool:
        """Whether the source is a name, and so is scaled to ``sr``."""
        return isinstance(self.spectrum, str)

    @property
    def of_matrix(self) -> tuple[Any, ...]:
        """What a drawn matrix depends on besides the seed; a given one is known by itself."""
        return (self.units, self.rc_connectivity) if self.is_drawn else (id(self.spectrum),)


def _is_float(dtype: Any) -> bool:
    try:
        return np.dtype(dtype) in (np.float64, np.float32)
    except TypeError:
        return False
