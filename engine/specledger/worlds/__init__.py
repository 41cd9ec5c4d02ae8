"""Worlds, maps and drifts: specs as executable, pure functions over plain JSON states."""
