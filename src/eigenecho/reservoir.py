"""Reservoirs: transitions with input weights, either given or drawn at random."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Annotated, Any, NamedTuple

import numpy as np

from eigenecho import checks, kernels, threads
from eigenecho.arrays import namespace, read_only, to_host
from eigenecho.basis import Basis, drawn_basis, eigendecomposition, interleave
from eigenecho.errors import IllConditionedWarning, Words, bad_argument, overflowed, warn
from eigenecho.features import CustomMap, FeatureMap, Features, resolve
from eigenecho.kernels import CustomForm, FeatureForm, Form
from eigenecho.kernels.compiled.scans import MIN_BLAS_COLUMNS
from eigenecho.progress import Progress
from eigenecho.spectra import LAWS, Spectrum, from_matrix, law, random_matrix
from eigenecho.spectra.spectrum import draw_law
from eigenecho.threads import one_blas_thread
from eigenecho.transition import (
    Choice,
    DelayLine,
    Dense,
    Diagonal,
    Sparse,
    Transition,
    as_transition,
    choose_form,
)
from eigenecho.types import Array, Fraction, NonNegative, Seed, brief_repr, rebuilt

SOON = 1000
"""Largest number of units for which an error message states the spectral radius of a matrix."""

MIN_REPLAYED_UNITS, MIN_NEW_STATES, MAX_REPLAYS = 256, 1 << 20, 4
"""Limits for scans on threads: the smallest number of units, the smallest number of states, and the
largest number of threads."""

REPLAY_SHARE = 0.6
"""Number of rows of a thread, relative to that of the thread before, which has fewer to replay."""

ONES = "ones"
"""Value of ``W_in`` for weights of 1 in the eigenbasis."""

SOURCES = "a name, a Spectrum, eigenvalues, a square matrix, a callable or a delay line"
"""Accepted types of ``spectrum``, for messages."""


@dataclass(frozen=True, eq=False, repr=False)
class Reservoir:
    """Reservoir in the working basis.

        r(t) = r(t−1) W + u(t) W_in + bias + y(t−1) W_fb

    The leaking rate is included: W' = lr W + (1 − lr) I, and other weights are multiplied by lr.
    ``transition`` may also be given as eigenvalues or a matrix (N, N). Shapes: W_in (D_in, N), bias
    (N,), W_fb (D_out, N). A readout is applied to the ``features`` of the states, or to the states
    themselves if there are none.
    """

    transition: Annotated[Transition, Dense | Diagonal | Sparse]
    W_in: Array
    bias: Array | None = None
    W_fb: Array | None = None
    features: FeatureMap | CustomMap | None = None

    __repr__ = brief_repr

    __reduce__ = rebuilt

    def __post_init__(self) -> None:
        if not isinstance(self.transition, Transition):
            object.__setattr__(self, "transition", as_transition(self.transition))
        for name, lead in (("W_in", ("D",)), ("bias", ()), ("W_fb", ("D",))):
            value = getattr(self, name)
            if value is None:
                continue
            shape = np.shape(value)
            if len(shape) != len(lead) + 1 or shape[-1] != self.units:
                expected = str((*lead, self.units)).replace("'", "")
                raise bad_argument(name, Words(f"shape {shape}"), f"shape {expected}")
            value = checks.as_array(value, name, "an array")
            checks.check_real(value, name)
            # W_in comes first, because its dtype is used for the states and the other weights.
            dtype = value.dtype if name == "W_in" else self.W_in.dtype
            if dtype not in (np.float32, np.float64):
                dtype = np.dtype(np.float64)
            with np.errstate(over="ignore"):  # check_finite below reports it
                value = value.astype(dtype, copy=False)
            object.__setattr__(self, name, read_only(value))
            checks.check_finite(value, name)
        if self.features is not None:
            self.features.check_units(self.units)

    @property
    def units(self) -> int:
        """Number of units N."""
        return self.transition.units

    @property
    def columns(self) -> int:
        """Number of states or features that a readout uses."""
        return self.units if self.features is None else self.features.size

    @property
    def state_columns(self) -> int:
        """Number of columns of ``states``."""
        return self.units if self.features is None else self.features.columns.size

    @property
    def is_linear(self) -> bool:
        """True if the inputs of a readout are linear functions of the states."""
        return self.features is None or self.features.size == self.features.columns.size

    @property
    def dtype(self) -> np.dtype:
        """Data type of weights and states."""
        return self.W_in.dtype

    @cached_property
    def form(self) -> Form:
        """Transition in the form that the kernels use."""
        return self.transition.form(self.dtype)

    @cached_property
    def feature_form(self) -> FeatureForm | CustomForm | None:
        """Features in the form that the kernels use."""
        return None if self.features is None else self.features.form(self.dtype)

    def observe(self, states: Array) -> Array:
        """Return the states or features (T, M) that a readout uses, computed from states (T, N)."""
        if self.features is not None and not namespace(states).is_host:
            raise TypeError(
                "Features of states require NumPy arrays or tensors on the CPU. Call .cpu() first."
            )
        return kernels.observe(self.feature_form, states)

    @cached_property
    def B(self) -> Array:
        """All input weights, with rows [W_in, bias, W_fb]."""
        rows = [A for A in (self.W_in, self.bias, self.W_fb) if A is not None]
        return np.ascontiguousarray(np.vstack(rows), self.dtype)

    @property
    def spectrum(self) -> Spectrum:
        """Eigenvalues of the transition, including the leak."""
        return self.transition.spectrum

    def drive(self, u: Array, y_previous: Array | None) -> Array:
        """Return the columns (…, T, D) of [u, 1, y(t−1)] that drive the reservoir."""
        columns, xp = [u], namespace(u)
        if self.bias is not None:
            columns.append(xp.ones((*u.shape[:-1], 1), self.dtype))
        if self.W_fb is not None:
            assert y_previous is not None
            columns.append(y_previous)
        if len(columns) == 1:
            return xp.ascontiguousarray(u, self.dtype)
        return xp.concatenate(columns, axis=-1, dtype=self.dtype)

    def check(self) -> None:
        """Raise if numbers from a file are outside the range of single precision."""
        if self.dtype == np.float32:
            with np.errstate(over="ignore"):
                forms = {"W": self.form, "features": self.feature_form or ()}
            for name, form in forms.items():
                for part in form:
                    checks.check_range(part, name, self.dtype)

    def weights(self, change: Callable[[Array], Array]) -> tuple[Any, ...]:
        """Return W_in, bias and W_fb, each changed by ``change``, or None if it is missing."""
        weights = self.W_in, self.bias, self.W_fb
        return tuple(None if A is None else change(A) for A in weights)

    def in_double(self) -> Reservoir:
        """Return the reservoir with weights in double precision."""
        W_in, bias, W_fb = self.weights(lambda A: A.astype(np.float64))
        return Reservoir(self.transition, W_in, bias, W_fb, self.features)

    def only(self, modes: Array) -> Reservoir:
        """Return the reservoir of selected modes, given flags (n + m,) with real modes first."""
        columns = self.spectrum.columns(modes)
        transition = Diagonal(self.spectrum.only(modes))
        return Reservoir(transition, *self.weights(lambda A: A[..., columns]))

    def zero_state(self, drive: Array | None = None) -> Array:
        """Return the initial state of zeros (…, N) for a drive (…, T, D), by default (N,)."""
        if drive is None:
            return np.zeros(self.units, self.dtype)
        return namespace(drive).zeros((*drive.shape[:-2], self.units), self.dtype)

    def scan(
        self, drive: Array, state: Array | None = None, out: Array | None = None
    ) -> tuple[Array, Array]:
        """Return the states under a drive, (…, T, N), and the last one, (…, N)."""
        state = self.zero_state(drive) if state is None else state
        return kernels.scan(self.form, self.B, drive, state, out)

    def read_out(
        self,
        weights: Array,
        drive: Array,
        state: Array | None,
        out: Array,
        progress: Progress | None = None,
    ) -> Array:
        """Write r(t) weightsᵀ into ``out`` (…, T, D_out), and return the last state."""
        state = self.zero_state(drive) if state is None else state
        return kernels.read_out(self.form, self.B, drive, weights, state, out, progress)

    def last_state(self, drive: Array, state: Array | None = None) -> Array:
        """Return the state after the last row of a drive."""
        state = self.zero_state(drive) if state is None else state
        nothing = np.empty((0, self.units), self.dtype)
        return kernels.scan_readout(self.form, self.B, drive, nothing, state)[1]

    def states(self, drive: Array, out: Array | None, progress: Progress) -> Array:
        """Return the states that a readout can use, and report progress; raise if they overflow.

        For a delay line, these are the states at its taps.
        """
        scan: Callable[..., tuple[Array, Array]] = self.scan
        is_part = self.state_columns < self.units
        if out is None or is_part:
            states = namespace(drive).empty((*drive.shape[:-1], self.units), self.dtype)
            scan = self._scan_on_threads if self._can_replay(drive) else scan
        else:
            states = out
        last = self.zero_state(drive)
        for piece, own in progress.cut(drive.shape):
            _, last[own] = scan(drive[piece], last[own], states[piece])
        self.check_states(states)
        if not is_part or self.features is None:
            return states
        return np.take(states, self.features.columns, axis=-1, out=out)

    def _can_replay(self, drive: Array) -> bool:
        """Return True if one series is scanned faster on threads, with the same bits."""
        if not namespace(drive).is_host or drive.ndim > 2 or drive.shape[1] >= MIN_BLAS_COLUMNS:
            return False
        is_large = self.units >= MIN_REPLAYED_UNITS and len(drive) * self.units >= MIN_NEW_STATES
        return is_large and isinstance(self.transition, Diagonal)

    def _scan_on_threads(self, drive: Array, state: Array, out: Array) -> tuple[Array, Array]:
        """Write states into new memory, whose first use takes longer than computing the states.

        Each thread first runs through the rows before its own, without storing states.
        """
        count = min(threads.thread_count(), MAX_REPLAYS)

        def task(start: int, stop: int) -> None:
            self.scan(drive[start:stop], self.last_state(drive[:start], state), out[start:stop])

        # Later parts are shorter, so that all threads take equally long.
        lengths = REPLAY_SHARE ** np.arange(count)
        edges = np.rint(len(drive) * np.cumsum([0, *lengths]) / lengths.sum()).astype(int)
        threads.run(task, list(itertools.pairwise(edges.tolist())))
        return out, out[-1].copy()

    def check_states(self, states: Array, first: int = 0) -> None:
        """Raise if states (T, N) of a scan, from step ``first`` on, are not finite.

        Inf times any number, even 0, is Inf or NaN, so the last row shows any overflow. Sparse
        products skip zeros, so an overflow may vanish, and every row is checked.
        """
        xp = namespace(states)
        rows = states if self.transition.leaves_zeros_out else states[..., -1:, :]
        if xp.all_finite(rows):
            return
        finite = to_host(xp.isfinite(states).all(-1)).reshape(-1, states.shape[-2])
        raise self.overflowed("states", first + int(np.argmin(finite.all(axis=0))))

    def overflowed(self, what: str, step: int | None = None, *, closed: bool = False) -> Exception:
        """Return the error for an overflow, including the radius if it is quick to compute."""
        radius = None
        if isinstance(self.transition, Diagonal) or self.units <= SOON:
            with suppress(ValueError):  # the eigenvalues overflow as well
                radius = self.spectrum.radius
        return overflowed(what, radius, step, closed=closed)


# Drawing -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Recipe:
    """Parameters of a random reservoir. ``basis`` is "eigen" or "neuron".

    ``eigenvectors=False`` draws [W_in]_Q directly, so that a named spectrum never needs an N×N
    matrix; the neuron basis is then unknown. It has no effect if ``W_in`` or ``W_fb`` is an array,
    because such weights are in the neuron basis. ``even_defective=True`` diagonalises even a matrix
    without a usable eigenbasis, as the paper does, instead of using the form that ``choose_form``
    returns.
    """

    units: Any = 100
    spectrum: Any = "golden"
    basis: Annotated[str, ("eigen", "neuron")] = "eigen"
    sr: NonNegative = 0.9
    lr: Fraction = 1.0
    input_scaling: Any = 1.0
    input_connectivity: Fraction = 1.0
    rc_connectivity: Fraction = 1.0
    input_bias: bool = False
    W_in: Any = None
    fb_scaling: float = 1.0
    fb_connectivity: Fraction = 1.0
    W_fb: Any = None
    eigenvectors: bool = True
    even_defective: bool = False
    dtype: Any = "float64"
    features: Features | None = None

    def __post_init__(self) -> None:
        checks.convert_fields(self)
        checked: dict[str, Any] = {
            "features": resolve(self.features),
        }
        for name in ("W_in", "W_fb"):
            checked[name] = weights = _as_weights(getattr(self, name), name)
            if isinstance(weights, np.ndarray):
                checked["eigenvectors"] = True
        if self.is_drawn or callable(self.spectrum):
            checked["units"] = checks.check_units(self.units, "units")
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        checks.as_float_dtype(self.dtype)

    @property
    def is_drawn(self) -> bool:
        """True if the spectrum is given by name, so that it is scaled to ``sr``."""
        return isinstance(self.spectrum, str)

    @property
    def learns_spectrum(self) -> bool:
        """True if the eigenvalues are learned from training rows before weights are drawn."""
        return isinstance(self.spectrum, str) and self.spectrum == "data"

    @property
    def matrix_key(self) -> tuple[Any, ...]:
        """Cache key of the matrix for one seed; a given matrix is compared by identity."""
        if self.is_drawn:
            return self.units, self.rc_connectivity
        return (IdentityKey(self.spectrum),)

    def scale(self, radius: float) -> float:
        """Return the factor that scales a matrix of this radius to ``sr``; 1 for a given matrix."""
        if not self.is_drawn:
            return 1.0
        if radius > 0:
            return self.sr / radius
        warn(
            "The random W has spectral radius 0, so it is not scaled to sr. Increase "
            "rc_connectivity or units.",
            UserWarning,
        )
        return 1.0

    def source(self, rng: Streams, cache: Cache) -> Any:
        """Return the eigenvalues or the matrix, before it is scaled."""
        spectrum = self.spectrum
        if isinstance(spectrum, Spectrum):
            return spectrum
        if callable(spectrum):
            return self._call(spectrum, rng)
        if isinstance(spectrum, str):
            return self._draw(spectrum, rng, cache)
        if spectrum is None or np.isscalar(spectrum):
            raise bad_argument("spectrum", spectrum, SOURCES)
        if hasattr(spectrum, "toarray") or checks.as_array(spectrum, "spectrum", SOURCES).ndim != 1:
            checks.as_square(spectrum, "spectrum")
            return spectrum
        try:
            return Spectrum.from_values(spectrum)
        except ValueError as error:
            raise ValueError(f"Invalid spectrum. {error}") from None

    def _draw(self, name: str, rng: Streams, cache: Cache) -> Spectrum | Array:
        """Draw the eigenvalues of a named law, or a random matrix."""
        if self.learns_spectrum:
            expected = "a law, because eigenvalues cannot be learned without training data"
            remedy = "Use LinearESN.fit or spectra.from_data(X, y, units=…)."
            raise bad_argument("spectrum", name, expected, remedy)
        if name not in ("matrix", "sim"):
            sample = LAWS.get(name) or law(name, also=("matrix", "data"))
            return sample(self.units, sr=self.sr, seed=rng.spectrum)

        drawn = partial(random_matrix, self.units, rng.spectrum, connectivity=self.rc_connectivity)
        W = cache.once(("W", *self.matrix_key), drawn)
        if name == "matrix":
            return W
        # ``spectra.sim`` returns the same eigenvalues.
        values = cache.once(("values", *self.matrix_key), lambda: from_matrix(W))
        return values.times(self.scale(values.radius))

    def _call(self, sample: Any, rng: Streams) -> Spectrum:
        """Draw eigenvalues by calling a law that the user passed."""
        try:
            return draw_law(sample, self.units, rng.spectrum, self.sr)
        except TypeError as error:
            expected = "a callable law(n, sr=, seed=) that returns n eigenvalues"
            remedy = f"Calling the given law raised: {error}."
            raise bad_argument("spectrum", sample, expected, remedy) from error


class IdentityKey:
    """Cache key that compares an object by identity and keeps it alive."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, IdentityKey) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


