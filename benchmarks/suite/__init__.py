"""The benchmark suite: jobs with targets, raw results as JSON files, and the page."""
