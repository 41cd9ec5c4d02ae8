"""What reports call a bundle: its name among others, and its title, kind and text on a page of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from specledger.core.diagnostics import counted
from specledger.evidence.decided import challenges_of, decided_words
from specledger.report.model import Subject
from specledger.report.specs import Specs, is_recorded

_MOST_NAMED: Final = 3


def bundle_names(subjects: Sequence[Subject]) -> list[str]:
    """A name for each bundle: that of its spec, with its folder where several bundles are of specs with the same name.

    Those of folders with the same name are numbered.
    """
    titles, uses = Counter(subject.title for subject in subjects), Counter[str]()
    names = list[str]()
    for subject in subjects:
        name = subject.title
        if titles[name] > 1:
            name += f" ({subject.evidence.name or subject.manifest['run'][:8]})"
        uses[name] += 1
        names.append(name if uses[name] == 1 else f"{name} {uses[name]}")
    return names


def title_of(subject: Subject) -> str:
    """The title of a page: the name of the spec; of a recording the policies with the logs that they judge."""
    policies = _policies(subject)
    logs = subject.reading.trajectories
    if not policies or not logs:
        return subject.title
    named = ", ".join(logs) if len(logs) <= _MOST_NAMED else counted(len(logs), "trajectory")
    return f"{', '.join(policies)}: {named}"


def decided_of(subject: Subject) -> str:
    """How many challenges of a bundle were decided, to stand behind its verdict; empty if all were."""
    return decided_words(challenges_of(subject.reading.results()))


def kind_line(subject: Subject) -> str:
    """What stands above the title: what the evidence is of, and who acted or judged."""
    policies = _policies(subject)
    if policies:
        judges = f"{'policies' if len(policies) > 1 else 'policy'} {', '.join(policies)}"
        called = f" ({subject.kind} {subject.title})" if subject.reading.trajectories else ""
        return f"Recorded calls, judged by the {judges}{called}"
    agent = subject.reading.agent
    whose = f" with the agent{'s' * ('+' in agent)} {agent.replace('+', ', ')}" if agent else ""
    return f"Evidence of a {subject.kind}{whose}"


def doc_of(subject: Subject) -> str:
    """What the spec says of itself; of a recording what its policies say, as its scenario is the same for all."""
    if not _policies(subject) or not subject.reading.trajectories:
        return subject.doc
    docs = (policy.get("doc", "") for policy in Specs.of(subject.evidence.specs).of_kind("policy"))
    return "\n\n".join(filter(None, docs)) or subject.doc


def _policies(subject: Subject) -> Sequence[str]:
    """The policies that judge a recording."""
    policies = subject.names.get("policy", ())
    return policies if policies and is_recorded(subject.evidence.specs) else ()
