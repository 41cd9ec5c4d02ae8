"""How far a verification has come, for whoever waits at a terminal; nothing is written anywhere else."""

import time

SECONDS_BETWEEN = 0.2


class Progress:
    """One line of a terminal, written over and over. It holds figures alone: no text of the evidence comes here."""

    def __init__(self):
        self.file, self.due, self.parts = None, 0.0, {}

    def begin(self, file):
        """Tell it to a file, if that is a terminal."""
        self.file = file if file.isatty() else None

    def tell(self, what, number, count):
        """Begin so manieth of so many things; what was told of things inside the one before is over."""
        if self.file is None:
            return
        outer = list(self.parts)[: list(self.parts).index(what)] if what in self.parts else list(self.parts)
        self.parts = {**{one: self.parts[one] for one in outer}, what: f"{what} {number} of {count}"}
        now = time.monotonic()
        if now >= self.due:
            self.due = now + SECONDS_BETWEEN
            self.file.write(f"\r\x1b[K{', '.join(self.parts.values())}")
            self.file.flush()

    def end(self):
        """Leave an empty line."""
        if self.file is not None:
            self.file.write("\r\x1b[K")
            self.file.flush()
        self.file, self.parts = None, {}


PROGRESS = Progress()
