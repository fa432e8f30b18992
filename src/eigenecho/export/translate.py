"""Translation of the specification to languages with C-like syntax.

The expressions of ``step`` mean the same in Python, C and JavaScript, so only statements and names
are translated. Conditions and counts that depend on a network are resolved, and the parts of a step
are written in place of their calls.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from eigenecho.export import step
from eigenecho.export.program import StepProgram

INDENT = " " * 4


@dataclass(frozen=True)
class Language:
    """Syntax of a language.

    ``number`` and ``index`` begin the declaration of a variable, and ``array`` declares an array
    with a name and a size. ``state`` is the prefix of the parts of the state, and ``prefix`` that
    of constants and functions. ``rounding``, if any, is the function that rounds the result of an
    operation.
    """

    number: str
    index: str
    array: str
    state: str
    prefix: str = ""
    rounding: str = ""


def translate(function: Callable[..., None], program: StepProgram, language: Language) -> str:
    """Translate the body of a function of ``step`` to lines of code for a network."""
    lines = _Translator(program, language).block(_statements(function))
    return "\n".join(INDENT + line for line in lines)


def _statements(function: Callable[..., None]) -> list[ast.stmt]:
    """Return the statements of a function after its docstring."""
    tree = ast.parse(inspect.getsource(function)).body[0]
    assert isinstance(tree, ast.FunctionDef)
    return tree.body[1:]


class _Translator(ast.NodeTransformer):
    """Translator from Python statements to lines of code."""

    def __init__(self, program: StepProgram, language: Language) -> None:
        self._program, self._language = program, language
        exact = replace(language, rounding="")
        self._indices = _Translator(program, exact) if language.rounding else self

    def block(self, statements: list[ast.stmt]) -> Iterator[str]:
        """Yield the lines of code for statements."""
        for statement in statements:
            yield from getattr(self, f"_{type(statement).__name__.lower()}")(statement)

    def _if(self, node: ast.If) -> Iterator[str]:
        assert isinstance(node.test, ast.Attribute)
        value = self._program.constant(node.test.attr)
        yield from self.block(node.body if getattr(value, "size", value) else node.orelse)

    def _for(self, node: ast.For) -> Iterator[str]:
        assert isinstance(node.iter, ast.Call)
        start, stop = ["0", *map(self._indices.code, node.iter.args)][-2:]
        if stop != "0":
            name = ast.unparse(node.target)
            yield f"for ({self._language.index} {name} = {start}; {name} < {stop}; {name}++) {{"
            yield from (INDENT + line for line in self.block(node.body))
            yield "}"

    def _annassign(self, node: ast.AnnAssign) -> Iterator[str]:
        name, value = ast.unparse(node.target), node.value
        if isinstance(value, ast.BinOp) and isinstance(value.left, ast.List):
            yield self._language.array.format(name=name, size=self._indices.code(value.right))
        elif value is not None:
            yield f"{self._language.number} {name} = {self.code(value)};"

    def _assign(self, node: ast.Assign) -> Iterator[str]:
        yield f"{self.code(node.targets[0])} = {self.code(node.value)};"

    def _augassign(self, node: ast.AugAssign) -> Iterator[str]:
        value = ast.BinOp(node.target, node.op, node.value)
        yield f"{self.code(node.target)} = {self.code(value)};"

    def _expr(self, node: ast.Expr) -> Iterator[str]:
        assert isinstance(node.value, ast.Call)
        name, arguments = ast.unparse(node.value.func), map(ast.unparse, node.value.args[1:])
        if name == "step":
            yield f"{self._language.prefix}step({', '.join(arguments)});"
        else:
            part = getattr(step, name)
            yield f"/* {part.__doc__} */"
            yield from self.block(_statements(part))

    def code(self, node: ast.expr) -> str:
        """Return an expression as code."""
        return ast.unparse(self.visit(node))

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        """Return a number, the name of an array, or a part of the state."""
        assert isinstance(node.value, ast.Name)
        if node.value.id == "state":
            return ast.Name(f"{self._language.state}{node.attr}")
        value = self._program.constant(node.attr)
        is_array = hasattr(value, "shape")
        return ast.Name(f"{self._language.prefix}{node.attr}") if is_array else ast.Constant(value)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """Return the length of an array."""
        assert isinstance(node.args[0], ast.Attribute)
        return ast.Constant(len(self._program.constant(node.args[0].attr)))

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        """Return an array element without rounding its index."""
        return ast.Subscript(self.visit(node.value), self._indices.visit(node.slice))

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        """Return an operation, rounded explicitly if the language requires it."""
        left, right = self.visit(node.left), self.visit(node.right)
        if isinstance(node.op, ast.Add) and isinstance(left, ast.Constant) and left.value == 0:
            return right  # an index without an offset
        result = ast.BinOp(left, node.op, right)
        rounding = self._language.rounding
        return ast.Call(ast.Name(rounding), [result], []) if rounding else result
