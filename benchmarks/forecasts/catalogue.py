"""The real series of the forecast benchmark, fixed before any forecast was made.

These are all univariate series of at least 80 rows in the ``datasets`` folders of statsmodels and
sktime, read from the installed packages without downloads. A column of a table is included if its
rows are equally spaced in time. Horizons and seasons follow from the frequency
(``frequencies.py``), so no choice depends on the values.
"""

from __future__ import annotations

from dataclasses import dataclass

from forecasts.frequencies import FREQUENCIES, season_of
from forecasts.protocol import TRAINING_ROWS, origins

FEWEST_ROWS = 80


@dataclass(frozen=True)
class Entry:
    """One series: a column of a CSV file in a package, and its number of rows.

    The horizon and the season follow from the frequency and the number of rows.
    """

    package: str
    dataset: str
    column: str
    frequency: str
    rows: int
    file: str

    @property
    def name(self) -> str:
        """Name in tables and in ``--only``: ``dataset/column``."""
        return f"{self.dataset}/{self.column}"

    @property
    def horizon(self) -> int:
        """Forecast horizon in rows."""
        return FREQUENCIES[self.frequency].horizon

    @property
    def season(self) -> int:
        """Season in rows, used by MASE and by the other methods."""
        first = origins(self.rows, self.horizon)[0]
        return season_of(self.frequency, min(first, TRAINING_ROWS))


UNROLLED = "months"
"""Column name for tables with one row per year and one column per month."""


def statsmodels(dataset: str, column: str, frequency: str, rows: int, file: str = "") -> Entry:
    """Return the entry of a statsmodels column."""
    path = f"datasets/{dataset}/{file or dataset}.csv"
    return Entry("statsmodels", dataset, column, frequency, rows, path)


def sktime(dataset: str, column: str, frequency: str, rows: int) -> Entry:
    """Return the entry of an sktime column."""
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
    sktime("mitdb", "data", "samples", 7500),  # an electrocardiogram, 360 samples per second
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
    # The test folders of both packages contain outputs of other programs, not datasets.
}
