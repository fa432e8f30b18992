"""
What will the air of Mauna Loa hold in two years?
=================================================

Weekly CO₂, 1958 to 2001, as it comes with statsmodels: a trend that bends, a season of 52 weeks,
and 59 weeks without a value. The last two years are kept apart; the forecaster is told how far to
look, and nothing else.
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
all_rows.set(ylabel="CO₂, ppm", title="44 years")

end.plot(co2[-208:-103], color="black", linewidth=1.2, label="known")
end.plot(future, ".", color="black", markersize=4, label="came later")
end.plot(ahead["forecast"], color="C2", linewidth=1.8, label="forecast")
end.fill_between(
    ahead.index,
    ahead["lower"],
    ahead["upper"],
    color="C2",
    alpha=0.2,
    linewidth=0,
    label="bounds for 90 %",
)
end.axvline(past.index[-1], color="0.6", linewidth=0.8)
end.set(title="the last four")
all_rows.xaxis.set_major_locator(YearLocator(10))
end.xaxis.set_major_locator(YearLocator())
figure.legend(frameon=False, fontsize=9, ncols=4, loc="outside upper right")

# %%
# How far off it was, beside what it expected from rows held back:

there = future.notna()
off = (ahead["forecast"] - future)[there].abs().mean()
held = ee.metrics.coverage(future[there], ahead["lower"][there], ahead["upper"][there])
print(f"off by {off:.2f} ppm; expected {forecaster.expected_error_:.2f}; bounds held {held:.0%}")

# %%
# One forecast is one test: :doc:`/forecasting` goes on with ``backtest``, and with what to think
# of bounds.
