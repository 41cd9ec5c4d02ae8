"""`llms.txt` at the top of the repository: what this is and where its pages are, for language models.

python -m tools.llms_txt > llms.txt
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
_HEAD: Final = """\
# specledger

> A spec is data; a run is a pure function of it; its evidence is a chain that anyone can recompute. Worlds, agents,
> rules over tool calls and tests of stated reasons are YAML; `spec` checks, runs, verifies and reports them.

Specs are files `specs/<kind>/<name>.yaml` whose first key is `spec: <kind>/v1`. `spec init` writes a project,
`spec check .` finds mistakes, each with a hint, `spec explain CODE` or `spec explain scenario.probes` says more,
`spec run NAME` leaves evidence, `spec verify FOLDER` checks it. `spec mcp` gives an agent these commands as tools.
`schemas/kinds/` has a JSON Schema of each kind, in which every key has a description.
"""


def text(root: Path = ROOT) -> str:
    """The text of the file: the pages by the headings of `docs/index.md`, then those that it does not name."""
    index = (root / "docs/index.md").read_text(encoding="utf-8")
    seen: set[str] = set()
    parts = [_HEAD]
    heading = "Documentation"
    for line in index.split("\n"):
        title = re.fullmatch(r"\| (\S.*?) \| *\|", line)
        if title is not None:
            heading = title[1][0].upper() + title[1][1:]
            parts.append(f"\n## {heading}\n\n")
        for page in re.findall(r"\(([\w-]+\.md)\)", line):
            if page not in seen:
                seen.add(page)
                parts.append(_line(root, page))
    rest = sorted({page.name for page in (root / "docs").glob("*.md")} - seen - {"index.md"})
    parts += ["\n## Other pages\n\n", *(_line(root, page) for page in rest)] if rest else []
    return "".join(parts)


def _line(root: Path, page: str) -> str:
    title = re.search(r"^# (.+)$", (root / "docs" / page).read_text(encoding="utf-8"), re.MULTILINE)
    return f"- [{page if title is None else title[1]}](docs/{page})\n"


if __name__ == "__main__":
    sys.stdout.write(text())
