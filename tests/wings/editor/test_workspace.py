"""What an editor is told, asked of the server's functions in this process: findings, texts about a place, names, layout."""

import asyncio
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("pygls", reason="the extra `lsp`")
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcInvalidParams
from pygls.workspace import Workspace as ClientTexts

import specledger.wings.editor.server
from specledger.core.diagnostics import Rejected
from specledger.wings.editor import hover as hovering
from specledger.wings.editor import navigation
from specledger.wings.editor.project import Workspace

# what may be None, or be one of several messages of the protocol, as the tests expect it
serving: Any = specledger.wings.editor.server
hover: Any = hovering.hover
definition: Any = navigation.definition
renamed_at: Any = navigation.renamed_at
rename: Any = navigation.rename

SCENARIO, GOVERNOR, AGENT, WORLD, INVARIANT = (
    Path(f"specs/{name}.yaml")
    for name in ("scenario/first", "governor/careful", "agent/filler", "world/tank", "invariant/no-overflow")
)


@pytest.fixture
def texts(project):
    return Workspace()


def at(file, words, offset=0):
    return file.read_text(encoding="utf-8").index(words) + offset


# place, and the text in full, or what it begins with
HOVERS = {
    "a key": (SCENARIO, "horizon", 0, "**horizon**: an integer, at least 1, at most 1000000 (optional)\n\nHow many steps an episode has at most"),
    "the end of a key": (SCENARIO, "horizon", 7, "**horizon**: an integer"),
    "a key with a default": (SCENARIO, "episodes", 3, "**episodes**: an integer, at least 1, at most 100000 (default `1`)\n\n"),
    "a key that may be left out": (SCENARIO, "invariants", 3, "**invariants**: "),
    "a key with values to choose": (INVARIANT, "severity", 0, "**severity**: "),
    "a value to choose": (INVARIANT, "fatal #", 1, "**severity**: "),
    "a number": (SCENARIO, "12 #", 1, "**horizon**: an integer, at least 1, at most 1000000 (optional)"),
    "a name": (
        SCENARIO, "careful", 0,
        "**governor** `careful`, specs/governor/careful.yaml\n\nRejects what would overflow the tank, then takes what the agent likes best.",
    ),
    "the end of a name": (SCENARIO, "careful", 7, "**governor** `careful`, specs/governor/careful.yaml\n\n"),
    "a name in a list": (SCENARIO, "no-overflow", 2, "**invariant** `no-overflow`, specs/invariant/no-overflow.yaml\n\nThe tank holds"),
    "a part of an expression": (GOVERNOR, "next.level", 6, "```cel\nnext.level\n```\n\nis of the type `int`"),
    "a whole expression": (INVARIANT, "level <= LIMIT", 7, "```cel\nlevel <= LIMIT\n```\n\nis of the type `bool`"),
    "a constant in it": (INVARIANT, "level <= LIMIT", 10, "```cel\nLIMIT\n```\n\nis of the type `int`"),
    "a comment": (SCENARIO, "# everything", 3, None),
    "an empty place": (SCENARIO, "world: tank", 6, None),
}  # fmt: skip


@pytest.mark.medium
@pytest.mark.parametrize(("file", "words", "offset", "text"), HOVERS.values(), ids=HOVERS)
def test_what_is_said_about_a_place(texts, file, words, offset, text):
    said = hover(texts, file, at(file, words, offset))
    if text is None or said is None:
        assert said is text
    elif text.endswith(("`", "best.")):
        assert said == text
    else:
        assert said.startswith(text)


@pytest.mark.medium
def test_the_values_of_a_key_are_listed_with_it(texts):
    said = hover(texts, INVARIANT, at(INVARIANT, "severity"))
    assert said.endswith("\n\nOne of `fatal`, `warn`.")


@pytest.mark.medium
def test_nothing_is_said_about_a_text_that_is_no_spec(texts):
    for text in ("", "a: [b", "a: b", "spec: nothing/v1\nname: a\n"):
        texts.put(SCENARIO, text)
        assert hover(texts, SCENARIO, 0) is None
        assert definition(texts, SCENARIO, 0) is None
        assert renamed_at(texts, SCENARIO, 0) is None


@pytest.mark.medium
def test_a_spec_without_a_doc_is_named_alone(texts):
    texts.put(GOVERNOR, re.sub(r"doc: .*\n", "", GOVERNOR.read_text(encoding="utf-8")))
    assert hover(texts, SCENARIO, at(SCENARIO, "careful")) == "**governor** `careful`, specs/governor/careful.yaml"


