"""Linear and quadratic readouts of the same states on NARMA10."""

from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

import eigenecho as ee
from eigenecho.plots.style import BLACK, BLUE, VERMILLION, new_figure

u, y = ee.tasks.narma(10, steps=4000, seed=0)
reservoir = ee.DiagonalReservoir(units=30, spectrum="golden", sr=0.9, seed=0)
models = {
    "linear": (make_pipeline(reservoir, Ridge(1e-3)), VERMILLION),
    "quadratic": (
        make_pipeline(reservoir, StandardScaler(), PolynomialFeatures(2), Ridge(1e-3)),
        BLUE,
    ),
}
figure = new_figure(4.8, 2.4)
ax = figure.subplots()
ax.plot(y[3000:3080], color=BLACK, linewidth=3, alpha=0.35, label="NARMA10")
for name, (model, color) in models.items():
    outputs = model.fit(u[:3000], y[:3000]).predict(u).ravel()
    error = ee.metrics.nrmse(y[3000:, 0], outputs[3000:])
    ax.plot(outputs[3000:3080], color=color, label=f"{name}: NRMSE {error:.2f}")
ax.set(xlabel="test row")
ax.legend(ncols=3, loc="upper center")
ax.set_ylim(0.1, 0.95)
