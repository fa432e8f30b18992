"""The forecast benchmark: series, methods, protocol, stored forecasts and scores."""
