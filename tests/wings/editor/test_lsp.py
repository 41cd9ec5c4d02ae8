"""`spec lsp` over the protocol: a real client starts the command, types, and asks."""

from pathlib import Path

import pytest

pytest.importorskip("pygls", reason="the extra `lsp`")
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

SCENARIO, GOVERNOR, AGENT, WORLD = (
    f"specs/{name}.yaml" for name in ("scenario/first", "governor/careful", "agent/filler", "world/tank")
)


def labels(items):
    return [item.label for item in items]


@pytest.mark.medium
def test_findings_are_those_of_a_check_and_follow_the_typing(editor, spec, project):
    async def talk(client):
        text = client.text(SCENARIO)
        fine = await client.open(SCENARIO)
        wrong = await client.type(SCENARIO, text.replace("world: tank", "world: tnak"))
        again = await client.type(SCENARIO, text)
        return fine, wrong, again

    fine, wrong, again = editor(talk)
    assert (fine, again) == ([], [])
    assert [(found.code, found.severity) for found in wrong] == [("E_REF_MISSING", lsp.DiagnosticSeverity.Error)]
    assert "hint: did you mean `tank`?" in wrong[0].message
    text = (project / SCENARIO).read_text(encoding="utf-8")
    assert wrong[0].range.start.line == text[: text.index("world:")].count("\n")
    assert (project / SCENARIO).read_text(encoding="utf-8") == text, "nothing is saved"
    assert spec("check", SCENARIO).status == 0


@pytest.mark.medium
def test_expressions_are_typed_where_they_are_used(editor):
    async def talk(client):
        text = client.text(GOVERNOR)
        await client.open(GOVERNOR)
        return await client.type(GOVERNOR, text.replace("next.level", "next.levle"))

    found = editor(talk)
    assert {each.code for each in found} == {"E_EXPR_UNKNOWN_FIELD"}


@pytest.mark.medium
def test_what_is_typed_in_one_file_counts_in_another(editor):
    async def talk(client):
        text = client.text(WORLD)
        await client.open(WORLD)
        await client.type(WORLD, text.replace("level", "height"))
        await client.text_document_hover_async(lsp.HoverParams(**client.at(WORLD, text, "state")))
        broken = {uri for uri, found in client.findings.items() if found}
        await client.type(WORLD, text)
        await client.text_document_hover_async(lsp.HoverParams(**client.at(WORLD, text, "state")))
        return client.uri(GOVERNOR), broken, [uri for uri, found in client.findings.items() if found]

    governor, broken, after = editor(talk)
    assert governor in broken
    assert after == []


@pytest.mark.medium
def test_texts_that_are_being_typed_do_no_harm(editor):
    texts = (
        "",
        "spec: ",
        "spec: scenario/v1\nname: [",
        "a: b\n",
        "\tx",
        "spec: governor/v1\ngates:\n  - id: a\n    den",
    )

    async def talk(client):
        await client.open(SCENARIO)
        for text in texts:
            assert await client.type(SCENARIO, text), text
            await client.text_document_completion_async(lsp.CompletionParams(**client.at(SCENARIO, text, text[-1:])))
            await client.text_document_hover_async(lsp.HoverParams(**client.at(SCENARIO, text, "")))
        return await client.type(SCENARIO, client.text(SCENARIO))

    assert editor(talk) == []


@pytest.mark.medium
def test_keys_and_names_are_completed(editor):
    async def talk(client):
        text = (
            "spec: scenario/v1\nname: first\nworld: \nagent: {use: }\ninvariants: [no-overflow, ]\nprobes:\n  - \nhor"
        )
        await client.open(SCENARIO, text)

        async def ask(words, offset):
            return await client.text_document_completion_async(
                lsp.CompletionParams(**client.at(SCENARIO, text, words, offset))
            )

        return [
            await ask("world: ", 7),
            await ask("{use: ", 6),
            await ask("no-overflow, ", 13),
            await ask("  - ", 4),
            await ask("hor", 3),
        ]

    world, use, invariant, _, key = editor(talk)
    assert labels(world)[0] == "tank"
    assert "filler" in labels(use)
    assert "no-overflow" in labels(invariant)
    horizon = next(item for item in key if item.label == "horizon")
    assert horizon.documentation.startswith("How many steps an episode has at most")
    assert horizon.insert_text == "horizon: "


