"""Forecasts of series: candidates, selection on a validation split, ensembles and intervals.

- ``signals``: batches of series of equal length with imputed values, scaled by the root mean square
  of their steps. All computations below are for a batch. The scale is computed from the rows up to
  the last checkpoint before the forecast origin. Checkpoints are 25% apart, starting from the
  length of the fit, so a forecast does not depend on other origins.
- ``views``: the steps of a series drive a diagonal reservoir. The input weights give each mode unit
  variance for white noise, so they are not random. The states are linear in y and do not change if
  a constant is added to y.
- ``seasons``, ``effects``: seasonal periods are detected. The one-step errors of a series are
  regressed on known columns and the calendar. The estimated effects are removed before the filter
  and added to the forecasts. Past columns have a separate filter and are used only by direct
  readouts.
- ``baselines``: naive forecasts, which are corrected by models and compared in backtests.
- ``states``, ``rows``: the states of all series of a batch for one view, with their sums. For long
  series, sums are computed from the recurrence of the rows, at a cost that hardly depends on the
  horizon. Sums can be merged, so only one batch of a panel is in memory at a time.
- ``candidates``: a forecast is baseline(t, h) + x(t) W_h with x = [c, r]. A direct readout is a
  ridge regression for each step. A recursive readout is trained for the next step and applied to
  its own forecasts. This is also linear in x(t), so forecasts from many origins are a single matrix
  product. The weights of one series may be shrunk towards the weights of all series. An ensemble is
  a trimmed mean of candidates.
- ``models``: the protocol of models that a user adds.
- ``validation``, ``selection``: candidates are scored on rows on which they were not trained.
  Candidates whose errors are close to the smallest error form the ensemble.
- ``prior``: forecasts of short series by simple methods and by readouts that were trained on other
  series, weighted by their past errors. They are averaged with the ensemble, with weights from
  validation errors.
- ``intervals``: the distribution of validation errors by step ahead, scaled for each series.
- ``fit``: selection and training in one function, and the fitted forecaster, which forecasts from
  any row of any series.
- ``backtest``, ``report``: selection and training at past origins, with the resulting errors, and
  an HTML page about a forecast.
"""
