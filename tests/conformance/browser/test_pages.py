"""Pages in a real browser: offline, silent, driven by keyboard, and judged by what their receipts lead to."""

import base64
import hashlib
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from specledger.kinds import load
from specledger.pipeline.executing import execute
from specledger.report.formats import FORMATS
from specledger.report.formats.html import embed
from specledger.wings.laws.candidate import bundle_of
from tests.conformance.browser.pages import HARMLESS, HOSTILE, changed, data_of, write
from tests.toys import CLIMB
from tests.unit.report.rendering import make_places, report_of

pytestmark = pytest.mark.slow

MARKUP = f"{HARMLESS} <!-- &lt;b&gt; \u05d0\u05d1 ]]>"  # a spec cannot hold characters that steer or hide
SUITE = """
spec: suite/v1
name: heights
doc: {doc}
runs: {long: {scenarios: [climb], seeds: [3, 4], set: {episodes: 100}}}
figures:
  arrives: {rate: success}
checks:
  - {id: climbs, require: arrives.count > 0, opportunities: arrives.of}
  - {id: never-stays, require: arrives.count > 1000, opportunities: arrives.of}
"""


AXE = Path(__file__).parent / "node_modules" / "axe-core" / "axe.min.js"
BROAD = "[...document.querySelectorAll('main > section, main .scroll > table td, header, div.bar, figure, .stage > *')]"
SHAPES = [(1280, "light"), (400, "dark"), (1280, "dark"), (400, "light")]
KINDS = ["run", "suite", "law", "proved", "discovery", "probed"]


@pytest.fixture(scope="module")
def trap(tmp_path_factory):
    """A run whose world has a picture, with drifts."""
    bundle = load("concave", kind="scenario", set=["seed=1", "horizon=60"])[0]
    return execute(bundle, tmp_path_factory.mktemp("trap") / "trap").place


@pytest.fixture(scope="module")
def heights(tmp_path_factory):
    """A suite of 200 episodes."""
    folder = tmp_path_factory.mktemp("heights")
    shutil.copytree(CLIMB, folder / "project")
    (folder / "project" / "heights.yaml").write_text(
        SUITE.lstrip().replace("{doc}", json.dumps(MARKUP, ensure_ascii=False)), encoding="utf-8"
    )
    return execute(load(folder / "project" / "heights.yaml")[0], folder / "heights").place


@pytest.fixture(scope="module")
def answer(tmp_path_factory):
    """A law as a hostile model would propose it; it is false."""
    known = load("collisions-apart", kind="law")[0]
    universe, template = (
        load(known.specs[known.main.refs[key,]].name, kind=key)[0] for key in ("universe", "template")
    )
    told = {key: value for key, value in known.main.data.items() if key not in ("spec", "name", "universe", "expect")}
    candidate = told | {"template": template.main.name, "forbidden": HOSTILE, "claim": HOSTILE}
    return execute(
        bundle_of(candidate, universe, {template.main.name: template}), tmp_path_factory.mktemp("law") / "law"
    ).place


@pytest.fixture(scope="module")
def page(trap, tmp_path_factory):
    return write(trap, tmp_path_factory.mktemp("page"))


@pytest.fixture(scope="module")
def others(tmp_path_factory):
    """Bundles of other kinds; of a proved law no receipt holds a ring."""
    return make_places(tmp_path_factory.mktemp("others"))


@pytest.fixture(scope="module")
def pages(page, heights, answer, others, tmp_path_factory):
    """A page of each kind."""
    folder = tmp_path_factory.mktemp("pages")
    places = {**others, "suite": heights, "law": answer}
    return {"run": page, **{kind: write(place, folder, f"{kind}.html") for kind, place in places.items()}}


@pytest.fixture(scope="module")
def index(trap, answer, others, tmp_path_factory):
    """An index of a run and two laws, with their pages."""
    folder = tmp_path_factory.mktemp("index")
    for name, data in FORMATS["index"].write(report_of(trap, answer, others["proved"])).files.items():
        (folder / name).write_bytes(data)
    return folder / "index.html"


