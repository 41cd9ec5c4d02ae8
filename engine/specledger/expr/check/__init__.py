"""Syntax trees to typed trees."""
