"""Print the `budget` commands of a Markdown file's shell blocks, as CI runs them."""

from __future__ import annotations

import re
import sys
from pathlib import Path


def commands(markdown: str) -> list[str]:
    """Lines of ```sh blocks that call budget, continuation lines joined."""
    blocks = re.findall(r"^```sh\n(.*?)^```", markdown, flags=re.DOTALL | re.MULTILINE)
    lines = "".join(blocks).replace("\\\n", " ").splitlines()
    return [line.strip() for line in lines if line.strip().startswith("budget ")]


if __name__ == "__main__":
    print("\n".join(commands(Path(sys.argv[1]).read_text(encoding="utf-8"))))  # noqa: T201
