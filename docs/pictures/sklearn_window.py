"""Weights of past inputs: a window of lags, and a bank of leaky integrators."""

import numpy as np
from sklearn.linear_model import Ridge

import eigenecho as ee
from eigenecho.plots.style import BLACK, BLUE, VERMILLION, new_figure

rng = np.random.default_rng(0)
u = rng.normal(size=4000)
y = np.zeros(4000)
for t in range(1, 4000):  # a slow filter of its input
    y[t] = 0.98 * y[t - 1] + u[t]
y += rng.normal(size=4000)
lags = np.column_stack([np.roll(u, k) for k in range(50)])
window = Ridge(alpha=1.0).fit(lags[50:2000], y[50:2000])
esn = ee.LinearESN(20, spectrum="time_constants", sr=0.99, ridge="auto", warmup=50, seed=0)
esn.fit(u[:2000, None], y[:2000])
impulse = np.zeros((200, 1))
impulse[0] = 1
response = esn.predict(impulse) - esn.predict(0 * impulse)

figure = new_figure(4.8, 2.4)
ax = figure.subplots()
ax.plot(0.98 ** np.arange(200), color=BLACK, linewidth=4, alpha=0.3, label="true filter")
ax.plot(window.coef_, color=VERMILLION, label="50 lags")
ax.plot(response, color=BLUE, label="20 units")
ax.set(xlabel="steps ago", ylabel="weight of the input")
ax.legend()
