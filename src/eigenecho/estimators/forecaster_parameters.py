"""Parameters of a forecaster, in a file and out of it."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from eigenecho.checks import check_flag, generator
from eigenecho.errors import bad_argument, warn
from eigenecho.forecasting.member_files import pack_spectrum, unpack_spectrum
from eigenecho.panels.labels import packed, unpacked
from eigenecho.storage import Tensors, Values

LABELS = ("id", "time", "target")
FLAGS = ("multivariate", "refit", "progress")
ONE, SEVERAL = "one", {"list": list, "tuple": tuple}
"""How columns are named in ``past``, the first word of what a file says of them."""


def pack_parameters(params: Values) -> tuple[Tensors, Values]:
    """Of ``get_params``; each equal to what it was when it comes back."""
    plain, given = dict(params), params["spectrum"]
    plain["spectrum"] = given is not None
    plain |= {name: packed(params[name]) for name in LABELS}
    plain |= {name: bool(params[name]) for name in FLAGS}
    plain["past"] = _pack_past(params["past"])
    if params["seasons"] is not None:
        plain["seasons"] = np.asarray(params["seasons"]).tolist()
    for name in ("horizon", "validation", "seed"):
        if isinstance(params[name], Integral):
            plain[name] = int(params[name])
    if params["level"] is not None:
        plain["level"] = float(params["level"])
    if isinstance(params["seed"], np.random.Generator):
        warn("seed: a file keeps no Generator. None is written, which changes no answer.",
             UserWarning)  # fmt: skip
        plain["seed"] = None
    tensors = {} if given is None else pack_spectrum("param.spectrum", given)
    return tensors, {"params": plain}


def unpack_parameters(tensors: Tensors, values: Values, wanted: set[str]) -> Values:
    """The parameters of those names that ``pack_parameters`` took apart; all else is up to them."""
    params = values.pop("params")
    if not isinstance(params, dict) or params.keys() != wanted:
        raise bad_argument("params", params, f"the parameters {', '.join(sorted(wanted))}")
    for name in (*FLAGS, "spectrum"):
        check_flag(params[name], name)
    found = {**params, **{name: unpacked(params[name]) for name in LABELS}}
    given = unpack_spectrum("param.spectrum", tensors) if params["spectrum"] else None
    generator(params["seed"])
    if isinstance(params["seasons"], list) and any(isinstance(s, list) for s in params["seasons"]):
        raise bad_argument("seasons", params["seasons"], "a list of periods")
    return found | {"spectrum": given, "past": _unpack_past(params["past"])}


def _pack_past(past: Any) -> list[str]:
    """Names of columns as text, and whether they were a list, a tuple or one alone."""
    if past is None or isinstance(past, (str, Integral)):
        return [ONE, packed(past)]
    labels = past.tolist() if isinstance(past, np.ndarray) else past
    return ["tuple" if isinstance(past, tuple) else "list", *map(packed, labels)]


def _unpack_past(words: Any) -> Any:
    if not isinstance(words, list) or not words or words[0] not in (ONE, *SEVERAL):
        raise bad_argument("past", words, "names of columns")
    labels = [unpacked(word) for word in words[1:]]
    if words[0] != ONE:
        return SEVERAL[words[0]](labels)
    if len(labels) != 1:
        raise bad_argument("past", words, "one name")
    return labels[0]
