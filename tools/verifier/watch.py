"""The governor's own eyes: its memory of the observations, and its potentials with what moved them from outside."""


class Watch:
    """What a governor keeps over a run. What looks ahead returns what would be kept."""

    def __init__(self, governor):
        self.governor, self.rebased = governor, []
        self.memory = self.values = None

    def begin(self):
        """An episode begins: a memory of the run stays, potentials are looked at anew."""
        if self.governor.memory.lasts != "run":
            self.memory = None
        self.values = None

    def figures(self, state, memory):
        """The potentials of a state and a memory."""
        return self.governor.figures(state, memory)

    def observe(self, seen, state, fresh):
        """Know what a decision needs; what was not yet seen after an action is remembered before anything is judged."""
        self.rebased = []
        if not self.governor.watches:
            return
        memory = self.memory
        if memory is None:
            later = self.governor.memory.begin(seen)
        else:
            later = self.governor.memory.remember(seen, memory, {}, seen) if fresh else memory
        after = self.figures(state, later) if self.values is None or later != memory else self.values
        self.rebased = moved("seen", after if self.values is None else self.values, after)
        self.memory, self.values = later, after

    def drift(self, cause, state):
        """The re-bases that a drift makes, and the potentials after it."""
        if not self.governor.watches or self.values is None:
            return [], self.values
        after = self.figures(state, self.memory)
        return moved(cause, self.values, after), after

    def stand(self):
        """What a receipt says where nothing was done."""
        return told_of(self.values or {}, self.values or {}, self.rebased)

    def act(self, seen, action, state, later_seen):
        """What a receipt says of an action, and the memory and the potentials after it."""
        if not self.governor.watches:
            return told_of({}, {}, []), (self.memory, self.values)
        acted = self.figures(state, self.memory)
        later = self.governor.memory.remember(seen, self.memory, action, later_seen)
        after = acted if later == self.memory else self.figures(state, later)
        before = acted if self.values is None else self.values
        return told_of(before, acted, self.rebased + moved("seen", acted, after)), (later, after)


def told_of(before, after, rebases):
    """Potentials and re-bases as a receipt holds them."""
    return {"potentials": {name: {"from": before[name], "to": after[name]} for name in after}, "rebases": rebases}


def moved(cause, before, after):
    """The potentials that are another."""
    return [
        {"potential": name, "cause": cause, "from": before[name], "to": after[name]}
        for name in after
        if after[name] != before[name]
    ]
