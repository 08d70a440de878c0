r"""Formulas as text, from users: our own grammar, no evaluation of text as code.

::

    sum     = product (("+" | "-") product)*
    product = signed (("*" | "/" | "×" | "÷" | "·") signed)*
    signed  = ("-" | "+")* power
    power   = atom (("^" | "**") signed)?
    atom    = number | name | function "(" sum ("," sum)* ")" | "(" sum ")"

Names are those the caller declares; functions are exp, log (natural), log10, sqrt, min and
max. Length, nesting and exponents are limited, so that any text is refused or parsed in
bounded time and memory. Errors say where and what was expected.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import sympy as sp

from laws.symbols import ramp

MAX_LENGTH = 2000
MAX_DEPTH = 40
MAX_EXPONENT = 64.0

_TOKEN = re.compile(
    r"""(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
      | (?P<name>[A-Za-z][A-Za-z0-9_]*'?)
      | (?P<operator>\*\*|[-+*/^(),×÷·])
      | (?P<space>[ \t\r\n]+)""",
    re.VERBOSE,
)
_SAME_AS = {"**": "^", "×": "*", "·": "*", "÷": "/"}


class FormulaError(ValueError):
    """A formula that is not in the grammar; `position` is the offset of the fault."""

    def __init__(self, message: str, text: str, position: int) -> None:
        self.position = position
        start = max(position - 20, 0)
        shown = text[start : position + 20].replace("\n", " ")
        super().__init__(
            f"{message} at position {position + 1}\n  {shown}\n  {' ' * (position - start)}^"
        )


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    position: int


def parse(text: str, names: Mapping[str, sp.Symbol]) -> sp.Expr:
    """Return the expression that `text` states over `names`. Raises `FormulaError`."""
    if len(text) > MAX_LENGTH:
        raise FormulaError(f"formula longer than {MAX_LENGTH} characters", text, MAX_LENGTH)
    parser = _Parser(text, names)
    expression = parser.sum(0)
    parser.expect("end")
    return expression


def _tokens(text: str) -> list[_Token]:
    found, position = [], 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise FormulaError(f"unexpected character {text[position]!r}", text, position)
        kind = str(match.lastgroup)
        if kind != "space":
            token = match.group()
            found.append(_Token(kind, _SAME_AS.get(token, token), position))
        position = match.end()
    return [*found, _Token("end", "end of formula", len(text))]


class _Parser:
    def __init__(self, text: str, names: Mapping[str, sp.Symbol]) -> None:
        self.text = text
        self.names = names
        self.tokens = _tokens(text)
        self.index = 0

    @property
    def now(self) -> _Token:
        return self.tokens[self.index]

    def fail(self, message: str, token: _Token | None = None) -> FormulaError:
        return FormulaError(message, self.text, (token or self.now).position)

    def accept(self, *operators: str) -> str | None:
        token = self.now
        if token.kind == "operator" and token.text in operators:
            self.index += 1
            return token.text
        return None

    def expect(self, what: str) -> None:
        if what == "end":
            if self.now.kind != "end":
                raise self.fail(f"unexpected '{self.now.text}'")
        elif self.accept(what) is None:
            raise self.fail(f"expected '{what}', found '{self.now.text}'")

    def sum(self, depth: int) -> sp.Expr:
        if depth > MAX_DEPTH:
            raise self.fail(f"nested deeper than {MAX_DEPTH}")
        total = self.product(depth)
        while operator := self.accept("+", "-"):
            term = self.product(depth)
            total = self.checked(total + term if operator == "+" else total - term)
        return total

    def product(self, depth: int) -> sp.Expr:
        total = self.signed(depth)
        while operator := self.accept("*", "/"):
            at = self.now
            factor = self.signed(depth)
            if operator == "/" and factor == 0:
                raise self.fail("division by zero", at)
            total = self.checked(total * factor if operator == "*" else total / factor)
        return total

    def signed(self, depth: int) -> sp.Expr:
        negative = False
        while operator := self.accept("-", "+"):
            negative ^= operator == "-"
        value = self.power(depth)
        return -value if negative else value

    def power(self, depth: int) -> sp.Expr:
        base = self.atom(depth)
        if self.accept("^") is None:
            return base
        at = self.now
        if depth >= MAX_DEPTH:
            raise self.fail(f"nested deeper than {MAX_DEPTH}")
        exponent = self.signed(depth + 1)
        if exponent.is_number and abs(float(exponent)) > MAX_EXPONENT:
            raise self.fail(f"exponent beyond {MAX_EXPONENT:g}", at)
        if base.is_number and base <= 0:
            raise self.fail("power of a number that is not positive", at)
        return self.checked(base**exponent)

    def atom(self, depth: int) -> sp.Expr:
        token = self.now
        if token.kind == "number":
            self.index += 1
            return self.number(token)
        if token.kind == "name":
            self.index += 1
            return self.name(token, depth)
        if self.accept("("):
            inner = self.sum(depth + 1)
            self.expect(")")
            return inner
        raise self.fail(f"expected a number, a name or '(', found '{token.text}'")

    def number(self, token: _Token) -> sp.Expr:
        value = float(token.text)
        if not math.isfinite(value):
            raise self.fail("number too large", token)
        return sp.Integer(int(value)) if value.is_integer() and value < 1e15 else sp.Float(value)

    def name(self, token: _Token, depth: int) -> sp.Expr:
        if token.text in self.names:
            return self.names[token.text]
        if token.text not in _FUNCTIONS:
            known = ", ".join([*self.names, *_FUNCTIONS])
            raise self.fail(f"unknown name '{token.text}' (known: {known})", token)
        self.expect("(")
        arguments = [self.sum(depth + 1)]
        while self.accept(","):
            arguments.append(self.sum(depth + 1))
        self.expect(")")
        count, function = _FUNCTIONS[token.text]
        if len(arguments) != count:
            raise self.fail(f"{token.text} takes {count} argument(s), got {len(arguments)}", token)
        numbers = [a for a in arguments if a.is_number]
        if token.text == "exp" and numbers and abs(float(numbers[0])) > 600:
            raise self.fail("exp of a number beyond 600", token)
        if token.text in ("log", "log10", "sqrt") and numbers and numbers[0] <= 0:
            raise self.fail(f"{token.text} of a number that is not positive", token)
        return self.checked(function(*arguments))

    def checked(self, value: sp.Expr) -> sp.Expr:
        """Keep folded numbers within the range of a float, as Float once they are not small."""
        if value.is_number:
            number = float(value)
            if not math.isfinite(number):
                raise self.fail("number too large")
            return value if value.is_Rational and abs(number) < 1e15 else sp.Float(number)
        return value


def _maximum(a: sp.Expr, b: sp.Expr) -> sp.Expr:
    return b + ramp(a - b)


def _minimum(a: sp.Expr, b: sp.Expr) -> sp.Expr:
    return a - ramp(a - b)


_FUNCTIONS: dict[str, tuple[int, Callable[..., sp.Expr]]] = {
    "exp": (1, sp.exp),
    "log": (1, sp.log),
    "log10": (1, lambda x: sp.log(x) / sp.log(10)),
    "sqrt": (1, sp.sqrt),
    "min": (2, _minimum),
    "max": (2, _maximum),
}
