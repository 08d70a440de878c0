"""Write files whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from budget.errors import OutputError


def write(files: Mapping[Path, str]) -> None:
    """Write all files: each to a temporary file first, renamed only once all are on disk.

    Links are followed; what exists and is not a regular file (a device, a pipe) is written to
    and never replaced. Raises `OutputError`; no file that existed has changed then, unless a
    rename itself fails.
    """
    staged: list[tuple[str, Path]] = []
    path = Path()
    try:
        for path, content in files.items():
            if is_special(path):
                path.write_text(content, encoding="utf-8")
            else:
                staged.append(_stage(path.resolve(), content))
        for name, target in staged:
            Path(name).replace(target)
    except (FileExistsError, NotADirectoryError):
        raise OutputError(f"cannot write {path}: {path.parent} is not a folder") from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise OutputError(f"cannot write {path}: {reason}; what was there is untouched") from None
    finally:
        for name, _ in staged:
            Path(name).unlink(missing_ok=True)


def is_special(path: Path) -> bool:
    """Whether something other than a regular file or a folder is at `path`."""
    try:
        return path.exists() and not path.is_file() and not path.is_dir()
    except OSError:
        return False


def is_folder(path: Path) -> bool:
    """`Path.is_dir`, False also where the path may not be looked at."""
    try:
        return path.is_dir()
    except OSError:
        return False


def _stage(path: Path, content: str) -> tuple[str, Path]:
    """Write `content` beside `path` under a temporary name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir():
        raise IsADirectoryError(21, "Is a directory")
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(content)
        # mkstemp is private to the user; a report is as public as any new file.
        umask = os.umask(0)
        os.umask(umask)
        Path(name).chmod(0o666 & ~umask)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise
    return name, path