class Streams(NamedTuple):
    """Independent generators of all parts, so that changing one part does not affect the others."""

    spectrum: np.random.Generator
    eigenvectors: np.random.Generator
    W_in: np.random.Generator
    W_fb: np.random.Generator
    bias: np.random.Generator
    features: np.random.Generator


def streams(seed: Seed) -> Streams:
    """Spawn one generator for each part of a reservoir."""
    return Streams(*checks.generator(seed).spawn(len(Streams._fields)))


class Cache:
    """Cache of values. A key identifies everything that its value depends on."""

    def __init__(self) -> None:
        self._values: dict[Any, Any] = {}

    def once(self, key: Any, make: Callable[[], Any]) -> Any:
        """Return the value of a key. ``make`` computes it on first use."""
        if key not in self._values:
            self._values[key] = make()
        return self._values[key]

    def of_seed(self, seed: Seed) -> Cache:
        """Return the cache shared by all draws with this int seed; for other seeds, a new cache."""
        if not isinstance(seed, (int, np.integer)):
            return Cache()
        return self.once(("seed", int(seed)), Cache)


@dataclass(frozen=True, eq=False)
class DrawnReservoir:
    """Reservoir with its basis, if it has one, and its spectrum before the leak is applied."""

    reservoir: Reservoir
    basis: Basis | None
    spectrum: Spectrum | None


