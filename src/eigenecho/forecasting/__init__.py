"""Forecasts of people's series: filters, what they are read out to, and the choice among them."""
