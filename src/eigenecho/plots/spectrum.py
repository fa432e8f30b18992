"""Eigenvalues in the complex plane."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from eigenecho.basis import eigendecomposition
from eigenecho.errors import Shown, bad_argument
from eigenecho.model import LinearModel
from eigenecho.plots.style import BLUE, GREY, VERMILLION, new_figure, tidy
from eigenecho.spectra import Spectrum
from eigenecho.types import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROUNDING = 1e-9
"""How far beyond the unit circle still counts as on it."""


def spectrum(
    source: Any,
    *,
    weights: Any = None,
    ax: Axes | None = None,
    radius: bool = True,
    color: str = BLUE,
    size: float | None = None,
    title: str | None = None,
) -> Axes:
    """Eigenvalues in the complex plane, both of each pair, with the unit circle.

    Those outside the unit circle, which grow without bound, are drawn in red.

    Parameters
    ----------
    source : Spectrum, list of eigenvalues, or a fitted estimator or model
        Of estimators and models the eigenvalues at work are drawn, the leak included;
        ``esn.spectrum_`` is what was drawn before it.
    weights : array (N,) or (N, D_out) in the Q layout, or True
        Readout weights that size the markers, ``size`` being the largest; a dot marks every
        eigenvalue as well. True takes those of a fitted ``LinearESN`` or ``LinearModel``.

            area ∝ |w| of a real mode, √(w_Re² + w_Im²) of a pair; the largest over outputs
    ax : Axes, optional
        Where to draw; else a new figure.
    radius : bool
        Draw the circle of the spectral radius too, dashed.
    color : str
    size : float, optional
        Area of the largest marker in points².
    title : str, optional
        By default the number of eigenvalues and their radius; "" for none.

    See Also
    --------
    eigenecho.plots.spectra_gallery : all laws

    Examples
    --------
    >>> import eigenecho as ee
    >>> ax = ee.plots.spectrum(ee.spectra.golden(100, sr=0.95, seed=0))
    >>> ax.get_title()
    '100 eigenvalues, radius 0.95'
    """
    values, importance = _modes(source, weights)
    if ax is None:
        ax = new_figure(4.2, 4.5).add_subplot()
        tidy(ax, frame=True)
    largest = float(np.abs(values).max())
    _circles(ax, largest if radius else None)

    count = len(values)
    unstable = np.abs(values) > 1 + ROUNDING
    if importance is None:
        area: Any = float(np.clip(2500 / count, 5, 36)) if size is None else size
    else:
        area = importance * (260.0 if size is None else size)
        # Modes that hardly count still show where they lie.
        dots = np.where(unstable, VERMILLION, GREY)
        ax.scatter(values.real, values.imag, s=4, c=dots, linewidths=0, gid="positions", zorder=2)
    look: dict[str, Any] = {"linewidths": 0, "gid": "eigenvalues", "zorder": 3}
    look["c"] = np.where(unstable, VERMILLION, color)
    look["alpha"] = 0.85 if importance is None else 0.6
    ax.scatter(values.real, values.imag, s=area, **look)

    ax.set_aspect("equal")
    ax.locator_params(nbins=5)
    ax.set_xlabel("Re λ")
    ax.set_ylabel("Im λ")
    reach = 1.12 * max(largest, 1.0)
    ax.set_xlim(-reach, reach)
    ax.set_ylim(-reach, reach)
    if title is None:
        title = f"{count} eigenvalue{'s' * (count > 1)}, radius {largest:.4g}"
        title += "\narea: readout weight" if importance is not None else ""
    if title:
        ax.set_title(title, fontsize=11)
    return ax


def _circles(ax: Axes, radius: float | None) -> None:
    from matplotlib.patches import Circle

    circle: dict[str, Any] = {"fill": False, "edgecolor": GREY, "linewidth": 1.0, "zorder": 1}
    ax.axhline(0, color=GREY, linewidth=0.5, zorder=0)
    ax.axvline(0, color=GREY, linewidth=0.5, zorder=0)
    ax.add_patch(Circle((0, 0), 1.0, gid="unit circle", **circle))
    if radius is not None and abs(radius - 1) > ROUNDING:
        ax.add_patch(Circle((0, 0), radius, gid="radius", linestyle=(0, (4, 3)), **circle))


def _modes(source: Any, weights: Any) -> tuple[Array, Array | None]:
    """Eigenvalues (N,) and how much each weighs, from 0 to 1, where that is asked."""
    model = getattr(source, "model_", source)
    if weights is True:
        if not isinstance(model, LinearModel):
            remedy = "Only a fitted LinearESN or a LinearModel has its own."
            raise bad_argument("weights", True, "readout weights (N,) or (N, D_out)", remedy)
        found, weights = _own_weights(model)
    else:
        found = _eigenvalues(model)
    if weights is None or weights is False:
        return found.values, None
    return found.values, importance(found, weights)


def _eigenvalues(source: Any) -> Spectrum:
    if isinstance(source, Spectrum):
        return source
    if isinstance(source, LinearModel):
        return source.spectrum
    if hasattr(source, "reservoir_"):
        return source.reservoir_.spectrum
    if hasattr(source, "get_params"):
        raise bad_argument("source", source, "a fitted estimator", "Call fit first.")
    if np.ndim(source) == 1:
        return Spectrum.from_values(source)
    wanted = "a Spectrum, a list of eigenvalues, or a fitted estimator or model"
    remedy = "eigenecho.spectra.from_matrix takes a matrix."
    raise bad_argument("source", source, wanted, remedy)


def _own_weights(model: LinearModel) -> tuple[Spectrum, Array]:
    """The spectrum of a model and its readout (N, D_out) in the Q layout."""
    readout = model.readout.weights.T
    if model.is_diagonal:
        return model.spectrum, readout
    found, basis = eigendecomposition(model.reservoir.transition.dense)
    return found, basis.weights_to_eigen(readout)


def importance(found: Spectrum, weights: Any) -> Array:
    """How much each of N eigenvalues weighs in the readout, from 0 to 1; both of a pair alike."""
    W = np.asarray(weights, dtype=np.float64)
    if W.ndim not in (1, 2) or len(W) != found.units or W.size == 0 or not np.isfinite(W).all():
        raise bad_argument(
            "weights",
            Shown(f"shape {W.shape}") if np.isfinite(W).all() else Shown("NaN or Inf"),
            f"finite readout weights of the states, ({found.units},) or ({found.units}, D_out)",
            "Leave out the rows of W_out for the bias and y(t−1).",
        )
    W = W.reshape(found.units, -1)
    n = found.real.size
    modulus = np.concatenate(
        [np.abs(W[:n]), np.repeat(np.hypot(W[n::2], W[n + 1 :: 2]), 2, axis=0)]
    ).max(axis=1)
    return modulus / (modulus.max() or 1.0)