@one_blas_thread()
def draw(
    recipe: Recipe, D_in: int, D_fb: int = 0, seed: Seed = None, cache: Cache | None = None
) -> DrawnReservoir:
    """Draw all weights of a reservoir with ``D_fb`` feedback columns.

    A ``cache`` that is passed to several draws avoids repeated eigendecompositions for draws with
    the same int seed.
    """
    rng = streams(seed)
    cache = Cache() if cache is None else cache.of_seed(seed)
    if isinstance(recipe.spectrum, DelayLine):
        return _delay_line(recipe, recipe.spectrum, D_in, D_fb, rng)
    transition, basis, spectrum = _transition(recipe, rng, cache)
    scaling = per_feature(recipe.input_scaling, D_in)[:, None]
    mean = np.mean(np.abs(recipe.input_scaling))

    def drawn(stream: np.random.Generator, rows: int, connectivity: float = 1.0) -> Array:
        return _uniform(stream, rows, connectivity, transition, basis)

    def scaled(A: Array, factor: Any, name: str) -> Array:
        with np.errstate(over="ignore"):
            weights = np.ascontiguousarray(recipe.lr * (A * factor), recipe.dtype)
        if not np.all(np.isfinite(weights)):
            expected = f"a scale that keeps weights within the range of {np.dtype(recipe.dtype)}"
            raise bad_argument(name, getattr(recipe, name), expected)
        return weights

    W_in, W_fb = (
        _given_weights(recipe, name, rows, transition, basis)
        for name, rows in (("W_in", D_in), ("W_fb", D_fb))
    )
    if W_in is None:
        W_in = drawn(rng.W_in, D_in, recipe.input_connectivity)
    if W_fb is None and D_fb:
        W_fb = drawn(rng.W_fb, D_fb, recipe.fb_connectivity)
    W_in = scaled(W_in, scaling, "input_scaling")
    bias = scaled(drawn(rng.bias, 1), mean, "input_scaling")[0] if recipe.input_bias else None
    W_fb = None if W_fb is None else scaled(W_fb, recipe.fb_scaling, "fb_scaling")
    features = None
    if recipe.features is not None:
        features = recipe.features.draw(np.arange(transition.units), rng.features)
    reservoir = Reservoir(transition.leak(recipe.lr), W_in, bias, W_fb, features)
    return DrawnReservoir(reservoir, basis, spectrum)


