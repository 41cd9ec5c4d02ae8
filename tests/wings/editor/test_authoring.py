"""What the tools of a coding agent run, in this process: the words of each command, paths, and what an answer holds."""

import asyncio
import signal
import sys
import tracemalloc
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from specledger.core.diagnostics import Rejected
from specledger.wings.editor import authoring_tools
from specledger.wings.editor.authoring_tools import Answer, AuthoringTools


class Recorded(AuthoringTools):
    """Writes down the words of a command, and answers that it conforms."""

    def __init__(self, folder):
        super().__init__(folder, 5)
        self.words: list[tuple[str, ...]] = []

    async def _run(self, *words):
        self.words.append(words)
        return Answer(0, "conforms", "text")


@pytest.fixture
def tools(project):
    return Recorded(project)


CALLS = {
    "a check of all": (lambda tools: tools.check(), ("check", "--format", "json", "--", ".")),
    "a check of a name": (lambda tools: tools.check(["first"]), ("check", "--format", "json", "--", "first")),
    "a check of files": (
        lambda tools: tools.check(["specs/world/tank.yaml", "specs"]),
        ("check", "--format", "json", "--", "specs/world/tank.yaml", "specs"),
    ),
    "an explanation": (lambda tools: tools.explain("E_CHAIN"), ("explain", "--", "E_CHAIN")),
    "a verification": (lambda tools: tools.verify("out/a"), ("verify", "--replay", "--", "out/a")),
    "one without replay": (lambda tools: tools.verify("out/a", replay=False), ("verify", "--no-replay", "--", "out/a")),
    "a report": (lambda tools: tools.report("out/a"), ("report", "--format", "markdown", "--", "out/a")),
    "a run": (lambda tools: tools.run("first"), ("run", "--out", "out/mcp/first-1", "--", "first")),
    "a run of a file with options": (
        lambda tools: tools.run("specs/scenario/first.yaml", 0, 2),
        ("run", "--seed=0", "--episodes=2", "--out", "out/mcp/first-1", "--", "specs/scenario/first.yaml"),
    ),
}  # fmt: skip


@pytest.mark.medium
@pytest.mark.parametrize(("call", "words"), CALLS.values(), ids=CALLS)
def test_the_words_of_a_command(tools, call, words):
    answer = asyncio.run(call(tools))
    assert (tools.words, answer) == ([words], Answer(0, "conforms", "text"))


@pytest.mark.medium
def test_a_run_goes_to_a_folder_that_is_not_there_yet_and_is_named_if_it_was_written(tools, project):
    for number in (1, 2):
        (project / f"out/mcp/first-{number}").mkdir(parents=True)
    assert asyncio.run(tools.run("first")).bundle is None
    assert "out/mcp/first-3" in tools.words[-1]

    async def written(*words):
        (project / words[words.index("--out") + 1]).mkdir(parents=True)
        return Answer(1, "findings, or refuted", "")

    tools._run = written
    answer = asyncio.run(tools.run("first"))
    assert (answer.exit_code, answer.bundle) == (1, "out/mcp/first-3")


@pytest.mark.medium
@pytest.mark.parametrize(
    ("name", "stem"), [("a b/c.d", "abcd"), ("..", "run"), ("", "run"), ("a-b_c", "a-b_c"), ("a" * 81, "a" * 80)]
)
def test_the_name_of_a_folder_has_plain_characters(tools, name, stem):
    assert tools._new_place(name) == Path("out/mcp", f"{stem}-1")


PATHS = {
    "absolute": ("/etc", "a path is relative to the folder, and has no `..`"),
    "above": ("a/../../b", "a path is relative to the folder, and has no `..`"),
    "another separator": ("a\\b", "a path is relative to the folder, and has no `..`"),
    "nothing": ("", "an argument has 1 to 1000 characters that can be printed"),
    "too long": ("a" * 1001, "an argument has 1 to 1000 characters that can be printed"),
    "a control": ("a\x1b", "an argument has 1 to 1000 characters that can be printed"),
    "a link": ("away/x", "it leads out of the folder"),
}


@pytest.mark.medium
@pytest.mark.parametrize(("path", "hint"), PATHS.values(), ids=PATHS)
def test_a_path_out_of_the_folder_is_refused_with_why(tools, project, path, hint):
    (project / "away").symlink_to("/tmp")
    with pytest.raises(Rejected) as caught:
        asyncio.run(tools.report(path))
    (finding,) = caught.value.diagnostics
    assert (finding.code, finding.hint) == ("E_MCP_PATH", hint)
    assert finding.message == f"{path[:80]!r} cannot be used here"
    assert tools.words == []


