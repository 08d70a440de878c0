"""Scaling laws: symbolic formulas and fitted constants with their sources.

>>> import laws
>>> best = laws.get("besiroglu-2024").optimum(compute=5.76e23)
>>> round(best.tokens_per_param, 3)
18.391
"""

from laws.catalogue import FORMS, UnknownLawError, forms, get, names
from laws.files import LawFileError, load, loads
from laws.form import Form
from laws.frontier import Optimum
from laws.law import Constant, Law, Range, Source

__all__ = [
    "FORMS",
    "Constant",
    "Form",
    "Law",
    "LawFileError",
    "Optimum",
    "Range",
    "Source",
    "UnknownLawError",
    "forms",
    "get",
    "load",
    "loads",
    "names",
]
