"""
Does a converted network give the same outputs?
===============================================

``from_reservoirpy`` converts a trained linear network to its eigenbasis. A certificate compares the
outputs of the original and the converted network on a test input, in double and in extended
precision.
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
# The panels show the eigenvalues, the difference between the outputs along the test input, and the
# multiplications per step before and after the conversion.

figure = ee.plots.certificate(model)

# %%
# Run both networks on the test rows, starting from the state at the end of training:

outputs = model.predict(test, initial_state=state)
print("largest difference:", np.abs(outputs - theirs.run(test)).max())

# %%
# See :doc:`/importing-networks` for supported networks and files from other libraries.
