"""The jobs: states, training, inference and accuracy."""