def _delay_line(
    recipe: Recipe, line: DelayLine, D_in: int, D_fb: int, rng: Streams
) -> DrawnReservoir:
    """Return a delay line with a chain for each input and for each output that is fed back."""
    because = "because a delay line is used"
    if recipe.input_bias:
        raise bad_argument("input_bias", True, f"False, {because}")
    if recipe.lr != 1:
        raise bad_argument("lr", recipe.lr, f"1, {because}")
    for name in ("W_in", "W_fb"):
        if getattr(recipe, name) is not None:
            raise bad_argument(name, Words("weights"), f"None, {because}")
    chains = D_in + D_fb
    scaling = per_feature(recipe.input_scaling, D_in)[:, None]
    W_in, W_fb = np.split(line.weights(chains), [D_in])
    W_in, W_fb = (W_in * scaling).astype(recipe.dtype), W_fb * recipe.fb_scaling
    features = (recipe.features or Features()).draw(line.seen(chains), rng.features)
    reservoir = Reservoir(line.shift(chains), W_in, None, W_fb if D_fb else None, features)
    return DrawnReservoir(reservoir, None, reservoir.spectrum)


def per_feature(scaling: Any, D_in: int) -> Array:
    """Return ``input_scaling`` as an array (D_in,), one number for each input column."""
    factors = checks.as_array(scaling, "input_scaling", "a number or an array of numbers")
    fits = factors.dtype.kind in "fiu" and factors.shape in ((), (D_in,))
    if not fits or not np.all(np.isfinite(factors)):
        expected = f"a finite number, or an array ({D_in},) of finite numbers"
        raise bad_argument("input_scaling", scaling, expected)
    return np.broadcast_to(factors.astype(np.float64), (D_in,))


