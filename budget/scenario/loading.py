"""From a file, a shipped name or text to a validated `Scenario`."""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from budget.errors import ScenarioError, did_you_mean, nearest
from budget.scenario import checks, overrides
from budget.scenario.schema import ScenarioFile

_SYNONYMS = {
    "utilisation": "mfu",
    "utilization": "mfu",
    "price": "chip_price",
    "gpu": "chip",
    "gpu_price": "chip_price",
    "params": "active_params",
    "type": "kind",
}
"""What people call a key, for the hint on an unknown one."""


@dataclass(frozen=True)
class Scenario:
    """A validated scenario.

    `label` is what the user named it by (never an absolute path), `changes` what was
    overridden, `sha256` of the text before the changes.
    """

    name: str
    label: str
    file: ScenarioFile
    sha256: str
    changes: tuple[tuple[str, Any], ...]
    raw: dict[str, Any]
    text: str = ""

    def with_changes(self, changes: Iterable[tuple[str, Any]]) -> Scenario:
        """The same scenario with more keys set."""
        changes = tuple(changes)
        raw = overrides.apply(self.raw, changes)
        file = _validate(raw, _Place(self.label, "", tuple(k for k, _ in changes)))
        return replace(self, file=file, changes=(*self.changes, *changes), raw=raw)

    def source(self, key: str) -> str:
        """Where a key's value comes from: an option, a default, or the file with its comment."""
        if any(key == c or key.startswith(f"{c}.") for c, _ in self.changes):
            return "--set"
        found: Any = self.raw
        for part in key.split("."):
            found = found.get(part) if isinstance(found, dict) else None
        if found is None:
            return "default"
        return find_comment(self.text, key.split(".")) or "scenario"


def shipped() -> dict[str, Path]:
    """Scenarios that come with the package, by name."""
    package = Path(__file__).parent.parent
    # In a wheel they lie inside the package, in a checkout beside it.
    for folder in (package / "scenarios", package.parent / "scenarios"):
        files = sorted(folder.glob("*.toml"))
        if files:
            return {f.stem: f for f in files}
    return {}


def load(source: str | Path, changes: Sequence[tuple[str, Any]] = ()) -> Scenario:
    """Load a scenario from a path or the name of a shipped one.

    Raises `ScenarioError` naming file, line and key.
    """
    path, label = _locate(source)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ScenarioError(f"cannot be read: {error.strerror}", label) from None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise ScenarioError(
            f"not UTF-8: byte 0x{data[error.start]:02x}; save the file as UTF-8", f"{label}:{line}"
        ) from None
    return loads(text, path.stem, label, changes)


def loads(text: str, name: str, label: str, changes: Sequence[tuple[str, Any]] = ()) -> Scenario:
    """Load a scenario from TOML text."""
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message, _, position = str(error).partition(" (at ")
        line = re.search(r"line (\d+)", position)
        where = f"{label}:{line[1]}" if line else f"{label}:{text.count(chr(10)) + 1}"
        raise ScenarioError(f"not valid TOML: {message}", where) from None
    except (ValueError, RecursionError) as error:
        raise ScenarioError(f"not valid TOML: {error}", label) from None
    raw = overrides.apply(raw, changes)
    file = _validate(raw, _Place(label, text, tuple(k for k, _ in changes)))
    digest = hashlib.sha256(text.encode()).hexdigest()
    return Scenario(name, label, file, digest, tuple(changes), raw, text)


def _locate(source: str | Path) -> tuple[Path, str]:
    path = Path(source)
    label = path.name if path.is_absolute() else path.as_posix()
    if path.is_dir():
        raise ScenarioError("is a folder, not a scenario file", label)
    if path.exists():
        return path, label
    known = shipped()
    key = path.name.removesuffix(".toml")
    if path.parent in (Path(), Path("scenarios")) and key in known:
        return known[key], f"scenarios/{key}.toml"
    beside = [p.as_posix() for p in path.parent.glob("*.toml")] if path.parent.is_dir() else []
    hint = did_you_mean(str(source), [*known, *beside])
    raise ScenarioError(f"no such file, and no shipped scenario of that name{hint}", str(source))


