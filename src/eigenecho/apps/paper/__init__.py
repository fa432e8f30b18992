"""The paper's tables and figures, made anew: experiments, their store, their report."""