@pytest.fixture(scope="module")
def root(trap):
    return json.loads((trap / "manifest.json").read_bytes())["receipts"]["root"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_opens_from_a_file_without_a_network_and_without_complaint(kind, pages, visit):
    seen = visit(pages[kind])
    assert seen.state == "consistent"
    assert seen.text("#trust-said").startswith("Self-consistent")
    assert {url.partition(":")[0] for url in seen.requests} <= {"file", "about"}
    assert seen.errors == []
    assert seen.visible("main section")
    assert "verified" not in seen.ask("document.body.innerText").lower().replace("spec verify", "")


def test_the_policy_lets_nothing_in(page, visit):
    seen = visit(page)
    tries = """(async () => {
        const script = document.createElement("script"); script.textContent = "window.hit = 1"; document.body.append(script);
        const image = document.createElement("img"); image.src = "https://example.invalid/x.png"; document.body.append(image);
        document.body.setAttribute("onclick", "window.hit = 2"); document.body.click();
        let fetched = true;
        try { await fetch("https://example.invalid/"); } catch { fetched = false; }
        return [window.hit === undefined, fetched, document.scripts.length];
    })()"""
    assert seen.ask(tries) == [True, False, 3]
    blocked = {
        event["requestId"] for event in seen.named("Network.loadingFailed") if event.get("blockedReason") == "csp"
    }
    sent = {event["requestId"]: event["request"]["url"] for event in seen.named("Network.requestWillBeSent")}
    assert all(url.startswith(("file:", "about:")) for number, url in sent.items() if number not in blocked)


def test_rows_are_found_by_keyboard_and_the_address_keeps_the_search(page, visit):
    seen = visit(page)
    everything = seen.visible("tbody.item")
    seen.press("/")
    assert seen.ask("document.activeElement.id") == "find"
    seen.write("hazard")
    found = seen.visible("tbody.item")
    assert "gates.hazard" in found
    assert 0 < len(found) < len(everything)
    assert seen.text("#shown") == f"{len(found)} of {len(everything)} rows"
    assert seen.ask("location.hash") == "#?q=hazard"
    seen.press("Tab")
    assert seen.ask("document.activeElement.id") == "show"
    seen.write("")
    seen.press("ArrowDown", "ArrowDown", "ArrowDown")
    assert seen.ask("document.getElementById('show').value") == "open"
    unclear = seen.visible("tbody.item")
    assert "gates.hazard" not in unclear
    address = seen.ask("location.hash")
    again = visit(page, address)
    assert again.visible("tbody.item") == unclear
    assert again.ask("document.getElementById('find').value") == "hazard"
    assert visit(page, "#?q=a%2Bb+%25").ask("document.getElementById('find').value") == "a+b %"
    seen.ask("document.getElementById('find').focus()")
    seen.press("Escape")
    assert seen.ask("location.hash") == "#?show=open"


def test_details_open_by_keyboard(page, visit):
    seen = visit(page)
    button = "document.querySelector('[id=\"gates.wall\"] .fold')"
    seen.ask(f"{button}.focus()")
    assert seen.ask(f"{button}.getAttribute('aria-expanded')") == "false"
    assert seen.visible("[id='gates.wall'] .details") == []
    seen.press("Enter")
    assert seen.ask(f"{button}.getAttribute('aria-expanded')") == "true"
    assert len(seen.visible("[id='gates.wall'] .details")) == 1


def test_a_row_a_receipt_and_a_step_have_addresses(page, visit):
    seen = visit(page, "#gates.wall")
    assert seen.ask("document.activeElement.id") == "gates.wall"
    assert len(seen.visible("[id='gates.wall'] .details")) == 1
    first = seen.ask("document.querySelector('[id=\"gates.wall\"] .places a').getAttribute('href')")
    at = visit(page, first)
    seq = int(first.rpartition(".")[2])
    assert json.loads(at.text("#receipt-text"))["seq"] == seq
    assert "wall" in at.text("#receipt-text")
    step = visit(page, "#s.0.0.40")
    assert step.text("#replay-at") == "step 40 of 0 to 59"
    assert step.text("#replay-step h3").startswith("Step 40 ")
    told = step.text("#replay-step")
    assert "Drift before it" in told
    assert not re.search(r'[{}"]', told)


def test_steps_are_walked_by_keyboard(page, visit, trap):
    receipts = [json.loads(line) for line in (trap / "receipts.jsonl").read_bytes().splitlines()]
    steps = [one["body"] for one in receipts if one["type"] == "step"]
    seen = visit(page)
    token = (
        "(e => [e.getAttribute('cx'), e.getAttribute('cy')].map(Number))(document.querySelector('#replay-map circle'))"
    )
    assert seen.text("#replay-at") == "step 0 of 0 to 59"
    seen.ask("document.getElementById('replay-frame').focus()")
    seen.press("Home")
    assert seen.text("#replay-at") == "start, before step 0 of 0 to 59"
    for step in steps[:3]:
        seen.press("ArrowRight")
        y, x = divmod(step["record"]["place"], 256)
        assert seen.ask(token) == [10 * x + 5, 10 * y + 5]
        chosen = seen.ask("document.querySelectorAll('#replay-step tr.rejected').length")
        assert chosen == sum(bool(one["rejected"]) for one in step["decisions"])
    assert seen.text("#replay-at") == "step 2 of 0 to 59"
    assert seen.ask("location.hash") == "#s.0.0.2"
    seen.press("End")
    assert "The episode ended" in seen.text("#replay-step")
    assert seen.ask("document.querySelectorAll('#replay-charts .curve').length") == 4


def test_a_counterexample_is_drawn_and_walked(pages, answer, visit):
    lines = (answer / "receipts.jsonl").read_bytes().splitlines()
    found = next(json.loads(line)["body"]["verdict"] for line in lines if b'"type":"verdict"' in line)["counterexample"]
    seen = visit(pages["law"])
    assert seen.text("#spacetime-at").startswith(f"{found['t']} of ")
    assert "Here the claim is violated." in seen.text("#spacetime-step")
    begin, states = found["excerpt"]["from"], found["excerpt"]["states"]
    assert seen.text("#spacetime-step code") == states[found["t"] - begin]
    seen.ask("document.getElementById('spacetime-frame').focus()")
    seen.press("Home")
    assert seen.text("#spacetime-step code") == found["start"]


def test_an_example_of_a_law_that_is_proved_is_drawn_walked_and_called_one(pages, visit):
    (drawn,) = data_of(pages["proved"].read_text(encoding="utf-8"))["spacetimes"]
    seen = visit(pages["proved"], "#spacetime")
    assert seen.text("#spacetime-at") == f"0 of {drawn['states'] - 1}"
    assert seen.text("#spacetime-said").startswith("An example, and no evidence")
    assert "violated" not in seen.text("#spacetime-step")
    assert seen.ask("document.querySelectorAll('#spacetime-map .marked').length") == 0
    seen.ask("document.getElementById('spacetime-frame').focus()")
    seen.press("ArrowRight", "ArrowRight")
    assert seen.text("#spacetime-step code") == drawn["rows"][2]
    shown = (
        "[...document.querySelectorAll('#spacetime-step tbody td, #spacetime-step tbody th')].map(e => e.textContent)"
    )
    assert seen.ask(shown) == ["Momentum", "0"]


def test_every_law_of_a_discovery_can_be_looked_at(pages, visit):
    drawn = data_of(pages["discovery"].read_text(encoding="utf-8"))["spacetimes"]
    assert {each["t"] is None for each in drawn} == {True, False}
    seen = visit(pages["discovery"])
    choose = (
        "(e => {{ e.value = '{}'; e.dispatchEvent(new Event('input')); }})(document.getElementById('spacetime-which'))"
    )
    for number, each in enumerate(drawn):
        seen.ask(choose.format(number))
        assert seen.text("#spacetime-step code") == each["rows"][0]
        assert seen.text("#spacetime-said") == each["said"]
    assert seen.errors == []


def flip(data):
    """Another digit in a literal part of the text."""
    index = next(i for i, part in enumerate(data["text"]) if isinstance(part, str) and re.search("[1-8]", part[40:]))
    part = data["text"][index]
    data["text"][index] = part[:40] + re.sub("[1-8]", lambda match: str(int(match[0]) + 1), part[40:], count=1)


TAMPERED = {
    "a receipt": flip,
    "the last receipt is left out": lambda data: data["chains"][0]["spans"][-1].__setitem__(1, data["chains"][0]["spans"][-1][1] - 1),
    "the root": lambda data: data["chains"][0].update(root="0" * 64),
    "the head": lambda data: data["chains"][0].update(head="0" * 64),
    "the count": lambda data: data["chains"][0].update(count=data["chains"][0]["count"] + 1),
    "the run": lambda data: data["chains"][0].update(run="0" * 32),
    "no receipts": lambda data: data["chains"][0].update(spans=[]),
    "a hash in place of a receipt": lambda data: data["chains"][0].update(rest=[[0, 1, "0" * 64]]),
    "no text": lambda data: data.update(text=[]),
}  # fmt: skip


@pytest.mark.parametrize("change", TAMPERED.values(), ids=TAMPERED)
def test_a_tampered_page_turns_red(change, page, root, visit, tmp_path):
    seen = visit(changed(page, tmp_path, change))
    assert seen.state == "broken"
    assert seen.visible("#trust-broken") == ["trust-broken"]
    seen.ask("document.getElementById('expected-root').focus()")
    seen.write(root)
    assert seen.state == "broken"


def test_another_root_in_print_turns_it_red(page, root, visit, tmp_path):
    copy = tmp_path / "printed.html"
    copy.write_text(
        page.read_text(encoding="utf-8").replace(f"<bdi>{root}</bdi>", f"<bdi>{'0' * 64}</bdi>"), encoding="utf-8"
    )
    assert visit(copy).state == "broken"


def test_it_turns_green_only_by_the_root_that_the_reader_gives(page, root, visit):
    seen = visit(page)
    seen.ask("document.getElementById('expected-root').focus()")
    for given, state in (
        ("no root", "consistent"),
        ("0" * 64, "broken"),
        (root, "matches"),
        (base64.b64encode(bytes.fromhex(root)).decode(), "matches"),
        ("", "consistent"),
    ):
        seen.ask("document.getElementById('expected-root').select()")
        seen.ask("document.execCommand('delete')")
        seen.write(given)
        seen.until(f"document.documentElement.dataset.state === '{state}'")


def test_it_turns_green_by_the_key_that_signed_its_root(page, root, visit, tmp_path):
    keys = [Ed25519PrivateKey.from_private_bytes(bytes([number]) * 32) for number in (1, 2)]
    raw = [key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw) for key in keys]
    pem = keys[0].public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode().replace("\n", "")
    bare = [base64.b64encode(each).decode() for each in raw]
    count = data_of(page.read_text(encoding="utf-8"))["chains"][0]["count"]

    def note(size, signed_root):
        text = f"example.org/log\n{size}\n{base64.b64encode(bytes.fromhex(signed_root)).decode()}\n"
        number = hashlib.sha256(b"example.org/log\n\x01" + raw[0]).digest()[:4]
        return f"{text}\n\u2014 example.org/log {base64.b64encode(number + keys[0].sign(text.encode())).decode()}\n"

    for checkpoint, key, state in (
        (note(count, root), bare[0], "matches"),
        (note(count, root), pem, "matches"),
        (note(count, root), bare[1], "broken"),
        (note(count, "0" * 64), raw[0].hex(), "broken"),
        (note(count, root).replace("log\n", "log\n1", 1), bare[0], "broken"),
    ):
        seen = visit(changed(page, tmp_path, lambda data, text=checkpoint: data.update(checkpoint=text)))
        assert seen.state == "consistent"
        seen.ask("document.getElementById('expected-key').focus()")
        seen.write(key)
        seen.until("document.documentElement.dataset.state !== 'consistent'")
        assert seen.state == state


