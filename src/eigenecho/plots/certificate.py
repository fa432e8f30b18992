"""Figures of the certificates of converted and reduced networks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from eigenecho.errors import bad_argument
from eigenecho.model import LinearModel
from eigenecho.model.certificate import Certificate, Reduction
from eigenecho.plots.spectrum import mark_eigenvalues, spectrum
from eigenecho.plots.style import BLUE, GREY, LEGEND, ORANGE, new_figure, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROUNDING = float(np.finfo(np.float64).eps)

LOWEST = 1e-20
"""Smallest singular value drawn, relative to the largest."""

NOTE: dict[str, Any] = {"textcoords": "offset points", "fontsize": 8}
"""Style of annotations."""


def certificate(model: LinearModel) -> Figure:
    """Draw the certificate of a converted network in three panels.

    The first panel shows the eigenvalues, and marks those that remain in a matrix. The second panel
    shows the differences of the outputs on the probe series, and the error compared with extended
    precision. The third panel shows the time per step before and after the conversion.

    Parameters
    ----------
    model : LinearModel
        A network returned by ``eigenecho.diagonalize``.

    Returns
    -------
    Figure

    See Also
    --------
    eigenecho.diagonalize : Convert a network and compute its certificate.

    Examples
    --------
    >>> import eigenecho as ee
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> model = ee.diagonalize(rng.normal(size=(20, 20)) / 6, rng.normal(size=(1, 20)))
    >>> len(ee.plots.certificate(model).axes)
    3
    """
    details = getattr(model, "certificate", None)
    if not isinstance(details, Certificate):
        raise bad_argument("model", model, "a network returned by eigenecho.diagonalize")
    figure = new_figure(10.5, 4.0)
    panels: Any = figure.subplots(1, 3, width_ratios=(1.25, 1.25, 0.8))
    _draw_eigenvalues(panels[0], model)
    _draw_difference(panels[1], details)
    _draw_products(panels[2], details)
    figure.suptitle(f"{details.form}: {details.reason}", fontsize=11)
    return figure


def _draw_eigenvalues(ax: Axes, model: LinearModel) -> None:
    tidy(ax, frame=True)
    transition, count = model.reservoir.transition, model.spectrum.units
    color, title = BLUE, f"{count} modes"
    if transition.in_neuron_basis:
        color, title = ORANGE, f"{count} eigenvalues in a matrix (orange)"
    spectrum(model, ax=ax, title="", color=color)
    ax.set_title(title, fontsize=10)


def _draw_difference(ax: Axes, details: Certificate) -> None:
    tidy(ax)
    along = np.array(details.along or (details.difference,))
    edges = np.linspace(0, details.steps, len(along) + 1)
    # A logarithmic axis cannot show zero, so values below the machine epsilon are drawn at it.
    if not details.kept:
        ax.stairs(np.maximum(along, ROUNDING), edges, color=BLUE, linewidth=1.4, baseline=None)
    if details.error is not None:
        height = max(details.error, ROUNDING)
        ax.hlines(height, 0, details.error_steps, color=ORANGE, linewidth=1.4, gid="error")
        text = f"error {details.error:.1e} (extended precision)"
        ax.annotate(text, (0, height), xytext=(2, 3), color=ORANGE, **NOTE)
    ax.axhline(ROUNDING, color=GREY, linestyle=(0, (4, 3)), linewidth=1.0)
    ax.annotate("machine epsilon of float64", (0, ROUNDING), xytext=(2, -10), color=GREY, **NOTE)
    top = max(1e-12, 4 * float(along.max()), 4 * (details.error or 0.0))
    ax.set(yscale="log", xlim=(0, details.steps), ylim=(ROUNDING / 4, top))
    ax.set(xlabel="time step of the probe series", ylabel="difference / largest output")
    title = f"largest difference {details.difference:.1e}"
    ax.set_title("W is unchanged" if details.kept else title, fontsize=10)


def _draw_products(ax: Axes, details: Certificate) -> None:
    tidy(ax)
    products = [details.products_before, details.products_after]
    bars = ax.bar(["before", "after"], products, color=[GREY, BLUE], width=0.6)
    ax.bar_label(bars, [f"{count:,}" for count in products], fontsize=9, padding=2)
    ax.set_ylabel("multiplications per step")
    ax.margins(y=0.1)
    ax.set_title(details.change, fontsize=10)


def reduction(source: Any) -> Figure:
    """Draw the singular values and eigenvalues of a network before and after a reduction.

    Parameters
    ----------
    source : LinearModel or LinearESN
        A network returned by its method ``reduce``.

    Returns
    -------
    Figure

    See Also
    --------
    eigenecho.model.certificate.Reduction : Certificate of a reduced network.

    Examples
    --------
    >>> import eigenecho as ee
    >>> series = ee.tasks.mso(3, steps=400)
    >>> esn = ee.LinearESN(100, sr=0.95, warmup=50, seed=0).fit(series[:-1], series[1:])
    >>> figure = ee.plots.reduction(esn.reduce(tol=1e-3))
    """
    model = getattr(source, "model_", source)
    details = getattr(model, "certificate", None)
    if not isinstance(details, Reduction):
        raise bad_argument("source", source, "a network returned by reduce")
    figure = new_figure(9.0, 4.2)
    panels: Any = figure.subplots(1, 2, width_ratios=(1.3, 1.0))
    _draw_singular_values(panels[0], details)
    tidy(panels[1], frame=True)
    spectrum(details.before, ax=panels[1], color=GREY, size=4, radius=False, title="")
    mark_eigenvalues(panels[1], model.spectrum, BLUE)
    panels[1].set_title("eigenvalues before (grey) and after (blue)", fontsize=10)
    title = f"{details.units_before} → {details.units} modes"
    if details.bound is not None:
        title += f": gain error at most {details.bound:.1e} of the largest gain"
    elif details.promise:
        title += f": RMS error at most {details.promise:.1e} of the {details.size} of y"
    figure.suptitle(title, fontsize=11)
    return figure


def _draw_singular_values(ax: Axes, details: Reduction) -> None:
    tidy(ax)
    share = details.values / details.values.max(initial=np.finfo(float).tiny)
    share = share[share > LOWEST]
    numbers = np.arange(1, len(share) + 1)
    kept = numbers <= details.units
    ax.semilogy(numbers[~kept], share[~kept], ".", color=GREY, markersize=4, label="removed")
    ax.semilogy(numbers[kept], share[kept], ".", color=BLUE, markersize=5, label="kept")
    ax.axhline(details.floor, color=GREY, linestyle=(0, (4, 3)), linewidth=1.0)
    ax.annotate("rounding errors", (1, details.floor), xytext=(2, 3), color=GREY, **NOTE)
    ax.set(xlabel="index", ylabel="singular value / largest singular value")
    ax.legend(**LEGEND)
    titles = {"white": "Hankel singular values", "rows": "weighted by the given rows"}
    ax.set_title(titles.get(details.weighting, "weighted by the training rows"), fontsize=10)
