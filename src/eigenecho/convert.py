"""Conversion of networks from other libraries to the eigenbasis, with a certificate."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from eigenecho.basis import Basis
from eigenecho.checks import as_array, as_square, check_finite, check_flag, check_real
from eigenecho.errors import IllConditionedWarning, Words, bad_argument, warn
from eigenecho.model import LinearModel
from eigenecho.model.certificate import Certificate
from eigenecho.model.compare import compare
from eigenecho.reservoir import Reservoir
from eigenecho.threads import one_blas_thread
from eigenecho.transition import WELL_CONDITIONED, Choice, choose_form, compact
from eigenecho.types import Array

EXACT = 1e-9
"""Largest difference of the outputs on the probe series for which a form counts as accurate."""


@one_blas_thread()
def diagonalize(
    W: Any,
    W_in: Any,
    W_out: Any = None,
    W_fb: Any = None,
    *,
    lr: Any = 1.0,
    bias: Any = None,
    readout_bias: bool | None = None,
    output_to_readout: bool = False,
    input_to_readout: bool = False,
    form: str = "auto",
) -> LinearModel:
    """Convert a linear echo state network to its eigenbasis, where a step costs O(N).

        r(t) = r(t−1) W + u(t) W_in + bias + y(t−1) W_fb,   y(t) = [1, y(t−1), r(t), u(t)] W_out

    The result is the same network in other coordinates. Its ``certificate`` states the form of the
    network and how far its outputs differ from those of the original network. If the eigenvectors
    are nearly parallel, as for some sparse and triangular matrices, W stays as it is, and the
    certificate states the reason.

    Parameters
    ----------
    W : array or scipy sparse matrix (N, N)
        Row i contains the connections from unit i. Libraries with states as columns store Wᵀ.
    W_in : array (D_in, N)
    W_out : array (N', D_out), optional
        Readout weights with rows [1, y(t−1), r, u], according to the flags below. By default, the
        outputs are the states.
    W_fb : array (D_out, N), optional
    lr : float or array (N,)
        Leaking rate of all units, or one value per unit. As for ``bias``, an array with a single
        element counts as a number.
    bias : array (N,) or float, optional
        Input bias, one value per unit or one for all units.
    readout_bias : bool, optional
        True if W_out has a row for the constant. By default, this is inferred from the number of
        rows.
    output_to_readout, input_to_readout : bool
        True if W_out has rows for y(t−1) or u(t), respectively.
    form : {"auto", "diagonal", "sparse", "dense"}
        Form of the result: independent modes, or W unchanged. "auto" selects the cheapest accurate
        form. If another form is inaccurate, an ``IllConditionedWarning`` is issued.

    Returns
    -------
    LinearModel
        The converted network. Its ``certificate`` describes the conversion.

    See Also
    --------
    eigenecho.probe : Return the probe series of the certificate.
    eigenecho.from_reservoirpy : Convert trained models of reservoirpy.
    eigenecho.plots.certificate : Plot the certificate.

    Examples
    --------
    >>> import eigenecho as ee
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> W = rng.normal(size=(50, 50)) / 9
    >>> W_in, W_out = rng.normal(size=(1, 50)), rng.normal(size=(51, 1))
    >>> model = ee.diagonalize(W, W_in, W_out)
    >>> model.certificate.form, model.certificate.difference < 1e-12
    ('diagonal', True)
    """
    dense = as_square(W)
    N = len(dense)
    rates = _rates(lr, N)
    input_to_readout = check_flag(input_to_readout, "input_to_readout")
    output_to_readout = check_flag(output_to_readout, "output_to_readout")
    leaky = dense * rates + np.diag(1 - rates)
    W_in = as_double(W_in, "W_in")
    W_fb = None if W_fb is None else as_double(W_fb, "W_fb")
    if bias is not None:
        bias = as_double(bias, "bias")
        bias = np.broadcast_to(bias, (N,)) if bias.shape in ((), (1,)) else bias
    reservoir = Reservoir(compact(leaky), W_in, bias, W_fb)
    coordinates = _Coordinates(N, len(W_in) if input_to_readout else 0, output_to_readout)
    W_out, readout_bias = coordinates.check_readout(W_out, readout_bias)

    def pad_weights(A: Array) -> Array:
        return np.pad(A * rates, [(0, 0)] * (A.ndim - 1) + [(0, coordinates.extra)])

    weights = reservoir.weights(pad_weights)
    weights[0][:, N:] = np.eye(len(W_in), coordinates.extra)
    reservoir = Reservoir(compact(np.pad(leaky, (0, coordinates.extra))), *weights)
    original = LinearModel(reservoir, W_out, readout_bias, output_to_readout)
    chosen = choose_form(leaky, form)
    converted, certificate = _convert(original, chosen, coordinates)
    if form == "auto" and certificate.difference > EXACT:
        reason = f"the outputs of modes would differ by {certificate.difference:.0e}"
        chosen = Choice(compact(leaky), None, chosen.spectrum, reason=reason)
        converted, certificate = _convert(original, chosen, coordinates)
    if certificate.difference > EXACT or certificate.condition > WELL_CONDITIONED:
        warn(
            f"The {certificate.form} form of this network is not accurate: cond(Q) is "
            f"{certificate.condition:.1e}, and the outputs on the probe series differ by "
            f"{certificate.difference:.1e} times the largest output. Use form='auto'.",
            IllConditionedWarning,
        )
    return replace(converted, certificate=certificate)


def _convert(
    original: LinearModel, chosen: Choice, coordinates: _Coordinates
) -> tuple[LinearModel, Certificate]:
    """Return the network with W in the chosen form, and the certificate."""
    transition = chosen.transition.padded(coordinates.extra)
    if chosen.basis is None:
        converted = replace(original, reservoir=replace(original.reservoir, transition=transition))
    else:
        basis = coordinates.extend_basis(chosen.basis)
        reservoir = Reservoir(transition, *original.reservoir.weights(basis.states_to_eigen))
        head, states = np.split(original.W_out, [len(original.W_out) - basis.units])
        W_out = np.concatenate([head, basis.weights_to_eigen(states)])
        converted = replace(original, reservoir=reservoir, W_out=W_out, basis=basis)
    return converted, Certificate(
        chosen.form,
        chosen.reason,
        chosen.condition,
        chosen.residual,
        **compare(original, converted),
        readout=coordinates.describe_readout(original.readout_bias),
    )


class _Coordinates(NamedTuple):
    """Coordinates [r, u], in which the inputs u of the readout are ``extra`` modes with λ = 0.

    ``previous`` is True if the readout has rows for y(t−1).
    """

    N: int
    extra: int
    previous: bool

    def check_readout(self, W_out: Any, readout_bias: bool | None) -> tuple[Array, bool]:
        """Return the readout weights, and True if their first row is for the constant."""
        if W_out is None:
            if self.previous or readout_bias:
                expected = "weights, because readout_bias or output_to_readout is True"
                raise bad_argument("W_out", None, expected)
            return np.eye(self.N + self.extra), False
        W_out = as_double(W_out, "W_out")
        W_out = W_out.reshape(-1, 1) if W_out.ndim < 2 else W_out
        check_finite(W_out, "W_out")
        plain = self.N + self.extra + W_out.shape[1] * self.previous
        if readout_bias is None:
            readout_bias = len(W_out) == plain + 1
        readout_bias = check_flag(readout_bias, "readout_bias")
        if len(W_out) != plain + readout_bias:
            expected = f"{self.describe_readout(readout_bias)}, {plain + readout_bias} in total"
            remedy = "Set readout_bias, output_to_readout and input_to_readout."
            raise bad_argument("W_out", Words(f"shape {W_out.shape}"), expected, remedy)
        return W_out, readout_bias

    def describe_readout(self, readout_bias: bool) -> str:
        """Return a description of the rows of W_out, such as "rows [1, r]"."""
        parts = ["1"] * readout_bias + ["y(t−1)"] * self.previous + ["r"] + ["u"] * bool(self.extra)
        return f"rows [{', '.join(parts)}]"

    def extend_basis(self, basis: Basis) -> Basis:
        """Extend a basis of r to a basis of [r, u]."""
        if not self.extra:
            return basis
        # Real modes come first: [r, u] Q = [u, r Q_r].
        Q = np.zeros((self.N + self.extra,) * 2)
        Q[: self.N, self.extra :] = basis.Q
        Q[self.N :, : self.extra] = np.eye(self.extra)
        return Basis(Q, basis.n_real + self.extra)


def as_double(A: Any, name: str) -> Array:
    """Return a dense or sparse real array as a dense float64 array."""
    A = as_array(A.toarray() if hasattr(A, "toarray") else A, name, "an array")
    check_real(A, name)
    return A.astype(np.float64)


def _rates(lr: Any, N: int) -> Array:
    expected = f"a number in (0, 1], or an array ({N},) of such numbers"
    rates = as_array(lr, "lr", expected)
    fits = rates.dtype.kind in "fiu" and rates.shape in ((), (1,), (N,))
    if not fits or not np.all((rates > 0) & (rates <= 1)):
        raise bad_argument("lr", lr, expected)
    return np.broadcast_to(rates.astype(np.float64), (N,))