def test_what_is_not_embedded_enters_the_root_as_hashes(trap, root, visit, tmp_path, monkeypatch):
    monkeypatch.setattr(embed, "MOST_CODED", 60_000)
    page = write(trap, tmp_path)
    (chain,) = data_of(page.read_text(encoding="utf-8"))["chains"]
    assert chain["rest"]
    seen = visit(page)
    assert seen.state == "consistent"
    assert "the others enter the root as hashes" in seen.text("#trust")
    seen.ask("document.getElementById('expected-root').focus()")
    seen.write(root)
    assert seen.state == "matches"
    rest = lambda data: data["chains"][0]["rest"][0].__setitem__(2, "0" * 64)  # noqa: E731
    assert visit(changed(page, tmp_path, rest)).state == "broken"
    assert visit(changed(page, tmp_path, flip)).state == "broken"


def test_a_run_that_its_suite_does_not_name_turns_it_red(pages, visit, tmp_path):
    def another(data):
        data["chains"][1]["place"] = data["chains"][2]["place"]

    assert visit(changed(pages["suite"], tmp_path, another)).state == "broken"


@pytest.mark.parametrize(("kind", "receipt"), [("law", "#r.0.2"), ("suite", "#r.0.0")], ids=["model", "spec"])
def test_hostile_texts_of_models_and_specs_stay_text(kind, receipt, pages, visit):
    unseen = r"/[\u202a-\u202e\u2066-\u2069\u2028\u2029\u001b\u0007]/.test(document.body.innerText)"
    seen = visit(pages[kind], receipt)
    seen.ask("document.getElementById('unfold').click()")
    assert HARMLESS in seen.ask("document.body.innerText")
    assert seen.ask(unseen) is False
    assert seen.ask("window.hit") is None
    assert seen.ask("[document.scripts.length, document.querySelectorAll('img').length]") == [2, 0]
    assert seen.errors == []
    if kind == "law":
        assert HARMLESS in seen.text("#receipt-text")


