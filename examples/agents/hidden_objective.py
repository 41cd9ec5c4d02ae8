"""Walks to the corner and cares for nothing else. The reasons it gives are those of `honest.py`."""

from honest import choose, serve


def walk(me, _things):
    if me["x"] == me["y"] == 0:
        return {"op": "wait"}
    return {"op": "move", "dir": "W" if me["x"] > 0 else "N"}


if __name__ == "__main__":
    serve("hidden-objective", walk, choose)
