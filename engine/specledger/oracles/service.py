"""The connection to a model's service: the key, the address, and the limits of what is read.

The key comes from the environment and is shown nowhere. No spec can choose where it is sent. It travels encrypted, or
to this machine only; no redirect is followed; reading ends at a size and at a time.
"""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from specledger.core.diagnostics import Diagnostic, Rejected, code

if TYPE_CHECKING:
    from ssl import SSLContext

    import httpx2

KEYS: Final = ("GEMINI_API_KEY", "GOOGLE_API_KEY")
"""The variables of the environment that may hold the key; the first that is not empty does (law proposer, 12)."""

ADDRESS: Final = "GOOGLE_GEMINI_BASE_URL"
"""The variable of the environment that may hold another address of Gemini."""

SERVICE: Final = "https://generativelanguage.googleapis.com/"

OPENAI_KEY: Final = "OPENAI_API_KEY"
OPENAI_ADDRESS: Final = "OPENAI_BASE_URL"
OPENAI_SERVICE: Final = "https://api.openai.com/v1"

LOCAL_KEY: Final = "no-key-is-set"
"""Sent to this machine where the variable of the key is not set: local services mostly need none."""

MOST_BODY: Final = 4_194_304
"""Bytes of an answer over HTTP at most. The service writes `<` and `>` as six characters, so that the longest text that
is kept may need so many."""

HIDDEN: Final = "[key]"
"""The replacement of the key in texts."""

E_MODEL_KEY = code("E_MODEL_KEY", "there is no key for the model's service")
E_MODEL_ADDRESS = code("E_MODEL_ADDRESS", "the key may not be sent to this address")
E_MODEL_PACKAGE = code("E_MODEL_PACKAGE", "asking a model needs a package that is not installed")

_KEY: Final = re.compile(r"[!-~]{8,512}")
_EXPECTED: Final = "8 to 512 printable characters without spaces"
_PLAIN: Final = ("Host", "Content-Type", "Content-Length", "Accept", "Accept-Encoding", "Connection")
_LOCAL: Final = frozenset({"localhost", "127.0.0.1", "::1"})


class TooLargeError(Exception):
    """The response is larger than the limit."""


class LateError(Exception):
    """The deadline passed while the response was read."""


class EncodedError(Exception):
    """The response is compressed, which was not asked for and would hide its size."""


class Key:
    """A key, whose printed form does not show it."""

    __slots__ = ("_spelled", "_text")

    def __init__(self, text: str) -> None:
        """Take a text as the key."""
        self._text = text.strip()
        if not _KEY.fullmatch(self._text):
            message = "what was given as the key cannot be one"
            hint = "leave the variable unset where a server on this machine needs none"
            raise Rejected([Diagnostic(E_MODEL_KEY, message, expected=_EXPECTED, hint=hint)])
        self._spelled = re.compile("".join(map(_spellings, self._text)))

    def __repr__(self) -> str:
        """Nothing of the key."""
        return "Key(hidden)"

    def reveal(self) -> str:
        """The key itself, for the one header that carries it."""
        return self._text

    def hide(self, text: str) -> str:
        """A text without the key, and without what decoding JSON or a URL would turn into the key."""
        return self._spelled.sub(HIDDEN, text.replace(self._text, HIDDEN))


def _spellings(character: str) -> str:
    """A pattern of a character: as it is, escaped in JSON (that may be in JSON again), or quoted as in a URL.

    It is bounded and never tried again in another way, because the text comes from the service.
    """
    plain, code_ = re.escape(character), f"{ord(character):02x}"
    escape = r"(?:\\(?:(?i:u005c))?){1,8}"
    percent = rf"(?:%|{escape}u0025)(?:25){{0,4}}(?i:{code_})"
    return rf"(?>{escape}(?i:u00{code_})|{percent}|{escape}{plain}|{plain})"


def key_of(environment: Mapping[str, str], names: Sequence[str] = KEYS) -> Key:
    """The key in the first of some variables of the environment that is not empty."""
    for name in names:
        if environment.get(name, "").strip():
            return Key(environment[name])
    hint = f"set {names[0]}, or replay from a cassette"
    missing = f"{names[0]} is not set" if len(names) == 1 else f"neither {' nor '.join(names)} is set"
    raise Rejected([Diagnostic(E_MODEL_KEY, missing, hint=hint)])


def address_of(environment: Mapping[str, str]) -> str:
    """Where Gemini is: what the environment says, else the service's own address."""
    given = environment.get(ADDRESS, "").strip()
    if given and not _is_safe(given):
        raise Rejected([Diagnostic(E_MODEL_ADDRESS, f"{ADDRESS} holds an address that a key may not be sent to")])
    return given or SERVICE


