"""Forecasts of series: candidates, their selection on a validation split, ensembles, intervals.

- ``signals``: series without gaps in units of their steps. A series is scaled by its own rows up
  to the last checkpoint before the origin; checkpoints grow by 25% from the length of the fit, so
  a forecast does not depend on other origins.
- ``views``: u(t) = y(t) − ℓ(t−1) drives a diagonal reservoir, where the level ℓ is the last value
  or a running mean. Input weights give each mode the variance 1 under white noise, so nothing is
  random. Everything is linear in y and does not depend on a constant added to y.
- ``seasons``, ``effects``: seasonal periods are detected. The one-step errors of a series are
  regressed on known columns and the calendar, whose effects are removed before the filter and added
  to forecasts. Columns known up to the present have their own filter and are used by direct
  readouts only.
- ``baselines``: naive forecasts, which models correct and backtests compare with.
- ``rows``: a row source (``eigenecho.rows``) per view and series, with its sums. Sums over long
  series follow from the recurrence of the rows; their cost hardly grows with the horizon. Sums can
  be merged, so only one series of a panel is in memory at a time.
- ``candidates``: a forecast is baseline(t, h) + x(t) W_h with x = [c, r]. Direct readouts are a
  ridge regression for each step. Recursive ones are trained for the next step and applied to their
  own forecasts; as this is linear in x(t) too, forecasts from many origins are one product. Weights
  of a series may be shrunk to those of all series. An ensemble is a trimmed mean of candidates.
- ``validation``, ``selection``: candidates are scored by forecasts of rows that they were not
  trained on; those whose errors are close to the smallest one form the ensemble.
- ``prior``: forecasts of short series by readouts of other series and simple methods, weighted by
  their past errors. They are averaged with the ensemble, weighted by validation errors.
- ``intervals``: validation errors by step ahead, scaled to each series of a panel.
- ``fit``: selection and training in one function, and the fitted forecaster, which forecasts from
  any row of any series.
- ``backtest``, ``report``: selection and training at past origins, and the resulting errors; an
  HTML page about a forecast.
"""
