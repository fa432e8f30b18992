"""Conversion of DataFrames of other libraries to pandas and back, with narwhals."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from eigenecho.errors import Words, bad_argument, missing_package

TABLE_ATTRIBUTES = ("columns", "schema", "iloc", "__dataframe__")
"""Attributes by which tables of any library are distinguished from arrays."""
LIBRARIES = ("polars", "pyarrow", "modin", "cudf")
INTEGERS = tuple(f"{sign}Int{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64))
RESTORED_TYPES = (*INTEGERS, "Float32", "Boolean", "Date", "Categorical", "Enum")
"""Narwhals types of ids and times that pandas does not keep, and that are restored in results."""


def import_pandas(feature: str = "Reading DataFrames") -> Any:
    """Import pandas, or raise an ImportError that explains which feature requires it."""
    try:
        import pandas
    except ImportError as error:
        raise missing_package(feature, "pandas", "cli") from error
    return pandas


@dataclass(frozen=True)
class FrameFormat:
    """The library of a non-pandas frame, and the types of its ids and times.

    Attributes
    ----------
    library : str
        The name of the library in narwhals, such as "polars" or "pyarrow".
    id_type, time_type : str or None
        One of ``RESTORED_TYPES``, or None for types that pandas keeps.
    zone : str or None
        The time zone of the times.
    categories : tuple of str
        The categories of ids of type "Enum".
    """

    library: Annotated[str, LIBRARIES]
    id_type: Annotated[str, RESTORED_TYPES] | None
    time_type: Annotated[str, RESTORED_TYPES] | None
    zone: str | None
    categories: tuple[str, ...] = ()

    @classmethod
    def of(cls, frame: Any, id: Hashable, time: Hashable) -> FrameFormat | None:
        """Return the format of a narwhals frame, given its columns of ids and times.

        If ``frame`` is None, which stands for pandas, the result is None.
        """
        if frame is None:
            return None
        types = [frame.schema.get(label) for label in (id, time)]
        names = [type(dtype).__name__ for dtype in types]
        id_type, time_type = (name if name in RESTORED_TYPES else None for name in names)
        if time_type in ("Categorical", "Enum"):  # times are dates, whatever their encoding
            time_type = None
        categories = tuple(getattr(types[0], "categories", ()))
        zone = getattr(types[1], "time_zone", None)
        return cls(frame.implementation.value, id_type, time_type, zone, categories)

    def check(self) -> None:
        """Raise an error if a file contains an unknown library, type or time zone."""
        if self.zone is not None:
            import_pandas().Timestamp(0, tz=self.zone)

    def write(self, frame: Any, id: Hashable, times: Sequence[Hashable]) -> Any:
        """Convert a pandas frame to this library.

        A named index becomes the first column, and the levels of column names are joined by "_".
        ``id`` and ``times`` are the columns of ids and times, whose types are restored.
        """
        import narwhals as nw

        backend: Any = self.library
        if frame.index.name is not None:
            frame = frame.reset_index()
        labels = [label if isinstance(label, tuple) else (label,) for label in frame.columns]
        names = ["_".join(filter(None, label)) for label in labels]
        if len(set(names)) < len(names):
            raise ValueError(f"The columns of the result are not unique: {names}. Rename a series.")
        columns = {}
        for i, name in enumerate(names):
            column, dtype = frame.iloc[:, i], self.id_type if name == id else None
            zone = getattr(column.dtype, "tz", None)
            if zone is not None:
                column = column.dt.tz_convert("UTC").dt.tz_localize(None)
            if name in times:
                dtype, zone = self.time_type, self.zone
            values = column.to_numpy() if column.dtype.kind in "fiubM" else column.tolist()
            series = nw.new_series(name, values, backend=backend)
            if zone is not None:
                series = series.dt.replace_time_zone("UTC").dt.convert_time_zone(str(zone))
            if dtype == "Enum":
                series = series.cast(nw.Enum(self.categories))
            elif dtype is not None and _fits(column, dtype):
                series = series.cast(getattr(nw, dtype))
            columns[name] = series.to_native()
        return nw.from_dict(columns, backend=backend).to_native()


def _fits(column: Any, dtype: str) -> bool:
    """Return True if the values of a column can be converted to a type of ``RESTORED_TYPES``."""
    if dtype in INTEGERS:
        limits = np.iinfo(dtype.lower())
        return bool(limits.min <= column.min() and column.max() <= limits.max)
    return dtype != "Categorical" or isinstance(column.iloc[0], str)


def is_table(value: Any) -> bool:
    """Return True if a value is a table of a library other than pandas."""
    libraries = {base.__module__.partition(".")[0] for base in type(value).__mro__}
    has_attribute = any(hasattr(type(value), attribute) for attribute in TABLE_ATTRIBUTES)
    return has_attribute and "pandas" not in libraries


def to_pandas(value: Any, name: str) -> tuple[Any, Any]:
    """Return a table of a library other than pandas as a pandas frame and as a narwhals frame.

    For all other values, return the value unchanged and None.
    """
    frame = to_narwhals(value, name)
    if frame is None:
        return value, None
    pandas = import_pandas()
    columns = {label: _to_pandas(frame[label], name) for label in frame.columns}
    return pandas.DataFrame(columns, copy=False), frame


def to_narwhals(value: Any, name: str) -> Any:
    """Convert a table of a library other than pandas to narwhals; return None for other values."""
    if not is_table(value):
        return None
    import narwhals as nw

    frame = nw.from_native(value, pass_through=True)
    got = Words(f"{type(value).__module__.partition('.')[0]}.{type(value).__name__}")
    if isinstance(frame, nw.LazyFrame):
        raise bad_argument(name, got, "a DataFrame that contains data", "Call collect() first.")
    if not isinstance(frame, nw.DataFrame):
        expected = "an array, a pandas or polars DataFrame, or a PyArrow Table"
        raise bad_argument(name, got, expected)
    return frame


def _to_pandas(column: Any, name: str) -> Any:
    """Convert a narwhals column to an array or a pandas Series or Categorical."""
    import narwhals as nw

    pandas, dtype = import_pandas(), column.dtype
    if dtype.is_temporal() and not isinstance(dtype, (nw.Duration, nw.Time)):
        zone = getattr(dtype, "time_zone", None)
        if zone is not None:
            column = column.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        if isinstance(dtype, nw.Date):
            column = column.cast(nw.Datetime("us"))
        times = pandas.Series(column.to_numpy())
        return times if zone is None else times.dt.tz_localize("UTC").dt.tz_convert(zone)
    is_integer = type(dtype).__name__ in INTEGERS
    if (is_integer or isinstance(dtype, nw.Boolean)) and not column.null_count():
        return column.to_numpy()
    if is_integer or dtype.is_float():
        return column.cast(nw.Float64).to_numpy()
    if isinstance(dtype, (nw.Categorical, nw.Enum)):
        return pandas.Categorical(column.to_list(), getattr(dtype, "categories", None))
    if isinstance(dtype, nw.String):
        return pandas.Series(column.to_list(), dtype=None if len(column) else object)
    # Decimals and 128-bit integers may be ids, so they are kept as exact objects.

    if isinstance(dtype, nw.Boolean) or dtype.is_numeric() or column.null_count() == len(column):
        return pandas.Series(column.to_list(), dtype=object)
    got = Words(f"column {column.name!r} of type {dtype}")
    raise bad_argument(name, got, "numbers, dates or text")