@pytest.mark.medium
def test_a_name_leads_to_the_name_in_its_file(texts, project):
    file, span = definition(texts, SCENARIO, at(SCENARIO, "careful", 3))
    assert (file, str(span)) == (project / GOVERNOR, f"{GOVERNOR}:3:7")
    assert definition(texts, SCENARIO, at(SCENARIO, "horizon", 3)) is None
    texts.put(SCENARIO, SCENARIO.read_text(encoding="utf-8").replace("careful", "carefree"))
    assert definition(texts, SCENARIO, at(SCENARIO, "careful", 3)) is None


@pytest.mark.medium
@pytest.mark.parametrize(
    ("file", "words", "offset", "where"),
    [
        (SCENARIO, "careful", 0, (GOVERNOR, "specs/scenario/first.yaml:7:11")),
        (SCENARIO, "careful", 7, (GOVERNOR, "specs/scenario/first.yaml:7:11")),
        (SCENARIO, "careful", 8, None),
        (SCENARIO, "name: first", 8, (SCENARIO, "specs/scenario/first.yaml:3:7")),
        (SCENARIO, "name: first", 2, (SCENARIO, "specs/scenario/first.yaml:3:7")),
        (SCENARIO, "seed: 1", 6, None),
        (SCENARIO, "# a run", 1, None),
    ],
)
def test_what_gets_another_name_at_a_place(texts, project, file, words, offset, where):
    named = renamed_at(texts, file, at(file, words, offset))
    assert (None if named is None else (named[0].relative_to(project), str(named[1]))) == where


@pytest.mark.medium
def test_a_new_name_changes_the_spec_all_that_name_it_and_the_file(texts, project):
    path = "other.yaml"
    named = SCENARIO.read_text(encoding="utf-8").replace("name: first", "name: other")
    (project / "specs/scenario" / path).write_text(
        named.replace(": careful", ": ../governor/careful.yaml"), encoding="utf-8"
    )
    change = rename(texts, SCENARIO, at(SCENARIO, "careful", 1), "strict-one")
    assert (change.before, change.after) == (project / GOVERNOR, project / "specs/governor/strict-one.yaml")
    assert sorted((file.name, str(span).rpartition(".yaml:")[2], text) for file, span, text in change.edits) == [
        ("careful.yaml", "3:7", "strict-one"),
        ("first.yaml", "7:11", "strict-one"),
        ("other.yaml", "7:11", "../governor/strict-one.yaml"),
    ]
    assert [span.end.column - span.start.column for file, span, _ in change.edits if file.name == "first.yaml"] == [7]


REFUSED = {
    "no name": ("horizon: 12", 9, "other", "there is no name of a spec here", None),
    "capitals": ("careful", 1, "Careful", "'Careful' is no name", "lower case, words joined by - or _"),
    "a dot": ("careful", 1, "a.b", "'a.b' is no name", "lower case, words joined by - or _"),
    "a name of 80 letters and one more": ("careful", 1, "a" * 81, f"{'a' * 81!r} is no name", "lower case, words joined by - or _"),
    "the same name": ("careful", 1, "careful", "there is a governor careful already", None),
}  # fmt: skip


@pytest.mark.medium
@pytest.mark.parametrize(("words", "offset", "name", "message", "hint"), REFUSED.values(), ids=REFUSED)
def test_a_name_that_cannot_be_given_is_refused(texts, words, offset, name, message, hint):
    with pytest.raises(Rejected) as caught:
        rename(texts, SCENARIO, at(SCENARIO, words, offset), name)
    (finding,) = caught.value.diagnostics
    assert (finding.code, finding.message, finding.hint) == ("E_RENAME", message, hint)


@pytest.mark.medium
def test_a_name_of_80_letters_can_be_given(texts):
    assert rename(texts, SCENARIO, at(SCENARIO, "careful"), "a" * 80).after.stem == "a" * 80


@pytest.mark.medium
def test_a_shipped_spec_keeps_its_name(texts):
    SCENARIO.write_text(
        SCENARIO.read_text(encoding="utf-8").replace("agent: filler", "agent: greedy"), encoding="utf-8"
    )
    with pytest.raises(Rejected) as caught:
        rename(texts, SCENARIO, at(SCENARIO, "greedy"), "runner")
    assert caught.value.diagnostics[0].message == "greedy is not a spec of this project"


