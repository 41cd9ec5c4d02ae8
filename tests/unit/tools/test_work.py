"""How much work the second verifier does: so much for each part, a multiple for all, and how far it tells it is."""

import io
import re

import pytest

from tools.verifier.basis import Open
from tools.verifier.law_ring import CellScan, RingImage, RingRule, WindowSum
from tools.verifier.main import main
from tools.verifier.progress import Progress
from tools.verifier.values import MILLION_STEPS, PARTS_OF_ALL, USUAL_WORK, Budget


def part_of(budget, steps):
    budget.part()
    budget.spend(steps)


def test_every_part_has_as_much_as_every_other():
    budget = Budget()
    budget.begin(2)
    for _ in range(3):
        part_of(budget, 2 * MILLION_STEPS)
        with pytest.raises(Open, match=r"2 million steps .* 40 million for all; --work N"):
            budget.spend(1)


def test_all_parts_together_have_an_end():
    budget = Budget()
    budget.begin(1)
    for _ in range(PARTS_OF_ALL):
        part_of(budget, MILLION_STEPS)
    with pytest.raises(Open) as said:
        part_of(budget, 1)
    assert said.value.code == "E_WORK"


def test_small_parts_leave_what_they_do_not_need():
    budget = Budget()
    budget.begin(1)
    for _ in range(10 * PARTS_OF_ALL):
        part_of(budget, MILLION_STEPS // 10)
    with pytest.raises(Open):
        part_of(budget, MILLION_STEPS // 10)


def test_what_is_foreseen_to_be_too_much_is_not_begun():
    budget = Budget()
    budget.foresee(USUAL_WORK * MILLION_STEPS)
    with pytest.raises(Open, match="--work"):
        budget.foresee(USUAL_WORK * MILLION_STEPS + 1)


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "", "x", "²", "1" * 10])
def test_other_bounds_are_wrong_usage(text, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["nowhere", "--work", text])
    assert ended.value.code == 2
    assert "999999999" in capsys.readouterr().err


class Terminal(io.StringIO):
    def isatty(self):
        return True


def told(file, steps):
    progress = Progress()
    progress.begin(file)
    for step in steps:
        progress.due = 0.0
        progress.tell(*step)
    progress.end()
    return re.split(r"\r\x1b\[K", file.getvalue())


def test_a_terminal_is_told_how_far_it_is():
    steps = [("run", 1, 2), ("receipt", 1, 9), ("receipt", 2, 9), ("run", 2, 2)]
    said = ["run 1 of 2", "run 1 of 2, receipt 1 of 9", "run 1 of 2, receipt 2 of 9", "run 2 of 2"]
    assert told(Terminal(), steps) == ["", *said, ""]


def test_nobody_else_is_told():
    assert told(io.StringIO(), [("run", 1, 2)]) == [""]


RINGS = [bytes(one) for one in ([0, 1, 2], [2], [1, 0], [3, 3, 0, 1, 2, 0, 1], [0] * 70)]


@pytest.mark.parametrize("symbols", [4, 7])
@pytest.mark.parametrize("ring", RINGS, ids=len)
def test_all_cells_at_once_are_what_cells_are_one_by_one(symbols, ring):
    """Four symbols have windows of three whose codes fit a byte, seven have not."""
    size = len(ring)
    table = [(5 * code + 3) % symbols for code in range(symbols**3)]
    threes = [(ring[at - 1], ring[at], ring[(at + 1) % size]) for at in range(size)]
    assert RingRule(symbols, table).step(ring) == bytes(
        table[left * symbols**2 + own * symbols + right] for left, own, right in threes
    )
    for width in (1, 2, 3, 5):
        windows = [[ring[(at + place) % size] for place in range(width)] for at in range(size)]
        measure = WindowSum(symbols, width, lambda cells: cells[0] - 7 * cells[-1] * sum(cells))
        assert measure.of(ring) == sum(one[0] - 7 * one[-1] * sum(one) for one in windows)


@pytest.mark.parametrize("ring", RINGS, ids=len)
def test_marked_cells_are_found(ring):
    marked = [at for at, cell in enumerate(ring) if cell in (1, 3)]
    wanted = [False, True, False, True]
    first, last = (marked[0], marked[-1]) if marked else (-1, -1)
    assert CellScan("first", wanted).of(ring) == first
    assert CellScan("last", wanted).of(ring) == last
    assert CellScan("extent", wanted).of(ring) == (last - first if marked else -1)
    runs = "".join("x" if cell in (1, 3) else " " for cell in ring).split(" ")
    assert CellScan("longest", wanted).of(ring) == max(map(len, runs))


@pytest.mark.parametrize("ring", RINGS, ids=len)
def test_a_ring_is_turned_and_mapped(ring):
    mapped = [1, 0, 3, 2]
    turned = ring[::-1]
    size = len(ring)
    assert RingImage(True, 2, mapped).of(ring) == bytes(mapped[turned[(at - 2) % size]] for at in range(size))
