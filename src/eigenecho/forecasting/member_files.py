"""Members in files: each a candidate and its weights, plain values of all in one list a name."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from eigenecho.checks import check_count, is_finite_number
from eigenecho.errors import Shown, bad_argument, unknown_name
from eigenecho.forecasting.base import KINDS as BASES
from eigenecho.forecasting.base import Base
from eigenecho.forecasting.candidates import KINDS, Candidate
from eigenecho.forecasting.effect import Effects
from eigenecho.forecasting.ensemble import Ensemble, Member
from eigenecho.forecasting.filter import Filter, check_growth
from eigenecho.forecasting.signal import Moved
from eigenecho.forecasting.view import View
from eigenecho.panels.panel_files import take_floats
from eigenecho.spectra import Spectrum
from eigenecho.storage import Tensors, Values, fields, named
from eigenecho.transition import Diagonal
from eigenecho.transition import unpack as unpack_transition
from eigenecho.types import Array

PLAIN = (
    "spectrum", "memory", "moved", "base", "base_season", "kind", "ridge", "side_memory",
)  # fmt: skip
"""What is said of each member, beside arrays."""

LARGEST_SEASON = 2**31
MOST_MEMBERS = 1000


class Sizes(NamedTuple):
    """What members have to fit: series, steps ahead, columns beside a series, rows.

    ``multivariate`` says that some of the columns beside a series are the other series.
    """

    series: int
    horizon: int
    beside: int
    rows: int
    multivariate: bool


def pack_members(ensemble: Ensemble) -> tuple[Tensors, Values]:
    """Arrays ``member.i.…`` and lists of plain values."""
    tensors: Tensors = {}
    plain: dict[str, list[Any]] = {name: [] for name in PLAIN}
    for number, member in enumerate(ensemble.members):
        candidate, view = member.candidate, member.candidate.view
        said = (
            view.name, view.filter.memory, "".join("01"[one] for one in view.moved),
            candidate.base.kind,
            candidate.base.season, candidate.kind, candidate.ridge,
            None if view.side is None else view.side.memory,
        )  # fmt: skip
        for name, value in zip(PLAIN, said, strict=True):
            plain[name].append(value)
        arrays = {"weights": member.weights, **pack_spectrum("modes", view.filter.spectrum)}
        if member.own:
            arrays["own"] = np.stack(member.own)
        if view.side is not None:
            arrays |= pack_spectrum("side", view.side.spectrum)
        tensors |= named(f"member.{number}", arrays)
    return tensors, {"members": plain}


def unpack_members(
    tensors: Tensors, values: Values, sizes: Sizes, effects: Effects, has_own: bool
) -> Ensemble:
    """What ``pack_members`` took apart, if all of it fits."""
    lists = fields(values, "members", *PLAIN)
    if not all(isinstance(one, list) and len(one) == len(lists[0]) for one in lists):
        raise bad_argument("members", Shown("lists of different lengths"), "one value a member")
    if not 1 <= len(lists[0]) <= MOST_MEMBERS:
        raise bad_argument("members", len(lists[0]), f"1 to {MOST_MEMBERS} members")
    said = [dict(zip(PLAIN, one, strict=True)) for one in zip(*lists, strict=True)]
    views: dict[tuple[Any, ...], View] = {}
    members = []
    for number, one in enumerate(said):
        name = f"member.{number}"
        view = _view(tensors, name, one, sizes)
        view = views.setdefault(_contents(view), view)  # members that had one share it again
        members.append(_member(tensors, name, view, one, sizes, has_own))
    for view in views.values():
        if view.is_moved and view.moved not in effects.learnt:
            raise bad_argument("moved", tuple(view.moved), "something whose effect is known")
    return Ensemble(tuple(members))


def pack_spectrum(name: str, spectrum: Spectrum) -> Tensors:
    """Eigenvalues as arrays of a file."""
    return named(name, Diagonal(spectrum).pack())


def unpack_spectrum(name: str, tensors: Tensors) -> Spectrum:
    """Take eigenvalues out of a file's arrays."""
    found = unpack_transition(name, tensors) if f"{name}.real" in tensors else None
    if not isinstance(found, Diagonal):
        raise bad_argument(name, found, "eigenvalues")
    return found.modes


def _contents(view: View) -> tuple[Any, ...]:
    filters = (view.filter,) if view.side is None else (view.filter, view.side)
    found = [(f.memory, f.spectrum.real.tobytes(), f.spectrum.pairs.tobytes()) for f in filters]
    return view.name, view.moved, *found


def _member(
    tensors: Tensors, name: str, view: View, said: Values, sizes: Sizes, has_own: bool
) -> Member:
    rows = view.filter.size + (0 if view.side is None else sizes.beside * view.side.spectrum.units)
    weights = take_floats(tensors, f"{name}.weights", rows, sizes.horizon)
    own: tuple[Array, ...] = ()
    if has_own or view.alone:
        own = tuple(take_floats(tensors, f"{name}.own", sizes.series, *weights.shape))
    return Member(_candidate(view, said), weights, own)


def _view(tensors: Tensors, name: str, said: Values, sizes: Sizes) -> View:
    if not isinstance(said["spectrum"], str):
        raise bad_argument("spectrum", said["spectrum"], "a name")
    filter = unpack_filter(tensors, f"{name}.modes", said["memory"], sizes.rows)
    side = None
    if said["side_memory"] is not None:
        if not sizes.beside:
            raise bad_argument("side", said["side_memory"], "none without columns beside a series")
        side = unpack_filter(tensors, f"{name}.side", said["side_memory"], sizes.rows)
    alone = sizes.multivariate and side is not None
    return View(said["spectrum"], filter, unpack_moved(said["moved"]), side, alone)


def unpack_moved(flags: Any) -> Moved:
    """What is taken off a series, from three digits."""
    if not isinstance(flags, str) or len(flags) != len(Moved._fields) or set(flags) - set("01"):
        raise bad_argument("moved", flags, "three digits, 0 or 1")
    return Moved(*(flag == "1" for flag in flags))


def unpack_filter(tensors: Tensors, name: str, memory: Any, rows: int) -> Filter:
    """Take a filter that can run over so many rows out of a file's arrays."""
    if not is_finite_number(memory) or memory < 0:
        raise bad_argument("memory", memory, "a number of rows ≥ 0")
    spectrum = unpack_spectrum(name, tensors)
    check_growth(spectrum, rows, name)
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
