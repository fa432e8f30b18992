"""``eigenecho forecast``: read, forecast, report."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, fields
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Column, Table

from eigenecho.apps.cli.terminal import fail, make_writable, print_warnings, progress, say
from eigenecho.apps.tables import forecast_page, predictions, table_files, tested_forecast
from eigenecho.apps.tables import table as tables
from eigenecho.apps.tables.python_lines import python_lines
from eigenecho.apps.tables.table import TableError
from eigenecho.apps.tables.time_series import TableColumns, TableSeries, from_table
from eigenecho.apps.tables.verdict import verdicts
from eigenecho.errors import bad_argument, unknown_name
from eigenecho.estimators.forecaster import Forecaster
from eigenecho.forecasting.backtest import table as error_table
from eigenecho.forecasting.candidates import STRATEGIES
from eigenecho.forecasting.seasons import IN_ROWS
from eigenecho.pages import format_duration

GAPS = ("error", "fill", "ignore")
COLOURS = {"beats": "blue", "not clearly": "yellow", "does not beat": "red"}
PAGES = (".html", ".htm")
LISTS = (".csv", *table_files.PARQUET)
MODEL = ".safetensors"
STAGES = ("testing", "forecasting")

LAST = 20_000
"""Rows of a series that are learnt from, unless more are asked for: two years of hours."""


@dataclass(frozen=True)
class ForecastRequest:
    """What the command line asked for."""

    data: Path
    target: str
    horizon: int
    id: str | None = None
    time: str | None = None
    inputs: str = ""
    past: str = ""
    multivariate: bool = False
    strategy: str = "auto"
    season: str = ""
    blocks: int | None = None
    interval: float = 0.9
    gaps: str = "error"
    last: int = LAST
    sep: str | None = None
    decimal: str | None = None
    encoding: str = ""
    out: tuple[Path, ...] = (Path("forecast.html"),)
    save: Path | None = None

    def __post_init__(self) -> None:
        if self.gaps not in GAPS:
            raise unknown_name("--gaps", self.gaps, GAPS)
        if self.strategy not in STRATEGIES:
            raise unknown_name("--strategy", self.strategy, STRATEGIES)
        if not 0 <= self.interval < 1:
            raise bad_argument(
                "--interval", self.interval, "the share of rows to hold, such as 0.9; 0 for none"
            )
        _ = self.seasons
        self._check_files()

    def _check_files(self) -> None:
        """What is written has a name of its kind, and is not the data."""
        for path in self.out:
            if path.is_dir():
                raise TableError(f"--out {path} is a folder. Name a file in it.")
            if path.suffix.lower() not in PAGES + LISTS:
                raise TableError(f"--out {path} must end in .html, .csv or .parquet.")
        for kind, endings in (("page", PAGES), ("table", LISTS)):
            if len([path for path in self.out if path.suffix.lower() in endings]) > 1:
                raise TableError(f"--out names more than one {kind}.")
        if self.save is not None and self.save.suffix != MODEL:
            raise TableError(f"--save {self.save} is a model: its name must end in {MODEL}.")
        for path in self.written:
            if path.resolve() == self.data.resolve() or _same_file(path, self.data):
                raise TableError(f"{path} would write over the data.")
        needs_parquet = self.table.suffix.lower() in table_files.PARQUET
        if needs_parquet and not (find_spec("pyarrow") or find_spec("fastparquet")):
            raise TableError(f"--out {self.table} {table_files.NEEDS_PYARROW}")

    @property
    def page(self) -> Path | None:
        """The report, where one is wanted."""
        return next((path for path in self.out if path.suffix.lower() in PAGES), None)

    @property
    def table(self) -> Path:
        """The table of all forecasts: as named, or beside the report."""
        named = next((path for path in self.out if path.suffix.lower() in LISTS), None)
        if named is not None:
            return named
        assert self.page is not None
        return self.page.with_name(f"{self.page.stem}-predictions.csv")

    @property
    def written(self) -> list[Path]:
        """The files that come out."""
        return [path for path in (self.page, self.table, self.save) if path is not None]

    def check_writable(self, force: bool) -> None:
        """Found out before the work, not after it."""
        for path in self.written:
            if path.exists() and not force:
                raise TableError(f"{path} exists; --force replaces it, or name another --out.")
            make_writable(path.parent)

    @property
    def seasons(self) -> Any:
        """Periods in rows."""
        if not self.season:
            return None
        try:
            found = [tables.number(text.strip()) for text in self.season.split(",")]
        except ValueError:
            found = []
        if not found or min(found) < 2:
            raise bad_argument(
                "--season", self.season, "rows to a season, 2 or more, such as 24,168",
                f"{IN_ROWS}; without --season they are found.",
            )  # fmt: skip
        return [int(one) if one == int(one) else one for one in found]

    @property
    def command(self) -> str:
        """The command line that gives the same again."""
        words = ["eigenecho", "forecast", str(self.data)]
        for field in fields(self)[1:]:
            value = getattr(self, field.name)
            if value is True:
                words.append(f"--{field.name}")
            elif value != field.default:
                for one in value if isinstance(value, tuple) else (value,):
                    text = f"{one:g}" if isinstance(one, float) else str(one)
                    words += [f"--{field.name}", text]
        return shlex.join(words)


def forecast(
    data: Annotated[Path, typer.Argument(help="CSV (also .gz) or Parquet file, with a header.")],
    target: Annotated[str, typer.Option(help="The column to forecast, or several, a,b.")],
    horizon: Annotated[int, typer.Option(min=1, help="How many steps ahead.")],
    id: Annotated[
        str | None,
        typer.Option(
            help="The column that tells series apart, in a table of many below each other."
        ),
    ] = None,
    time: Annotated[
        str | None,
        typer.Option(help="The column of dates, or none; by default the first that is one."),
    ] = None,
    inputs: Annotated[
        str,
        typer.Option(
            help="Further columns, a,b, that are known ahead: the table goes on with them for "
            "HORIZON rows in which the target is empty. They act at their own row.",
        ),
    ] = "",
    past: Annotated[
        str, typer.Option(help="Further columns, a,b, that are known up to the present only.")
    ] = "",
    multivariate: Annotated[
        bool, typer.Option("--multivariate", help="Show each target the others.")
    ] = False,
    strategy: Annotated[
        str, typer.Option(help="direct, recursive, or auto: whichever held-out rows prefer.")
    ] = "auto",
    season: Annotated[
        str,
        typer.Option(help="Rows to a season, or several, 24,168; by default found by itself."),
    ] = "",
    blocks: Annotated[
        int | None,
        typer.Option(
            min=1, help="Blocks of HORIZON rows to hold out; by default 1 to 5, as data allow."
        ),
    ] = None,
    interval: Annotated[
        float, typer.Option(help="The share of rows that bounds around the forecast shall hold.")
    ] = ForecastRequest.interval,
    no_interval: Annotated[
        bool, typer.Option("--no-interval", help="No bounds, as with --interval 0.")
    ] = False,
    gaps: Annotated[
        str,
        typer.Option(
            help="What to do about missing rows and empty cells: error; fill, go on without them; "
            "or ignore, where rows count as steps."
        ),
    ] = "error",
    last: Annotated[
        int, typer.Option(min=3, help="Learn from the last rows of each series, at most so many.")
    ] = LAST,
    sep: Annotated[
        str | None, typer.Option(help="What separates cells; by default found by itself.")
    ] = None,
    decimal: Annotated[
        str | None,
        typer.Option(
            help="The decimal sign, . or , (the other one may separate thousands). By default a "
            "point; numbers such as 1.061 are refused where it may separate thousands."
        ),
    ] = None,
    encoding: Annotated[str, typer.Option(help="Of the file; UTF-8 by default.")] = "",
    out: Annotated[
        list[Path] | None,
        typer.Option(
            help="A report, .html, with ...-predictions.csv beside it; or all forecasts alone, "
            ".csv or .parquet; or both, given twice. By default forecast.html."
        ),
    ] = None,
    save: Annotated[
        Path | None, typer.Option(help="Save the forecaster, .safetensors, for ee.load.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace files that exist.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")] = False,
) -> None:
    """Forecast columns of a table, and say whether that beats naive forecasts.

    ee.Forecaster does it: ways to forecast are chosen by rows held back, tested on the last blocks
    of rows, and learn from all rows in the end.
    """
    try:
        request = ForecastRequest(
            data=data, target=target, horizon=horizon, id=id, time=time, inputs=inputs, past=past,
            multivariate=multivariate, strategy=strategy, season=season, blocks=blocks,
            interval=0.0 if no_interval else interval, gaps=gaps, last=last, sep=sep,
            decimal=decimal, encoding=encoding, out=tuple(out or ForecastRequest.out), save=save,
        )  # fmt: skip
        request.check_writable(force)
        run(request, Console(quiet=quiet))
    except ValueError as error:
        raise fail(error) from None
    except (ArithmeticError, MemoryError) as error:
        raise fail(error, 1) from None
    except OSError as error:
        what = error.filename or (out or ForecastRequest.out)[0]
        raise fail(f"cannot write {what}: {error.strerror or error}") from None
    except KeyboardInterrupt:
        raise fail("interrupted: no report was written.", 130) from None


def _same_file(one: Path, other: Path) -> bool:
    """Whether two names are links to one file."""
    return one.exists() and other.exists() and one.samefile(other)


def run(request: ForecastRequest, console: Console) -> tested_forecast.TestedForecast:
    """Read, test, forecast, write; then say how good it is."""
    start = perf_counter()
    table = table_files.read(
        request.data, sep=request.sep, decimal=request.decimal, encoding=request.encoding
    )
    columns = TableColumns(
        table.chosen(request.target, "--target"),
        table.chosen(request.inputs, "--inputs"),
        table.chosen(request.past, "--past"),
        request.id,
        request.time,
    )
    series = from_table(table, columns, gaps=request.gaps, last=request.last)
    _describe(console, series)
    bars = progress(console, dict.fromkeys(STAGES, 1), "step")
    with print_warnings(console), bars as on_progress:
        result = tested_forecast.forecast(
            series,
            forecaster(request, series),
            blocks=request.blocks,
            interval=request.interval or None,
            progress=on_progress,
        )
    with console.status("writing"):
        write(request, result, python_lines(result, table, request.encoding), start)
    console.print(errors(result))
    for verdict in verdicts(result.backtest):  # the hardest rival first
        sign = forecast_page.LOOKS[verdict.word][1]
        console.print(f"[{COLOURS[verdict.word]}]{sign}[/]", end=" ")
        console.print(verdict.sentence, highlight=False, markup=False)
    console.print(f"\n{format_duration(perf_counter() - start)}. Written:", highlight=False)
    for path in request.written:
        say(console, f"  {path}")
    return result


def forecaster(request: ForecastRequest, series: TableSeries) -> Forecaster:
    """The forecaster that was asked for, not fitted yet."""
    columns = series.columns
    long = {"id": columns.id, "time": columns.time, "target": columns.targets[0]}
    if columns.id is None:
        # A target that is called as one of a long table's columns is none of them.
        is_taken = {"unique_id", "ds"} & set(columns.targets)
        long = dict.fromkeys(long, "") if is_taken else {}
    return Forecaster(
        request.horizon,
        strategy=request.strategy,
        seasons=request.seasons,
        past=columns.past,
        multivariate=request.multivariate,
        **long,  # type: ignore[arg-type]
    )


def write(
    request: ForecastRequest, result: tested_forecast.TestedForecast, lines: str, start: float
) -> None:
    """All files."""
    predictions.write(result, request.table)
    if request.save is not None:
        result.forecaster.save(request.save)
    if request.page is not None:
        made_by = {"command": request.command, "seconds": perf_counter() - start}
        source, table = request.data.name, request.table.name
        forecast_page.write(result, request.page, source, table, lines, made_by)


def errors(result: tested_forecast.TestedForecast) -> Table:
    """Errors on the held-out rows."""
    columns, rows = error_table(result.backtest)
    shown = Table(
        "",
        *(Column(heading, justify="right") for heading in columns[1:]),
        title=f"Errors on {result.blocks} × {result.forecaster.horizon} held-out rows",
        title_justify="left",
    )
    for row in rows:
        shown.add_row(*row)
    said = forecast_page.sentences(result)
    if said:
        shown.caption = "\n".join(said)
        shown.caption_justify = "left"
    return shown


def _describe(console: Console, series: TableSeries) -> None:
    columns = series.columns
    clock = max(series.clocks.values(), key=lambda one: len(one.times))
    first, last = clock.text(clock.times[[0, -1]])
    step = "" if clock.name == "row" else f", {clock.name!r} in steps of {clock.words}"
    names = ", ".join(map(repr, columns.targets))
    if columns.id is not None:
        names += f" of {len(series.names)} series"
    rows = f"{'at most ' * (columns.id is not None)}{series.rows} rows"
    for line in (f"{names}: {rows}, {first} to {last}{step}", *series.notes):
        say(console, line)
