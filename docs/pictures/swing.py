"""The powers of one complex eigenvalue."""

import numpy as np
from matplotlib.patches import Circle

from eigenecho.plots.style import BLUE, GREY, VERMILLION, new_figure

powers = (0.95 * np.exp(0.5j)) ** np.arange(50)
figure = new_figure(4.8, 2.1)
figure.get_layout_engine().set(wspace=0.12)
plane, time = figure.subplots(1, 2, width_ratios=(1, 1.9))
plane.add_patch(Circle((0, 0), 1, fill=False, color=GREY))
plane.plot(powers.real, powers.imag, color=BLUE, linewidth=0.7)
plane.plot(powers.real, powers.imag, "o", color=BLUE, markersize=2.5)
plane.plot(powers[1].real, powers[1].imag, "o", color=VERMILLION, markersize=6)
plane.annotate("λ", (powers[1].real, powers[1].imag), xytext=(4, 3), textcoords="offset points")
plane.set(xticks=[-1, 0, 1], yticks=[-1, 0, 1], aspect="equal", xlabel="real", ylabel="imaginary")
time.plot(powers.real, "o-", color=BLUE, markersize=2.5, linewidth=1)
time.plot(0.95 ** np.arange(50), color=GREY, linestyle="--", linewidth=1)
time.text(5, 0.86, "ρᵏ")
time.set(xlabel="step k", ylabel="real part of λᵏ", ylim=(-1.05, 1.1))
