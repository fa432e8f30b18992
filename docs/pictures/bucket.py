"""The same rain in three leaky buckets."""

import numpy as np

from eigenecho.plots.style import BLUE, GREEN, GREY, VERMILLION, new_figure

rng = np.random.default_rng(0)
rain = rng.exponential(1.0, 60) * (rng.random(60) < 0.3)
figure = new_figure(4.8, 3.0)
axes = figure.subplots(4, 1, sharex=True, height_ratios=(0.7, 1, 1, 1))
axes[0].bar(np.arange(60), rain, color=GREY, width=0.8)
axes[0].set_ylabel("rain")
for ax, (factor, color) in zip(
    axes[1:], {0.5: VERMILLION, 0.9: BLUE, 0.98: GREEN}.items(), strict=True
):
    level, levels = 0.0, []
    for value in rain:
        level = factor * level + value
        levels.append(level)
    ax.fill_between(np.arange(60), levels, color=color, alpha=0.35, linewidth=0)
    ax.plot(levels, color=color)
    ax.set_ylabel(f"λ = {factor:g}")
for ax in axes:
    ax.set(yticks=[], ylim=(0, None))
axes[-1].set_xlabel("day")
