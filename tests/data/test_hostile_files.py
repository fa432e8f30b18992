"""Hostile CSV files: each is read correctly, or refused with a message that helps."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field

import numpy as np
import pytest

pytest.importorskip("pandas")

import pandas as pd

from eigenecho.data.read_table import read_table

FILES = 300
ROWS = 40
CODES = "utf-8", "utf-8-sig", "utf-16", "cp1252", "latin-1", "utf-16-le"
SEPARATORS = ",", ";", "\t", "|"
DATES = (
    "%Y-%m-%d", "%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d",
    "%d.%m.%y", "%m/%d/%y", "%y-%m-%d", "%d %b %Y", "%b %d, %Y", "%Y%m%d", "%Y-%m-%d %H:%M:%S",
    "%d.%m.%Y %H:%M", "%m/%d/%Y %I:%M %p", "%Y-%m-%dT%H:%M:%SZ",
)  # fmt: skip
NUMBERS = [  # decimal marks and separators of thousands
    (".", ""), (".", ","), (".", " "), (".", "'"), (".", "\u202f"), (".", "\u00a0"),
    (",", ""), (",", "."), (",", " "), (",", "\u202f"), (",", "\u00a0"), (",", "’"),
]  # fmt: skip
FAULTS = (
    "footer", "duplicated header", "missing header", "mixed dates", "percent", "duplicate date",
    "currency", "ragged", "text", "open quote", "month names",
)  # fmt: skip
"""What makes a file unreadable with any option; others are read with the right ones."""


@dataclass
class HostileFile:
    """A file, its true contents, and the options that read it."""

    data: bytes
    times: pd.DatetimeIndex
    values: np.ndarray
    options: dict = field(default_factory=dict)
    fault: str = ""


def draw(seed):
    """Draw a file from the table of properties."""
    rng = random.Random(seed)

    def often(share):
        return rng.random() < share

    sep, form, (decimal, thousands) = rng.choice(SEPARATORS), rng.choice(DATES), rng.choice(NUMBERS)
    digits, scale = rng.choice([0, 0, 1, 2, 3, 3]), rng.choice([1, 30, 900, 5000, 2e6])
    options = {"date_format": None if form == "%Y-%m-%dT%H:%M:%SZ" else form, "decimal": decimal}
    if thousands:
        options["thousands"] = thousands
    step = "h" if "%H" in form or "%I" in form else rng.choice(["D", "D", "W", "MS"])
    times = pd.date_range(rng.choice(["2023-01-30", "2011-04-01"]), periods=ROWS, freq=step)
    numbers = [round(rng.uniform(-0.3, 1) * scale, digits) for _ in times]
    fault = rng.choice(FAULTS) if often(0.25) else ""

    def number(value):
        text = f"{value:,.{digits}f}".replace(".", "\0").replace(",", thousands)
        text = text.replace("\0", decimal)
        sign, text = ("-", text[1:]) if text[0] == "-" else ("", text)
        return sign + "$" * (fault == "currency") + text + "%" * (fault == "percent")

    cells = [number(value) for value in numbers]
    truth = np.array([float(f"{value:.{digits}f}") for value in numbers])
    if often(0.2):
        for i in rng.sample(range(1, ROWS - 1), 3):
            cells[i], truth[i] = rng.choice(["NA", "n/a", "", "NULL", "nan"]), np.nan
        options["gaps"] = "fill"
    dates = list(times.strftime(form))
    if fault == "mixed dates":
        dates[20:] = times[20:].strftime("%d.%m.%Y" if form[1] == "Y" else "%Y-%m-%d")
    if fault == "month names":
        dates = [f"{time.day}. {['Jänner', 'Hornung', 'März'][time.month % 3]}" for time in times]
        options.pop("date_format")
    if fault == "text":
        cells[7] = "closed"
    names = ["Datum", "größe", "note"] if often(0.3) else ["date", "sales", "note"]
    notes = [rng.choice(["", "a", "x y", "7"]) for _ in times]
    rows = [names, *map(list, zip(dates, cells, notes, strict=True))]
    if often(0.2) and fault != "missing header":
        keep = [0, *rng.sample(range(1, ROWS + 1), ROWS)]
        rows = [rows[i] for i in keep]
    if often(0.15):
        for i in sorted(rng.sample(range(10, ROWS - 5), 2), reverse=True):
            gone = next(k for k, row in enumerate(rows) if row[0] == dates[i])
            del rows[gone]
            times, truth = times.delete(i), np.delete(truth, i)
        options["gaps"] = "fill"
    if fault == "duplicate date":
        rows.insert(9, list(rows[8]))
    if fault == "duplicated header":
        rows[0] = [names[0], names[1], names[1]]
    if fault == "missing header":
        del rows[0]
    always = often(0.3)
    lines = []
    for row in rows:
        quoted = [f'"{cell}"' if always or sep in cell else cell for cell in row]
        lines.append(sep.join(quoted))
    if often(0.15):
        lines = [line + sep for line in lines]
    if fault == "footer":
        lines.append(rng.choice([sep.join(["Total", "12", ""]), "Source: office", "Sum"]))
    if fault == "ragged":
        lines[12] += sep + "1" + sep + "2"
    if fault == "open quote":
        lines[15] = lines[15].rsplit(sep, 1)[0] + sep + '"open'
    if often(0.15):
        for i in rng.sample(range(1, len(lines)), 3):
            lines.insert(i, rng.choice(["", "   "]))
    if often(0.2):
        head = ["Report of sales", "", f"Office{sep} 2023"][: rng.choice([1, 2, 3])]
        lines = [*head, *lines]
        options["skip_rows"] = len(head)
    code = rng.choice(CODES)
    text = rng.choice(["\n", "\r\n"]).join(lines) + "\n" * often(0.8)
    if code in ("cp1252", "latin-1"):  # which lack some of the characters
        text = text.replace("\u202f", "\u00a0").replace("’", "'")
        options["thousands"] = {"\u202f": "\u00a0", "’": "'"}.get(thousands, thousands or None)
    if not code.startswith("utf-8"):
        options["encoding"] = code
    target = names[1]
    options |= {"sep": sep, "target": target, "time": names[0]}
    return HostileFile(text.encode(code), times, truth, options, fault)


def read(path, options):
    """Return the times and values of a file, or the message with which it is refused."""
    options = dict(options)
    try:
        y = read_table(path, options.pop("target"), last=1000, **options).y
    except ValueError as error:
        return str(error)
    return y.index, y.iloc[:, 0].to_numpy()


def check_values(file, found):
    seen = np.flatnonzero(~np.isnan(file.values))
    inside = slice(seen[0], seen[-1] + 1)
    assert list(found[0]) == list(file.times[inside])
    np.testing.assert_array_equal(found[1], file.values[inside])


HELPS = re.compile(
    r"--(decimal|thousands|skip-rows|encoding|date-format|sep|gaps|time|id)|line \d+"
)


@pytest.mark.parametrize("seed", range(FILES))
def test_hostile_files_are_read_correctly_or_refused(tmp_path, seed):
    file = draw(seed)
    path = tmp_path / "hostile.csv"
    path.write_bytes(file.data)
    # Without options: the truth, or a message that names an option or the place.
    plain = read(path, {"target": file.options["target"]})
    if isinstance(plain, str):
        assert HELPS.search(plain) or "are named" in plain, plain
    else:
        assert not file.fault
        check_values(file, plain)
    # With the right options: the truth, unless the file is at fault.
    told = read(path, file.options)
    if file.fault:
        assert isinstance(told, str), file.fault
        assert HELPS.search(told) or "are named" in told, told
    else:
        assert not isinstance(told, str), told
        check_values(file, told)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(FILES))
def test_the_suggested_options_lead_to_the_truth(tmp_path, seed):
    """Follow the first suggestion of each message; the result is the truth or another refusal."""
    file = draw(seed)
    path = tmp_path / "hostile.csv"
    path.write_bytes(file.data)
    options = {"target": file.options["target"]}
    for _ in range(8):
        found = read(path, options)
        if not isinstance(found, str):
            break
        names = re.findall(r"--(decimal|thousands|skip-rows|encoding|date-format|sep|gaps)", found)
        names = [name.replace("-", "_") for name in names]
        name = next(
            (n for n in names if n in file.options and options.get(n) != file.options[n]), None
        )
        if name is None:
            return
        options[name] = file.options[name]
    assert not file.fault
    check_values(file, found)
