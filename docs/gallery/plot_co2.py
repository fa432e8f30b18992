"""
How much CO₂ will be in the air in two years?
=============================================

This example forecasts the weekly CO₂ concentration at Mauna Loa. The data set (1958 to 2001) is
included in statsmodels. The series has a nonlinear trend, a season of 52 weeks and 59 missing
weeks. The last two years are the test set. The horizon is the only parameter.
"""

import matplotlib.pyplot as plt
import statsmodels.api as sm
from matplotlib.dates import YearLocator

import eigenecho as ee

plt.style.use("seaborn-v0_8-colorblind")

# %%

co2 = sm.datasets.co2.load_pandas().data["co2"]
past, future = co2[:-104], co2[-104:]

forecaster = ee.Forecaster(horizon=104).fit(past)
ahead = forecaster.predict(interval=0.9)
print(ahead.head(3).round(2))
print("seasons found:", forecaster.seasons_)

# %%

figure, (all_rows, end) = plt.subplots(
    1, 2, figsize=(8.5, 3.6), width_ratios=(1, 1.6), layout="constrained"
)
all_rows.plot(past, color="black", linewidth=0.8)
all_rows.plot(ahead["forecast"], color="C2", linewidth=1)
all_rows.set(ylabel="CO₂ (ppm)", title="whole series")

end.plot(co2[-208:-103], color="black", linewidth=1.2, label="training data")
end.plot(future, ".", color="black", markersize=4, label="test data")
end.plot(ahead["forecast"], color="C2", linewidth=1.8, label="forecast")
end.fill_between(
    ahead.index,
    ahead["lower"],
    ahead["upper"],
    color="C2",
    alpha=0.2,
    linewidth=0,
    label="90% interval",
)
end.axvline(past.index[-1], color="0.6", linewidth=0.8)
end.set(title="last four years")
all_rows.xaxis.set_major_locator(YearLocator(10))
end.xaxis.set_major_locator(YearLocator())
figure.legend(frameon=False, fontsize=9, ncols=4, loc="outside upper right")

# %%
# Compare the error with the error expected from the validation split, and compute the coverage:

there = future.notna()
error = (ahead["forecast"] - future)[there].abs().mean()
coverage = ee.metrics.coverage(future[there], ahead["lower"][there], ahead["upper"][there])
print(f"mean absolute error {error:.2f} ppm; expected {forecaster.expected_error_:.2f} ppm")
print(f"coverage {coverage:.0%}")

# %%
# A single forecast is only one test. See :doc:`/forecasting` for backtests and prediction
# intervals.
