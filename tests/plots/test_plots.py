"""Figures contain the right points, sizes, lines and labels."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import eigenecho as ee
from eigenecho import plots
from eigenecho.plots import outlook

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def mso():
    split = ee.tasks.mso_split(3)
    return split.X[split.train], split.y[split.train]


def collection(ax, gid):
    (result,) = [c for c in ax.collections if c.get_gid() == gid]
    return result


def points(ax):
    offsets = np.asarray(collection(ax, "eigenvalues").get_offsets())
    return offsets[:, 0] + 1j * offsets[:, 1]


def circles(ax):
    return {p.get_gid(): p.get_radius() for p in ax.patches}


@pytest.mark.parametrize("n", [1, 2, 7, 100])
def test_every_eigenvalue_is_drawn_once(n):
    spectrum = ee.spectra.golden(n, seed=0)
    ax = plots.spectrum(spectrum)
    np.testing.assert_array_equal(points(ax), spectrum.values)
    assert ax.get_xlabel() == "Re λ"
    assert ax.get_ylabel() == "Im λ"
    assert ax.get_aspect() == 1.0
    assert str(n) in ax.get_title()


def test_circles():
    spectrum = ee.spectra.ring(10, sr=0.8)
    assert circles(plots.spectrum(spectrum)) == {
        "unit circle": 1.0,
        "radius": pytest.approx(0.8),
    }
    assert circles(plots.spectrum(spectrum, radius=False)) == {"unit circle": 1.0}
    # On the unit circle, a second circle is omitted.
    assert circles(plots.spectrum(ee.spectra.ring(10, sr=1.0))) == {"unit circle": 1.0}


def test_growing_modes_are_highlighted_and_visible():
    spectrum = ee.Spectrum([0.5, -1.3], [0.1 + 0.2j])
    ax = plots.spectrum(spectrum)
    colours = collection(ax, "eigenvalues").get_facecolor()
    assert not np.array_equal(colours[0], colours[1])
    np.testing.assert_array_equal(colours[2], colours[0])
    assert ax.get_xlim()[0] < -1.3


def test_marker_area_is_the_modulus_of_the_weights():
    spectrum = ee.Spectrum([0.5, -0.2], [0.1 + 0.2j, 0.3 + 0.4j])
    weights = np.array([1.0, -2.0, 3.0, 4.0, 0.0, -1.0])
    ax = plots.spectrum(spectrum, weights=weights, size=100)
    expected = 100 * np.array([1, 2, 5, 5, 1, 1]) / 5
    np.testing.assert_allclose(collection(ax, "eigenvalues").get_sizes(), expected)
    # A mode of weight zero still has a dot.
    assert len(collection(ax, "positions").get_offsets()) == 6


def test_largest_weight_of_several_outputs_is_shown():
    spectrum = ee.Spectrum([0.5], [0.1 + 0.2j])
    weights = np.array([[1.0, 0.0], [3.0, 0.0], [4.0, 10.0]])
    sizes = collection(plots.spectrum(spectrum, weights=weights, size=10), "eigenvalues")
    np.testing.assert_allclose(sizes.get_sizes(), [1, 10, 10])


def test_zero_weights_cause_no_division_by_zero():
    ax = plots.spectrum(ee.Spectrum([0.5, 0.1]), weights=np.zeros(2))
    np.testing.assert_array_equal(collection(ax, "eigenvalues").get_sizes(), [0, 0])


@pytest.mark.parametrize("output_to_readout", [False, True])
def test_weights_exclude_bias_and_previous_output(mso, output_to_readout):
    X, y = mso
    esn = ee.LinearESN(20, seed=0, lr=0.5, output_to_readout=output_to_readout).fit(X, y)
    W = esn.W_out_[1 + output_to_readout :]
    given = plots.spectrum(esn.model_.spectrum, weights=W)
    for source in (esn, esn.model_):
        own = plots.spectrum(source, weights=True)
        np.testing.assert_array_equal(points(own), esn.model_.spectrum.values)
        np.testing.assert_allclose(
            collection(own, "eigenvalues").get_sizes(),
            collection(given, "eigenvalues").get_sizes(),
        )


def test_neuron_basis_shows_the_modes_of_its_matrix(mso):
    X, y = mso
    sized = []
    for basis in ("neuron", "eigen"):
        esn = ee.LinearESN(8, spectrum="matrix", basis=basis, ridge=1e-3, seed=1).fit(X, y)
        ax = plots.spectrum(esn, weights=True)
        order = np.lexsort((points(ax).imag.round(9), points(ax).real.round(9)))
        sized.append((points(ax)[order], collection(ax, "eigenvalues").get_sizes()[order]))
    (neuron, neuron_sizes), (eigen, eigen_sizes) = sized
    np.testing.assert_allclose(neuron, eigen, atol=1e-9)
    # Eigenvectors have unit length in both bases, so the weights have equal sizes.
    np.testing.assert_allclose(neuron_sizes, eigen_sizes, rtol=1e-5)


def test_spectrum_of_transformers_and_lists(mso):
    reservoir = ee.DiagonalReservoir(11, seed=0, lr=0.3).fit(mso[0])
    leaky = reservoir.spectrum_.leak(0.3).values
    np.testing.assert_array_equal(points(plots.spectrum(reservoir)), leaky)
    assert len(points(plots.spectrum([0.5, 0.1 + 0.2j, 0.1 - 0.2j]))) == 3


@pytest.mark.parametrize(
    ("source", "weights", "message"),
    [
        (ee.Spectrum([0.5]), True, "source has no readout weights"),
        (ee.Spectrum([0.5]), np.ones(2), r"\(1,\) or \(1, D_out\)"),
        (ee.Spectrum([0.5]), [np.nan], "NaN or infinity.*finite numbers"),
        (ee.LinearESN(5), None, "fitted estimator or model"),
        (np.eye(3), None, "from_matrix"),
        ("golden", None, "a Spectrum"),
    ],
)
def test_bad_sources_and_weights(source, weights, message):
    with pytest.raises(ValueError, match=message):
        plots.spectrum(source, weights=weights)


def test_prediction_and_error():
    t = np.arange(50.0)
    truth, guess = np.sin(t), np.sin(t) + 1e-3 * np.cos(t)
    guess[7] = truth[7]
    ax = plots.prediction(truth, guess, start=700)
    below = ax.figure.axes[1]
    true_line, guess_line = ax.get_lines()
    np.testing.assert_array_equal(true_line.get_xdata(), 700 + np.arange(50))
    np.testing.assert_array_equal(true_line.get_ydata(), truth)
    np.testing.assert_array_equal(guess_line.get_ydata(), guess)
    (error_line,) = below.get_lines()
    error = error_line.get_ydata()
    assert np.isnan(error[7])
    np.testing.assert_allclose(np.delete(error, 7), np.delete(np.abs(truth - guess), 7))
    assert below.get_yscale() == "log"
    assert below.get_xlabel() == "time step t"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["truth", "prediction"]


def test_prediction_of_several_methods_on_given_axes():
    from matplotlib.figure import Figure

    ax = Figure().add_subplot()
    y = np.zeros((20, 2))
    assert plots.prediction(y, {"a": y + 1, "b": y + 2}, ax=ax) is ax
    assert len(ax.figure.axes) == 1
    assert len(ax.get_lines()) == 6
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["truth", "a", "b"]
    assert ax.get_xlabel() == "time step t"


def test_perfect_prediction_can_be_drawn(tmp_path):
    y = np.ones(10)
    plots.prediction(y, y).figure.savefig(tmp_path / "perfect.png")


@pytest.mark.parametrize(
    ("truth", "guess"), [(np.ones(5), np.ones(6)), (np.ones((5, 1, 1)), np.ones(5)), ([], [])]
)
def test_prediction_shapes(truth, guess):
    with pytest.raises(ValueError, match=r"^Invalid "):
        plots.prediction(truth, guess)


def test_gallery_has_a_panel_for_every_law():
    figure = plots.spectra_gallery(30)
    titles = [ax.get_title() for ax in figure.axes if ax.axison]
    assert titles == list(ee.spectra.LAWS)
    assert all(len(points(ax)) == 30 for ax in figure.axes if ax.axison)
    chosen = plots.spectra_gallery(10, sr=0.5, laws=["ring"])
    np.testing.assert_allclose(np.abs(points(chosen.axes[0])), 0.5)
    with pytest.raises(ValueError, match="golden"):
        plots.spectra_gallery(10, laws=["goldne"])


def converted(form):
    rng = np.random.default_rng(0)
    W = rng.normal(size=(30, 30)) * (rng.random((30, 30)) < 0.06)
    W = W / np.abs(np.linalg.eigvals(W)).max()
    return ee.diagonalize(W, np.ones((1, 30)), np.ones((30, 1)), form=form)


@pytest.mark.parametrize("form", ["sparse", "dense"])
def test_certificate_is_drawn(form, tmp_path):
    model = converted(form)
    figure = plots.certificate(model)
    eigenvalues, difference, time = figure.axes
    assert len(points(eigenvalues)) == 30
    assert model.certificate.change in time.get_title()
    heights = [bar.get_height() for bar in time.patches]
    expected = [model.certificate.products_before, model.certificate.products_after]
    np.testing.assert_allclose(heights, expected)
    report = model.certificate
    assert report.kept == (form == "sparse")
    if report.kept:
        assert not difference.patches
        assert difference.get_title() == "W is unchanged"
    else:
        steps = difference.patches[0].get_data()
        np.testing.assert_allclose(steps.values, np.maximum(report.along, 2.3e-16), rtol=0.1)
        assert steps.edges[-1] == report.steps
        assert difference.get_title() == f"largest difference {report.difference:.1e}"
    lines = [c for c in difference.collections if c.get_gid() == "error"]
    assert len(lines) == (report.error is not None)
    for line in lines:
        height = max(report.error, 2.3e-16)
        expected = [[0, height], [report.error_steps, height]]
        np.testing.assert_allclose(line.get_segments()[0], expected, rtol=0.1)
    assert eigenvalues.get_title() == "30 eigenvalues in a matrix (orange)"
    figure.savefig(tmp_path / "certificate.png")


def test_only_converted_networks_have_a_certificate():
    with pytest.raises(ValueError, match=r"returned by .*diagonalize"):
        plots.certificate(ee.LinearESN(5, seed=0).fit(np.ones((9, 1)), np.ones(9)).model_)


def test_shaded_intervals_do_not_hide_the_lines():
    ax = plots.style.new_figure(4, 3).add_subplot()
    x, y = np.arange(5), np.linspace(0.0, 1.0, 5)
    for start in (0, 5):
        outlook.draw_forecast(ax, x + start, y, "forecast")
    bottom, top = ax.get_ylim()
    blocks = [(x, y - 0.1, y + 0.1), (x + 5, y - 1e6, y + 1e6)]
    outlook.draw_intervals(ax, blocks, 0.9)
    first, _ = (one.get_paths()[0].vertices for one in ax.collections)
    assert first[:, 1].min() == pytest.approx(-0.1)
    assert first[:, 1].max() == pytest.approx(1.1)
    low, high = ax.get_ylim()
    room = outlook.ROOM * (top - bottom)
    assert (low, high) == pytest.approx((bottom - room, top + room))


def test_drawing_does_not_change_settings_or_import_pyplot():
    code = """
import sys
import matplotlib
before = dict(matplotlib.rcParams)
import eigenecho as ee
ee.plots.spectrum(ee.spectra.golden(9, seed=0))
ee.plots.prediction([1.0, 2.0], [1.0, 2.1])
assert dict(matplotlib.rcParams) == before
assert "matplotlib.pyplot" not in sys.modules
"""
    # Reading an unset backend from rcParams would import pyplot.
    environment = {**os.environ, "MPLBACKEND": "agg"}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)


def test_matplotlib_is_needed_only_for_drawing():
    code = """
import sys
import eigenecho as ee
ee.plots.spectrum
assert "matplotlib" not in sys.modules
sys.modules["matplotlib"] = sys.modules["matplotlib.figure"] = None
try:
    ee.plots.spectrum(ee.spectra.golden(9, seed=0))
except ImportError as error:
    assert "eigenecho[cli]" in str(error), error
else:
    raise AssertionError("drew without matplotlib")
"""
    subprocess.run([sys.executable, "-c", code], check=True)
