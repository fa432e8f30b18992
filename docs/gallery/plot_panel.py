"""
Does fitting many short series together improve their forecasts?
================================================================

Sixteen shops have eight weeks of daily sales each. The weekly pattern of a single shop is hard to
estimate from so few rows, but all shops share the same pattern. ``Forecaster`` fits all shops in
one call and uses a validation split to decide whether they share weights.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.dates import DateFormatter, WeekdayLocator

import eigenecho as ee

plt.style.use("seaborn-v0_8-colorblind")

# %%
# Each shop has its own level, its own amplitude of a common weekly pattern, and noise.

rng = np.random.default_rng(0)
days = pd.date_range("2024-01-01", periods=70)
week = np.array([0.0, -0.4, -0.2, 0.1, 0.9, 1.4, -1.8])
shops = pd.concat(
    pd.DataFrame(
        {
            "unique_id": f"shop {i:02d}",
            "ds": days,
            "y": rng.uniform(40, 200)
            + rng.uniform(3, 9) * week[days.day_of_week]
            + rng.normal(0, 6, 70),
        }
    )
    for i in range(16)
)
train, test = shops[shops["ds"] < days[56]], shops[shops["ds"] >= days[56]]

# %%

together = ee.Forecaster(horizon=14).fit(train).predict()
alone = pd.concat(
    ee.Forecaster(horizon=14).fit(rows).predict() for _, rows in train.groupby("unique_id")
)


def errors(forecast):
    both = test.merge(forecast, on=["unique_id", "ds"])
    return (both["y"] - both["forecast"]).abs().groupby(both["unique_id"]).mean()


comparison = pd.DataFrame({"alone": errors(alone), "together": errors(together)})
print(comparison.mean().round(2))

# %%

figure, (scatter, series) = plt.subplots(
    1, 2, figsize=(8.5, 3.8), width_ratios=(1, 1.5), layout="constrained"
)
ends = (2.5, 8.5)
scatter.plot(ends, ends, color="0.6", linewidth=0.8)
scatter.scatter(comparison["alone"], comparison["together"], s=22, color="C0")
scatter.set(
    xlim=ends,
    ylim=ends,
    aspect="equal",
    xlabel="mean absolute error, fitted alone",
    ylabel="mean absolute error, fitted as a panel",
)
better = (comparison["together"] < comparison["alone"]).sum()
scatter.set_title(f"the panel is better for {better} of 16 shops", fontsize=10)

name = (comparison["alone"] - comparison["together"]).idxmax()
pick = {"y": shops, "alone": alone, "together": together}
style = {"y": ("black", "-"), "alone": ("C2", "--"), "together": ("C0", "-")}
label = {"y": "sales", "alone": "forecast alone", "together": "forecast as a panel"}
for key, frame in pick.items():
    rows = frame[frame["unique_id"] == name].set_index("ds")
    column = rows["y" if key == "y" else "forecast"][days[35] :]
    color, dashes = style[key]
    series.plot(column, color=color, linestyle=dashes, label=label[key])
series.axvline(days[55], color="0.6", linewidth=0.8)
series.set_title(f"{name}, the largest improvement", fontsize=10, loc="left")
series.set_ylabel("daily sales")
series.xaxis.set_major_locator(WeekdayLocator())
series.xaxis.set_major_formatter(DateFormatter("%d %b"))
figure.legend(frameon=False, fontsize=9, ncols=3, loc="outside upper right")