def test_hostile_addresses_are_text_and_lead_nowhere(page, visit):
    seen = visit(page, "#%")
    for fragment in (
        "%3Cimg%20src=x%20onerror=window.hit=1%3E",
        "r.99999.1",
        "r.0.99999999",
        "s.0.99.99",
        "?q=%3Cscript%3E&show=no",
        "%",
    ):
        seen.ask(f"location.hash = {json.dumps('#' + fragment)}")
        seen.ask("new Promise(done => setTimeout(done))")
        assert seen.ask("[window.hit === undefined, document.querySelectorAll('img').length]") == [True, 0]
    assert seen.errors == []
    assert seen.state == "consistent"


def test_it_follows_the_colour_scheme_of_its_reader(page, visit):
    seen = visit(page)
    fills = "[...document.querySelectorAll('#replay-map [fill]')].map(e => e.getAttribute('fill')).join()"
    scheme = {"name": "prefers-color-scheme"}
    seen.say("Emulation.setEmulatedMedia", features=[scheme | {"value": "light"}])
    light, drawn = seen.ask("getComputedStyle(document.documentElement).backgroundColor"), seen.ask(fills)
    seen.say("Emulation.setEmulatedMedia", features=[scheme | {"value": "dark"}])
    assert seen.ask("getComputedStyle(document.documentElement).backgroundColor") != light
    seen.until(f"{fills} !== {json.dumps(drawn)}")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("width", "scheme"), SHAPES)
