"""The certificate of a reduced network as a figure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from eigenecho.errors import bad_argument
from eigenecho.model.certificate import Reduction
from eigenecho.plots.spectrum import mark_eigenvalues, spectrum
from eigenecho.plots.style import BLUE, GREY, LEGEND, new_figure, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LOWEST = 1e-20
"""Smallest singular value drawn, relative to the largest."""


def reduction(source: Any) -> Figure:
    """Draw the singular values and the eigenvalues of a reduced network, before and after.

    Parameters
    ----------
    source : LinearModel or LinearESN
        A network returned by ``reduce``.

    Returns
    -------
    Figure

    See Also
    --------
    eigenecho.model.certificate.Reduction : The certificate that this figure shows.

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
        raise bad_argument(
            "source", source, "a network that was made smaller", "Call reduce(tol=1e-6) first."
        )
    figure = new_figure(9.0, 4.2)
    panels: Any = figure.subplots(1, 2, width_ratios=(1.3, 1.0))
    _draw_singular_values(panels[0], details)
    tidy(panels[1], frame=True)
    spectrum(details.before, ax=panels[1], color=GREY, size=4, radius=False, title="")
    mark_eigenvalues(panels[1], model.spectrum, BLUE)
    panels[1].set_title("eigenvalues before (grey) and after", fontsize=10)
    figure.suptitle(_title(details), fontsize=11)
    return figure


def _title(details: Reduction) -> str:
    promise = ""
    if details.bound is not None:
        promise = f": gain error at most {details.bound:.1e} of the largest gain"
    elif details.promise:
        promise = f": error at most {details.promise:.1e} of the {details.size} of y"
    return f"{details.units_before} → {details.units} modes{promise}"


def _draw_singular_values(ax: Axes, details: Reduction) -> None:
    tidy(ax)
    share = details.values / details.values.max(initial=np.finfo(float).tiny)
    share = share[share > LOWEST]
    numbers = np.arange(1, len(share) + 1)
    kept = numbers <= details.units
    ax.semilogy(numbers[~kept], share[~kept], ".", color=GREY, markersize=4, label="cut")
    ax.semilogy(numbers[kept], share[kept], ".", color=BLUE, markersize=5, label="kept")
    ax.axhline(details.floor, color=GREY, linestyle=(0, (4, 3)), linewidth=1.0)
    label: dict[str, Any] = {"textcoords": "offset points", "fontsize": 8}
    ax.annotate("rounding", (1, details.floor), xytext=(2, 3), color=GREY, **label)
    ax.set_xlabel("number")
    ax.set_ylabel("singular value / largest")
    ax.legend(**LEGEND)
    titles = {"white": "Hankel singular values", "rows": "weighted by the given rows"}
    ax.set_title(titles.get(details.weighting, "weighted by the training rows"), fontsize=10)
