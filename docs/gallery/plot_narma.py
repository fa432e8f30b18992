"""
Can a linear reservoir solve a nonlinear task?
==============================================

NARMA10 contains products of past values, which a linear readout of linear states cannot represent.
A readout on products *of states* can: the reservoir provides the memory, and scikit-learn's
``PolynomialFeatures`` provides the nonlinearity.
"""

import matplotlib.pyplot as plt
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

import eigenecho as ee

plt.style.use("seaborn-v0_8-colorblind")

# %%
# ``DiagonalReservoir`` is a transformer and can be followed by any regressor.

u, y = ee.tasks.narma(10, steps=4000, seed=0)
train, test = slice(0, 3000), slice(3000, 4000)

reservoir = ee.DiagonalReservoir(units=30, spectrum="golden", sr=0.9, seed=0)
models = {
    "linear readout": make_pipeline(reservoir, Ridge(1e-3)),
    "with products of states": make_pipeline(
        reservoir, StandardScaler(), PolynomialFeatures(2), Ridge(1e-3)
    ),
}
outputs = {name: model.fit(u[train], y[train]).predict(u) for name, model in models.items()}
errors = {name: ee.metrics.nrmse(y[test, 0], o[test].ravel()) for name, o in outputs.items()}
print(errors)

# %%

figure, (line, *panels) = plt.subplots(
    1, 3, figsize=(9, 3.4), width_ratios=(1.7, 1, 1), layout="constrained"
)
shown = slice(3100, 3160)
time = range(shown.start, shown.stop)
line.plot(time, y[shown], color="black", label="NARMA10")
ends = (0.1, 0.95)
for (name, output), color, dashes, ax in zip(
    outputs.items(), ("C2", "C0"), ("--", "-"), panels, strict=True
):
    line.plot(time, output[shown], color=color, linestyle=dashes, label=name)
    ax.plot(ends, ends, color="0.6", linewidth=0.8)
    ax.scatter(y[test], output[test], s=3, color=color, alpha=0.5, linewidths=0)
    ax.set(xlim=ends, ylim=ends, aspect="equal", xlabel="target", ylabel="prediction")
    ax.set_title(f"{name}\nNRMSE {errors[name]:.2f}", fontsize=10)
line.set(xlabel="step", ylabel="y(t)", ylim=(0.1, 0.95))
line.legend(frameon=False, fontsize=9, loc="upper left")

# %%
# The example calls ``predict`` on the whole series, so that the reservoir has processed the rows
# before the test set, and scores only the last part of the result. See :doc:`/pipelines`.