@pytest.mark.medium
def test_an_argument_may_have_1000_characters(tools):
    asyncio.run(tools.explain("a" * 1000))
    assert tools.words == [("explain", "--", "a" * 1000)]


@pytest.mark.medium
def test_a_link_among_the_files_of_a_check_is_named(tools, project):
    (project / "specs/world/out.yaml").symlink_to("/etc/hostname")
    (project / "specs/world/note.txt").symlink_to("/etc/hostname")
    named = "specs/world/out.yaml is a link that leads out of the folder"
    for target, hint in (("specs", named), ("specs/world/out.yaml", "it leads out of the folder")):
        with pytest.raises(Rejected) as caught:
            asyncio.run(tools.check([target]))
        assert caught.value.diagnostics[0].hint == hint
    asyncio.run(tools.check(["specs/agent"]))


def stream_of(*pieces):
    stream = asyncio.StreamReader()
    for piece in pieces:
        stream.feed_data(piece)
    return stream


def ended(status, printed, findings):
    """A process that wrote these bytes and ended."""

    async def wait():
        pass

    streams = stream_of(printed), stream_of(findings)
    for stream in streams:
        stream.feed_eof()
    return SimpleNamespace(returncode=status, stdout=streams[0], stderr=streams[1], wait=wait)


@pytest.mark.medium
@pytest.mark.parametrize(
    ("status", "meaning"),
    [
        (0, "conforms"), (1, "findings, or refuted"), (2, "wrong usage or invalid input"),
        (3, "inconclusive, or nothing was checked"), (4, "something could not be evaluated"), (70, "internal error"),
    ],
)  # fmt: skip
def test_an_answer_says_what_the_exit_code_means(project, monkeypatch, status, meaning):
    monkeypatch.setattr(authoring_tools, "_MOST_OUTPUT", 5)
    made: list[Any] = []

    async def execute(*words, **named):
        made.append((words, named))

        return ended(status, b"abcd", b"\xffgh")

    monkeypatch.setattr(asyncio, "create_subprocess_exec", execute)
    tools = AuthoringTools(project, 5)
    answer = asyncio.run(tools._run("explain", "--", "x"))
    assert (answer.exit_code, answer.meaning, answer.bundle) == (status, meaning, None)
    assert answer.output == "abcd\N{REPLACEMENT CHARACTER}\n... and 2 characters more"
    assert asyncio.run(tools._run("check", "--format", "json")).output == "abcd"
    words, named = made[0]
    assert words[1:] == ("-m", "specledger", "explain", "--", "x")
    assert (named["cwd"], named["env"]["NO_COLOR"], named["start_new_session"]) == (project, "1", True)
    assert set(named["env"]) <= {"PATH", "PYTHONPATH", "TMPDIR", "SYSTEMROOT", "NO_COLOR"}


class Endless:
    """A process that ends when it is killed; one that has gone meanwhile was killed by nobody."""

    pid, returncode = 4711, None
    stdout: asyncio.StreamReader
    stderr: asyncio.StreamReader

    def __init__(self):
        self.waited = 0

    async def wait(self):
        self.waited += 1


@pytest.mark.medium
@pytest.mark.parametrize("gone", [False, True])
def test_a_command_at_its_deadline_is_ended_with_its_group(project, monkeypatch, gone):
    process, killed = Endless(), []

    async def execute(*words, **named):
        process.stdout, process.stderr = stream_of(b"begun"), stream_of()
        return process

    def kill(*arguments):
        killed.append(arguments)
        if gone:
            raise ProcessLookupError

    monkeypatch.setattr(asyncio, "create_subprocess_exec", execute)
    monkeypatch.setattr("os.killpg", kill)
    answer = asyncio.run(AuthoringTools(project, 0)._run("check"))
    assert answer == Answer(-1, "not finished after 0 seconds, and ended", "")
    assert killed == [(4711, signal.SIGKILL)]
    assert process.waited == 1


PRINTS = "import sys; [sys.stdout.write('\\u00e9' * 1_000_000) for _ in range(40)]; sys.stderr.write('end')"


@pytest.mark.medium
def test_no_more_is_kept_of_what_a_command_prints_than_an_answer_holds():
    """A folder may hold any number of specs, each with findings; a character may lie on the edge of two pieces."""

    async def read():
        words = [sys.executable, "-X", "utf8", "-c", PRINTS]
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(*words, stdout=pipe, stderr=pipe)
        tracemalloc.start()
        try:
            printed = await asyncio.gather(*map(authoring_tools._read, (process.stdout, process.stderr)))
            await process.wait()
            return printed, tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    printed, peak = asyncio.run(read())
    most = authoring_tools._MOST_OUTPUT
    assert printed == [("\u00e9" * most, 40_000_000 - most), ("end", 0)]
    assert peak < 8_000_000  # of 80 million bytes
