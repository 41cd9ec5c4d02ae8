"""The codes of findings about a store, apart from what opens one: a page is read without a database."""

from __future__ import annotations

from specledger.core.diagnostics import code

E_STORE_OPEN = code(
    "E_STORE_OPEN",
    "a store cannot be opened",
    "`--store` is the path of a SQLite file, which is made if it is not there, or the URL of a database as SQLAlchemy "
    "reads it, such as postgresql+psycopg://host/name. The folder must exist, the database accept this user, the "
    "driver of another database than SQLite be installed, and what the URL asks for be known to it. SQLite in memory "
    "is refused: it keeps nothing.",
)
E_STORE_BUSY = code(
    "E_STORE_BUSY",
    "a store is locked",
    "Another process held the database for longer than a lease lasts, and than 5 seconds. Whoever works on the same "
    "discovery holds it for moments only: look for a program that has the file open, or a copy or a backup of it under "
    "way. Nothing is lost; the same command goes on.",
)
E_STORE_BROKEN = code(
    "E_STORE_BROKEN",
    "a store is damaged",
    "The database is no database any more, or what it holds is not what was stored. Nothing was taken from it. Put a "
    "copy in its place, or name another --store and begin anew: the same discovery comes to the same result.",
)
E_STORE_FOREIGN = code(
    "E_STORE_FOREIGN",
    "a store holds something else",
    "A store holds one discovery, which its specs' digest names; changed specs are another discovery. It is never "
    "overwritten: name another --store, or remove it yourself.",
)
E_STORE_VERSION = code(
    "E_STORE_VERSION",
    "a store was made by another version",
    "What is in a store goes on only under the version of the engine and of the tables that made it, since another one "
    "may come to other results. There is no migration: finish it with that version, or begin anew elsewhere.",
)
E_STORE_FULL = code(
    "E_STORE_FULL",
    "a store cannot be written",
    "The database could be read but refused to be written: no room, no permission, or read-only. What was stored "
    "before is whole; the same command goes on when there is room.",
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
    "a prompt is scrambled for somebody who does not read it",
    "A prompt with `scramble` tells the universe in other symbols or names, and answers are translated back. A script "
    "or a grammar answers the same whatever it is told: written in the universe's own names, its laws are about "
    "nothing that there is, and end as UNKNOWN.",
)