@pytest.mark.medium
def test_hover_explains_keys_names_and_types(editor):
    async def talk(client):
        scenario, governor = client.text(SCENARIO), client.text(GOVERNOR)
        await client.open(SCENARIO)
        await client.open(GOVERNOR)

        async def ask(name, text, words, offset=1):
            said = await client.text_document_hover_async(lsp.HoverParams(**client.at(name, text, words, offset)))
            return "" if said is None else said.contents.value

        return [
            await ask(SCENARIO, scenario, "horizon"),
            await ask(SCENARIO, scenario, "careful"),
            await ask(GOVERNOR, governor, "next.level", 7),
        ]

    key, name, expression = editor(talk)
    assert key.startswith("**horizon**: an integer, at least 1")
    assert "**governor** `careful`, specs/governor/careful.yaml" in name
    assert "is of the type `int" in expression


@pytest.mark.medium
def test_a_name_leads_to_its_file(editor):
    async def talk(client):
        text = client.text(SCENARIO)
        await client.open(SCENARIO)
        ask = client.text_document_definition_async
        own = await ask(lsp.DefinitionParams(**client.at(SCENARIO, text, "careful", 2)))
        none = await ask(lsp.DefinitionParams(**client.at(SCENARIO, text, "horizon", 2)))
        return own, none, client.uri(GOVERNOR)

    own, none, governor = editor(talk)
    assert (own.uri, own.range.start.character) == (governor, len("name: "))
    assert none is None


@pytest.mark.medium
def test_a_new_name_changes_every_reference_and_the_file(editor, spec, project):
    async def talk(client):
        text = client.text(SCENARIO)
        await client.open(SCENARIO)
        at = client.at(SCENARIO, text, "careful", 2)
        place = await client.text_document_prepare_rename_async(lsp.PrepareRenameParams(**at))
        edit = await client.text_document_rename_async(lsp.RenameParams(new_name="strict", **at))
        refused = []
        for name in ("Not A Name", "careful"):
            try:
                await client.text_document_rename_async(lsp.RenameParams(new_name=name, **at))
            except JsonRpcException as error:
                refused.append(error.message)
        return place, edit, refused

    place, edit, refused = editor(talk)
    assert place.end.character - place.start.character == len("careful")
    assert ["is no name" in refused[0], "already" in refused[1]] == [True, True]
    *texts, moved = edit.document_changes
    for change in texts:
        file = Path(change.text_document.uri.removeprefix("file://"))
        lines = file.read_text(encoding="utf-8").split("\n")
        for each in change.edits:
            line = each.range.start.line
            lines[line] = (
                lines[line][: each.range.start.character] + each.new_text + lines[line][each.range.end.character :]
            )
        file.write_text("\n".join(lines), encoding="utf-8")
    Path(moved.old_uri.removeprefix("file://")).rename(moved.new_uri.removeprefix("file://"))
    assert (project / "specs/governor/strict.yaml").read_text(encoding="utf-8").count("name: strict") == 1
    done = spec("check", ".")
    assert (done.status, done.err) == (0, "")


@pytest.mark.medium
def test_a_text_is_laid_out(editor):
    async def talk(client):
        text = client.text(SCENARIO).replace("world: tank\n", "").rstrip() + "\nworld: tank   \n"
        await client.open(SCENARIO, text)
        params = lsp.DocumentFormattingParams(
            lsp.TextDocumentIdentifier(client.uri(SCENARIO)), lsp.FormattingOptions(2, insert_spaces=True)
        )
        once = await client.text_document_formatting_async(params)
        await client.type(SCENARIO, once[0].new_text)
        return client.text(SCENARIO), once, await client.text_document_formatting_async(params)

    text, once, twice = editor(talk)
    assert once[0].new_text == text
    assert not twice


@pytest.mark.medium
def test_places_count_as_the_client_does(editor):
    async def talk(client):
        text = client.text(SCENARIO).replace("doc: ", "doc: 😀 ").replace("[no-overflow]", "[no-overflow, 😀]")
        return await client.open(SCENARIO, text), text

    found, text = editor(talk)
    line = next(line for line in text.split("\n") if "no-overflow, " in line)
    assert found[0].range.start.character == line.index("😀")
    assert found[0].range.end.character == line.index("😀") + 2, "two units of UTF-16"
