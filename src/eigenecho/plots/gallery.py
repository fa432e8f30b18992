"""The catalogue of spectra, side by side."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from eigenecho.errors import bad_argument
from eigenecho.plots.spectrum import spectrum
from eigenecho.plots.style import new_figure, tidy
from eigenecho.spectra import LAWS, law
from eigenecho.types import Seed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMNS = 4


def spectra_gallery(
    n: int = 100,
    *,
    sr: float | None = None,
    seed: Seed = 0,
    laws: Sequence[str] | None = None,
) -> Figure:
    """Small multiples of named spectra, ``n`` eigenvalues each.

    Parameters
    ----------
    n : int
    sr : float, optional
        Spectral radius; by default each law's own.
    seed : int, Generator or None
    laws : list of names, optional
        Which of ``eigenecho.spectra.LAWS``; all by default.

    See Also
    --------
    eigenecho.plots.spectrum : one of them

    Examples
    --------
    >>> import eigenecho as ee
    >>> figure = ee.plots.spectra_gallery(50, laws=["golden", "ring"])
    >>> len(figure.axes)
    2
    """
    names = list(LAWS) if laws is None else list(laws)
    if not names:
        raise bad_argument("laws", laws, "at least one name", f"Known: {', '.join(LAWS)}.")
    options = {} if sr is None else {"sr": sr}
    drawn = {name: law(name)(n, seed=seed, **options) for name in names}

    columns = min(COLUMNS, len(names))
    rows = math.ceil(len(names) / columns)
    figure = new_figure(2.4 * columns, 2.5 * rows + 0.3, layout="compressed")
    axes = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    for i, ax in enumerate(axes.flat):
        if i >= len(names):
            ax.set_axis_off()
            continue
        tidy(ax, frame=True)
        spectrum(drawn[names[i]], ax=ax, title=names[i])
        # Labels on the outside only; above an empty cell the panel is on the outside too.
        ax.label_outer()
        if i + columns >= len(names):
            ax.set_xlabel("Re λ")
            ax.tick_params(labelbottom=True)
    reach = max(1.0, *(s.radius for s in drawn.values())) * 1.12
    axes[0, 0].set_xlim(-reach, reach)
    axes[0, 0].set_ylim(-reach, reach)
    return figure
