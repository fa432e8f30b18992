"""The plot of a reduction shows the values of its certificate."""

from __future__ import annotations

import numpy as np
import pytest

import eigenecho as ee

pytest.importorskip("matplotlib")


def esn():
    u = ee.tasks.mso(3, steps=401)
    return ee.LinearESN(40, sr=0.9, warmup=50, seed=0).fit(u[:-1], u[1:])


@pytest.mark.parametrize("weighting", ["white", "statistics"])
def test_values_and_remaining_poles_are_drawn(weighting):
    source = esn()
    small = source.model_.reduce(tol=1e-3) if weighting == "white" else source.reduce(tol=1e-3)
    figure = ee.plots.reduction(small)
    values, poles = figure.axes
    model = getattr(small, "model_", small)
    kept = next(line for line in values.lines if line.get_label() == "kept")
    assert len(kept.get_xdata()) == model.units
    share = model.certificate.values / model.certificate.values[0]
    np.testing.assert_allclose(kept.get_ydata(), share[: model.units])
    (drawn,) = [c for c in poles.collections if c.get_gid() == "kept"]
    assert len(drawn.get_offsets()) == model.units
    assert f"40 → {model.units} modes" in figure.get_suptitle()


def test_other_models_are_rejected():
    with pytest.raises(ValueError, match=r"source.*returned by reduce"):
        ee.plots.reduction(esn())
    with pytest.raises(ValueError, match=r"returned by .*diagonalize"):
        ee.plots.certificate(esn().model_.reduce(units=3))
