"""The diagnostic codes of discoveries and their journals."""

from __future__ import annotations

from specledger.core.diagnostics import code

E_STORE_OPEN = code("E_STORE_OPEN", "a journal cannot be opened")
E_STORE_BUSY = code("E_STORE_BUSY", "a journal is in use")
E_STORE_BROKEN = code("E_STORE_BROKEN", "a journal is damaged")
E_STORE_CHANGED = code("E_STORE_CHANGED", "a discovery was changed since its journal was begun")
E_STORE_FOREIGN = code("E_STORE_FOREIGN", "a file is no journal")
E_STORE_VERSION = code("E_STORE_VERSION", "a journal was written by another engine")
E_STORE_FULL = code("E_STORE_FULL", "a journal cannot be written")
E_DISCOVERY_LAW = code("E_DISCOVERY_LAW", "an expected law is about another universe")
E_DISCOVERY_TEMPLATE = code("E_DISCOVERY_TEMPLATE", "a discovery asks for a template that it does not list")
W_DISCOVERY_SCRAMBLED = code("W_DISCOVERY_SCRAMBLED", "a prompt is scrambled for a model that does not read it")
