"""Formulas of docstrings become TeX on the site."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "docs" / "_ext"))
from formulas import to_tex

PAIRS = {
    "λ_k = sr exp(2πi k / n)": r"λ_{k} = \text{sr}\ \operatorname{exp}(2πi k / n)",
    "√(k / 2m) · XᵀX⁻¹": r"\sqrt{k / 2m} \cdot  X^{\top }X^{-1}",
    "√((a) + √U(0, 1)) c_kᵀ": r"\sqrt{(a) + \sqrt{U(0, 1)}} c_{k}^{\top }",
    "Σ_{i≤k} λ̄_i ŷ^(T−t)": r"\sum _{i\le k} \bar{λ}_{i} \hat{y}^{(T-t)}",
    "a,   kept where b": r"a,\qquad \text{kept}\ \text{where}\ b",
    "a = 1\nb = noise_": r"\begin{aligned}& a = 1 \\ & b = \text{noise}\_\end{aligned}",
}


@pytest.mark.parametrize("text", PAIRS)
def test_formulas(text):
    assert to_tex(text) == PAIRS[text]


def test_open_bracket():
    with pytest.raises(ValueError, match="not closed"):
        to_tex("√(a")
