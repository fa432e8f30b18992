"""What the applications share: progress bars, pages of commands, durations, the time of a step."""
