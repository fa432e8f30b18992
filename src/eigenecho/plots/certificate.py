"""What the certificate of a converted network says, as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from eigenecho.errors import bad_argument
from eigenecho.model import LinearModel
from eigenecho.model.certificate import Certificate
from eigenecho.plots.spectrum import spectrum
from eigenecho.plots.style import BLUE, GREY, ORANGE, new_figure, tidy
from eigenecho.spectra import Spectrum, from_matrix
from eigenecho.transition import Cascade

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


ROUNDING = float(np.finfo(np.float64).eps)


def certificate(model: LinearModel) -> Figure:
    """The certificate of a converted network in three panels.

    Its eigenvalues, those that are kept in a matrix marked; the output difference along the
    probe, unless nothing was changed, and the error beside it; and the time of a step before and
    after.

    Parameters
    ----------
    model : LinearModel
        As ``eigenecho.diagonalize`` returns it.

    See Also
    --------
    eigenecho.diagonalize : converts, and certifies

    Examples
    --------
    >>> import eigenecho as ee
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> model = ee.diagonalize(rng.normal(size=(20, 20)) / 6, rng.normal(size=(1, 20)))
    >>> len(ee.plots.certificate(model).axes)
    3
    """
    said = getattr(model, "certificate", None)
    if not isinstance(said, Certificate):
        raise bad_argument(
            "model", model, "a converted network", "eigenecho.diagonalize gives certificates."
        )
    figure = new_figure(10.5, 4.0)
    panels: Any = figure.subplots(1, 3, width_ratios=(1.25, 1.25, 0.8))
    _eigenvalues(panels[0], model)
    _difference(panels[1], said)
    _time(panels[2], said)
    figure.suptitle(f"{said.form}: {said.reason}", fontsize=11)
    return figure


def _eigenvalues(ax: Axes, model: LinearModel) -> None:
    tidy(ax, frame=True)
    transition = model.reservoir.transition
    modes: Spectrum | None = model.spectrum
    kept: Spectrum | None = None
    if isinstance(transition, Cascade):
        modes = transition.modes
        kept = from_matrix(transition.block) if len(transition.block) else None
    elif transition.in_neuron_basis:
        modes, kept = None, model.spectrum
    spectrum(model, ax=ax, title="", color=BLUE if modes is not None else ORANGE)
    if modes is not None and kept is not None:
        # Drawn over the dots of all eigenvalues.
        look: dict[str, Any] = {"c": ORANGE, "marker": "s", "linewidths": 0, "gid": "kept"}
        ax.scatter(kept.values.real, kept.values.imag, s=16, zorder=4, **look)
    counts = [] if modes is None else [f"{modes.units} modes"]
    if kept is not None:
        counts.append(f"{kept.units} in a {'block' if modes is not None else 'matrix'} (orange)")
    ax.set_title(", ".join(counts), fontsize=10)


def _difference(ax: Axes, said: Certificate) -> None:
    tidy(ax)
    along = np.array(said.along or (said.difference,))
    edges = np.linspace(0, said.steps, len(along) + 1)
    # A logarithmic axis has no place for an exact hit: it is drawn at the rounding of one number.
    if not said.kept:
        ax.stairs(np.maximum(along, ROUNDING), edges, color=BLUE, linewidth=1.4, baseline=None)
    if said.error is not None:
        height = max(said.error, ROUNDING)
        ax.hlines(height, 0, said.error_steps, color=ORANGE, linewidth=1.4, gid="error")
        label = f"error {said.error:.1e}, against extended precision"
        ax.annotate(label, (0, height), xytext=(2, 3), color=ORANGE, fontsize=8,
                    textcoords="offset points")  # fmt: skip
    ax.axhline(ROUNDING, color=GREY, linestyle=(0, (4, 3)), linewidth=1.0)
    ax.annotate("rounding of one number", (0, ROUNDING), xytext=(2, -10), color=GREY, fontsize=8,
                textcoords="offset points")  # fmt: skip
    ax.set_yscale("log")
    ax.set_xlim(0, said.steps)
    ax.set_ylim(ROUNDING / 4, max(1e-12, 4 * float(along.max()), 4 * (said.error or 0.0)))
    ax.set_xlabel("time step of the probe")
    ax.set_ylabel("output difference / largest output")
    title = f"largest difference {said.difference:.1e}"
    ax.set_title("W is kept: nothing was changed" if said.kept else title, fontsize=10)


def _time(ax: Axes, said: Certificate) -> None:
    tidy(ax)
    times = [1e6 * said.seconds_before, 1e6 * said.seconds_after]
    bars = ax.bar(["before", "after"], times, color=[GREY, BLUE], width=0.6)
    ax.bar_label(bars, [f"{t:.3g}" for t in times], fontsize=9, padding=2)
    ax.set_ylabel("µs a step")
    ax.margins(y=0.1)
    ax.set_title(said.change, fontsize=10)