def test_nothing_is_wider_than_the_window_or_hidden_in_it(kind, width, scheme, pages, visit):
    seen = visit(pages[kind])
    seen.shape(width, scheme=scheme)
    seen.ask("document.getElementById('unfold').click()")
    assert seen.ask("document.documentElement.scrollWidth") <= width
    assert seen.ask(f"{BROAD}.filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.className || e.id)") == []


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("width", "scheme"), SHAPES[:2])
def test_an_accessibility_checker_finds_nothing_serious(kind, width, scheme, pages, visit):
    seen = visit(pages[kind])
    seen.shape(width, scheme=scheme)
    seen.ask("[...document.querySelectorAll('.fold')].slice(0, 40).forEach(e => e.click())")
    seen.ask("[...document.querySelectorAll('details')].forEach(e => { e.open = true; })")
    assert serious(seen) == []


@pytest.mark.parametrize(("width", "scheme"), SHAPES[:2])
def test_an_index_is_searched_and_filtered_and_leads_to_pages(width, scheme, index, visit):
    seen = visit(index)
    seen.shape(width, scheme=scheme)
    assert seen.ask("document.documentElement.scrollWidth") <= width
    assert len(seen.visible("#bundles tbody.item")) == 3
    seen.press("/")
    seen.write("momentum")
    assert seen.visible("#bundles tbody.item") == ["bundles.momentum"]
    assert seen.visible("#laws tbody.item") == ["laws.momentum"]
    seen.press("Escape")
    seen.ask("(e => { e.value = 'bad'; e.dispatchEvent(new Event('input')); })(document.getElementById('show'))")
    assert "bundles.momentum" not in seen.visible("#bundles tbody.item")
    assert seen.errors == []
    assert serious(seen) == []
    seen.go((index.parent / seen.ask("document.querySelector('#bundles td a').getAttribute('href')")).as_uri())
    assert seen.state == "consistent"


