"""Conversion of networks from elsewhere, with a certificate."""

from eigenecho.convert.network import diagonalize
from eigenecho.model.certificate import Certificate

__all__ = ["Certificate", "diagonalize"]
