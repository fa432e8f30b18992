"""A fitted forecaster in a file: rows, measures, members and errors, which fit each other."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from eigenecho.checks import check_count, check_flag, is_finite_number
from eigenecho.errors import Shown, bad_argument
from eigenecho.forecasting.bands import Bands
from eigenecho.forecasting.choice import Wanted
from eigenecho.forecasting.effect import KnownColumns
from eigenecho.forecasting.effect_files import pack_effects, unpack_effects
from eigenecho.forecasting.fitted import Fitted
from eigenecho.forecasting.member_files import (
    LARGEST_SEASON,
    Sizes,
    pack_members,
    pack_spectrum,
    unpack_members,
    unpack_spectrum,
)
from eigenecho.forecasting.signals import Measures
from eigenecho.panels.panel import Panel
from eigenecho.panels.panel_files import pack_panel, take_floats, unpack_panel
from eigenecho.storage import Tensors, Values, fields

CHOICES = (
    "horizon", "seasons", "periods", "strategy", "sharing", "validation", "spectrum", "level",
)  # fmt: skip
"""What may be wanted; a spectrum is said to be there or not."""


def pack_fitted(fitted: Fitted) -> tuple[Tensors, Values]:
    """Its arrays and plain values."""
    tensors, values = pack_panel(fitted.panel)
    for more, plain in (
        pack_members(fitted.ensemble),
        _pack_wanted(fitted.wanted),
        _pack_measures(fitted),
        pack_effects(fitted.effects),
        _pack_bands(fitted.bands),
    ):
        tensors |= more
        values |= plain
    return tensors, values | {
        "pull": fitted.pull,
        "tried": fitted.tried,
        "refit": bool(fitted.refit),
    }


def unpack_fitted(tensors: Tensors, values: Values) -> Fitted:
    """Take what ``pack_fitted`` took apart out of a file's arrays and values."""
    panel = unpack_panel(tensors, values)
    wanted = _unpack_wanted(tensors, values)
    measures = _unpack_measures(tensors, values, panel)
    pull, refit = values.pop("pull"), values.pop("refit")
    if pull is not None and (not is_finite_number(pull) or pull <= 0):
        raise bad_argument("pull", pull, "None, or a finite number > 0")
    check_flag(refit, "refit")
    rows = max(len(history) for history in panel.histories)
    beside = len(panel.past_names) + (len(panel) - 1) * measures.multivariate
    effects = unpack_effects(tensors, values, wanted.periods, len(panel.known_names), rows)
    sizes = Sizes(len(panel), wanted.horizon, beside, rows, measures.multivariate)
    ensemble = unpack_members(tensors, values, sizes, effects, pull is not None)
    bands = _unpack_bands(tensors, values, wanted.horizon, len(panel))
    tried = check_count(values.pop("tried"), "tried", "a number of candidates")
    return Fitted(panel, wanted, measures, effects, ensemble, pull, bands, tried, refit)


def _pack_wanted(wanted: Wanted) -> tuple[Tensors, Values]:
    plain: Values = {name: getattr(wanted, name) for name in CHOICES}
    plain |= {"seasons": list(wanted.seasons), "periods": list(wanted.periods)}
    plain["spectrum"] = wanted.spectrum is not None
    if wanted.level is not None:
        plain["level"] = float(wanted.level)
    if wanted.validation is not None:
        plain["validation"] = int(wanted.validation)
    given = wanted.spectrum
    return {} if given is None else pack_spectrum("wanted.spectrum", given), {"wanted": plain}


def _unpack_wanted(tensors: Tensors, values: Values) -> Wanted:
    said = dict(zip(CHOICES, fields(values, "wanted", *CHOICES), strict=True))
    if not isinstance(said["seasons"], list):
        raise bad_argument("seasons", said["seasons"], "a list of periods")
    said["seasons"] = tuple(check_count(s, "seasons", "periods", 1) for s in said["seasons"])
    periods = said["periods"]
    if not isinstance(periods, list) or not all(map(_is_period, periods)):
        raise bad_argument("periods", periods, "numbers of rows, above 1")
    said["periods"] = tuple(map(float, periods))
    check_flag(said["spectrum"], "spectrum")
    said["spectrum"] = unpack_spectrum("wanted.spectrum", tensors) if said["spectrum"] else None
    return Wanted(**said)


