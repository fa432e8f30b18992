"""The benchmark suite: jobs with required bounds, raw results as JSON, a page made from them."""
