"""Typed trees to Python functions."""
