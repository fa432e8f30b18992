"""Settings of a network and of its training."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from eigenecho.checks import check_count, check_flag, check_known
from eigenecho.errors import bad_argument
from eigenecho.readout import Penalty
from eigenecho.reservoir import Cache, Drawn, Recipe, draw
from eigenecho.types import Seed

SOLVERS = ("auto", "gram", "qr", "refined", "structured")
PENALTIES = ("neuron", "identity")
MISSING = ("error", "skip")


@dataclass(frozen=True)
class Settings:
    """Checked parameters of ``LinearESN``: how a network is drawn and its readout trained.

    ``ridge`` holds one value, several to choose from, or is "auto".
    """

    recipe: Recipe = field(default_factory=Recipe)
    feedback: bool = False
    standardize: bool = False
    penalty: str = "neuron"
    ridge: Any = (1e-8,)
    solver: str = "auto"
    warmup: int = 0
    fit_bias: bool = True
    penalize_bias: bool = True
    output_to_readout: bool = False
    missing: str = "error"

    def __post_init__(self) -> None:
        for name in ("feedback", "standardize", "fit_bias", "penalize_bias", "output_to_readout"):
            check_flag(getattr(self, name), name)
        check_known(self.penalty, "penalty", PENALTIES)
        check_known(self.solver, "solver", SOLVERS)
        check_known(self.missing, "missing", MISSING)
        check_count(self.warmup, "warmup", "a number of steps", 0)
        if not isinstance(self.ridge, str) or self.ridge != "auto":
            object.__setattr__(self, "ridge", _numbers(self.ridge))

    @property
    def compares(self) -> bool:
        """True if several ridges are given, to choose from on held-out rows."""
        return not isinstance(self.ridge, str) and len(self.ridge) > 1

    @classmethod
    def of(cls, params: Mapping[str, Any]) -> Settings:
        """Return the settings that the parameters of an estimator describe."""
        recipe = {name: params[name] for name in RECIPE_FIELDS if name in params}
        # The identity penalises what is at work: no eigenvectors are needed to draw it.
        recipe["eigenvectors"] = params.get("penalty", "neuron") == "neuron"
        rest = {name: params[name] for name in OWN_FIELDS if name in params}
        return cls(Recipe(**recipe), **rest)

    def draw(self, D_in: int, D_out: int, seed: Seed, cache: Cache | None = None) -> Drawn:
        """Draw a reservoir for the given numbers of inputs and outputs."""
        return draw(self.recipe, D_in, D_out if self.feedback else 0, seed, cache)

    def penalty_of(self, drawn: Drawn, D_out: int) -> Penalty:
        """Return what the ridge penalises in a readout with ``D_out`` outputs."""
        size = self.fit_bias + self.output_to_readout * D_out + drawn.reservoir.units
        free = int(self.fit_bias and not self.penalize_bias)
        return Penalty(size, free, drawn.basis if self.penalty == "neuron" else None)


RECIPE_FIELDS = tuple(one.name for one in fields(Recipe))
OWN_FIELDS = tuple(one.name for one in fields(Settings) if one.name != "recipe")


def _numbers(ridge: Any) -> tuple[float, ...]:
    """Return one ridge or several as a tuple of numbers."""
    given = np.atleast_1d(ridge)
    fits = given.dtype.kind in "fiu" and given.ndim == 1 and given.size > 0
    if not fits or not np.all(np.isfinite(given) & (given >= 0)):
        shown = ridge[0] if isinstance(ridge, tuple) and len(ridge) == 1 else ridge
        wanted = "a finite number ≥ 0, a list of them, or 'auto'"
        raise bad_argument("ridge", shown, wanted)
    return tuple(map(float, given))
