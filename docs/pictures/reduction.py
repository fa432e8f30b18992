"""Hankel singular values of a trained network, and the error of reduced ones."""

import eigenecho as ee
from eigenecho.plots.style import BLUE, VERMILLION, new_figure

u = ee.tasks.mackey_glass(steps=3000, seed=0)
esn = ee.LinearESN(300, sr=0.95, standardize=True, warmup=200, seed=0).fit(u[:2000], u[1:2001])
outputs = esn.predict(u)[2000:]
units = [4, 6, 8, 10, 14, 20, 30, 40, 60, 80]
errors = [
    ee.metrics.nrmse(outputs, esn.reduce(units=count, data=u[:2000]).predict(u)[2000:])
    for count in units
]
test = ee.metrics.nrmse(u[2001:], outputs[:-1])

figure = new_figure(4.8, 2.4)
ax = figure.subplots()
ax.semilogy(units, errors, "o-", color=BLUE, label="change of the outputs by the reduction")
ax.axhline(test, color=VERMILLION, linestyle="--", label="error of the network of 300 units")
ax.set(xlabel="units kept", ylabel="relative to the deviation")
ax.legend()