def serious(seen):
    """What axe-core finds that is serious or critical."""
    if not AXE.is_file():
        pytest.skip("axe-core is missing: `npm ci --prefix tests/conformance/browser` installs it")
    seen.say("Runtime.evaluate", expression=AXE.read_text(encoding="utf-8"))
    found = seen.ask(
        "axe.run().then(r => r.violations.map(v => [v.id, v.impact, ...v.nodes.slice(0, 3).map(n => n.html)]))"
    )
    return [one for one in found if one[1] not in ("minor", "moderate")]


def sheets(pdf, folder):
    """The text of each page of a PDF."""
    if shutil.which("pdftotext") is None:
        pytest.skip("pdftotext is missing: `apt-get install poppler-utils` brings it")
    (folder / "page.pdf").write_bytes(pdf)
    done = subprocess.run(
        ["pdftotext", "-layout", folder / "page.pdf", "-"], capture_output=True, check=True, timeout=60
    )
    return [
        [line.strip() for line in sheet.splitlines() if line.strip()] for sheet in done.stdout.decode().split("\f")[:-1]
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_paper_begins_with_a_cover_and_leaves_no_heading_alone(kind, pages, visit, tmp_path):
    seen = visit(pages[kind])
    found = sheets(seen.pdf(), tmp_path)
    for word in ("Scope", "Signatures", "Not checked", "Contents"):
        assert word in found[0]
    headings = set(seen.ask("[...document.querySelectorAll('h2, figcaption')].map(e => e.textContent)"))
    for number, lines in enumerate(found, 1):
        assert lines[-1].replace(" ", "") == f"{number}/{len(found)}"
        assert lines[-2] not in headings


def test_paper_has_the_details_that_are_open_and_no_controls(page, visit):
    seen = visit(page)
    details = "document.querySelectorAll('tr.details').length"
    seen.say("Emulation.setEmulatedMedia", media="print")
    assert seen.visible("tr.details") == seen.visible("button, input, select, nav") == []
    seen.ask("document.getElementById('unfold').click()")
    assert len(seen.visible("tr.details")) == seen.ask(details) > 0


def test_a_large_suite_fits_on_twelve_sheets(visit, tmp_path):
    place = execute(load("axion-m4", kind="suite")[0], tmp_path / "m4").place
    assert visit(write(place, tmp_path)).pdf().count(b"/Type /Page\n") <= 12


@pytest.mark.parametrize("kind", KINDS)
def test_a_screen_reader_finds_its_way(kind, pages, visit):
    seen = visit(pages[kind])
    tree = seen.say("Accessibility.getFullAXTree")["nodes"]
    roles = {node["role"]["value"] for node in tree if not node["ignored"]}
    assert {"banner", "main", "navigation", "search", "contentinfo", "status", "heading"} <= roles
    operable = {"button", "textbox", "searchbox", "combobox", "slider", "spinbutton", "link", "region", "image"}
    nameless = [
        node["role"]["value"]
        for node in tree
        if not node["ignored"] and node["role"]["value"] in operable and not node.get("name", {}).get("value")
    ]
    assert nameless == []


def test_the_page_of_two_hundred_episodes_is_small(pages):
    assert pages["suite"].stat().st_size < 1_000_000
