"""Codes of findings in policies."""

from __future__ import annotations

from specledger.core.diagnostics import code

E_POLICY_FORM = code("E_POLICY_FORM", "a rule that demands nothing, or whose keys do not go together")
E_POLICY_PATH = code("E_POLICY_PATH", "a path that leads to no value")
E_POLICY_PATTERN = code("E_POLICY_PATTERN", "a pattern that RE2 does not accept")
E_POLICY_SET = code("E_POLICY_SET", "an unknown set")
E_POLICY_TOOL = code("E_POLICY_TOOL", "a tool that looks like a misspelt set of tools")
E_POLICY_VALUE = code("E_POLICY_VALUE", "a value that its type cannot read")
E_POLICY_ELSE = code("E_POLICY_ELSE", "a message that names an unknown value")
W_POLICY_CONSTANT = code("W_POLICY_CONSTANT", "a condition of a rule that is the same whatever a log holds")
W_POLICY_UNABLE = code("W_POLICY_UNABLE", "a rule that can notice nothing with the tools of its scenario")
W_POLICY_TOOL = code("W_POLICY_TOOL", "a rule that names a tool which its world does not have")
