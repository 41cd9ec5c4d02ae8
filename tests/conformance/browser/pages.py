"""Pages for the tests in a browser: made from fresh bundles, and changed by a hand that is not the engine's."""

import json
import re

from tests.unit.report.rendering import report_of, text_of

HOSTILE = (
    "</script><script>window.hit=1</script><img src=x onerror=window.hit=2>\u202egnp.exe\u2066 "
    "\x1b[31mred\x07 \u2028line\u2029 \ud83d\ude00 &lt;b&gt; ${alert(1)} <!-- ]]>"
).encode("utf-16", "surrogatepass").decode("utf-16")  # fmt: skip
HARMLESS = "</script><script>window.hit=1</script><img src=x onerror=window.hit=2>"
"""How it must begin where it is shown as text."""

_DATA = re.compile(r'(<script id="data" type="application/json">)(.*?)(</script>)', re.DOTALL)


def write(place, folder, name="page.html"):
    """The page of a bundle as a file."""
    file = folder / name
    file.write_text(text_of("html", report_of(place)), encoding="utf-8", newline="\n")
    return file


def data_of(text):
    """What the page's script reads."""
    ((_, found, _),) = _DATA.findall(text)
    return json.loads(found)


def changed(file, folder, change):
    """A copy of a page whose data were changed; the script and its digest in the policy stay as they are."""
    text = file.read_text(encoding="utf-8")
    data = data_of(text)
    change(data)
    inert = json.dumps(data).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    copy = folder / f"changed-{len(list(folder.iterdir()))}.html"
    copy.write_text(_DATA.sub(lambda match: match[1] + inert + match[3], text), encoding="utf-8")
    return copy
