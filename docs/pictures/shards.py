"""Shards of one long series: each worker reads its rows, and states are carried over."""

from eigenecho.plots.style import BLACK, BLUE, GREEN, ORANGE, new_figure

figure = new_figure(4.8, 2.2)
ax = figure.subplots()
for i, (color, name) in enumerate(zip((BLUE, GREEN, ORANGE), "ABC", strict=True)):
    ax.barh(2, 0.96, left=i, height=0.45, color=color, alpha=0.35)
    ax.text(i + 0.48, 2, f"shard {i + 1}", ha="center", va="center")
    ax.barh(1, 0.55, left=i + 0.2, height=0.45, color=color, alpha=0.7)
    ax.text(i + 0.475, 1, f"statistic {i + 1}", ha="center", va="center")
    arrow = {"arrowstyle": "->", "color": BLACK}
    ax.annotate("", (i + 0.48, 1.26), (i + 0.48, 1.74), arrowprops=arrow)
    ax.text(i + 0.52, 1.5, f"worker {name}", va="center")
    ax.annotate("", (1.48, 0.25), (i + 0.48, 0.74), arrowprops=arrow)
    if i:
        ax.annotate("", (i + 0.02, 2.36), (i - 0.06, 2.36), arrowprops=arrow)
        ax.text(i, 2.42, "state", ha="center", va="bottom")
ax.text(1.48, 0.05, "merged: the readout weights", ha="center", va="center")
ax.set(xlim=(-0.02, 3), ylim=(-0.1, 2.75))
ax.axis("off")
