"""The diagnostic codes of discoveries and their journals."""

from __future__ import annotations

from specledger.core.diagnostics import code

E_STORE_OPEN = code(
    "E_STORE_OPEN",
    "a journal cannot be opened",
    "`--journal` is the path of a SQLite file, which is created if it does not exist. Its folder must exist.",
)
E_STORE_BUSY = code(
    "E_STORE_BUSY",
    "a journal is in use",
    "Another process held the file for longer than 5 seconds: another `spec discover` with the same journal, or a "
    "program that copies the file. Nothing is lost; run the same command when it has ended.",
)
E_STORE_BROKEN = code(
    "E_STORE_BROKEN",
    "a journal is damaged",
    "The file is not a SQLite database, or a row is not what was stored. Nothing was taken from it. Restore a copy, "
    "or name another --journal and begin anew: the same discovery with the same answers has the same result.",
)
E_STORE_CHANGED = code(
    "E_STORE_CHANGED",
    "a discovery was changed since its journal was begun",
    "A journal holds one discovery, and is never overwritten. `iterations` and `stop` may change, since no step "
    "depends on them; any other change of the specs makes another discovery. Undo the changes to resume it, name "
    "another --journal or --out to begin a new one, or delete the file.",
)
E_STORE_FOREIGN = code(
    "E_STORE_FOREIGN",
    "a file is no journal",
    "The file of --journal, or the one beside the evidence, is a database of something else. It is left as it is: name "
    "another --journal or --out.",
)
E_STORE_VERSION = code(
    "E_STORE_VERSION",
    "a journal was written by another version",
    "A discovery resumes only with the version of the engine that began it, since another version may come to other "
    "results. There is no migration: finish it with that version, or begin a new one.",
)
E_STORE_FULL = code(
    "E_STORE_FULL",
    "a journal cannot be written",
    "The disk is full, the file or its folder is read-only, or the disk failed. What was stored before is whole; the "
    "same command resumes when the file can be written.",
)
E_DISCOVERY_LAW = code(
    "E_DISCOVERY_LAW",
    "an expected law is about another universe",
    "What `expect` names are laws about the universe of the discovery, by one of its templates: nothing else can be "
    "found in it.",
)
E_DISCOVERY_TEMPLATE = code(
    "E_DISCOVERY_TEMPLATE",
    "a discovery asks for a template that it does not list",
    "`request.target_templates` and `request.exclude_templates` name templates by the names that `templates` leads to, "
    "and some template must be left to propose.",
)
W_DISCOVERY_SCRAMBLED = code(
    "W_DISCOVERY_SCRAMBLED",
    "a prompt is scrambled for a model that does not read it",
    "A prompt with `scramble` describes the universe in other symbols or names, and answers are translated back. A "
    "script or a grammar does not read the prompt: its laws, in the universe's own names, are translated to names that "
    "do not exist, and end as UNKNOWN.",
)
