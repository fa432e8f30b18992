"""The forecast of the front page, and the years that followed."""

from statsmodels.datasets import co2

import eigenecho as ee
from eigenecho.plots.style import BLACK, BLUE, new_figure

series = co2.load_pandas().data["co2"].resample("MS").mean()
forecast = ee.Forecaster(horizon=60).fit(series[:"1996"]).predict(interval=0.9)
observed = series["1997":]
inside = ee.metrics.coverage(observed, forecast["lower"], forecast["upper"])

figure = new_figure(3.8, 2.1)
ax = figure.subplots()
ax.plot(series["1986":"1996"], color=BLACK, linewidth=1, label="until 1996")
ax.plot(observed, ".", color=BLACK, markersize=3, label="observed later")
ax.plot(forecast["forecast"], color=BLUE, linewidth=1.6, label="forecast")
band = forecast["lower"], forecast["upper"]
label = f"90% interval ({inside:.0%} inside)"
ax.fill_between(forecast.index, *band, color=BLUE, alpha=0.25, linewidth=0, label=label)
ax.set(ylabel="CO₂ (ppm)")
ax.legend(loc="upper left", handlelength=1.2, borderaxespad=0)
