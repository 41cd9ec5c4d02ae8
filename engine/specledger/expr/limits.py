"""The bounds of CEL profile v1. The parser, the checker, the evaluator and generated code use them."""

INT_MIN = -(2**63)
INT_MAX = 2**63 - 1

MAX_SOURCE = 8192
"""Code points in the source of one expression."""
MAX_NESTING = 32
"""Brackets of any sort that may be open at once, as in Google's engines."""
MAX_CHAIN = 32
"""Operators in one chain of `&&`, `||`, `?:` or of selections; terms in one chain of the other operators, as in
Google's engines."""
MAX_HEIGHT = 48
"""Height of one syntax tree, brackets and chains together; generated Python stays below its own bracket limit."""
MAX_ITEMS = 256
"""Items in one list or map literal, arguments of one call."""
MAX_LOOPS = 6
"""Macros (`all`, `map` ...) inside each other within one expression text."""
MAX_EXPANDED_HEIGHT = 100
"""Height of the tree when every call of a defined function is replaced by its body."""
MAX_EXPANDED_NODES = 20_000
"""Nodes of that expanded tree: refuses functions that double their work at every level."""
MAX_LIST = 65_536
"""Items in any list or map, in a binding or made by an expression."""
MAX_STRING = 65_536
"""Code points in any string made by an expression."""
MAX_WORK = 2_000_000
"""Work of one evaluation, in visited nodes: items times nodes of the body at every macro, lengths of lists, and of the
texts that are made."""
CHARACTERS_OF_WORK = 16
"""Code points of a text that is made, for each unit of work: so work bounds the memory of one evaluation, too."""
MAX_MEMORY = 80_000_000
"""Bytes, about, of the lists, maps and texts that the named values of one function (a set of proposals, a step, a
judgement) hold at the same time."""
MOST_SOURCE = 400_000
"""Characters of one generated module, about, after which expressions become calls of the exact evaluator: a character
takes fifty bytes and more while the module is made."""
WORK_WITHOUT_CHARGE = 1_000_000
"""Work, of all named values of one function, up to which their memory is not looked at."""
