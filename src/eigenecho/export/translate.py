"""Translation of the specification to languages with the syntax of C.

The expressions of ``step`` mean the same in Python, C and JavaScript, so only statements and names
are translated. Conditions and counts that depend on a network are resolved, and the parts of a step
are written in place of their calls.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from eigenecho.export import step
from eigenecho.export.program import StepProgram

INDENT = " " * 4


@dataclass(frozen=True)
class Language:
    """What differs between languages.

    ``number`` and ``index`` begin the declaration of a variable, and ``array`` declares an array of
    a name and a size. ``state`` precedes the parts of the state, and ``prefix`` constants and
    functions. ``rounding``, if any, is a function that rounds the result of an operation.
    """

    number: str
    index: str
    array: str
    state: str
    prefix: str = ""
    rounding: str = ""


def translate(function: Callable[..., None], program: StepProgram, language: Language) -> str:
    """Return the body of a function of ``step`` for a network, as lines of code."""
    lines = _Translator(program, language).block(_statements(function))
    return "\n".join(INDENT + line for line in lines)


def _statements(function: Callable[..., None]) -> list[ast.stmt]:
    """Return the statements after the docstring."""
    tree = ast.parse(inspect.getsource(function)).body[0]
    assert isinstance(tree, ast.FunctionDef)
    return tree.body[1:]


class _Translator(ast.NodeTransformer):
    """The translation of one function; ``_declared`` has its local variables."""

    def __init__(self, program: StepProgram, language: Language) -> None:
        self._program, self._language = program, language
        self._declared: set[str] = set()
        self._in_index = False

    # Statements

    def block(self, statements: list[ast.stmt]) -> Iterator[str]:
        """Yield the lines of statements."""
        for statement in statements:
            yield from getattr(self, f"_{type(statement).__name__.lower()}")(statement)

    def _if(self, node: ast.If) -> Iterator[str]:
        assert isinstance(node.test, ast.Attribute)
        value = self._program.constant(node.test.attr)
        yield from self.block(node.body if getattr(value, "size", value) else node.orelse)

    def _for(self, node: ast.For) -> Iterator[str]:
        assert isinstance(node.iter, ast.Call)
        first, *last = (self._index(part) for part in node.iter.args)
        start, stop = (first, last[0]) if last else ("0", first)
        name, outside = ast.unparse(node.target), set(self._declared)
        lines = [INDENT + line for line in self.block(node.body)]
        self._declared = outside
        if stop != "0":
            loop = f"for ({self._language.index} {name} = {start}; {name} < {stop}; {name}++)"
            yield from [f"{loop} {{", *lines, "}"]

    def _assign(self, node: ast.Assign) -> Iterator[str]:
        (target,), value = node.targets, node.value
        if isinstance(value, ast.BinOp) and isinstance(value.left, ast.List):
            name, size = ast.unparse(target), self._index(value.right)
            if size != "0":
                yield self._language.array.format(name=name, size=size)
            return
        number = ""
        if isinstance(target, ast.Name) and target.id not in self._declared:
            self._declared.add(target.id)
            number = f"{self._language.number} "
        yield f"{number}{self._code(target)} = {self._code(value)};"

    def _augassign(self, node: ast.AugAssign) -> Iterator[str]:
        value = ast.BinOp(node.target, node.op, node.value)
        yield f"{self._code(node.target)} = {self._code(value)};"

    def _expr(self, node: ast.Expr) -> Iterator[str]:
        assert isinstance(node.value, ast.Call)
        name, arguments = ast.unparse(node.value.func), map(ast.unparse, node.value.args[1:])
        if name == "step":
            yield f"{self._language.prefix}step({', '.join(arguments)});"
            return
        part = getattr(step, name)
        yield f"/* {part.__doc__} */"
        yield from self.block(_statements(part))

    # Expressions

    def _code(self, node: ast.expr) -> str:
        return ast.unparse(self.visit(node))

    def _index(self, node: ast.expr) -> str:
        return ast.unparse(self._visit_index(node))

    def _visit_index(self, node: ast.expr) -> Any:
        outside, self._in_index = self._in_index, True
        result = self.visit(node)
        self._in_index = outside
        return result

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        """Return a number or the name of an array, or a part of the state."""
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
        """Return an element, with an index that is not rounded."""
        return ast.Subscript(self.visit(node.value), self._visit_index(node.slice))

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        """Return an operation, rounded if the language must be told so."""
        result = ast.BinOp(self.visit(node.left), node.op, self.visit(node.right))
        if self._in_index:
            is_zero = isinstance(result.left, ast.Constant) and result.left.value == 0
            return result.right if is_zero and isinstance(node.op, ast.Add) else result
        rounding = self._language.rounding
        return ast.Call(ast.Name(rounding), [result], []) if rounding else result
