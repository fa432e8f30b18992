"""Learning while running: recursive least squares on the rows as they come."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from eigenecho import kernels
from eigenecho.blas import one_blas_thread
from eigenecho.errors import bad_argument, check_count, is_finite_number, overflowed
from eigenecho.model.doubt import Doubt, warn_if_lost
from eigenecho.model.evidence import Evidence
from eigenecho.model.model import Array, LinearModel, State
from eigenecho.model.ports import Ports, on_one_thread
from eigenecho.model.run import as_state
from eigenecho.readout import Gram, Penalty
from eigenecho.readout.triangle import annihilate, check_upper

FADED = 0.1
"""The share of the ridge below which forgetting never brings it."""

LARGE = 1e150
"""Numbers whose squares come near the end of the range."""


class Memory(NamedTuple):
    """What has been learnt: R w = Z with RᵀR = Σ λ^(T−t) x(t)ᵀx(t) + the penalty.

    ``R`` (N', N') upper triangular, ``Z`` (N', D_out), ``weights`` (D_out, N'), ``centre``
    (N', D_out) the weights that the ridge pulls to, ``rows`` the number learnt. ``doubt`` is there
    where R came from normal equations, which hold half the digits.
    """

    R: Array
    Z: Array
    weights: Array
    centre: Array
    rows: int = 0
    doubt: Doubt | None = None


@one_blas_thread()
def prior(W_out: Array, penalty: Penalty, ridge: float) -> Memory:
    """No rows yet: ridge ‖L (w − W_out)‖² alone."""
    centre = np.array(W_out, np.float64)
    L = np.sqrt(ridge) * penalty.root
    R, Z = L, L @ centre
    if penalty.basis is not None:
        R, Z, _ = annihilate(np.zeros_like(L), np.zeros_like(centre), L, Z)
    return Memory(R, Z, centre.T, centre)


@one_blas_thread()
def remembered(evidence: Evidence) -> Memory:
    """The rows that a model was trained on."""
    (R, Z), w, known = evidence.triangle(), evidence.weights, evidence.statistics
    doubt = Doubt.of(known, w) if isinstance(known, Gram) else None
    return Memory(R, Z, w.T, np.zeros_like(w), doubt=doubt)


class Learner:
    """A model that learns while it runs, O(N'²) a step.

    After each row learnt, the readout is the one that a batch would give,

        argmin Σ_t λ^(T−t) ‖y(t) − x(t) w‖² + α ‖L (w − w₀)‖²,   x = [1, y(t−1), r(t)]

    with the forgetting factor λ and w₀ = 0, or the readout of a model that came without the data
    it was trained on. Each row is rotated into a triangle, which neither squares numbers nor
    accumulates errors. The ridge is not forgotten: in the course of a memory's length its rows
    are renewed one after the other, so that between α/10 and α is at work and directions that
    the data do not excite stay bounded.

    Made by ``LinearESN.learner`` and ``LinearModel.learner``.

    Parameters
    ----------
    model : LinearModel
    memory : Memory
    penalty : Penalty
    ridge : float
        α > 0.
    forgetting : float
        λ in ]0, 1]; the memory is about 1/(1 − λ) rows long.
    warmup : int
        Rows that are not learnt yet.
    state : State, optional
        Where to start; zero by default.
    feature_names : list of str, optional
        The columns of the inputs: rows that come with labels must have these, in this order.
    """

    def __init__(
        self,
        model: LinearModel,
        memory: Memory,
        penalty: Penalty,
        ridge: float,
        forgetting: float = 1.0,
        warmup: int = 0,
        state: State | None = None,
        feature_names: Sequence[str] | None = None,
    ) -> None:
        check_rates(ridge, forgetting)
        check_count(warmup, "warmup")
        check_memory(memory, penalty, model)
        self._model = model
        self._ridge, self._forgetting = float(ridge), float(forgetting)
        # A new penalty: the matrices that it builds are not kept by whose it was.
        self._penalty = replace(penalty)
        self._R, self._Z, self._W, self._centre = (
            np.array(part, np.float64, order="C") for part in memory[:4]
        )
        self._rows, self._wait = memory.rows, warmup
        self._doubt = memory.doubt
        self._cycle = 0
        if forgetting < 1:
            self._cycle = max(1, int(math.log(FADED) / math.log(forgetting)))
            self._pull = np.einsum("ij,jk->ik", self._penalty.root, self._centre)
        self._ports = Ports(model, feature_names)
        self._x = np.ones(len(self._R))
        self._advance = on_one_thread(model.reservoir.form, kernels.step)
        self.state = model.zero_state() if state is None else state

    @property
    def state(self) -> State:
        """Where the network stands, as a copy: y is the last target, or output without one."""
        return State(self._r.copy(), self._y.copy())

    @state.setter
    def state(self, state: Any) -> None:
        r, y = as_state(self._model, state, "state")
        self._r, self._y = r.copy(), y.copy()

    @property
    def model(self) -> LinearModel:
        """The model as it is now, a value that later steps do not change."""
        W_out = np.ascontiguousarray(self._W.T, self._model.reservoir.dtype)
        return replace(self._model, W_out=W_out.copy())

    @property
    def forgetting(self) -> float:
        """λ."""
        return self._forgetting

    @property
    def rows(self) -> int:
        """How many rows have been learnt while running."""
        return self._rows

    def step(self, u: Any = None, target: Any = None) -> Array:
        """Take one input row (D_in,), return the output (D_out,), then learn the target.

        The output is that of the readout before it has seen ``target``. A closed loop runs on
        the targets given, on the model's own output where there was none. After an error the
        learner stands where it stood.
        """
        model, ports = self._model, self._ports
        ports.take(u, None, self._y)
        r = self._r.copy()
        self._advance(model.reservoir.form, model.reservoir.B, ports.drive, r)
        y = np.einsum("ei,i->e", self._W, self._row(r))
        if not np.all(np.abs(y) < np.finfo(r.dtype).max):
            ports.check_finite(u, None)
            raise overflowed("output", None)
        output = last = model.to_user(y.astype(r.dtype))
        if target is not None:
            last = ports.row(target, "target")
        doubt = None if self._doubt is None else self._doubt.after(self._x)
        # What is lost shows before a row is learnt.
        error = 0.0 if doubt is None or not doubt.is_due else self._error(doubt)
        if target is not None:
            if self._wait:
                self._wait -= 1
            else:
                self._learn(model.from_user(last).astype(np.float64))
        self._r, self._y, self._doubt = r, last, doubt
        if warn_if_lost(error, self._ridge, r.dtype, stacklevel=2):
            self._doubt = None  # once is enough
        return output.copy()

    def _row(self, r: Array) -> Array:
        x, head = self._x, self._x.size - r.size
        x[head:] = r
        if self._model.output_to_readout:
            x[head - self._model.D_out : head] = self._ports.before
        if self._model.readout_bias:
            x[0] = 1.0
        return x

    def _learn(self, target: Array) -> None:
        """Rotate the present row into the triangle and solve for the weights."""
        if not max(np.abs(self._x).max(), np.abs(target).max()) < LARGE:
            raise overflowed("squares of the states", None)
        R, Z = self._R, self._Z
        kernels.absorb_row(R, Z, math.sqrt(self._forgetting), self._x, target)
        if self._cycle:
            self._renew_ridge()
        kernels.back_substitute(R, Z, self._W)
        self._rows += 1

    @one_blas_thread()
    def _error(self, doubt: Doubt) -> float:
        """How far off outputs are, where normal equations at the start held too few digits."""
        return doubt.error(self._R, self._W.T, self._forgetting**self._rows)

    def _renew_ridge(self) -> None:
        """Top up this row's share of the penalty to the full ridge."""
        step, n = self._rows % self._cycle, len(self._R)
        age = min(self._rows + 1, self._cycle)
        weight = math.sqrt(-self._ridge * math.expm1(age * math.log(self._forgetting)))
        for i in range(n * step // self._cycle, n * (step + 1) // self._cycle):
            L, pull = self._penalty.root[i], self._pull[i]
            kernels.absorb_row(self._R, self._Z, 1.0, weight * L, weight * pull)

    def copy(self) -> Learner:
        """An independent learner that stands where this one does and knows what it knows."""
        return Learner(*self._parts())

    def save(self, path: Any) -> None:
        """Write all of it to a safetensors file; ``eigenecho.load`` gives the learner back."""
        from eigenecho.model.storage import save_learner

        save_learner(path, self)

    def _parts(self) -> tuple[Any, ...]:
        memory = Memory(self._R.copy(), self._Z.copy(), self._W.copy(), self._centre, self._rows)
        memory = memory._replace(doubt=self._doubt)
        return (
            self._model, memory, self._penalty, self._ridge, self._forgetting, self._wait,
            self.state, self._ports.feature_names,
        )  # fmt: skip

    def __reduce__(self) -> Any:
        return Learner, self._parts()

    def __repr__(self) -> str:
        return f"Learner of {self._model!r}, forgetting={self._forgetting:g}, {self._rows} rows"


def check_memory(memory: Memory, penalty: Penalty, model: LinearModel) -> None:
    """Whether what was learnt is of this model: compiled code takes the shapes on trust."""
    size, D = model.W_out.shape
    shapes = (size, size), (size, D), (D, size), (size, D)
    for name, part, shape in zip(memory._fields[:4], memory[:4], shapes, strict=True):
        if np.shape(part) != shape:
            raise bad_argument(name, f"<shape {np.shape(part)}>", f"shape {shape}, as the model's")
    check_upper(memory.R)
    check_count(memory.rows, "rows")
    if memory.doubt is not None:
        memory.doubt.check(size, D)
    if penalty.size != size or penalty.free > model.readout_bias:
        got = f"<{penalty.size} rows, {penalty.free} of them free>"
        raise bad_argument("penalty", got, f"one of the model's {size} rows, the bias alone free")


def check_rates(ridge: Any, forgetting: Any) -> None:
    """A ridge to start from and a forgetting factor, or an error that says what they are for."""
    if not is_finite_number(ridge) or ridge <= 0:
        raise bad_argument(
            "ridge", ridge, "one finite number > 0", "It is what is known before the first row."
        )
    if not is_finite_number(forgetting) or not 0 < forgetting <= 1:
        raise bad_argument(
            "forgetting", forgetting, "a number in ]0, 1]", "1 forgets nothing; 0.999 is usual."
        )
