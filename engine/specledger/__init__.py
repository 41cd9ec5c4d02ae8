"""specledger: a spec is data, a run is a pure function of it, its evidence is a chain that anyone can recompute."""

from typing import Final

__version__: Final = "0.1.0"
