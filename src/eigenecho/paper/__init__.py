"""Reproduction of the paper's tables and figures: experiments, their store, and the report."""
