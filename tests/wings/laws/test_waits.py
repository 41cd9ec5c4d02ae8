"""Waits that grow with the ring: a lone left-mover comes back to the cell beside it after one step less than cells."""

import pytest

from specledger.wings.laws.judge import judge
from specledger.wings.laws.run import Run
from tests.toys.claims import measured, obs, op

SIZES = range(4, 12)
ROUND = op("=>", op("==", obs("N"), {"const": 0}), op("==", obs("N"), {"const": 1}))
WAITS = {
    "9": (0, 9),
    "grid_length": (1, 0),
    "grid_length - 1": (1, -1),
    "grid_length - 2": (1, -2),
    "grid_length + 3": (1, 3),
    "2 * grid_length - 8": (2, -8),
    "3 * grid_length - 12": (3, -12),
}


@pytest.mark.parametrize(("said", "wait"), WAITS.items(), ids=WAITS)
def test_each_ring_has_the_wait_of_its_length(law_of, said, wait):
    """Rings of several lengths are judged at once, by the longest wait of all; each has its own."""
    cells, more = wait
    law = law_of(
        measured("leftmost('<')", ROUND, "eventually", quantifiers={"T": 1, "H": int(said) if not cells else said})
    )
    starts = [law.universe.cells("<" + "." * (size - 1)) for size in SIZES]
    expected = [-1 if cells * len(start) + more >= len(start) - 1 else 0 for start in starts]
    assert judge(law, starts).violated.tolist() == expected
    assert [-1 if (t := Run(law, start).first_violation()) is None else t for start in starts] == expected
    for start, violated in zip(starts, expected, strict=True):
        assert judge(law, [start]).violated.tolist() == [violated]
