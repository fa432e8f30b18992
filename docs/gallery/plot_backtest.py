"""
How good would past forecasts have been?
========================================

This example measures how accurate past forecasts would have been. At each of several forecast
origins, ``backtest`` refits the forecaster on the rows up to that origin and compares the forecast
with the observed values and with naive baselines.
"""

import pandas as pd
import statsmodels.api as sm

import eigenecho as ee

# %%
# The data are the yearly sunspot numbers since 1700. Their cycle is about eleven years long, but
# its length varies.

table = sm.datasets.sunspots.load_pandas().data
years = pd.PeriodIndex(table["YEAR"].astype(int).astype(str), freq="Y")
sunspots = pd.Series(table["SUNACTIVITY"].to_numpy(), years, name="sunspots")

tested = ee.Forecaster(horizon=8).backtest(sunspots, origins=12)
print(tested)

# %%
# Plot the latest forecasts, and the errors of all forecasts by step ahead:

figure = tested.plot()

# %%
# ``errors`` contains every forecast as a table for further analysis:

print(tested.errors[["cutoff", "step", "y", "forecast", "seasonal naive"]].head(4))
