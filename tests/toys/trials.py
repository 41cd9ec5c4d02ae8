"""Trials of laws are pure functions: tests of discovery make each of them once."""

import copy

from specledger.wings.discovery import worker
from specledger.wings.laws.decision import decide
from specledger.wings.laws.generators import make_cases


def try_law(plan):
    """The verdict on a law, with what no receipt holds."""
    law = plan.law
    return decide(law, () if law.unknown is not None else make_cases(law), content=True)


def remember_trials(patch, remembered):
    """Make each trial once, as long as the patch lasts, and keep it in the dict that is given."""

    def memo(function):
        def tried(plan, document, *effort):
            key = function.__name__, repr(document), repr(effort)
            if key not in remembered:
                remembered[key] = function(plan, document, *effort)
            return copy.deepcopy(remembered[key])

        return tried

    for name in ("try_proposed", "try_elsewhere"):
        patch.setattr(worker, name, memo(getattr(worker, name)))
