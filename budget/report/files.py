"""Write files whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from budget.errors import OutputError


def write(files: Mapping[Path, str]) -> None:
    """Write all files: each to a temporary file first, renamed only once all are on disk.

    Raises `OutputError`; no file that existed has changed then, unless a rename itself fails.
    """
    staged: list[tuple[str, Path]] = []
    try:
        for path, content in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.is_dir():
                raise IsADirectoryError(21, "Is a directory")
            handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
            staged.append((name, path))
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
                stream.write(content)
            # mkstemp is private to the user; a report is as public as any new file.
            umask = os.umask(0)
            os.umask(umask)
            Path(name).chmod(0o666 & ~umask)
        for name, path in staged:
            Path(name).replace(path)
    except (FileExistsError, NotADirectoryError):
        raise OutputError(f"cannot write {path}: {path.parent} is not a folder") from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise OutputError(f"cannot write {path}: {reason}; what was there is untouched") from None
    finally:
        for name, _ in staged:
            Path(name).unlink(missing_ok=True)
