"""Training settings: the validated parameters of an estimator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from inspect import signature
from typing import Annotated, Any

import numpy as np

from eigenecho.checks import as_array, convert_fields
from eigenecho.errors import bad_argument
from eigenecho.readout import Penalty
from eigenecho.reservoir import Cache, DrawnReservoir, Recipe, draw
from eigenecho.transition import DelayLine
from eigenecho.types import Count, Seed

SOLVERS = ("auto", "normal", "qr")
Solver = Annotated[str, SOLVERS]


@dataclass(frozen=True)
class Settings:
    """Validated parameters of ``LinearESN`` for drawing a network and training its readout.

    ``ridge`` is a tuple of one or several candidates, "auto" or "loop". ``updates`` is True if the
    statistics will be updated with further series.
    """

    recipe: Recipe = field(default_factory=Recipe)
    feedback: bool = False
    standardize: bool = False
    penalty: Annotated[str, ("neuron", "identity")] = "neuron"
    ridge: Any = (1e-8,)
    solver: Solver = "auto"
    warmup: Count = 0
    fit_bias: bool = True
    penalize_bias: bool = True
    output_to_readout: bool = False
    missing: Annotated[str, ("error", "skip")] = "error"
    updates: bool = False

    def __post_init__(self) -> None:
        convert_fields(self)
        if not isinstance(self.ridge, str) or self.ridge not in ("auto", "loop"):
            object.__setattr__(self, "ridge", _numbers(self.ridge))

    @property
    def has_features(self) -> bool:
        """True if the readout uses features of the states, or the taps of a delay line."""
        recipe = self.recipe
        return recipe.features is not None or isinstance(recipe.spectrum, DelayLine)

    @property
    def compares(self) -> bool:
        """True if several ridges are given, which are compared on held-out rows."""
        return not isinstance(self.ridge, str) and len(self.ridge) > 1

    @classmethod
    def of(cls, params: Mapping[str, Any]) -> Settings:
        """Return the settings for the parameters of an estimator."""

        def own(kind: Any) -> dict[str, Any]:
            return {f.name: params[f.name] for f in fields(kind) if f.name in params}

        # The identity penalty is applied in the working basis, which needs no eigenvectors.
        eigenvectors = params.get("penalty", "neuron") == "neuron"
        return cls(Recipe(**own(Recipe), eigenvectors=eigenvectors), **own(cls))

    def draw(self, D_in: int, D_out: int, seed: Seed, cache: Cache | None = None) -> DrawnReservoir:
        """Draw a reservoir with the given numbers of inputs and outputs."""
        return draw(self.recipe, D_in, D_out if self.feedback else 0, seed, cache)

    def penalty_of(self, drawn: DrawnReservoir, D_out: int) -> Penalty:
        """Return the penalty on the weights of a readout with ``D_out`` outputs.

        Weights of features are penalised by the identity, like those of standardised states.
        """
        size = self.fit_bias + self.output_to_readout * D_out + drawn.reservoir.columns
        free = int(self.fit_bias and not self.penalize_bias)
        is_neuron = self.penalty == "neuron" and drawn.reservoir.features is None
        return Penalty(size, free, drawn.basis if is_neuron else None)


def parameters_of(estimator: Any) -> dict[str, Any]:
    """Return all parameters of an estimator, even if the constructor of a subclass has fewer."""
    kind = next(k for k in type(estimator).__mro__ if k.__module__.startswith("eigenecho."))
    return {name: getattr(estimator, name) for name in signature(kind).parameters}


def _numbers(ridge: Any) -> tuple[float, ...]:
    """Return one or several ridges as a tuple of numbers."""
    expected = "a finite number ≥ 0, a list of such numbers, 'auto' or 'loop'"
    values = np.atleast_1d(as_array(ridge, "ridge", expected))
    fits = values.dtype.kind in "fiu" and values.ndim == 1 and values.size > 0
    if not fits or not np.all(np.isfinite(values) & (values >= 0)):
        raise bad_argument("ridge", ridge, expected)
    return tuple(map(float, values))
