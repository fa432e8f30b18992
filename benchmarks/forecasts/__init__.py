"""How forecasts of real series are compared: the protocol, the peers, what is kept and said."""
