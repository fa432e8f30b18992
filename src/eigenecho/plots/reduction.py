"""What was kept of a network that was made smaller, as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from eigenecho.errors import bad_argument
from eigenecho.model.reduction import Reduction
from eigenecho.plots.spectrum import spectrum
from eigenecho.plots.style import BLUE, GREY, new_figure, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from eigenecho.spectra import Spectrum

LOWEST = 1e-20
"""Share of the largest singular value below which none is drawn."""


def reduction(source: Any) -> Figure:
    """Singular values, and eigenvalues before and after, of a network that was made smaller.

    Parameters
    ----------
    source : LinearModel or LinearESN
        As ``reduce`` returns it.

    See Also
    --------
    eigenecho.model.reduction.Reduction : the certificate that it draws

    Examples
    --------
    >>> import eigenecho as ee
    >>> series = ee.tasks.mso(3, steps=400)
    >>> esn = ee.LinearESN(100, sr=0.95, warmup=50, seed=0).fit(series[:-1], series[1:])
    >>> figure = ee.plots.reduction(esn.reduce(tol=1e-3))
    """
    model = getattr(source, "model_", source)
    said = getattr(model, "certificate", None)
    if not isinstance(said, Reduction):
        raise bad_argument(
            "source", source, "a network that was made smaller", "reduce(tol=1e-6) gives one."
        )
    figure = new_figure(9.0, 4.2)
    panels: Any = figure.subplots(1, 2, width_ratios=(1.3, 1.0))
    _values(panels[0], said)
    _eigenvalues(panels[1], said, model.spectrum)
    figure.suptitle(_title(said), fontsize=11)
    return figure


def _title(said: Reduction) -> str:
    promise = f"error at most {said.promise:.1e} of the {said.size} of y" if said.promise else ""
    if said.bound is not None:
        promise = f"gain error at most {said.bound:.1e} of the largest gain"
    return f"{said.units_before} → {said.units} modes: {promise}".rstrip(": ")


def _values(ax: Axes, said: Reduction) -> None:
    tidy(ax)
    share = said.values / said.values.max(initial=np.finfo(float).tiny)
    share = share[share > LOWEST]
    numbers = np.arange(1, len(share) + 1)
    kept = numbers <= said.units
    ax.semilogy(numbers[~kept], share[~kept], ".", color=GREY, markersize=4, label="cut")
    ax.semilogy(numbers[kept], share[kept], ".", color=BLUE, markersize=5, label="kept")
    ax.axhline(said.floor, color=GREY, linestyle=(0, (4, 3)), linewidth=1.0)
    ax.annotate("rounding", (1, said.floor), xytext=(2, 3), color=GREY, fontsize=8,
                textcoords="offset points")  # fmt: skip
    ax.set_xlabel("number")
    ax.set_ylabel("singular value / largest")
    ax.legend(frameon=False, fontsize=9)
    what = {"white": "Hankel singular values", "rows": "by the rows given"}
    ax.set_title(what.get(said.weighting, "by the rows of training"), fontsize=10)


def _eigenvalues(ax: Axes, said: Reduction, kept: Spectrum) -> None:
    tidy(ax, frame=True)
    spectrum(said.before, ax=ax, color=GREY, size=4, radius=False, title="")
    look: dict[str, Any] = {"c": BLUE, "linewidths": 0, "gid": "kept", "zorder": 4}
    ax.scatter(kept.values.real, kept.values.imag, s=16, **look)
    ax.set_title("eigenvalues before (grey) and after", fontsize=10)
