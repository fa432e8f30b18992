"""All named spectra side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from eigenecho.errors import bad_argument
from eigenecho.plots.spectrum import spectrum
from eigenecho.plots.style import panel_grid
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
    """Draw one panel per named spectrum, with ``n`` eigenvalues each.

    Parameters
    ----------
    n : int
        Number of eigenvalues.
    sr : float, optional
        Spectral radius. By default, each law uses its own.
    seed : int, Generator or None
    laws : list of str, optional
        Names from ``eigenecho.spectra.LAWS``. By default, all of them.

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
        raise bad_argument("laws", laws, "at least one name", f"Known: {', '.join(LAWS)}.")
    options = {} if sr is None else {"sr": sr}
    drawn = {name: law(name)(n, seed=seed, **options) for name in names}

    columns = min(COLUMNS, len(names))
    figure, axes = panel_grid(len(names), columns, 2.4, 2.5, square=True, sharex=True, sharey=True)
    for i, (ax, (name, values)) in enumerate(zip(axes, drawn.items(), strict=True)):
        spectrum(values, ax=ax, title=name)
        ax.label_outer()
        # The last panel of each column gets labels, also above an empty cell.
        if i + columns >= len(names):
            ax.set_xlabel("Re λ")
            ax.tick_params(labelbottom=True)
    reach = max(1.0, *(values.radius for values in drawn.values())) * 1.12
    axes[0].set_xlim(-reach, reach)
    axes[0].set_ylim(-reach, reach)
    return figure
