"""
Where are the eigenvalues of each spectrum?
===========================================

A reservoir is defined by its eigenvalues: the modulus of an eigenvalue determines how fast its mode
decays, and the angle determines how fast it oscillates. A *law* is a rule that generates the
eigenvalues. The figure shows the named laws with 100 units and radius 0.9.
"""

import eigenecho as ee

figure = ee.plots.spectra_gallery(100, sr=0.9, seed=0)

# %%
# The eigenvalues of ``uniform``, ``golden`` and ``noisy_golden`` cover the disk like those of a
# random matrix, and ``sim`` draws the eigenvalues of a random matrix. ``ring``, ``log_ring`` and
# ``time_constants`` are defined by their decay times:
#
# ================== =================================================================
# ``ring``           equal decay, evenly spaced frequencies: the longest memory
# ``log_ring``       log-uniform time constants, pairs at all angles
# ``time_constants`` log-uniform time constants, real: leaky integrators
# ================== =================================================================
#
# For their memory capacity, see :doc:`/examples/plot_memory_of_spectra`.
