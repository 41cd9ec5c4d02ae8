"""An MCP server of the notes in a folder: `python notes_server.py FOLDER`; needs `fastmcp`."""

import sys
from pathlib import Path

from fastmcp import FastMCP

FOLDER = Path(sys.argv[1])
server = FastMCP("notes")


@server.tool
def read_file(path: str) -> str:
    """Read a note."""
    return (FOLDER / path).read_text(encoding="utf-8")


@server.tool
def write_file(path: str, text: str) -> str:
    """Write a note."""
    (FOLDER / path).write_text(text, encoding="utf-8")
    return "written"


if __name__ == "__main__":
    server.run(show_banner=False)
