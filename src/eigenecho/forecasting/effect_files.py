"""Effects of columns and of the calendar, in files."""

from __future__ import annotations

from collections.abc import Sequence

from eigenecho.errors import bad_argument
from eigenecho.forecasting.effect import FADES, Effects, Learnt
from eigenecho.forecasting.member_files import pack_spectrum, unpack_filter, unpack_moved
from eigenecho.forecasting.signal import Moved
from eigenecho.panels.panel_files import take_floats
from eigenecho.storage import Tensors, Values, fields


def pack_effects(effects: Effects) -> tuple[Tensors, Values]:
    """Arrays ``effect.…``, by the digits of what is moved, and plain values."""
    tensors = pack_spectrum("effect.modes", effects.filter.spectrum)
    names = []
    for moved, learnt in effects.learnt.items():
        name = "".join("01"[one] for one in moved)
        names.append(name)
        tensors |= {f"effect.{name}.foresight": learnt.foresight}
        tensors |= {f"effect.{name}.columns": learnt.columns}
    return tensors, {"effects": {"memory": effects.filter.memory, "moved": names}}


def unpack_effects(
    tensors: Tensors, values: Values, periods: Sequence[float], known: int, rows: int
) -> Effects:
    """What ``pack_effects`` took apart, for ``known`` columns and series of so many rows."""
    memory, names = fields(values, "effects", "memory", "moved")
    filter = unpack_filter(tensors, "effect.modes", memory, rows)
    if not isinstance(names, list) or len(names) > 2 ** len(Moved._fields):
        raise bad_argument("moved", names, "a list of what is moved")
    learnt = {}
    for name in names:
        moved = unpack_moved(name)
        if moved in learnt or (moved.known and not known) or (moved.calendar and not periods):
            raise bad_argument("moved", name, "what there is, once")
        foresight = take_floats(tensors, f"effect.{name}.foresight", filter.size - 1)
        columns = take_floats(
            tensors, f"effect.{name}.columns", known * len(FADES) if moved.known else 0
        )
        learnt[moved] = Learnt(foresight, columns)
    return Effects(filter, tuple(periods), learnt)
