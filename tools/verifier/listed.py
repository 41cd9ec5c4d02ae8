"""What a manifest lists beside receipts and specs: the sources that a run was resolved from, and its failing cases."""

import json
import re

from tools.verifier.basis import MEBI, demand, document, write

ORIGIN = "specs/origin.json"
SOURCE_PATH = re.compile(r"specs/[a-z]{1,40}/[A-Za-z0-9_][A-Za-z0-9_.-]{0,94}\.ya?ml")
CASE_PATH = re.compile(r"counterexamples/[0-9]{8,16}\.json")
ORIGIN_KEYS = {"format", "main", "case", "set", "links"}
LINK_KEYS = ("from", "kind", "target", "to")
MOST_CASES = 100


def sorted_out(paths):
    """The listed sources and failing cases of a bundle."""
    sources = [path for path in paths if path.startswith("specs/")]
    cases = [path for path in paths if path.startswith("counterexamples/")]
    known = all(path == ORIGIN or SOURCE_PATH.fullmatch(path) for path in sources)
    demand(known, "E_FILES", "a source lies under a name that none has")
    demand(all(map(CASE_PATH.fullmatch, cases)), "E_FILES", "a failing case lies under a name that none has")
    return sources, cases


def check_folders(place, paths):
    """See that the folders of listed files are plain, and hold these files and nothing else."""
    folders = sorted({"/".join(path.split("/")[:depth]) for path in paths for depth in range(1, path.count("/") + 1)})
    for folder in folders:
        at = place / folder
        demand(at.is_dir() and not at.is_symlink(), "E_FILES", f"{folder} is no plain folder")
        inside = {path[len(folder) + 1 :].split("/")[0] for path in paths if path.startswith(f"{folder}/")}
        demand({one.name for one in at.iterdir()} == inside, "E_FILES", f"{folder} holds something that is not listed")


def may_fail(kind, result):
    """Whether receipts that add up to a result may show a failing case."""
    if kind == "scenario":
        return result["verdict"] != "PASS" or bool(result["warnings"])
    return kind == "discovery" or (kind == "law" and result.get("status") == "FAIL")


def failing_cases(kind, lines):
    """The failing cases, of each cause the first, of all the first hundred: causes, first and last receipt of each."""
    made, known, causes, begun = [], set(), set(), None
    for seq, line in enumerate(lines):
        receipt = json.loads(line)
        type_, body = receipt["type"], receipt["body"]
        if kind != "scenario":
            causes, begun, over = laws_refuted(kind, type_, body), seq, True
        elif type_ in ("start", "episode", "end"):
            causes, begun = set(), None
            continue
        else:
            causes, begun = causes | gone_wrong(type_, body), seq if begun is None else begun
            over = type_ in ("step", "error", "episode_end")
        if over:
            if causes - known:
                made.append((causes, begun, seq))
                known |= causes
            causes, begun = set(), None
        if len(made) == MOST_CASES:
            break
    return made


def laws_refuted(kind, type_, body):
    """What a receipt of a law or of a discovery refutes; a suite's refute nothing."""
    if kind == "law":
        found = type_ == "verdict" and body["verdict"]["counterexample"] is not None
        return {f"law:{body['verdict']['law']}"} if found else set()
    verdict = body["verdict"] if kind == "discovery" and type_ in ("law", "escalation") else None
    return {f"law:{body['law']}"} if verdict is not None and verdict["counterexample"] is not None else set()


def gone_wrong(type_, body):
    """What a receipt of a run says went wrong."""
    if type_ == "probe":
        return {f"probe:{body['probe']}"} if body["verdict"] in ("FAIL", "ERROR") else set()
    if type_ == "error":
        return {f"error:{body['code']}"}
    if type_ not in ("step", "episode_end"):
        return set()
    causes = {f"invariant:{each['invariant']}" for each in body.get("violations", ())}
    if type_ == "step":
        causes |= {f"error:{each['error']['code']}" for each in body["decisions"] if each["error"] is not None}
        causes |= {"progress"} if body["chosen"] is None else set()
    return causes


def case_parts(case, numbered):
    """The bytes of the file of a failing case, in parts: there may be many receipts in one step."""
    causes, begun, last = case
    yield b'{"causes":' + write(sorted(causes, key=str.encode)) + b',"receipts":['
    for seq, line in numbered:
        if seq >= begun:
            receipt = json.loads(line)
            told = {"body": receipt["body"], "seq": seq, "type": receipt["type"]}
            yield b"," * (seq > begun) + write(told)
        if seq == last:
            break
    yield b"]}\n"


def check_cases(bundle):
    """The failing cases are those that the receipts show, every byte of them."""
    code, made = "E_COUNTEREXAMPLES", failing_cases(bundle.kind, bundle.lines())
    paths = [f"counterexamples/{last:08d}.json" for _, _, last in made]
    demand(sorted(paths) == sorted(bundle.cases), code, "other failing cases are shown than the receipts have")
    numbered = enumerate(bundle.lines())
    for path, case in zip(paths, made):
        with (bundle.place / path).open("rb") as file:
            same = all(file.read(len(part)) == part for part in case_parts(case, numbered)) and not file.read(1)
        demand(same, code, f"{path} is not what the receipts show")


def check_sources(bundle):
    """What says how the sources are resolved: it has its form and speaks of them, and they are small enough."""
    code = "E_SOURCES"
    yaml = [path for path in bundle.sources if path != ORIGIN]
    sizes = [(bundle.place / path).stat().st_size for path in bundle.sources]
    demand(max(sizes) <= MEBI and sum(sizes) <= 8 * MEBI, code, "the sources are too large")
    origin = document(bundle.place / ORIGIN, code, MEBI)
    shaped = isinstance(origin, dict) and origin.keys() == ORIGIN_KEYS and origin["format"] == "specledger/sources/v1"
    demand(shaped, code, "origin.json has other fields than it must")
    texts = [origin["main"], origin["case"], *origin["set"]]
    demand(isinstance(origin["set"], list) and all(isinstance(one, str) for one in texts), code, "a change is no text")
    demand(f"specs/{origin['main']}" in yaml, code, "the main document is not there")
    links = origin["links"]
    shaped = isinstance(links, list) and all(sorted(one) == sorted(LINK_KEYS) for one in links)
    demand(shaped and all(isinstance(text, str) for one in links for text in one.values()), code, "a link is none")
    order = [tuple(one[name] for name in LINK_KEYS[:3]) for one in links]
    demand(order == sorted(set(order)), code, "the links are out of order, or one stands twice")
    there = all(f"specs/{one[name]}" in yaml for one in links for name in ("from", "to"))
    demand(there, code, "a link leads to a document that is not there")
    return origin


def check_evaluator(manifest):
    """The evaluator of expressions is one whose name and version are known to be one."""
    evaluator = manifest["evaluator"]
    shaped = isinstance(evaluator, dict) and evaluator.keys() == {"name", "version"}
    shaped = shaped and evaluator["name"] == "cel-profile" and isinstance(evaluator["version"], str)
    demand(shaped and re.fullmatch(r"[1-9][0-9]{0,8}", evaluator["version"]), "E_MANIFEST", "the evaluator is unknown")
