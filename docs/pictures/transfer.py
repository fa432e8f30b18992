"""Poles and zeros of a trained network, and its gain."""

import numpy as np
from matplotlib.patches import Circle
from scipy import signal

import eigenecho as ee
from eigenecho.plots.style import BLACK, BLUE, GREY, VERMILLION, new_figure

u = ee.tasks.mackey_glass(2000, seed=0)
esn = ee.LinearESN(12, sr=0.8, standardize=True, warmup=100, ridge=1e-6, seed=0)
model = esn.fit(u[:-1], u[1:]).model_
poles = np.concatenate([model.spectrum.real, model.spectrum.pairs, model.spectrum.pairs.conj()])
W, W_in, _, _, W_out = model.matrices("work")
h = [(W_in @ np.linalg.matrix_power(W, k) @ W_out[1:]).item() for k in range(400)]
a = np.poly(poles).real
b = np.convolve(a, h)[:12]
zeros = np.roots(b)
frequency = np.linspace(1e-3, np.pi, 300)
gain = np.abs([np.sum(h * np.exp(-1j * w * np.arange(400))) for w in frequency])
rational = np.abs(signal.freqz(b, a, frequency)[1])

figure = new_figure(4.8, 2.3)
plane, right = figure.subplots(1, 2, width_ratios=(1, 1.4))
plane.add_patch(Circle((0, 0), 1, fill=False, color=GREY))
plane.plot(poles.real, poles.imag, "x", color=BLUE, markersize=6, label="poles")
inside = zeros[np.abs(zeros) < 1.6]
plane.plot(
    inside.real, inside.imag, "o", color=VERMILLION, fillstyle="none", markersize=6, label="zeros"
)
plane.set(aspect="equal", xlim=(-1.7, 1.7), ylim=(-1.7, 1.7), xticks=[-1, 0, 1], yticks=[-1, 0, 1])
plane.legend(loc="upper left", ncols=2, columnspacing=0.6, handletextpad=0.1, borderpad=0)
right.semilogy(frequency, gain, color=BLACK, linewidth=4, alpha=0.3, label="network")
right.semilogy(frequency, rational, color=BLUE, linewidth=1.2, label="b(z) / a(z)")
right.set(xlabel="frequency (rad per step)", ylabel="gain")
right.legend()
