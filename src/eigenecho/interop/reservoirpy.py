"""Reservoir node for reservoirpy: ``DiagonalReservoirNode(100, sr=0.9) >> Ridge(1e-6)``."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from eigenecho import kernels
from eigenecho.basis import Basis
from eigenecho.checks import check_finite
from eigenecho.convert import as_double
from eigenecho.errors import FILL, bad_argument, missing_package
from eigenecho.interop.reservoirpy_weights import reservoir_weights
from eigenecho.reservoir import Recipe, Reservoir, draw
from eigenecho.threads import one_blas_thread
from eigenecho.types import Array

try:
    from reservoirpy import nodes
    from reservoirpy.node import Node
    from reservoirpy.type import is_array
    from reservoirpy.utils import rand_generator
except ImportError as error:
    raise missing_package("eigenecho.interop.reservoirpy", "reservoirpy 0.4") from error

__all__ = ["DiagonalReservoirNode"]

SHARED = ("units", "basis", "sr", "input_scaling", "input_connectivity", "rc_connectivity",
          "input_bias")  # fmt: skip
"""Parameters with the same name in ``Recipe``."""


class DiagonalReservoirNode(Node):
    """Linear reservoir in its eigenbasis, with O(N) operations per step, for reservoirpy.

        r(t) = r(t−1) ⊙ λ + u(t) W_in

    It replaces ``Reservoir(activation="identity")``, and shared parameters have the same meaning
    and defaults. The states are in the Q layout: real modes, followed by the real and imaginary
    parts of each pair. A subsequent Ridge node penalises the weights of modes instead of neurons.
    With ``basis="neuron"``, the states are those of the standard network.

    Parameters
    ----------
    units : int, optional
        Number of units. It can be omitted if ``W`` or ``spectrum`` is an array.
    lr : float, or array (units,) with ``W``
        Leaking rate in (0, 1].
    sr : float
        Spectral radius. If it exceeds 1, states grow without bound, because linear units do not
        saturate.
    input_scaling : float or array (features,)
    input_connectivity, rc_connectivity : float
        Fraction of nonzero entries in Win and in W.
    Win, W, bias : array or initializer of reservoirpy.mat_gen
        As in Reservoir, in the layout of reservoirpy. ``W=reservoirpy.mat_gen.normal`` with a seed
        gives the eigenbasis of a Reservoir with the same seed. Without ``W``, the eigenvalues are
        given by ``spectrum``, the input weights are drawn in the eigenbasis, and Win and bias must
        be None.
    spectrum : str, Spectrum, array or callable
        Name of a law of ``eigenecho.spectra``, or eigenvalues, as in
        ``eigenecho.DiagonalReservoir``.
    basis : {"eigen", "neuron"}
        Basis of the states. The neuron basis requires a product with W per step.
    input_bias : bool
        Add a constant input with random weights. It requires ``W=None``.
    input_dim : int, optional
    dtype : {"float64", "float32"}
    seed : int or Generator, optional
    name : str, optional

    Attributes
    ----------
    reservoir_ : Reservoir
        The weights including the leak; ``reservoir_.spectrum`` contains the eigenvalues.
    basis_ : Basis or None
        The eigenbasis of ``W``; ``basis_.states_to_neuron(states)`` returns states of neurons.

    See Also
    --------
    eigenecho.from_reservoirpy : Convert models of reservoirpy.
    eigenecho.DiagonalReservoir : The same reservoir for pipelines of scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from reservoirpy.nodes import Ridge
    >>> from eigenecho.interop.reservoirpy import DiagonalReservoirNode
    >>> X = np.sin(np.arange(101.0)).reshape(-1, 1)
    >>> model = DiagonalReservoirNode(50, sr=0.9, seed=0) >> Ridge(1e-8)
    >>> model.fit(X[:-1], X[1:], warmup=10).run(X[:-1]).shape
    (100, 1)
    """

    def __init__(
        self,
        units: int | None = None,
        lr: Any = 1.0,
        sr: float = 1.0,
        input_scaling: Any = 1.0,
        input_connectivity: float = 0.1,
        rc_connectivity: float = 0.1,
        Win: Any = None,
        W: Any = None,
        bias: Any = None,
        spectrum: Any = "golden",
        basis: str = "eigen",
        input_bias: bool = False,
        input_dim: int | None = None,
        dtype: Any = "float64",
        seed: Any = None,
        name: str | None = None,
    ) -> None:
        self.lr = lr
        self.sr = sr
        self.input_scaling = input_scaling
        self.input_connectivity = input_connectivity
        self.rc_connectivity = rc_connectivity
        self.Win = Win
        self.W = W
        self.bias = bias
        self.spectrum = spectrum
        self.basis = basis
        self.input_bias = input_bias
        self.dtype = dtype
        self.rng = rand_generator(seed=seed)
        self.name = name
        self.units = self._find_units(units)
        self.output_dim = self.units
        self.input_dim = np.shape(Win)[-1] if is_array(Win) else input_dim
        self.state: dict[str, Array] = {}
        self.basis_: Basis | None = None
        if W is None and (Win is not None or bias is not None or np.ndim(lr)):
            raise ValueError("Win, bias and an lr per neuron require W, which defines the neurons.")
        if W is not None and input_bias:
            raise bad_argument("input_bias", input_bias, "False if W is given", "Use bias instead.")
        self._recipe()  # Check the parameters here instead of in the first run.

    def initialize(self, x: Any, y: None = None) -> None:
        """Draw the weights for the columns of ``x``."""
        self._set_input_dim(x)
        assert self.input_dim is not None
        if self.W is None:
            drawn = draw(self._recipe(), self.input_dim, seed=self.rng)
            self.reservoir_, self.basis_ = drawn.reservoir, drawn.basis
        else:
            self._convert_neurons(x)
        self.units = self.output_dim = self.reservoir_.units
        self.state = {"out": self.reservoir_.zero_state()}
        self.initialized = True

    def _convert_neurons(self, x: Any) -> None:
        """Draw the weights with a Reservoir node, and convert them to the requested basis."""
        weights = {"Win": self.Win, "bias": self.bias}
        theirs = nodes.Reservoir(
            self.units, self.lr, self.sr, self.input_scaling, self.input_connectivity,
            self.rc_connectivity, W=self.W, activation="identity", input_dim=self.input_dim,
            seed=self.rng, **{name: value for name, value in weights.items() if value is not None},
        )  # fmt: skip
        theirs.initialize(x)
        self.W, self.Win, self.bias = theirs.W, theirs.Win, theirs.bias
        W, B, bias, lr = reservoir_weights(theirs)
        rates = np.broadcast_to(lr, (self.units,))
        leaky = as_double(W, "W") * rates + np.diag(1 - rates)
        drawn = draw(Recipe(spectrum=leaky, basis=self.basis, dtype=self.dtype), 0, seed=0)
        basis = self.basis_ = drawn.basis

        def convert(A: Array) -> Array:
            leaky_rows = A * rates
            rows = leaky_rows if basis is None else basis.states_to_eigen(leaky_rows)
            return np.ascontiguousarray(rows, self.dtype)

        self.reservoir_ = Reservoir(
            drawn.reservoir.transition, convert(B), None if bias is None else convert(bias)
        )

    def _step(self, state: Any, x: Array) -> dict[str, Array]:
        before = np.asarray(state["out"], self.reservoir_.dtype)
        drive = self.reservoir_.drive(np.asarray(x)[None], None)[0]
        step = kernels.backend(before).step
        r = step(self.reservoir_.form, self.reservoir_.B, drive, before)
        self._check(r, x)
        return {"out": r}

    @one_blas_thread()
    def _run(self, state: Any, x: Array) -> tuple[dict[str, Array], Array]:
        before = np.asarray(state["out"], self.reservoir_.dtype)
        out, r = self.reservoir_.scan(self.reservoir_.drive(np.asarray(x), None), before)
        self._check(r, x)
        return {"out": r}, out

    def _check(self, r: Array, x: Any) -> None:
        if np.all(np.isfinite(r)):
            return
        check_finite(x, "x", FILL)
        raise self.reservoir_.overflowed("states")

    def _find_units(self, units: int | None) -> int:
        """Return N from ``units``, W or the eigenvalues, which must agree."""
        weights = self.W if self.W is not None else self.spectrum
        size = units
        if is_array(weights) or (isinstance(weights, (list, tuple)) and self.W is None):
            size = int(np.shape(weights)[-1])
        elif hasattr(weights, "units"):
            size = weights.units
        if size is None:
            raise bad_argument("units", None, "a number of units, unless W or spectrum is an array")
        if units not in (None, size):
            raise bad_argument("units", units, f"None or {size}, the size of W or of the spectrum")
        return size

    def _recipe(self) -> Recipe:
        shared = {name: getattr(self, name) for name in SHARED}
        drawn = {"spectrum": self.spectrum, "lr": self.lr}
        if self.W is not None:
            drawn = {"spectrum": "matrix", "lr": 1.0}
        return Recipe(**shared, **drawn, eigenvectors=False, dtype=self.dtype)

    def __str__(self) -> str:
        source = "W" if self.W is not None else "spectrum"
        return f"DiagonalReservoirNode(units={self.units}, {source} given, sr={self.sr})"


def __getattr__(name: str) -> Any:
    if name == "DiagonalReservoir":
        message = "DiagonalReservoir of eigenecho.interop.reservoirpy is now DiagonalReservoirNode."
        warnings.warn(message, DeprecationWarning, stacklevel=2)
        return DiagonalReservoirNode
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
