"""Errors for people. Each class carries the exit code of the command line."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class BudgetError(Exception):
    """Base of every error a user can cause; the message is all they see."""

    exit_code = 2


class ScenarioError(BudgetError):
    """A scenario that cannot be read or does not make sense. `where` is file, line or key."""

    def __init__(self, message: str, where: str = "") -> None:
        self.where = where
        self.message = message
        super().__init__(f"{where}: {message}" if where else message)


class OutputError(BudgetError):
    """A result that cannot be written; whatever was there before is untouched."""


def nearest(name: str, choices: Iterable[str]) -> list[str]:
    """At most three of `choices` that look like `name`, best first."""
    folded = {c.casefold(): c for c in choices}
    found = difflib.get_close_matches(name.casefold(), folded, n=3, cutoff=0.6)
    return [folded[f] for f in found]


def did_you_mean(name: str, choices: Iterable[str]) -> str:
    """``; did you mean a or b?``, or the empty string."""
    found = nearest(name, choices)
    return f"; did you mean {' or '.join(found)}?" if found else ""
