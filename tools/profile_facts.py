"""What the rows of profiles require of the specs of a bundle, asked of a folder of specs without running anything."""

import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

from specledger.core.diagnostics import Rejected
from specledger.kinds import KINDS, load
from specledger.load import Bundle, Search
from specledger.report.outcome import Outcome
from specledger.report.profile_answers import Answers
from specledger.report.profile_rules import Question, questions_of
from specledger.spec.profile import Profile
from specledger.verify.checks import Verification

RUN = ("scenario", "suite", "law", "discovery")
EXTENDS = re.compile(r"^extends: (?:\{use: )?([\w-]+)", re.MULTILINE)
MOST_EXTENDED = 4
GIVEN = "with:"
"""In a spec that gives values to others, so that rules about any of these may be about it."""
INDIRECT = "specs[specs["
"""Of a rule about a spec that another one refers to, which may be any."""


class Subject(NamedTuple):
    """A spec of whose bundles rows ask something: its file, the files that it is resolved from, and the questions."""

    file: str
    reads: frozenset[str]
    asked: dict[str, list[Question]]


class Facts:
    """The specs that profiles are about, in a folder that may change between two questions."""

    def __init__(self, folder: Path, profiles: Iterable[str], controls: Iterable[str] = ()) -> None:
        """Of these profiles, and of these of their controls if any are named."""
        self._search = Search(shipped=folder / "specs")
        self._folder, self._subjects = folder, dict[str, Subject]()
        self._bases = dict[str, str]()
        for path in (folder / "specs").glob("*/*.yaml"):
            base = EXTENDS.search(path.read_text(encoding="utf-8"))
            if base is not None:
                self._bases[f"{path.parent.name}/{path.stem}"] = f"{path.parent.name}/{base[1]}"
        wanted = set(controls)
        for profile in profiles:
            bundle = load(folder / f"specs/profile/{profile}.yaml", search=self._search)[0]
            for question in questions_of(bundle, KINDS):
                control = question.id.partition("/")[2].rpartition(".")[0]
                if question.reads == {"specs"} and question.named.of and (not wanted or control in wanted):
                    self._subject(question.named.of).asked.setdefault(profile, []).append(question)
            for name in named_by(bundle, wanted):
                self._subject(name)

    def _subject(self, name: str) -> Subject:
        if name not in self._subjects:
            kind = next(kind for kind in RUN if (self._folder / f"specs/{kind}/{name}.yaml").is_file())
            file = f"specs/{kind}/{name}.yaml"
            reads = frozenset(f"specs/{path}" for path in self._load(file).sources if path.endswith(".yaml"))
            self._subjects[name] = Subject(file, reads, {})
        return self._subjects[name]

    def _load(self, file: str) -> Bundle:
        return load(self._folder / file, search=self._search)[0]

    @property
    def files(self) -> list[str]:
        """The specs that rows are about: those that their bundles hold."""
        return sorted(frozenset[str]().union(*(subject.reads for subject in self._subjects.values())))

    @property
    def asked(self) -> set[str]:
        """What rows require of specs, as `<profile> <control>.<place>`."""
        subjects = self._subjects.values()
        return {name_of(profile, one) for item in subjects for profile, asked in item.asked.items() for one in asked}

    def refuted(self, file: str) -> str:
        """What is first found not to hold in the present state of a file, else empty; small bundles are asked first.

        It is `refused <code>` if the smallest bundle that holds the file cannot be made at all.
        """
        reading = sorted(
            (subject for subject in self._subjects.values() if file in subject.reads), key=lambda item: len(item.reads)
        )
        names = self._named(file)
        gives = any(GIVEN in (self._folder / f"specs/{name}.yaml").read_text(encoding="utf-8") for name in names)
        for index, subject in enumerate(reading):
            asked = {
                profile: questions if gives else about(questions, names) for profile, questions in subject.asked.items()
            }
            if index > 0 and not any(asked.values()):
                continue
            try:
                bundle = self._load(subject.file)
            except Rejected as rejected:
                return f"refused {next(iter(rejected.diagnostics)).code}"
            for profile, questions in asked.items():
                answers = Answers(questions, bundle.main.name, bundle.main.kind, bundle)
                by_id = {question.id: question for question in questions}
                for check in answers.checks("key", Verification()):
                    if check.outcome is not Outcome.PASSED:
                        return name_of(profile, by_id[check.id])
        return ""

    def _named(self, file: str) -> set[str]:
        """The specs that a file makes, as `kind/name`: its own, and those that extend it."""
        names = {file.removeprefix("specs/").removesuffix(".yaml")}
        for _ in range(MOST_EXTENDED):
            names |= {name for name, base in self._bases.items() if base in names}
        return names


def about(questions: Sequence[Question], names: set[str]) -> list[Question]:
    """Those of some rules that may be about specs of these names."""
    texts = {question.id: question.named.require or "" for question in questions}
    return [
        question
        for question in questions
        if INDIRECT in texts[question.id] or any(f"'{name}'" in texts[question.id] for name in names)
    ]


def name_of(profile: str, question: Question) -> str:
    """A question as `<profile> <control>.<place>`."""
    return f"{profile} {question.id.partition('/')[2]}"


def named_by(profile: Bundle, controls: set[str]) -> Iterable[str]:
    """The specs that rows of a profile name, each as often as it is named."""
    model = profile.main.model
    assert isinstance(model, Profile)
    for control in model.controls:
        if control.status in ("shown", "differs") and (not controls or control.id in controls):
            for named in control.evidence:
                if named.of is not None:
                    yield named.of
                elif named.check is not None and fnmatch(named.check, "law/*"):
                    yield named.check.partition("/")[2]