@dataclass(frozen=True)
class _Place:
    """Where the keys of a scenario were written: in a file, or on the command line."""

    label: str
    text: str
    changed: tuple[str, ...]

    def of(self, key: str) -> str:
        """File, line and key; or the option that set the key."""
        for changed in self.changed:
            if key == changed or key.startswith(f"{changed}."):
                return f"--set {key}"
        line = find_line(self.text, key.split("."))
        place = f"{self.label}:{line}" if line else self.label
        return f"{place}: {key}" if key else place


def _validate(raw: dict[str, Any], place: _Place) -> ScenarioFile:
    try:
        file = ScenarioFile.model_validate(raw)
    except ValidationError as error:
        messages = [_explain(dict(e), place) for e in error.errors()]
        raise ScenarioError("\n".join(messages)) from None
    try:
        checks.check(file)
    except ScenarioError as error:
        raise ScenarioError(error.message, place.of(error.where)) from None
    return file


def find_line(text: str, path: Sequence[str]) -> int | None:
    """Line of a dotted key in TOML text, of its table if the key itself is not there."""
    table: list[str] = []
    table_line = None
    for number, line in enumerate(text.splitlines(), start=1):
        header = re.match(r"\s*\[+\s*([^\[\]]+?)\s*\]+", line)
        if header:
            table = header[1].split(".")
            if table == list(path[: len(table)]):
                table_line = number
            continue
        key = re.match(r'\s*([A-Za-z0-9_\-."]+)\s*=', line)
        if key:
            full = [*table, *key[1].replace('"', "").split(".")]
            if full == list(path) or (full == list(path[: len(full)]) and len(full) > len(table)):
                return number
    return table_line


def find_comment(text: str, path: Sequence[str]) -> str:
    """The comment right above a dotted key in TOML text, or behind it; empty if there is none."""
    number = find_line(text, path)
    if number is None:
        return ""
    lines = text.splitlines()
    behind = re.search(r"""#\s*([^"']+)$""", lines[number - 1])
    if behind:
        return behind[1].strip()
    above: list[str] = []
    for line in reversed(lines[: number - 1]):
        if not line.strip().startswith("#"):
            break
        above.insert(0, line.strip().lstrip("#").strip())
    return " ".join(above)


def _explain(error: dict[str, Any], place: _Place) -> str:
    path = [str(p) for p in error["loc"]]
    key = ".".join(path)
    where = place.of(key)
    kind = error["type"]
    if kind == "extra_forbidden":
        fields = _fields(path[:-1])
        synonyms = {s: k for s, k in _SYNONYMS.items() if k in fields}
        guesses = nearest(path[-1], fields) or [synonyms[s] for s in nearest(path[-1], synonyms)]
        valid = f"valid keys: {', '.join(fields)}"
        hint = f"did you mean {' or '.join(dict.fromkeys(guesses))}?" if guesses else valid
        return f"{where}: unknown key '{path[-1]}'; {hint}"
    if kind == "missing":
        table = "required table" if len(path) == 1 else "required key"
        return f"{where}: {table} is missing"
    if kind == "literal_error":
        expected = re.findall(r"'([^']+)'", error["ctx"]["expected"])
        hint = did_you_mean(str(error["input"]), expected)
        return f"{where}: must be one of {', '.join(expected)}; got '{error['input']}'{hint}"
    message = error["msg"].removeprefix("Value error, ")
    if kind in ("model_type", "model_attributes_type"):
        return (
            f"{where}: is a table with the keys {', '.join(_fields(path))}; got {error['input']!r}"
        )
    if kind != "value_error":
        message = f"{message[0].lower()}{message[1:]}, got {error['input']!r}"
    if key.endswith("chip_price") and "positive" in message:
        message += "; a price of zero would make hardware free"
    return f"{where}: {message}"


def _fields(path: Sequence[str]) -> list[str]:
    """Field names of the table at `path` of the schema."""
    model: type[BaseModel] = ScenarioFile
    for part in path:
        field = model.model_fields.get(part)
        if field is None:
            break
        annotation: Any = field.annotation
        options = [annotation, *getattr(annotation, "__args__", ())]
        tables = [o for o in options if isinstance(o, type) and issubclass(o, BaseModel)]
        if not tables:
            break
        model = tables[0]
    return list(model.model_fields)
