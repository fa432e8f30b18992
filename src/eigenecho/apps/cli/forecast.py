"""``eigenecho forecast``: read, forecast, report."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, fields
from pathlib import Path
from time import perf_counter
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Column, Table

from eigenecho.apps.cli.endings import fail, make_writable
from eigenecho.apps.shared import bars
from eigenecho.apps.shared.durations import human
from eigenecho.apps.shared.pages import MadeBy
from eigenecho.apps.shared.terminal import say
from eigenecho.apps.tables import forecast_page, table, table_forecast
from eigenecho.apps.tables.candidates import Network
from eigenecho.apps.tables.table import TableError
from eigenecho.apps.tables.time_series import TimeSeries, from_table
from eigenecho.apps.tables.verdict import verdicts
from eigenecho.errors import bad_argument, unknown_name
from eigenecho.spectra import LAWS

GAPS = ("error", "fill", "ignore")
COLOURS = {"beats": "blue", "not clearly": "yellow", "does not beat": "red"}
PAGES = (".html", ".htm")
STAGES = ("choosing", "testing", "forecasting")


@dataclass(frozen=True)
class ForecastRequest:
    """What the command line asked for."""

    data: Path
    target: str
    horizon: int
    time: str | None = None
    inputs: str = ""
    season: float | None = None
    blocks: int | None = None
    interval: float = 0.9
    gaps: str = "error"
    units: int = Network.units
    spectrum: str = Network.spectrum
    seed: int = Network.seed
    sep: str | None = None
    decimal: str = "."
    encoding: str = ""
    out: Path = Path("forecast.html")

    def __post_init__(self) -> None:
        if self.gaps not in GAPS:
            raise unknown_name("--gaps", self.gaps, GAPS)
        known = sorted({*LAWS, "matrix"})
        if self.spectrum not in known:
            raise unknown_name("--spectrum", self.spectrum, known)
        if not 0 <= self.interval < 1:
            raise bad_argument(
                "--interval", self.interval, "the share of rows to hold, such as 0.9; 0 for none"
            )
        if self.out.is_dir():
            raise TableError(f"--out {self.out} is a folder. Name a file in it.")
        if self.out.suffix.lower() not in PAGES:
            raise TableError(f"--out {self.out} is a web page: its name must end in .html.")
        for path in self.written:
            if path.resolve() == self.data.resolve() or _same_file(path, self.data):
                raise TableError(f"--out {self.out} would write over the data in {path}.")

    @property
    def written(self) -> tuple[Path, Path]:
        """The files that come out."""
        return self.out, forecast_page.predictions_path(self.out)

    def check_writable(self, force: bool) -> None:
        """Found out before the work, not after it."""
        for path in self.written:
            if path.exists() and not force:
                raise TableError(f"{path} exists; --force replaces it, or name another --out.")
        make_writable(self.out.parent)

    @property
    def columns(self) -> tuple[str, ...]:
        """The inputs, one by one."""
        return tuple(name.strip() for name in self.inputs.split(",") if name.strip())

    @property
    def command(self) -> str:
        """The command line that gives the same again."""
        words = ["eigenecho", "forecast", str(self.data)]
        for field in fields(self)[1:]:
            value = getattr(self, field.name)
            if value != field.default:
                text = f"{value:g}" if isinstance(value, float) else str(value)
                words += [f"--{field.name}", text]
        return shlex.join(words)


def forecast(
    data: Annotated[Path, typer.Argument(help="CSV (also .gz) or Parquet file, with a header.")],
    target: Annotated[str, typer.Option(help="The column to forecast.")],
    horizon: Annotated[int, typer.Option(min=1, help="How many steps ahead.")],
    time: Annotated[
        str | None,
        typer.Option(help="The column of dates, or none; by default the first that is one."),
    ] = None,
    inputs: Annotated[
        str,
        typer.Option(
            help="Further columns, a,b, that are known ahead: the table goes on with them for "
            "HORIZON rows in which the target is empty. By default the target alone is used.",
        ),
    ] = "",
    season: Annotated[
        float | None,
        typer.Option(min=2, help="Rows to a season; by default the calendar's and the data's own."),
    ] = None,
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
            help="What to do about missing rows and empty cells: error; fill, with the last value "
            "before; or ignore, where rows count as steps."
        ),
    ] = "error",
    units: Annotated[int, typer.Option(min=1, help="N, the size of the network.")] = Network.units,
    spectrum: Annotated[str, typer.Option(help="Law of its eigenvalues.")] = Network.spectrum,
    seed: Annotated[int, typer.Option(min=0, help="Seed of all that is drawn.")] = Network.seed,
    sep: Annotated[
        str | None, typer.Option(help="What separates cells; by default found by itself.")
    ] = None,
    decimal: Annotated[str, typer.Option(help="Decimal sign, . or ,")] = ".",
    encoding: Annotated[str, typer.Option(help="Of the file; UTF-8 by default.")] = "",
    out: Annotated[
        Path, typer.Option(help="The report, .html; beside it goes ...-predictions.csv.")
    ] = Path("forecast.html"),
    force: Annotated[bool, typer.Option("--force", help="Replace files that exist.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")] = False,
) -> None:
    """Forecast a column of a table, and say whether that beats naive forecasts.

    Networks are chosen by forecasts of the whole horizon on earlier rows and tested on the last
    ones. The best is trained again on all rows and runs ahead.
    """
    interval = 0.0 if no_interval else interval
    try:
        request = ForecastRequest(
            data=data, target=target, horizon=horizon, time=time, inputs=inputs, season=season,
            blocks=blocks, interval=interval, gaps=gaps, units=units, spectrum=spectrum, seed=seed,
            sep=sep, decimal=decimal, encoding=encoding, out=out,
        )  # fmt: skip
        request.check_writable(force)
        run(request, Console(quiet=quiet))
    except ValueError as error:
        raise fail(error) from None
    except ArithmeticError as error:
        raise fail(error, 1) from None
    except OSError as error:
        raise fail(f"cannot write {error.filename or out}: {error.strerror or error}") from None
    except KeyboardInterrupt:
        raise fail("interrupted: no report was written.", 130) from None


def _same_file(one: Path, other: Path) -> bool:
    """Whether two names are links to one file."""
    return one.exists() and other.exists() and one.samefile(other)


def run(request: ForecastRequest, console: Console) -> table_forecast.TableForecast:
    """Read, choose, test, forecast, write; then say how good it is."""
    start = perf_counter()
    read = table.read(
        request.data, sep=request.sep, decimal=request.decimal, encoding=request.encoding
    )
    series = from_table(
        read, request.target, time=request.time, inputs=request.columns, gaps=request.gaps
    )
    _describe(console, request, series)
    network = Network(request.units, request.spectrum, request.seed)
    with bars.progress(console, dict.fromkeys(STAGES, 1), "step") as progress:
        result = table_forecast.forecast(
            series,
            request.horizon,
            network,
            blocks=request.blocks,
            season=request.season,
            interval=request.interval or None,
            progress=progress,
        )
    with console.status("writing the report"):
        made_by = MadeBy(request.command, perf_counter() - start)
        written = forecast_page.write(result, request.out, request.data.name, made_by)
    console.print(errors(result))
    for verdict in verdicts(result.backtest):  # the hardest rival first
        sign = forecast_page.LOOKS[verdict.word][1]
        console.print(f"[{COLOURS[verdict.word]}]{sign}[/]", end=" ")
        console.print(verdict.sentence, highlight=False, markup=False)
    if result.bands is not None:
        console.print(result.bands.sentence, highlight=False, markup=False)
    if result.replaced:
        console.print(forecast_page.REPLACED, highlight=False)
    if not result.steady:
        console.print(
            f"The closed loop grows (radius {result.fitted.radius:.6f}): do not trust the later "
            "part of the forecast; a shorter --horizon is safer.",
            highlight=False,
        )
    console.print(f"\n{human(perf_counter() - start)}. Written:", highlight=False)
    for path in written:
        say(console, f"  {path}")
    return result


def errors(result: table_forecast.TableForecast) -> Table:
    """Errors on the held-out rows."""
    blocks, h = len(result.split.test), result.split.horizon
    shown = Table(
        "forecast",
        *(Column(heading, justify="right") for heading in ("MAE", "RMSE", "MASE")),
        title=f"Errors on {blocks} × {h} held-out rows",
        title_justify="left",
    )
    for row in forecast_page.error_rows(result):
        shown.add_row(*row)
    said = [result.bands.measured] if result.bands is not None else []
    said += [text for text in (forecast_page.unmeasured(result),) if text]
    if said:
        shown.caption = "\n".join(said)
        shown.caption_justify = "left"
    return shown


def _describe(console: Console, request: ForecastRequest, series: TimeSeries) -> None:
    clock = series.clock
    first, last = clock.text(clock.times[[0, -1]])
    step = "" if clock.name == "row" else f", {clock.name!r} in steps of {clock.words}"
    lines = [f"{request.target!r}: {len(series)} rows, {first} to {last}{step}", *series.notes]
    for line in lines:
        say(console, line)
