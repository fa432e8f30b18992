"""
Is a converted network still the same network?
==============================================

A linear network that reservoirpy has trained goes in as it is; what comes out runs in its
eigenbasis. The certificate compares the two on a probe, step by step, and with more digits than
either has.
"""

import numpy as np
from reservoirpy import ESN

import eigenecho as ee

# %%

series = ee.tasks.mso(5, steps=1001)
X, y, test = series[:700], series[1:701], series[700:1000]
theirs = ESN(units=300, sr=0.9, lr=0.7, activation="identity", ridge=1e-6, seed=0)
theirs.fit(X, y, warmup=100)

model, state = ee.from_reservoirpy(theirs, return_state=True)
print(model.certificate)

# %%
# Three panels: the eigenvalues, how far outputs are from the original's along the probe, and the
# time of a step before and after.

figure = ee.plots.certificate(model)

# %%
# The same rows, from where training ended, through both:

outputs = model.predict(test, initial_state=state)
print("largest difference:", np.abs(outputs - theirs.run(test)).max())

# %%
# :doc:`/bring-your-own` has what converts, what is refused, and files from other libraries.