@pytest.mark.medium
def test_a_text_that_is_open_counts_until_it_is_dropped(texts):
    saved = SCENARIO.read_text(encoding="utf-8")
    assert texts.text(SCENARIO) == saved
    texts.put(SCENARIO, "a\r\nb\n")
    assert texts.text(SCENARIO) == texts.text(SCENARIO.absolute()) == "a\nb\n"
    texts.drop(SCENARIO)
    texts.drop(SCENARIO)
    assert texts.text(SCENARIO) == saved
    assert texts.text(Path("specs/scenario/none.yaml")) == ""
    SCENARIO.write_bytes(b"\xff")
    assert texts.text(SCENARIO) == ""


@pytest.mark.medium
def test_references_follow_the_texts_that_are_open(texts, project):
    before = texts.references(SCENARIO)
    assert texts.references(GOVERNOR) is before
    assert [use.file.name for use in before.to(GOVERNOR)] == ["first.yaml"]
    texts.put(SCENARIO, SCENARIO.read_text(encoding="utf-8").replace("careful", "carefree"))
    assert texts.references(GOVERNOR).to(GOVERNOR) == []
    texts.drop(SCENARIO)
    assert [use.file.name for use in texts.references(GOVERNOR).to(GOVERNOR)] == ["first.yaml"]


def codes(findings):
    return {file.name: [finding.code for finding in found] for file, found in findings.by_file.items()}


@pytest.mark.medium
def test_a_check_types_a_spec_where_it_is_used(texts):
    found = texts.check(GOVERNOR)
    assert codes(found) == {"careful.yaml": []}
    assert {checked.text.value for checked in found.typed} == {"next.level > LIMIT", "next.level", "proposal.score"}
    texts.put(GOVERNOR, GOVERNOR.read_text(encoding="utf-8").replace("next.level > ", "next.levle > "))
    assert codes(texts.check(GOVERNOR)) == {"careful.yaml": ["E_EXPR_UNKNOWN_FIELD"]}


@pytest.mark.medium
def test_a_mistake_of_one_spec_is_shown_in_those_that_use_it_if_it_is_none_of_its_own(texts):
    world = WORLD.read_text(encoding="utf-8")
    texts.put(WORLD, world.replace("level", "height"))
    found = codes(texts.check(WORLD))
    assert found.pop("tank.yaml") == []
    assert set(found) == {"careful.yaml", "no-overflow.yaml"}
    texts.put(WORLD, world.replace("level", "height").replace("success:", "succes:"))
    assert set(codes(texts.check(WORLD))) == {"tank.yaml"}


@pytest.mark.medium
def test_so_many_users_are_checked_those_first_that_name_it(texts, project):
    named = SCENARIO.read_text(encoding="utf-8")
    for name in ("b", "a", "d", "c"):
        (project / f"specs/scenario/{name}.yaml").write_text(
            named.replace("name: first", f"name: {name}"), encoding="utf-8"
        )
    assert [file.stem for file in texts._users(GOVERNOR)] == ["a", "b", "c"]
    suite = "spec: suite/v1\nname: all\nruns: {r: {scenarios: [a], seeds: [1]}}\nmeasures: {m: steps.map(s, s.t)}\nfigures: {f: {mean: m}}\n"
    (project / "specs/suite").mkdir()
    (project / "specs/suite/all.yaml").write_text(suite, encoding="utf-8")
    texts.forget_references()
    assert texts._users(project / "specs/scenario/a.yaml") == []


@pytest.mark.medium
def test_an_innermost_part_has_its_text_and_its_type(texts):
    text, part = texts.typed_at(GOVERNOR, at(GOVERNOR, "next.level > LIMIT", 14))
    assert (text, str(part.type)) == ("LIMIT", "int")
    text, part = texts.typed_at(GOVERNOR, at(GOVERNOR, "next.level > LIMIT", 11))
    assert (text, str(part.type)) == ("next.level > LIMIT", "bool")
    assert texts.typed_at(GOVERNOR, 0) is None


@pytest.fixture
def server(project, monkeypatch):
    """A server of which a client knows the texts; what it publishes is `shown`, by file."""
    made: Any = serving.make_server()
    made.protocol._workspace = ClientTexts(None)
    made.shown = {}

    def publish(params):
        made.shown[Path(params.uri).name] = params.diagnostics

    monkeypatch.setattr(made, "text_document_publish_diagnostics", publish)
    monkeypatch.setattr(serving, "_PAUSE", 0)
    return made


