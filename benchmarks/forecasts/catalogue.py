"""The real series that forecasts are judged on, written down before any was forecast.

Every univariate series of at least 80 rows in the ``datasets`` folders of statsmodels and sktime,
read from the installed packages' own files: no download. A column of a table counts where its
rows are a clock. Horizons and seasons follow from the frequency (``frequencies.py``), so that
nothing here is a choice made on values.
"""

from __future__ import annotations

from dataclasses import dataclass

from forecasts.frequencies import FREQUENCIES, season_of
from forecasts.protocol import TRAINING_ROWS, origins

FEWEST_ROWS = 80


@dataclass(frozen=True)
class Entry:
    """One series: a column of a CSV file in a package, and how many rows it has.

    The horizon and the season, of MASE and of the peers, follow from frequency and rows.
    """

    package: str
    dataset: str
    column: str
    frequency: str
    rows: int
    file: str

    @property
    def name(self) -> str:
        """What it is called in tables and in ``--only``: ``dataset/column``."""
        return f"{self.dataset}/{self.column}"

    @property
    def horizon(self) -> int:
        """Rows ahead."""
        return FREQUENCIES[self.frequency].horizon

    @property
    def season(self) -> int:
        """Rows a season, of MASE and of the peers."""
        first = origins(self.rows, self.horizon)[0]
        return season_of(self.frequency, min(first, TRAINING_ROWS))


UNROLLED = "months"
"""The column of a table with a row a year and a column a month: read row by row."""


def statsmodels(dataset: str, column: str, frequency: str, rows: int, file: str = "") -> Entry:
    """A column of a file of statsmodels."""
    path = f"datasets/{dataset}/{file or dataset}.csv"
    return Entry("statsmodels", dataset, column, frequency, rows, path)


def sktime(dataset: str, column: str, frequency: str, rows: int) -> Entry:
    """A column of a file of sktime."""
    return Entry(
        "sktime", dataset, column, frequency, rows, f"datasets/data/{dataset}/{dataset}.csv"
    )


CATALOGUE = (
    statsmodels("co2", "co2", "weekly", 2284),
    statsmodels("elec_equip", "STS.M.I7.W.TOVT.NS0016.4.000", "monthly", 257),
    statsmodels("elnino", UNROLLED, "monthly", 732),
    statsmodels("interest_inflation", "Dp", "quarterly", 107, file="E6"),
    statsmodels("interest_inflation", "R", "quarterly", 107, file="E6"),
    statsmodels("macrodata", "realgdp", "quarterly", 203),
    statsmodels("macrodata", "realcons", "quarterly", 203),
    statsmodels("macrodata", "realinv", "quarterly", 203),
    statsmodels("macrodata", "realgovt", "quarterly", 203),
    statsmodels("macrodata", "realdpi", "quarterly", 203),
    statsmodels("macrodata", "cpi", "quarterly", 203),
    statsmodels("macrodata", "m1", "quarterly", 203),
    statsmodels("macrodata", "tbilrate", "quarterly", 203),
    statsmodels("macrodata", "unemp", "quarterly", 203),
    statsmodels("macrodata", "pop", "quarterly", 203),
    statsmodels("macrodata", "infl", "quarterly", 203),
    statsmodels("macrodata", "realint", "quarterly", 203),
    statsmodels("nile", "volume", "yearly", 100),
    statsmodels("sunspots", "SUNACTIVITY", "yearly", 309),
    sktime("Airline", "Passengers", "monthly", 144),
    sktime("Lynx", "0", "yearly", 114),
    sktime("PBS_dataset", "Scripts", "monthly", 204),
    sktime("Uschange", "Consumption", "quarterly", 187),
    sktime("Uschange", "Income", "quarterly", 187),
    sktime("Uschange", "Production", "quarterly", 187),
    sktime("Uschange", "Savings", "quarterly", 187),
    sktime("Uschange", "Unemployment", "quarterly", 187),
    sktime("mitdb", "data", "samples", 7500),  # an electrocardiogram, 360 a second
    sktime("seatbelts", "KSI", "monthly", 192),
    sktime("solar", "solar_gen", "half-hourly", 289),
    sktime("yahoo", "data", "hourly", 1000),
)

LEFT_OUT = {
    # statsmodels
    "anes96": "a survey of voters, no time",
    "cancer": "counties, no time",
    "ccard": "households, no time",
    "china_smoking": "cities, no time",
    "committee": "committees, no time",
    "copper": "25 rows",
    "cpunish": "states, no time",
    "danish_data": "55 rows",
    "engel": "households, no time",
    "fair": "a survey, no time",
    "fertility": "a panel of countries, 52 years each",
    "grunfeld": "a panel of firms, 20 years each",
    "heart": "patients, no clock",
    "longley": "16 rows; sktime's Longley is the same",
    "modechoice": "travellers, no time",
    "randhie": "patients, no time",
    "scotland": "districts, no time",
    "spector": "students, no time",
    "stackloss": "21 rows",
    "star98": "counties, no time",
    "statecrime": "states, no time",
    "strikes": "durations of 62 strikes, no clock",
    # sktime
    "load_macroeconomic": "statsmodels' macrodata",
    "ShampooSales": "36 rows",
    "load_hierarchical_sales_toydata": "drawn, 60 rows",
    "UnitTest": "a few rows for its tests",
    "segmentation": "cases of classification data (GunPoint, ElectricDevices) set end to end",
    "ACSF1": "classification",
    "ArrowHead": "classification",
    "BasicMotions": "classification",
    "Covid3Month": "regression on a panel of 201 regions",
    "GunPoint": "classification",
    "ItalyPowerDemand": "classification",
    "JapaneseVowels": "classification",
    "OSULeaf": "classification",
    "PLAID": "classification",
    "Tecator": "spectra, no time",
    # folders of tests in both packages hold outputs of other programs, not datasets
}
