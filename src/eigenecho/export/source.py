"""Source code of a network: templates, filled with translated functions and constants."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib.resources import files
from string import Template
from typing import Any

import numpy as np

from eigenecho.export import step
from eigenecho.export.program import StepProgram
from eigenecho.export.translate import Language, translate
from eigenecho.types import Array

FORMATS = {".c": (".c", ".h"), ".js": (".js",)}
"""Suffixes of all files of a language, by the suffix that selects the language."""

VALUES = ("inputs", "outputs", "units", "known", "scratch", "dtype", "state_bytes")
"""Properties of a program that templates use."""

CHOICE = re.compile(r"^@if (\w+)\n((?:(?!@if |@end).*\n)*)@end\n", re.MULTILINE)
"""Pattern of the lines of a template that depend on a condition."""

PER_LINE = 4
"""Number of array entries per line."""


def source_files(
    suffix: str, program: StepProgram, run: dict[str, Array], name: str, about: dict[str, str]
) -> dict[str, str]:
    """Return the source code of a network as a dict from file suffix to text.

    ``run`` is the test vector, and ``about`` contains further values for the template
    ``comment.txt``.
    """
    real, language, constant = (_c if suffix == ".c" else _javascript)(name, program.dtype)
    arrays = {**program.arrays, **{key: part for key, part in run.items() if part.size}}
    values = {
        **about,
        "name": name,
        "real": real,
        "bytes": program.dtype.itemsize,
        **{key: getattr(program, key) for key in VALUES},
        "largest": f"{np.abs(run['test_outputs']).max():.3g}",
        "test_steps": len(run["test_outputs"]),
        "test_forecasts": len(run.get("test_forecasts", ())),
        "constants": "\n".join(constant(key, part) for key, part in arrays.items()),
        "init": translate(step.init, program, language),
        "step": translate(step.step, program, language),
    }
    if program.known is not None:
        values["forecast_step"] = translate(step.forecast_step, program, language)
    conditions = {
        **values,
        "no_scratch": not program.scratch,
        "generator": not program.inputs,
        "autonomous": program.known == 0,
    }
    comment = map(_comment_line, _filled("comment.txt", values, conditions).splitlines())
    values["about"] = "\n".join(["/*", *comment, " */"])
    return {key: _filled(f"network{key}", values, conditions) for key in FORMATS[suffix]}


def _comment_line(text: str) -> str:
    """Return a text as a comment line, changed so that the text cannot end the comment."""
    line = "".join(c if c.isprintable() else " " for c in text)
    line = re.sub(r"\*(?=/)|/(?=\*)|\?(?=\?)", r"\g<0> ", line)  # ?? begins a trigraph
    return f" * {line}".rstrip()


def _filled(template: str, values: dict[str, Any], conditions: dict[str, Any]) -> str:
    """Return the text of a template after conditions and values are filled in."""
    text = (files("eigenecho.export") / "templates" / template).read_text("utf-8")
    while CHOICE.search(text):  # from the inside out
        text = CHOICE.sub(lambda found: found[2] if conditions[found[1]] else "", text)
    return Template(text).substitute(values)


Details = tuple[str, Language, Callable[[str, Array], str]]
"""Type of numbers or arrays, language, and a function that defines a constant array."""


def _c(name: str, dtype: np.dtype) -> Details:
    is_single = dtype == np.float32
    real, suffix = f"{name}_real", "f" * is_single

    def digits(value: float) -> str:
        """Return a number as an exact hexadecimal literal, without trailing zeros."""
        mantissa, _, exponent = value.hex().partition("p")
        return f"{mantissa.rstrip('0').rstrip('.')}p{exponent}{suffix}"

    def braces(values: Array) -> str:
        if values.ndim > 1:
            return "{\n" + ",\n".join(map(braces, values)) + "}"
        return f"{{{_in_lines(values, digits)}}}"

    def constant(key: str, values: Array) -> str:
        kind = real if values.dtype.kind == "f" else f"{values.dtype}_t"
        sizes = "".join(f"[{size}]" for size in values.shape)
        return f"static const {kind} {name}_{key}{sizes} = {braces(values)};"

    language = Language(real, "size_t", f"{real} {{name}}[{{size}}];", "state->", f"{name}_")
    return "float" if is_single else "double", language, constant


def _javascript(name: str, dtype: np.dtype) -> Details:
    is_single = dtype == np.float32
    real = "Float32Array" if is_single else "Float64Array"

    def array(values: Array) -> str:
        if values.ndim > 1:
            return "[\n" + ",\n".join(map(array, values)) + "]"
        kind = real if values.dtype.kind == "f" else f"Uint{8 * values.dtype.itemsize}Array"
        return f"new {kind}([{_in_lines(values, repr)}])"

    # Numbers are doubles: rounding the result of each operation is exact single precision.
    rounding = "Math.fround" if is_single else ""
    new = f"const {{name}} = new {real}({{size}});"
    language = Language("let", "let", new, "state.", rounding=rounding)
    return real, language, lambda key, values: f"const {key} = {array(values)};"


def _in_lines(values: Array, digits: Callable[[float], str]) -> str:
    """Return numbers separated by commas, a few per line."""
    texts = [str(v) if isinstance(v, int) else digits(v) for v in values.tolist()]
    rows = (", ".join(texts[i : i + PER_LINE]) for i in range(0, len(texts), PER_LINE))
    return ",\n ".join(rows)
