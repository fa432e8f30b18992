"""Forecasts of series: filters, readouts, selection of candidates, ensembles and intervals.

- ``Filter``: u(t) = y(t) − ℓ(t−1) drives a diagonal reservoir, where the level ℓ is the last
  value or a running mean. Input weights give every mode the variance 1 under white noise, so
  nothing is drawn. All of it is linear in y and independent of a constant added to y.
- A forecast is baseline(t, h) + x(t) W_h with x = [c, r]. *Direct* readouts have a ridge
  regression for each step. *Recursive* ones have one for the next step and run on their own
  forecasts; as this is linear in x(t), too, forecasts from many origins are one product.
- Known columns and the calendar are regressed on what the series does not predict itself
  (``effect``), removed before the filter and added to forecasts. Columns that are known up to the
  present go through a filter of their own; only direct readouts use them.
- Sums over long series come from the recurrence of the rows (``products``): their cost hardly
  grows with the horizon. Sums merge, so that one series of a panel is in memory at a time.
- Weights of a series may be pulled to those of all series by a ridge on the difference
  (``sharing``).
- A series is scaled by the root mean square of its own steps up to the checkpoint before the
  origin (``signals``). Checkpoints are the length of the fit and then a quarter more each time,
  so that a forecast does not depend on other origins.
- Validation errors of the ensemble, by step, give prediction intervals and ``expected_error_``.
  In a panel they are scaled to each series (``sizes``).
- ``refits`` cuts all histories at an origin and fits again, selection included.
"""
