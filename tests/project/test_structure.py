"""The house rules, as tests."""

from __future__ import annotations

import ast
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted([*(ROOT / "laws").rglob("*.py"), *(ROOT / "budget").rglob("*.py")])


def test_layers_hold():
    linter = Path(sys.executable).parent / "lint-imports"
    done = subprocess.run(
        [str(linter), "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_no_text_is_evaluated_as_code(path):
    forbidden = {"eval", "exec", "sympify", "parse_expr", "compile"}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            owner = getattr(getattr(node.func, "value", None), "id", "")
            assert name not in forbidden or owner == "re", f"{path}:{node.lineno}"


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_modules_stay_small(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 300


def test_no_module_is_called_after_nothing():
    assert not {p.stem for p in SOURCES} & {"utils", "helpers", "common", "misc"}


def test_no_registry_host_in_the_tree():
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for name in listed.stdout.splitlines():
        path = ROOT / name
        if path.suffix in {".txt", ".toml", ".md", ".cfg", ""} and path.is_file():
            text = path.read_text(encoding="utf-8", errors="ignore")
            assert "pypi.org" not in text, name
            assert "files.pythonhosted" not in text, name


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [
            sys.executable,
            "-m",
            "build",
            "--wheel",
            "--no-isolation",
            "--outdir",
            str(folder),
            str(ROOT),
        ],
        check=True,
        capture_output=True,
    )
    (file,) = folder.glob("*.whl")
    return zipfile.ZipFile(file).namelist()


def test_wheel_holds_the_packages_the_data_and_the_scenarios(wheel):
    for needed in (
        "budget/report/templates/plan.md.j2",
        "budget/catalog/chips.toml",
        "laws/constants/besiroglu-2024.toml",
        "budget/scenarios/gpt5.toml",
        "laws/py.typed",
        "budget/py.typed",
    ):
        assert needed in wheel


def test_wheel_holds_nothing_else(wheel):
    tops = {name.split("/")[0] for name in wheel}
    assert {t for t in tops if not t.endswith(".dist-info")} == {"budget", "laws"}


def test_readme_commands_are_found():
    from readme_commands import commands

    found = commands((ROOT / "README.md").read_text(encoding="utf-8"))
    assert "budget plan scenarios/gpt5.toml" in found
    assert len(found) >= 5


def test_readme_excerpt_is_from_the_committed_report():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    report = (ROOT / "reports" / "gpt5.md").read_text(encoding="utf-8")
    for number in ("259.2T", "129.6T", "$950.1M", "143x", "112.2B", "139.7T", "$902.2M", "$47.92M"):
        assert number in readme
        assert number in report


def test_readme_python_runs():
    import doctest

    result = doctest.testfile(str(ROOT / "README.md"), module_relative=False)
    assert result.attempted >= 4
    assert result.failed == 0
