"""Conversion of networks from elsewhere, with a certificate."""

from eigenecho.convert.certificate import Certificate
from eigenecho.convert.network import diagonalize

__all__ = ["Certificate", "diagonalize"]
