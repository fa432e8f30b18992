"""The benchmark suite: jobs with goals, raw results as JSON files, and the page."""
