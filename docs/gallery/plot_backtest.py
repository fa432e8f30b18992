"""
Would the forecast have been worth it?
======================================

A forecaster that looks good on the last few rows may have been lucky. ``backtest`` goes back in
time: at each origin everything is chosen and trained anew from the rows up to it, and what it said
is laid beside what came, and beside forecasts that cost nothing.
"""

import pandas as pd
import statsmodels.api as sm

import eigenecho as ee

# %%
# Sunspots, a number a year since 1700. Their cycle of about eleven years is of no fixed length.

table = sm.datasets.sunspots.load_pandas().data
years = pd.PeriodIndex(table["YEAR"].astype(int).astype(str), freq="Y")
sunspots = pd.Series(table["SUNACTIVITY"].to_numpy(), years, name="sunspots")

tested = ee.Forecaster(horizon=8).backtest(sunspots, origins=12)
print(tested)

# %%
# The last forecasts over the series, and errors by step ahead, over all of them:

figure = tested.plot()

# %%
# All forecasts are a table, for whatever else you want to know of them:

print(tested.errors[["cutoff", "step", "y", "forecast", "seasonal naive"]].head(4))
