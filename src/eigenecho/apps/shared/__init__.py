"""Parts that the applications share: progress in a terminal, and pages made by a command."""
