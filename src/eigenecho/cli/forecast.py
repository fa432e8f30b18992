"""The command ``eigenecho forecast``, which forecasts a table and writes a report."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

from rich.console import Console
from typer import Argument, Context, Option

from eigenecho.cli import terminal
from eigenecho.cli.forecast_table import forecast_table, write_page, write_predictions
from eigenecho.cli.verdict import MARKS, verdicts
from eigenecho.data.read_table import LAST, NEEDS_PYARROW, PARQUET, TableSeries, as_text, read_table
from eigenecho.estimators.forecaster import Forecaster
from eigenecho.pages import format_duration
from eigenecho.progress import display

KINDS = {"page": (".html", ".htm"), "table": (".csv", *PARQUET), "model": (".safetensors",)}
"""File extensions of the output files."""

READING = (
    "inputs", "past", "id", "time", "gaps", "last", "sep", "decimal", "thousands", "skip_rows",
    "encoding", "date_format",
)  # fmt: skip
"""Names of the options that are passed to ``read_table``."""


def forecast(
    context: Context,
    data: Annotated[Path, Argument(help="CSV (optionally .gz) or Parquet file with a header.")],
    target: Annotated[str, Option(help="Column to forecast, or several columns, such as a,b.")],
    horizon: Annotated[int, Option(min=1, help="Number of steps to forecast.")],
    id: Annotated[str, Option(help="Column that identifies the series.")] = "",
    time: Annotated[str, Option(help="Time column, or 'none'. Default: detected.")] = "",
    inputs: Annotated[
        str, Option(help="Columns known in advance, such as a,b. They require HORIZON future rows.")
    ] = "",
    past: Annotated[str, Option(help="Columns that are not known in advance, such as a,b.")] = "",
    multivariate: Annotated[
        bool, Option("--multivariate", help="Also use the other targets as inputs.")
    ] = False,
    strategy: Annotated[str, Option(help="Readouts: direct, recursive or auto.")] = "auto",
    season: Annotated[str, Option(help="Seasons in rows, such as 24,168. Default: detected.")] = "",
    blocks: Annotated[int | None, Option(min=1, help="Test blocks. Default: 1 to 5.")] = None,
    interval: Annotated[float, Option(help="Coverage of prediction intervals; 0 for none.")] = 0.9,
    no_interval: Annotated[bool, Option("--no-interval", help="Same as --interval 0.")] = False,
    gaps: Annotated[
        str,
        Option(help="How to treat missing rows and cells: error or fill."),
    ] = "error",
    last: Annotated[int, Option(min=3, help="Largest number of rows to use per series.")] = LAST,
    sep: Annotated[str, Option(help="Cell delimiter, such as ';' or 'tab'.")] = ",",
    decimal: Annotated[
        str | None, Option(help="Decimal mark: '.' or ','. The other mark may separate thousands.")
    ] = None,
    thousands: Annotated[
        str | None, Option(help="Thousands separator: point, comma, space or apostrophe.")
    ] = None,
    skip_rows: Annotated[int, Option(min=0, help="Number of lines to skip before the header.")] = 0,
    encoding: Annotated[str, Option(help="Text encoding.")] = "utf-8-sig",
    date_format: Annotated[str | None, Option(help="Date format, such as %d/%m/%Y.")] = None,
    out: Annotated[
        list[Path] | None,
        Option(
            help="Report (.html, with a file ...-predictions.csv) or table of forecasts (.csv or "
            ".parquet). Use it twice for both. Default: forecast.html."
        ),
    ] = None,
    save: Annotated[Path | None, Option(help="Save the forecaster (.safetensors).")] = None,
    force: Annotated[bool, Option("--force", help="Overwrite existing files.")] = False,
    quiet: Annotated[bool, Option("--quiet", "-q", help="Print errors only.")] = False,
) -> None:
    """Forecast columns of a table and compare the forecast with naive baselines.

    ee.Forecaster is tested on blocks at the end of the table, and then trained on all rows.
    """
    start, console = perf_counter(), Console(quiet=quiet)
    share = None if no_interval or interval == 0 else interval
    try:
        files = _output_files(data, out or [Path("forecast.html")], save, force)
        series = read_table(data, target, **{name: context.params[name] for name in READING})
        _describe(console, series)
        forecaster = Forecaster(
            horizon,
            strategy=strategy,
            seasons=_read_seasons(season),
            past=series.past,
            multivariate=multivariate,
            **_long_names(series),
        )
        bars = display({"backtest": 1, "forecast": 1}, "fit", console)
        with terminal.print_warnings(console), bars as on_progress:
            result = forecast_table(
                series, forecaster, blocks=blocks, interval=share, progress=on_progress
            )
        write_predictions(result, files["table"])
        if "model" in files:
            files["model"].parent.mkdir(parents=True, exist_ok=True)
            forecaster.save(files["model"])
        if "page" in files:
            origin = {
                "source": data.name,
                "predictions": files["table"].name,
                "reading": _read_arguments(context),
                "command": terminal.command_line(context, "force", "quiet"),
                "seconds": perf_counter() - start,
            }
            write_page(result, files["page"], origin)
    except (ArithmeticError, MemoryError) as error:
        raise terminal.fail(error, 1) from None
    except (ValueError, OSError) as error:
        raise terminal.fail(error) from None
    except ImportError as error:
        remedy = ". Install the missing package with: pip install 'eigenecho[cli]'."
        raise terminal.fail(f"{error}{remedy * ('pip install' not in str(error))}") from None
    except KeyboardInterrupt:
        raise terminal.fail("Interrupted. No report was written.", 130) from None
    terminal.say(console, f"\n{result.backtest}\n")
    for verdict in verdicts(result.backtest):
        _, sign, colour = MARKS[verdict.word]
        console.print(f"[{colour}]{sign}[/]", end=" ")
        console.print(verdict.sentence, highlight=False, markup=False)
    written = "".join(f"\n  {path}" for path in files.values())
    terminal.say(console, f"\nDone in {format_duration(perf_counter() - start)}. Files:{written}")


def _read_seasons(text: str) -> list[Any] | None:
    """Return the numbers of the option --season, or None for the default."""
    if not re.fullmatch(r"(\d+(\.\d+)?(,\d+(\.\d+)?)*)?", text):
        expected = "numbers of rows, separated by commas, such as '24,168' for 24 and 168 rows"
        raise ValueError(f"Invalid --season {text!r}: expected {expected}.")
    return [float(part) if "." in part else int(part) for part in text.split(",")] if text else None


def _output_files(data: Path, out: list[Path], save: Path | None, force: bool) -> dict[str, Path]:
    """Return the output files by their type, after checking that they can be written."""
    files: dict[str, Path] = {}
    for path in [*out, *([] if save is None else [save])]:
        kinds = {"model"} if path is save else {"page", "table"}
        kind = [kind for kind in kinds if path.suffix.lower() in KINDS[kind]]
        if not kind or path.is_dir():
            endings = " or ".join(KINDS[kind][0] for kind in sorted(kinds))
            raise ValueError(f"Invalid output file {path}: expected a name that ends in {endings}.")
        if kind[0] in files:
            raise ValueError(f"Invalid --out: expected at most one {KINDS[kind[0]][0]} file.")
        files[kind[0]] = path
    if "table" not in files:
        files["table"] = files["page"].with_name(f"{files['page'].stem}-predictions.csv")
    is_parquet = files["table"].suffix.lower() in PARQUET
    if is_parquet and not (find_spec("pyarrow") or find_spec("fastparquet")):
        raise ValueError(f"{files['table']} {NEEDS_PYARROW}")
    for path in files.values():
        terminal.check_target(path, data, force)
    return files


def _long_names(series: TableSeries) -> dict[str, Any]:
    """Return the arguments of ``Forecaster`` with the names of the columns of a long table."""
    if series.id:
        return {"id": series.id, "time": series.time, "target": series.targets[0]}
    # A wide table is not long, even if its targets have the default names of long columns.
    is_taken = {"unique_id", "ds"} & set(series.targets)
    return dict.fromkeys(("id", "time", "target"), "") if is_taken else {}


def _read_arguments(context: Context) -> str:
    """Return the arguments of ``read_table`` as Python code."""
    options = terminal.given_options(context).items()
    arguments = [repr(str(context.params["data"])), repr(context.params["target"])]
    arguments += [f"{p.name}={value!r}" for p, value in options if p.name in READING]
    return ", ".join(arguments)


def _describe(console: Console, series: TableSeries) -> None:
    """Print the names, number of rows and time range of the series."""
    names = "Read " + ", ".join(map(repr, series.targets))
    names += f" of {len(series.panel)} series: up to" if series.id else ":"
    times = max(series.panel.histories, key=len).times
    first, last = (as_text(times[i]) for i in (0, -1))
    terminal.say(console, f"{names} {series.rows} rows, {series.time} {first} to {last}")
    for note in series.notes:
        terminal.say(console, f"Note: {note}.")