def about(file, words=None, offset=0, **more) -> Any:
    """The parameters of a request about a file, and a place in it."""
    named = SimpleNamespace(uri=serving._uri(Path(file)), text=more.pop("text", None))
    if words is None:
        return SimpleNamespace(text_document=named, **more)
    before = Path(file).read_text(encoding="utf-8")[: at(Path(file), words, offset)]
    position = lsp.Position(before.count("\n"), len(before.rpartition("\n")[2]))
    return SimpleNamespace(text_document=named, position=position, **more)


def ends(range_):
    return [(place.line, place.character) for place in (range_.start, range_.end)]


WRONG = ("world: tank", "world: tnak")


@pytest.mark.medium
def test_a_text_is_examined_when_it_is_opened_and_after_it_was_typed(server):
    text = SCENARIO.read_text(encoding="utf-8")
    serving._opened(server, about(SCENARIO, text=text))
    assert server.shown == {"first.yaml": []}
    typed = about(SCENARIO, content_changes=[SimpleNamespace(text="old"), SimpleNamespace(text=text.replace(*WRONG))])
    asyncio.run(serving._changed(server, typed))
    (found,) = server.shown["first.yaml"]
    assert (
        found.message == "no world `tnak`\nhint: did you mean `tank`?" or "hint: did you mean `tank`?" in found.message
    )
    assert (found.code, found.severity, found.source) == ("E_REF_MISSING", lsp.DiagnosticSeverity.Error, "specledger")
    assert ends(found.range) == [(4, 7), (4, 11)]
    serving._closed(server, about(SCENARIO))
    assert server.shown["first.yaml"] == []
    assert server.texts.unsaved == {}


@pytest.mark.medium
def test_a_text_is_not_examined_while_somebody_types_on(server, monkeypatch):
    text = SCENARIO.read_text(encoding="utf-8")

    async def type_on(seconds):
        server.texts.put(SCENARIO, text)

    monkeypatch.setattr(serving.asyncio, "sleep", type_on)
    asyncio.run(serving._changed(server, about(SCENARIO, content_changes=[SimpleNamespace(text=text.replace(*WRONG))])))
    assert server.shown == {}


@pytest.mark.medium
def test_what_is_no_spec_is_not_examined_but_what_was_one_is(server):
    serving._opened(server, about(SCENARIO, text="a: b\n"))
    assert server.shown == {}
    serving._opened(server, about(SCENARIO, text=SCENARIO.read_text(encoding="utf-8")))
    serving._opened(server, about(SCENARIO, text="a: b\n"))
    assert [found.code for found in server.shown["first.yaml"]] != []


@pytest.mark.medium
def test_findings_in_other_files_are_taken_back_there(server):
    text = WORLD.read_text(encoding="utf-8")
    serving._opened(server, about(WORLD, text=text.replace("level", "height")))
    assert [bool(server.shown[name]) for name in ("tank.yaml", "careful.yaml", "no-overflow.yaml")] == [
        False,
        True,
        True,
    ]
    serving._opened(server, about(WORLD, text=text))
    assert not any(server.shown.values())
    serving._opened(server, about(WORLD, text=text.replace("level", "height")))
    serving._closed(server, about(WORLD))
    assert not any(server.shown.values())


@pytest.mark.medium
def test_a_finding_has_all_lines_and_related_places(server):
    text = AGENT.read_text(encoding="utf-8")
    serving._opened(server, about(AGENT, text=f"{text}name: again\n"))
    (found,) = server.shown["filler.yaml"]
    assert found.message.split("\n") == ["the key `name` was given in line 3 already", "hint: delete one of them"]
    (related,) = found.related_information
    assert (related.message, ends(related.location.range)) == ("first given here", [(2, 0), (2, 4)])
    assert related.location.uri == serving._uri(AGENT)


@pytest.mark.medium
def test_a_warning_is_a_warning(server):
    text = GOVERNOR.read_text(encoding="utf-8")
    never = text.replace("deny: next.level > LIMIT", "deny: 1 > 2")
    serving._opened(server, about(GOVERNOR, text=never))
    assert {found.severity for found in server.shown["careful.yaml"]} <= {lsp.DiagnosticSeverity.Warning}


