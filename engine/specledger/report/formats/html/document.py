"""A whole HTML document: a body between a head that lets nothing in, and its own script and style."""

from __future__ import annotations

from base64 import b64encode
from importlib.resources import files
from string import Template

from specledger.core.digest import sha256_raw
from specledger.evidence.layout import ENGINE
from specledger.report.formats.html.elements import Markup, words


def document(
    title: str, template: str, values: dict[str, Markup | str], scripts: tuple[str, ...], state: str = ""
) -> str:
    """A document of which no part comes from elsewhere.

    Args:
        title: Its title.
        template: The file of its body.
        values: The places in the body.
        scripts: The files of its script, in order; the last part may be statements.
        state: What its script has found before it runs; empty if it judges nothing.
    """
    style, script = asset("plot.css") + asset("style.css"), "".join(map(asset, scripts))
    script = f'"use strict";\n(() => {{\n{script}}})();\n'
    generator = words(f"{ENGINE['name']} {ENGINE['version']}")
    frame = {
        "title": words(title),
        "state": f' data-state="{state}"' if state else "",
        "generator": generator,
        "style": style,
        "script": script,
        "style_digest": _policy(style),
        "script_digest": _policy(script),
        "body": Template(asset(template)).substitute(values, generator=generator, search=asset("search.html")),
    }
    return Template(asset("frame.html")).substitute(frame)


def asset(name: str) -> str:
    """The text of a file beside this module."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _policy(text: str) -> str:
    return b64encode(sha256_raw(text.encode())).decode("ascii")
