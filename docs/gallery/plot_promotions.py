"""
How do I forecast a panel of shops with promotions?
===================================================

Twelve shops sell a product with a weekly pattern. On some days, a shop has a promotion, which is
planned weeks ahead. Pass the sales as one long table and the promotions as another one, which also
has the planned days. One call fits all shops.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.dates import DateFormatter, WeekdayLocator

import eigenecho as ee

plt.style.use("seaborn-v0_8-colorblind")

# %%
# Simulate the tables. Each row of the first has the sales of one shop on one day; each row of the
# second says whether the shop has a promotion.

rng = np.random.default_rng(0)
days = pd.date_range("2024-01-01", periods=196)
week = np.array([0.9, 0.8, 0.9, 1.0, 1.3, 1.6, 0.5])[days.day_of_week]
tables, plans = [], []
for i in range(12):
    promotion = rng.random(196) < 0.1
    level = rng.uniform(30, 150) * week * np.where(promotion, rng.uniform(1.5, 2.0), 1.0)
    sales = level * np.exp(rng.normal(0, 0.1, 196))
    shop = {"shop": f"shop {i:02d}", "day": days}
    tables.append(pd.DataFrame({**shop, "sales": sales.round()}))
    plans.append(pd.DataFrame({**shop, "promotion": promotion}))
sales, plan = pd.concat(tables), pd.concat(plans)
past, future = sales[sales["day"] < days[168]], sales[sales["day"] >= days[168]]

# %%
# ``plan`` reaches to the end of the horizon, so ``predict`` takes the planned days from it.

options = {"id": "shop", "time": "day", "target": "sales"}
with_plan = ee.Forecaster(28, **options).fit(past, plan).predict(X=plan, interval=0.9)
without = ee.Forecaster(28, **options).fit(past).predict()


def error(forecast):
    both = future.merge(forecast, on=["shop", "day"])
    return (both["sales"] - both["forecast"]).abs().sum() / both["sales"].sum()


print(f"without promotions: error {error(without):.1%} of the sales")
print(f"with promotions:    error {error(with_plan):.1%} of the sales")
both = future.merge(with_plan, on=["shop", "day"])
coverage = ee.metrics.coverage(both["sales"], both["lower"], both["upper"])
print(f"the 90% intervals contain {coverage:.0%} of the sales")

# %%

figure, ax = plt.subplots(figsize=(7.5, 3.6), layout="constrained")
name = "shop 03"
parts = {
    "forecast without promotions": (without, "C2", "--"),
    "forecast with promotions": (with_plan, "C0", "-"),
}
shown = sales[(sales["shop"] == name) & (sales["day"] >= days[140])].set_index("day")["sales"]
ax.plot(shown, color="black", linewidth=1, marker=".", label="sales")
for label, (table, color, dashes) in parts.items():
    rows = table[table["shop"] == name].set_index("day")
    ax.plot(rows["forecast"], color=color, linestyle=dashes, linewidth=1.8, label=label)
band = rows["lower"], rows["upper"]
ax.fill_between(rows.index, *band, color="C0", alpha=0.2, linewidth=0, label="90% interval")
planned = plan[(plan["shop"] == name) & plan["promotion"] & (plan["day"] >= days[140])]["day"]
ax.plot(planned, np.full(len(planned), 5), "^", color="C3", label="promotion")
ax.axvline(days[167] + pd.Timedelta("12h"), color="0.6", linewidth=0.8)
ax.set(ylabel=f"sales of {name}", ylim=(0, None))
ax.xaxis.set_major_locator(WeekdayLocator())
ax.xaxis.set_major_formatter(DateFormatter("%d %b"))
figure.legend(frameon=False, fontsize=9, ncols=3, loc="outside upper center")

# %%
# Columns that do not reduce the error on the validation split are not used. Prices, holidays and
# other columns that are known in advance are passed in the same way. See :doc:`/forecasting`.
