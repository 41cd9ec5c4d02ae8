"""Statements around expressions: declarations of types and constants, `let`, effects and memory."""