@pytest.mark.medium
def test_proposals_are_in_order_and_of_a_sort(server):
    server.texts.put(SCENARIO, "spec: scenario/v1\nname: first\nworld: \n")
    items = serving._completion(
        server, SimpleNamespace(text_document=about(SCENARIO).text_document, position=lsp.Position(2, 7))
    )
    assert (items[0].label, items[0].insert_text, items[0].sort_text) == ("tank", "tank", "0000")
    assert (items[0].kind, items[0].documentation) == (lsp.CompletionItemKind.Reference, "a spec of the kind world")
    assert [item.sort_text for item in items] == [f"{number:04}" for number in range(len(items))]
    keys = serving._completion(
        server, SimpleNamespace(text_document=about(SCENARIO).text_document, position=lsp.Position(3, 0))
    )
    horizon = next(item for item in keys if item.label == "horizon")
    assert (horizon.insert_text, horizon.kind) == ("horizon: ", lsp.CompletionItemKind.Property)


@pytest.mark.medium
def test_requests_about_a_place(server):
    said = serving._hover(server, about(SCENARIO, "horizon", 2))
    assert said.contents.kind == lsp.MarkupKind.Markdown
    assert said.contents.value.startswith("**horizon**")
    assert serving._hover(server, about(SCENARIO, "# everything", 3)) is None
    where = serving._definition(server, about(SCENARIO, "careful", 2))
    assert (where.uri, ends(where.range)) == (serving._uri(GOVERNOR), [(2, 6), (2, 13)])
    assert serving._definition(server, about(SCENARIO, "horizon", 2)) is None
    (use,) = serving._references(server, about(GOVERNOR, "careful", 2))
    assert (use.uri, ends(use.range)) == (serving._uri(SCENARIO), [(6, 10), (6, 17)])
    assert serving._references(server, about(SCENARIO, "horizon", 2)) == []
    assert ends(serving._prepare_rename(server, about(SCENARIO, "careful", 2))) == [(6, 10), (6, 17)]
    assert serving._prepare_rename(server, about(SCENARIO, "horizon", 2)) is None


@pytest.mark.medium
def test_a_rename_is_edits_of_each_file_and_of_its_name(server):
    edit = serving._rename(server, about(SCENARIO, "careful", 2, new_name="strict"))
    *changes, moved = edit.document_changes
    assert {
        change.text_document.uri: [(one.new_text, ends(one.range)) for one in change.edits] for change in changes
    } == {
        serving._uri(GOVERNOR): [("strict", [(2, 6), (2, 13)])],
        serving._uri(SCENARIO): [("strict", [(6, 10), (6, 17)])],
    }
    assert (moved.old_uri, moved.new_uri) == (serving._uri(GOVERNOR), serving._uri(GOVERNOR.with_name("strict.yaml")))
    with pytest.raises(JsonRpcInvalidParams, match="is no name"):
        serving._rename(server, about(SCENARIO, "careful", 2, new_name="Not A Name"))


@pytest.mark.medium
def test_a_text_is_laid_out_by_one_edit_or_none(server):
    text = SCENARIO.read_text(encoding="utf-8")
    moved = text.replace("world: tank\n", "") + "world: tank   \n"
    server.texts.put(SCENARIO, moved)
    (edit,) = serving._formatting(server, about(SCENARIO))
    assert (edit.new_text, ends(edit.range)) == (text, [(0, 0), (moved.count("\n") + 1, 0)])
    server.texts.put(SCENARIO, edit.new_text)
    assert serving._formatting(server, about(SCENARIO)) == []


@pytest.mark.medium
def test_what_is_no_file_has_no_answer(server):
    elsewhere: Any = SimpleNamespace(
        text_document=SimpleNamespace(uri="untitled:Untitled-1", text="spec: world/v1\n"),
        position=lsp.Position(0, 0), new_name="a", content_changes=[SimpleNamespace(text="a")],
    )  # fmt: skip
    asyncio.run(serving._changed(server, elsewhere))
    serving._opened(server, elsewhere)
    assert (server.shown, server.texts.unsaved) == ({}, {})
    assert serving._completion(server, elsewhere) == serving._references(server, elsewhere) == []
    assert serving._formatting(server, elsewhere) == []
    asked = (serving._hover, serving._definition, serving._prepare_rename)
    assert [ask(server, elsewhere) for ask in asked] == [None, None, None]
    with pytest.raises(JsonRpcInvalidParams):
        serving._rename(server, elsewhere)