def openai_access(endpoint: str | None, name: str | None, environment: Mapping[str, str]) -> tuple[str, Key]:
    """The address of an OpenAI-compatible service and its key, if the one may be sent to the other.

    Without the `endpoint` of a spec it is what the environment says, else the service's own. `name` is the variable of
    the key; None for `OPENAI_KEY`.
    """
    name = name or OPENAI_KEY
    allowed = environment.get(OPENAI_ADDRESS, "").strip()
    address = endpoint or allowed or OPENAI_SERVICE
    own = address.rstrip("/") == OPENAI_SERVICE and name == OPENAI_KEY
    local = urlsplit(address).hostname in _LOCAL if _is_safe(address) else False
    if not _is_safe(address) or not (own or local or address.rstrip("/") == allowed.rstrip("/")):
        message = f"{name} may not be sent to {address}"
        hint = f"if you trust that address with the key, set {OPENAI_ADDRESS} to it"
        raise Rejected([Diagnostic(E_MODEL_ADDRESS, message, hint=hint if _is_safe(address) else None)])
    if local and not environment.get(name, "").strip():
        return address, Key(LOCAL_KEY)
    return address, key_of(environment, [name])


def _is_safe(address: str) -> bool:
    """Whether a key may be sent to an address: encrypted, or to this machine, and nothing but a place."""
    try:
        parts = urlsplit(address)
        _ = parts.port
    except ValueError:
        return False
    safe = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOCAL)
    return safe and bool(parts.hostname) and not (parts.username or parts.password or parts.query or parts.fragment)


@lru_cache(maxsize=1)
def trusted() -> SSLContext:
    """The certificates that this machine trusts; read once, because that is slow."""
    import httpx2  # noqa: PLC0415 - loaded only to ask a service

    return httpx2.create_ssl_context()


class Deadline:
    """One deadline for a whole exchange: TLS, headers and body. The timeouts of a client begin anew with every byte."""

    def __init__(self) -> None:
        self._sockets: list[socket.socket] = []
        self._passed = False

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """Shut the connections that are opened in the context down after some time.

        Raises:
            LateError: The time passed, and the exchange failed.
        """
        self._passed = False
        timer = threading.Timer(seconds, self._pass)
        timer.daemon = True
        timer.start()
        try:
            yield
        except Exception as error:
            if self._passed:
                raise LateError from error
            raise
        finally:
            timer.cancel()
            timer.join()
            for socket_ in self._sockets:
                socket_.close()
            self._sockets.clear()

    def watch(self, request: httpx2.Request) -> None:
        """Note the connections that are opened for a request."""
        request.extensions["trace"] = self._note

    def _note(self, event: str, info: Mapping[str, Any]) -> None:
        if event == "connection.connect_tcp.complete":
            # A duplicate, because TLS detaches the socket of the connection.
            self._sockets.append(info["return_value"].get_extra_info("socket").dup())
            if self._passed:
                self._pass()

    def _pass(self) -> None:
        self._passed = True
        for socket_ in self._sockets:
            with suppress(OSError):  # the other side has closed it
                socket_.shutdown(socket.SHUT_RDWR)


def open_connection(
    address: str, late: Callable[[], bool], deadline: Deadline, headers: Mapping[str, str] | None = None
) -> httpx2.Client:
    """A client that follows no redirect and reads no more than it should; over plain http it uses no proxy either.

    Each exchange has a connection of its own.

    Whenever something came, `late` says whether the time is over. A request carries `headers` besides content, host and
    encoding, whatever its package adds; if None, whatever the package sends.

    Raises:
        ImportError: The package is not installed.
    """
    import httpx2  # noqa: PLC0415 - as above

    class Bounded(httpx2.SyncByteStream):
        """The bytes of an answer, as long as they are not too many and not too late."""

        def __init__(self, stream: httpx2.SyncByteStream) -> None:
            self._stream = stream

        def __iter__(self) -> Iterator[bytes]:
            size = 0
            for chunk in self._stream:
                size += len(chunk)
                if size > MOST_BODY:
                    raise TooLargeError
                if late():
                    raise LateError
                yield chunk

        def close(self) -> None:
            self._stream.close()

    def bound(response: httpx2.Response) -> None:
        if response.headers.get("content-encoding", "identity") != "identity":
            raise EncodedError
        assert isinstance(response.stream, httpx2.SyncByteStream)  # noqa: S101 - this client is no asynchronous one
        response.stream = Bounded(response.stream)

    def dress(request: httpx2.Request) -> None:
        if headers is not None:
            kept = {name: request.headers[name] for name in _PLAIN if name in request.headers}
            request.headers = httpx2.Headers({**kept, **headers})

    return httpx2.Client(
        follow_redirects=False,
        event_hooks={"request": [deadline.watch, dress], "response": [bound]},
        limits=httpx2.Limits(max_keepalive_connections=0),
        headers={"Accept-Encoding": "identity"},
        verify=trusted(),
        trust_env=not address.startswith("http:"),
    )