def _pack_measures(fitted: Fitted) -> tuple[Tensors, Values]:
    measures = fitted.measures
    tensors = {
        "units": np.array([measures.units[one.name] for one in fitted.panel.histories]),
        "past_steps": measures.past,
    }
    if measures.known is not None:
        tensors |= {"known.mean": measures.known.mean, "known.scale": measures.known.scale}
    plain = {"season": measures.season, "multivariate": bool(measures.multivariate)}
    return tensors, {"measures": plain}


def _unpack_measures(tensors: Tensors, values: Values, panel: Panel) -> Measures:
    season, multivariate = fields(values, "measures", "season", "multivariate")
    check_count(season, "season", "a number of rows", 1)
    check_flag(multivariate, "multivariate")
    if multivariate and not (panel.container.shared and len(panel) > 1):
        raise bad_argument("multivariate", True, "several series that share their rows")
    units = take_floats(tensors, "units", len(panel))
    if (units < 0).any():
        raise bad_argument("units", Shown("numbers below 0"), "usual steps")
    names = [history.name for history in panel.histories]
    known, width = None, len(panel.known_names)
    if width:
        mean = take_floats(tensors, "known.mean", width)
        known = KnownColumns(mean, _take_sizes(tensors, "known.scale", width))
    past = _take_sizes(tensors, "past_steps", len(panel.past_names))
    units_by_name = dict(zip(names, units.tolist(), strict=True))
    return Measures(season, units_by_name, known, past, multivariate)


def _pack_bands(bands: Bands | None) -> tuple[Tensors, Values]:
    if bands is None:
        return {}, {"bands": None}
    tensors = {"bands.growth": bands.growth, "bands.ratios": bands.ratios}
    tensors["bands.means"] = bands.means
    if bands.sizes.size:
        tensors |= {"bands.sizes": bands.sizes, "bands.scaled": bands.scaled}
    return tensors, {"bands": {"relative": bool(bands.relative), "blocks": float(bands.blocks)}}


def _unpack_bands(tensors: Tensors, values: Values, horizon: int, series: int) -> Bands | None:
    if values["bands"] is None:
        return values.pop("bands")
    relative, blocks = fields(values, "bands", "relative", "blocks")
    check_flag(relative, "relative")
    if not is_finite_number(blocks) or blocks <= 0:
        raise bad_argument("blocks", blocks, "a number above 0")
    means = take_floats(tensors, "bands.means", series)
    if (means < 0).any():
        raise bad_argument("bands.means", Shown("numbers below 0"), "means of absolute errors")
    growth = _take_sizes(tensors, "bands.growth", horizon)
    bands = Bands(growth, _take_ordered(tensors, "bands.ratios"), relative, float(blocks), means)
    if "bands.sizes" not in tensors:  # of series that are alike, and of former files
        return bands
    sizes = take_floats(tensors, "bands.sizes", series, missing=True)
    if (sizes <= 0).any():
        raise bad_argument("bands.sizes", Shown("numbers of 0 or less"), "numbers above 0, or NaN")
    return replace(bands, sizes=sizes, scaled=_take_ordered(tensors, "bands.scaled"))


def _take_ordered(tensors: Tensors, name: str) -> Any:
    """Take sizes of errors in ascending order out of a file's arrays."""
    sizes = take_floats(tensors, name, None)
    if not len(sizes) or sizes[0] < 0 or (np.diff(sizes) < 0).any():
        raise bad_argument(name, Shown(f"{len(sizes)} numbers"), "sizes, in order")
    return sizes


def _is_period(value: Any) -> bool:
    return is_finite_number(value) and 1 < value < LARGEST_SEASON


def _take_sizes(tensors: Tensors, name: str, count: int) -> Any:
    """Take so many numbers above 0 out of a file's arrays."""
    sizes = take_floats(tensors, name, count)
    if not (sizes > 0).all():
        raise bad_argument(name, Shown("numbers of 0 or less"), "numbers above 0")
    return sizes
