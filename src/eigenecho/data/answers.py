"""Answers as pandas holds them: a Series, a wide frame, or a long one."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from eigenecho.data.sheets import LongNames
from eigenecho.types import Array

Answers = Mapping[str, Sequence[Array]]
"""Columns by name, forecast, lower, …: an array for each series."""


def as_index(times: Any, step: int | None, name: Hashable) -> Any:
    """Times as the index of an answer; a RangeIndex where it has a ``step``."""
    import pandas

    if not isinstance(times, np.ndarray):
        return times.rename(name)
    if step is not None:
        first = int(times[0])
        return pandas.RangeIndex(first, first + len(times) * step, step, name=name)
    return pandas.Index(times, name=name)


def series_answer(answers: Answers, index: Any, label: Hashable) -> Any:
    """A Series for one answer, a frame for several."""
    import pandas

    if list(answers) == ["forecast"]:
        return pandas.Series(answers["forecast"][0], index=index, name=label)
    return pandas.DataFrame({name: parts[0] for name, parts in answers.items()}, index=index)


def wide_answer(answers: Answers, index: Any, labels: Any) -> Any:
    """Columns as in the frame; with several answers each has them below, on a level more."""
    import pandas

    if list(answers) == ["forecast"]:
        return pandas.DataFrame(np.stack(answers["forecast"], 1), index=index, columns=labels)
    paths = [
        (*(label if isinstance(label, tuple) else (label,)), name)
        for label in labels
        for name in answers
    ]
    columns = pandas.MultiIndex.from_tuples(paths, names=[*labels.names, None])
    values = [answers[name][i] for i in range(len(labels)) for name in answers]
    return pandas.DataFrame(np.stack(values, 1), index=index, columns=columns)


def long_answer(answers: Answers, times: Sequence[Any], labels: Any, names: LongNames) -> Any:
    """A row for each series and time: id, time, and a column for each answer."""
    import pandas

    counts = [len(one) for one in times]
    columns: dict[Hashable, Any] = {names.id: labels.repeat(counts), names.time: joined(times)}
    for name, parts in answers.items():
        columns[name] = np.concatenate(list(parts))
    return pandas.DataFrame(columns)


def rolling_answer(
    cutoffs: Sequence[Any], times: Sequence[Any], values: Sequence[Array], labels: Any,
    names: LongNames,
) -> Any:  # fmt: skip
    """A row for each series, cutoff and time; ``values`` are (O, H) for each series."""
    import pandas

    counts = [part.size for part in values]
    repeated = [cutoff.repeat(part.shape[1]) for cutoff, part in zip(cutoffs, values, strict=True)]
    return pandas.DataFrame(
        {
            names.id: labels.repeat(counts),
            "cutoff": joined(repeated),
            names.time: joined(times),
            "forecast": np.concatenate([part.ravel() for part in values]),
        }
    )


def joined(times: Sequence[Any]) -> Any:
    """Times after each other."""
    if isinstance(times[0], np.ndarray):
        return np.concatenate(times)
    return times[0].append(list(times[1:]))
