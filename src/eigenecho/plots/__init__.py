"""Pictures of spectra and predictions; they need matplotlib (``pip install 'eigenecho[cli]'``).

Every function draws on the axes it is given, or on a figure of its own, which belongs to no
window: show it in a notebook, or ``ax.figure.savefig(…)``.
"""

from eigenecho.plots.gallery import spectra_gallery
from eigenecho.plots.prediction import prediction
from eigenecho.plots.spectrum import spectrum

__all__ = ["prediction", "spectra_gallery", "spectrum"]
