"""How a recursion runs in parallel: chunks first, then their ends, then all rows."""

from eigenecho.plots.style import BLACK, BLUE, GREEN, VERMILLION, new_figure

figure = new_figure(4.8, 2.1)
ax = figure.subplots()
for i in range(4):
    ax.barh(2, 0.94, left=i, height=0.4, color=BLUE, alpha=0.35)
    ax.text(i + 0.47, 2, "from zero", ha="center", va="center")
    ax.plot(i + 0.9, 1.2, "o", color=VERMILLION, markersize=7)
    ax.annotate(
        "", (i + 0.9, 1.3), (i + 0.9, 1.76), arrowprops={"arrowstyle": "->", "color": BLACK}
    )
    if i:
        arrow = {"arrowstyle": "->", "color": VERMILLION}
        ax.annotate("", (i + 0.83, 1.2), (i - 0.03, 1.2), arrowprops=arrow)
    ax.barh(0.4, 0.94, left=i, height=0.4, color=GREEN, alpha=0.5)
for y, text in (
    (2, "1. all chunks\nat once"),
    (1.2, "2. states at\nthe ends"),
    (0.4, "3. add the state\nbefore the chunk"),
):
    ax.text(-0.1, y, text, ha="right", va="center")
ax.text(1.97, 0.4, "λᵏ r(end of the chunk before) + row of step 1", ha="center", va="center")
ax.set(xlim=(-1.15, 4), ylim=(0.1, 2.3))
ax.axis("off")
