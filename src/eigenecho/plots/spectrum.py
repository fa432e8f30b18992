"""Figures of eigenvalues in the complex plane, for one spectrum or for several laws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from eigenecho.basis import eigendecomposition
from eigenecho.checks import check_finite
from eigenecho.errors import Words, bad_argument
from eigenecho.model import LinearModel
from eigenecho.plots.style import BLUE, GREY, VERMILLION, new_figure, panel_grid, tidy
from eigenecho.spectra import LAWS, Spectrum, law
from eigenecho.types import Array, Seed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROUNDING = 1e-9
"""Largest distance from the unit circle at which an eigenvalue counts as lying on the circle."""


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
    """Draw eigenvalues in the complex plane, with the unit circle.

    Both eigenvalues of each conjugate pair are drawn. Eigenvalues outside the unit circle, whose
    states grow without bound, are red.

    Parameters
    ----------
    source : Spectrum, list of eigenvalues, or a fitted estimator or model
        The eigenvalues of estimators and models include the leak. Use ``esn.spectrum_`` to draw
        eigenvalues without the leak.
    weights : array (N,) or (N, D_out) in the Q layout, or True
        Readout weights that determine the size of the markers. True selects the weights of a fitted
        ``LinearESN`` or ``LinearModel``. The area of a marker is proportional to |w| for a real
        mode and to √(w_Re² + w_Im²) for a pair, or to the maximum over several outputs. Dots mark
        eigenvalues with small weights.
    ax : Axes, optional
        Axes to draw on. By default, a new figure.
    radius : bool
        Draw a dashed circle at the spectral radius.
    color : str
        Colour of the markers.
    size : float, optional
        Area of the largest marker in points².
    title : str, optional
        By default, the number of eigenvalues and the spectral radius. Use "" for no title.

    Returns
    -------
    Axes

    See Also
    --------
    eigenecho.plots.spectra_gallery : Draw the spectra of several laws.

    Examples
    --------
    >>> import eigenecho as ee
    >>> ax = ee.plots.spectrum(ee.spectra.golden(100, sr=0.95, seed=0))
    >>> ax.get_title()
    '100 eigenvalues, radius 0.95'
    """
    model = getattr(source, "model_", source)
    if weights is True:
        modes, weights = _read_readout(model)
    else:
        modes = _read_spectrum(model)
    values = modes.values
    shares = None if weights is None or weights is False else importance(modes, weights)
    if ax is None:
        ax = new_figure(4.2, 4.5).add_subplot()
        tidy(ax, frame=True)
    largest = float(np.abs(values).max())
    _draw_circles(ax, largest if radius else None)

    count = len(values)
    unstable = np.abs(values) > 1 + ROUNDING
    if shares is None:
        area: Any = float(np.clip(2500 / count, 5, 36)) if size is None else size
    else:
        area = shares * (260.0 if size is None else size)
        # Eigenvalues with small weights remain visible as dots.
        dots = np.where(unstable, VERMILLION, GREY)
        ax.scatter(values.real, values.imag, s=4, c=dots, linewidths=0, gid="positions", zorder=2)
    style: dict[str, Any] = {"linewidths": 0, "gid": "eigenvalues", "zorder": 3}
    style["c"] = np.where(unstable, VERMILLION, color)
    style["alpha"] = 0.85 if shares is None else 0.6
    ax.scatter(values.real, values.imag, s=area, **style)

    reach = 1.12 * max(largest, 1.0)
    ax.set(xlabel="Re λ", ylabel="Im λ", xlim=(-reach, reach), ylim=(-reach, reach))
    ax.set_aspect("equal")
    ax.locator_params(nbins=5)
    if title is None:
        title = f"{count} eigenvalue{'s' * (count > 1)}, radius {largest:.4g}"
        title += "\nmarker area: readout weight" if shares is not None else ""
    if title:
        ax.set_title(title, fontsize=11)
    return ax


def spectra_gallery(
    n: int = 100,
    *,
    sr: float | None = None,
    seed: Seed = 0,
    laws: Sequence[str] | None = None,
) -> Figure:
    """Draw the spectra of several laws, each in its own panel.

    Parameters
    ----------
    n : int
        Number of eigenvalues of each spectrum.
    sr : float, optional
        Spectral radius. By default, the default value of each law.
    seed : int, Generator or None
    laws : list of str, optional
        Names of laws in ``eigenecho.spectra.LAWS``. By default, all laws.

    Returns
    -------
    Figure

    See Also
    --------
    eigenecho.plots.spectrum : Draw a single spectrum.

    Examples
    --------
    >>> import eigenecho as ee
    >>> figure = ee.plots.spectra_gallery(50, laws=["golden", "ring"])
    >>> len(figure.axes)
    2
    """
    names = list(LAWS) if laws is None else list(laws)
    if not names:
        raise bad_argument("laws", laws, f"a list of names from {', '.join(LAWS)}")
    options = {} if sr is None else {"sr": sr}
    drawn = {name: law(name)(n, seed=seed, **options) for name in names}

    columns = min(4, len(names))
    figure, axes = panel_grid(len(names), columns, 2.4, 2.5, square=True, sharex=True, sharey=True)
    for i, (ax, (name, values)) in enumerate(zip(axes, drawn.items(), strict=True)):
        spectrum(values, ax=ax, title=name)
        ax.label_outer()
        # The last panel of each column has labels, even above an empty cell.
        if i + columns >= len(names):
            ax.set_xlabel("Re λ")
            ax.tick_params(labelbottom=True)
    reach = max(1.0, *(values.radius for values in drawn.values())) * 1.12
    axes[0].set(xlim=(-reach, reach), ylim=(-reach, reach))
    return figure


def mark_eigenvalues(ax: Axes, kept: Spectrum, color: str) -> None:
    """Draw markers over the eigenvalues that remain after a reduction."""
    style: dict[str, Any] = {"c": color, "linewidths": 0, "zorder": 4}
    ax.scatter(kept.values.real, kept.values.imag, s=16, gid="kept", **style)


def _draw_circles(ax: Axes, radius: float | None) -> None:
    from matplotlib.patches import Circle

    circle: dict[str, Any] = {"fill": False, "edgecolor": GREY, "linewidth": 1.0, "zorder": 1}
    ax.axhline(0, color=GREY, linewidth=0.5, zorder=0)
    ax.axvline(0, color=GREY, linewidth=0.5, zorder=0)
    ax.add_patch(Circle((0, 0), 1.0, gid="unit circle", **circle))
    if radius is not None and abs(radius - 1) > ROUNDING:
        ax.add_patch(Circle((0, 0), radius, gid="radius", linestyle=(0, (4, 3)), **circle))


def _read_spectrum(source: Any) -> Spectrum:
    if isinstance(source, Spectrum):
        return source
    if isinstance(source, LinearModel):
        return source.spectrum
    if hasattr(source, "reservoir_"):
        return source.reservoir_.spectrum
    if np.ndim(source) == 1:
        return Spectrum.from_values(source)
    expected = "a Spectrum, a list of eigenvalues, or a fitted estimator or model"
    remedy = "Use spectra.from_matrix for a matrix."
    raise bad_argument("source", source, expected, remedy)


def _read_readout(model: Any) -> tuple[Spectrum, Array]:
    """Return the spectrum of a model and its readout weights (N, D_out) in the Q layout."""
    if not isinstance(model, LinearModel):
        expected = "an array (N,) or (N, D_out), because the source has no readout weights"
        raise bad_argument("weights", True, expected)
    model.need_states("weights=True")
    readout = model.readout.weights.T
    if model.is_diagonal:
        return model.spectrum, readout
    modes, basis = eigendecomposition(model.reservoir.transition.dense)
    return modes, basis.weights_to_eigen(readout)


def importance(modes: Spectrum, weights: Any) -> Array:
    """Return the readout weight of each eigenvalue (N,), relative to the largest weight.

    Both eigenvalues of a conjugate pair have the same weight.
    """
    W = np.asarray(weights, dtype=np.float64)
    if W.ndim not in (1, 2) or len(W) != modes.units or W.size == 0:
        expected = f"shape ({modes.units},) or ({modes.units}, D_out), one row for each state"
        remedy = "Omit the rows of W_out for the bias and y(t−1)."
        raise bad_argument("weights", Words(f"shape {W.shape}"), expected, remedy)
    check_finite(W, "weights")
    W = W.reshape(modes.units, -1)
    n = modes.real.size
    modulus = np.concatenate(
        [np.abs(W[:n]), np.repeat(np.hypot(W[n::2], W[n + 1 :: 2]), 2, axis=0)]
    ).max(axis=1)
    return modulus / (modulus.max() or 1.0)
