"""Forecasts of people's series: how they are held, filtered, read out, chosen and judged."""
