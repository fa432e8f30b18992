"""
How do I specify eigenvalues explicitly?
========================================

A mode λ = ρ exp(2πi/P) oscillates with a period of P steps and decays by a factor of ρᵏ in k steps.
For hourly data, for example, combine modes with daily and weekly periods and slow modes for the
level.
"""

import matplotlib.pyplot as plt
import numpy as np

import eigenecho as ee

plt.style.use("seaborn-v0_8-colorblind")

# %%
# This spectrum has eleven harmonics of the day, three harmonics of the week, and real modes with
# time constants from hours to weeks. A ``Spectrum`` consists of real eigenvalues and one eigenvalue
# of each conjugate pair. Combine spectra with ``+``.

day = ee.Spectrum([], 0.995 * np.exp(2j * np.pi * np.arange(1, 12) / 24))
week = ee.Spectrum([], 0.999 * np.exp(2j * np.pi * np.arange(1, 4) / 168))
slow = ee.spectra.time_constants(8, sr=0.999)
by_hand = day + week + slow
print(by_hand)

# %%
# A *law* (a rule that generates eigenvalues) can draw the remaining eigenvalues. ``sr`` applies
# only to the eigenvalues that are drawn.

law = day + week + ee.spectra.log_ring
esn = ee.LinearESN(80, spectrum=law, sr=0.99, seed=0)

# %%

figure, (plane, ringing) = plt.subplots(
    1, 2, figsize=(9, 4), width_ratios=(1, 1.5), layout="constrained"
)
parts = {"day": (day, "C0"), "week": (week, "C2"), "slow": (slow, "C3")}
for name, (part, color) in parts.items():
    ee.plots.spectrum(part, ax=plane, color=color, size=28, radius=False, title="")
    plane.scatter([], [], color=color, s=28, label=name)
drawn = law(80, sr=0.99, seed=0)
rest = ee.Spectrum(drawn.real, drawn.pairs[day.pairs.size + week.pairs.size :])
ee.plots.spectrum(rest, ax=plane, color="0.6", size=7, radius=False, title="")
plane.scatter([], [], color="0.6", s=7, label="drawn by log_ring")
figure.legend(*plane.get_legend_handles_labels(), loc="outside upper left", ncols=4, frameon=False)

hours = np.arange(24 * 15)
for height, (name, (part, color)) in zip((4, 2, 0), parts.items(), strict=True):
    mode = part.pairs[0] if part.pairs.size else part.real[0]
    ringing.axhline(height, color="0.85", linewidth=0.8)
    ringing.plot(hours / 24, height + (mode**hours).real, color=color, label=name)
ringing.set(xlabel="days after an impulse", yticks=(4, 2, 0), yticklabels=parts, xlim=(0, 15))
ringing.set_title("response of the first mode", fontsize=10)

# %%
# Compare this spectrum with two laws, using the same number of units, on a simulated load that is
# high during working hours and lower at weekends. The values are the RMSE of one-week forecasts
# from four origins. The noise has a standard deviation of 0.1.

t = np.arange(24 * 7 * 16)
working = np.isin(t % 24, np.arange(8, 19))
weekend = t // 24 % 7 > 4
noise = np.random.default_rng(0).normal(0, 0.1, t.size)
load = (working * np.where(weekend, 0.4, 1.0) + 0.2 * np.sin(2 * np.pi * t / 24) + noise)[:, None]
for name, spectrum in {"explicit": by_hand, "golden": "golden", "log_ring": "log_ring"}.items():
    esn = ee.LinearESN(
        by_hand.units,
        spectrum=spectrum,
        sr=0.99,
        standardize=True,
        warmup=336,
        ridge="auto",
        seed=0,
    ).fit(load[:2000], load[1:2001])
    ends = (2100, 2200, 2300, 2400)
    errors = [ee.metrics.rmse(load[n : n + 168], esn.forecast(168, context=load[:n])) for n in ends]
    print(f"{name:8s} {np.mean(errors):.3f}")

# %%
# ``Forecaster(spectrum=by_hand)`` uses this spectrum instead of spectra chosen to match the
# seasons.