def _transition(
    recipe: Recipe, rng: Streams, cache: Cache
) -> tuple[Transition, Basis | None, Spectrum | None]:
    """Return the transition without the leak, and its basis and eigenvalues, if they are known."""
    source = recipe.source(rng, cache)
    if isinstance(source, Spectrum):
        if recipe.basis == "eigen" and not recipe.eigenvectors:
            return Diagonal(source), None, source
        key = ("Q", source.real.size, source.pairs.size)
        basis = cache.once(key, lambda: drawn_basis(source, rng.eigenvectors))
        if recipe.basis == "neuron":
            return Dense(basis.matrix(Diagonal(source).matrix)), None, source
        return Diagonal(source), basis, source
    if recipe.basis == "neuron":
        W = as_transition(source if hasattr(source, "tocsr") else checks.as_square(source))
        if not recipe.is_drawn:
            return W, None, None
        radius = cache.once(("radius", *recipe.matrix_key), lambda: from_matrix(source).radius)
        return W.times(recipe.scale(radius)), None, None
    choose = _eigenbasis if recipe.even_defective else choose_form
    key = (choose.__name__, *recipe.matrix_key)
    choice = cache.once(key, lambda: choose(checks.as_square(source)))
    if choice.form == "dense":
        warn(
            f"The reservoir matrix is nearly defective: {choice.reason}. Each step multiplies by "
            "the dense matrix, in N² operations. With a named spectrum, a step is O(N).",
            IllConditionedWarning,
        )
    factor = recipe.scale(choice.spectrum.radius)
    spectrum = choice.spectrum.times(factor)
    if spectrum.pairs.size < choice.spectrum.pairs.size:  # pairs that underflow, as for sr=0
        return as_transition(checks.as_square(source) * factor), None, spectrum
    return choice.transition.times(factor), choice.basis, spectrum


