"""What the applications share: web pages, progress bars, durations and the time of a step."""
