"""Members in files: each a candidate and its weights, plain values of all in one list a name."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from eigenecho.checks import check_count, check_flag, is_finite_number
from eigenecho.errors import Shown, bad_argument, unknown_name
from eigenecho.forecasting.base import KINDS as BASES
from eigenecho.forecasting.base import Base
from eigenecho.forecasting.candidates import KINDS, Candidate
from eigenecho.forecasting.effect import FADES
from eigenecho.forecasting.ensemble import Ensemble, Member
from eigenecho.forecasting.filter import Filter, check_growth
from eigenecho.forecasting.panel_files import take_floats
from eigenecho.forecasting.view import View
from eigenecho.spectra import Spectrum
from eigenecho.storage import Tensors, Values, fields, named
from eigenecho.transition import Diagonal
from eigenecho.transition import unpack as unpack_transition
from eigenecho.types import Array

PLAIN = (
    "spectrum", "memory", "logarithm", "base", "base_season", "kind", "ridge", "side_memory",
)  # fmt: skip
"""What is said of each member, beside arrays."""

LARGEST_SEASON = 2**31
MOST_MEMBERS = 1000


class Sizes(NamedTuple):
    """What members have to fit: series, steps ahead, columns known ahead and beside, rows."""

    series: int
    horizon: int
    known: int
    beside: int
    rows: int


def pack_members(ensemble: Ensemble) -> tuple[Tensors, Values]:
    """Arrays ``member.i.…`` and lists of plain values."""
    tensors: Tensors = {}
    plain: dict[str, list[Any]] = {name: [] for name in PLAIN}
    for number, member in enumerate(ensemble.members):
        candidate, view = member.candidate, member.candidate.view
        said = (
            view.name, view.filter.memory, view.logarithm, candidate.base.kind,
            candidate.base.season, candidate.kind, candidate.ridge,
            None if view.side is None else view.side.memory,
        )  # fmt: skip
        for name, value in zip(PLAIN, said, strict=True):
            plain[name].append(value)
        arrays = {"weights": member.weights, **pack_spectrum("modes", view.filter.spectrum)}
        if member.own:
            arrays["own"] = np.stack(member.own)
        if view.effect is not None:
            arrays["effect"] = view.effect
        if view.side is not None:
            arrays |= pack_spectrum("side", view.side.spectrum)
        tensors |= named(f"member.{number}", arrays)
    return tensors, {"members": plain}


def unpack_members(tensors: Tensors, values: Values, sizes: Sizes, has_own: bool) -> Ensemble:
    """What ``pack_members`` took apart, if all of it fits."""
    lists = fields(values, "members", *PLAIN)
    if not all(isinstance(one, list) and len(one) == len(lists[0]) for one in lists):
        raise bad_argument("members", Shown("lists of different lengths"), "one value a member")
    if not 1 <= len(lists[0]) <= MOST_MEMBERS:
        raise bad_argument("members", len(lists[0]), f"1 to {MOST_MEMBERS} members")
    said = [dict(zip(PLAIN, one, strict=True)) for one in zip(*lists, strict=True)]
    return Ensemble(
        tuple(_member(tensors, f"member.{i}", one, sizes, has_own) for i, one in enumerate(said))
    )


def pack_spectrum(name: str, spectrum: Spectrum) -> Tensors:
    """Eigenvalues as arrays of a file."""
    return named(name, Diagonal(spectrum).pack())


def unpack_spectrum(name: str, tensors: Tensors) -> Spectrum:
    """Take eigenvalues out of a file's arrays."""
    found = unpack_transition(name, tensors) if f"{name}.real" in tensors else None
    if not isinstance(found, Diagonal):
        raise bad_argument(name, found, "eigenvalues")
    return found.modes


def _member(tensors: Tensors, name: str, said: Values, sizes: Sizes, has_own: bool) -> Member:
    view = _view(tensors, name, said, sizes)
    rows = view.filter.size + (0 if view.side is None else sizes.beside * view.side.spectrum.units)
    weights = take_floats(tensors, f"{name}.weights", rows, sizes.horizon)
    own: tuple[Array, ...] = ()
    if has_own:
        own = tuple(take_floats(tensors, f"{name}.own", sizes.series, *weights.shape))
    return Member(_candidate(view, said), weights, own)


def _view(tensors: Tensors, name: str, said: Values, sizes: Sizes) -> View:
    if not isinstance(said["spectrum"], str):
        raise bad_argument("spectrum", said["spectrum"], "a name")
    check_flag(said["logarithm"], "logarithm")
    filter = _filter(tensors, f"{name}.modes", said["memory"], sizes)
    effect = side = None
    if f"{name}.effect" in tensors:
        if not sizes.known:
            raise bad_argument("effect", Shown("weights"), "none without columns known ahead")
        effect = take_floats(tensors, f"{name}.effect", sizes.known * len(FADES))
    if said["side_memory"] is not None:
        if not sizes.beside:
            raise bad_argument("side", said["side_memory"], "none without columns beside a series")
        side = _filter(tensors, f"{name}.side", said["side_memory"], sizes)
    return View(said["spectrum"], filter, said["logarithm"], effect, side)


def _filter(tensors: Tensors, name: str, memory: Any, sizes: Sizes) -> Filter:
    if not is_finite_number(memory) or memory < 0:
        raise bad_argument("memory", memory, "a number of rows ≥ 0")
    spectrum = unpack_spectrum(name, tensors)
    check_growth(spectrum, sizes.rows, name)
    return Filter(float(memory), spectrum)


def _candidate(view: View, said: Values) -> Candidate:
    if said["base"] not in BASES:
        raise unknown_name("base", said["base"], BASES)
    season = check_count(said["base_season"], "base_season", "a number of rows", 1)
    if season >= LARGEST_SEASON:
        raise bad_argument("base_season", season, f"fewer than {LARGEST_SEASON} rows")
    kind, ridge = said["kind"], said["ridge"]
    if kind not in KINDS:
        raise unknown_name("kind", kind, KINDS)
    if kind != "direct" and ridge is not None:
        raise bad_argument("ridge", ridge, f"None for a {kind} readout")
    if kind == "direct" and (not is_finite_number(ridge) or ridge <= 0):
        raise bad_argument("ridge", ridge, "a finite number > 0")
    return Candidate(view, Base(said["base"], season), kind, ridge)
