"""Forecasts of people's series: how they are filtered, read out, chosen and judged."""
