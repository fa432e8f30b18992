"""
Where do the eigenvalues lie?
=============================

A reservoir is its eigenvalues: how fast each mode forgets is its modulus, how fast it turns is its
angle. The laws that have a name, with a hundred units of radius 0.9 each:
"""

import eigenecho as ee

figure = ee.plots.spectra_gallery(100, sr=0.9, seed=0)

# %%
# ``uniform``, ``golden``, ``noisy_golden`` and ``sim`` cover the disk as the eigenvalues of a
# random matrix do, from at random to evenly; ``sim`` are those of a random matrix. ``ring``,
# ``log_ring`` and ``time_constants`` are placed by how long they shall last:
#
# ================== =================================================================
# ``ring``           all alike, evenly in frequency: the longest memory
# ``log_ring``       as many for every octave of time, pairs at angles all over
# ``time_constants`` the same without angles: leaky integrators
# ================== =================================================================
#
# How much each remembers: :doc:`/examples/plot_memory_of_spectra`.
