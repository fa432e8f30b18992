"""Conversion of networks from elsewhere, with a certificate."""

from eigenecho.convert.compare import probe
from eigenecho.convert.network import diagonalize