def _eigenbasis(W: Array) -> Choice:
    """Return the diagonal form of W, even if its eigenbasis is ill-conditioned."""
    spectrum, basis = eigendecomposition(W)
    return Choice(Diagonal(spectrum), basis, spectrum)


def _as_weights(value: Any, name: str) -> Array | str | None:
    """Return the parameter W_in or W_fb, if it is an array as finite numbers (D, N)."""
    expected = "an array (D_out, N) or None"
    if name == "W_in":
        expected = f"an array (D_in, N), {ONES!r} or None"
    if value is None or (name == "W_in" and isinstance(value, str) and value == ONES):
        return value
    A = checks.as_array(value, name, expected)
    if A.ndim != 2 or A.dtype.kind not in "fiub":
        raise bad_argument(name, value, expected)
    checks.check_finite(A, name)
    return A.astype(np.float64)


def _given_weights(
    recipe: Recipe, name: str, rows: int, transition: Transition, basis: Basis | None
) -> Array | None:
    """Return the W_in or W_fb that the recipe contains, in the working basis, or None."""
    weights = getattr(recipe, name)
    if weights is None:
        return None
    if isinstance(weights, str):
        if not isinstance(transition, Diagonal):
            expected = "an array or None, because this reservoir does not run as modes"
            raise bad_argument(name, weights, expected, "Use a named spectrum and basis='eigen'.")
        if rows > 1:
            expected = "an array or None, because several inputs would only be added"
            raise bad_argument(name, weights, expected)
        modes = transition.modes
        return interleave(np.ones((rows, modes.real.size)), np.ones((rows, modes.pairs.size)) + 0j)
    if name == "W_fb" and not rows:
        raise bad_argument(name, Words("an array"), "None without feedback", "Set feedback=True.")
    what = "input" if name == "W_in" else "output"
    like = f", one row for each {what} and one column for each unit"
    checks.check_shape(weights, name, (rows, transition.units), like)
    return weights if basis is None else basis.states_to_eigen(weights)


def _uniform(
    rng: np.random.Generator,
    rows: int,
    connectivity: float,
    transition: Transition,
    basis: Basis | None,
) -> Array:
    """Draw weights (rows, N) from U[−1, 1] in the neuron basis, for use in the working basis."""
    if isinstance(transition, Diagonal) and basis is None:
        return _projected_uniform(rng, rows, connectivity, transition.modes)
    W = rng.uniform(-1, 1, (rows, transition.units))
    if connectivity < 1:
        W[rng.random(W.shape) >= connectivity] = 0.0
    return W if basis is None else basis.states_to_eigen(W)


def _projected_uniform(
    rng: np.random.Generator, rows: int, connectivity: float, modes: Spectrum
) -> Array:
    """Draw rows with the distribution of uniform rows in [−1, 1] times random eigenvectors.

    Each entry is a long sum and thus nearly Gaussian. Its variance is 1/3 for a real mode, and 1/6
    for the real and imaginary parts of a pair, times the share of connections that are kept.
    """
    real = rng.normal(0, np.sqrt(connectivity / 3), (rows, modes.real.size))
    parts = rng.normal(0, np.sqrt(connectivity / 6), (2, rows, modes.pairs.size))
    return interleave(real, parts[0] + 1j * parts[1])
