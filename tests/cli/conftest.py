from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Run:
    code: int
    out: str
    err: str


@pytest.fixture
def budget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Run]:
    """Run the command line in an empty folder."""
    from budget.cli import main

    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BUDGET_TRACEBACK", raising=False)

    def run(*arguments: str) -> Run:
        monkeypatch.setattr(sys, "argv", ["budget", *arguments])
        capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            main()
        captured = capsys.readouterr()
        assert "Traceback" not in captured.out + captured.err
        return Run(int(stop.value.code or 0), captured.out, captured.err)

    return run


@pytest.fixture
def scenario(tmp_path: Path) -> Callable[..., str]:
    """Write a shipped scenario with lines replaced into the working folder."""

    def write(name: str, *replacements: tuple[str, str]) -> str:
        text = (ROOT / "scenarios" / f"{name}.toml").read_text(encoding="utf-8")
        for old, new in replacements:
            assert old in text
            text = text.replace(old, new, 1)
        (tmp_path / "mine.toml").write_text(text, encoding="utf-8")
        return "mine.toml"

    return write
