"""The guard of a scenario: its conversations, and what each message makes of them.

A conversation takes one message at a time. Its decisions are made in a thread, so that a slow rule holds up no other
conversation, and are given up after the deadline of the scenario. Decisions, the beginnings and ends of conversations,
and all that only writes to a log have threads of their own, so that none of them waits for those that take long.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

from specledger.compile.scenario import compile_scenario
from specledger.core import disk
from specledger.core.diagnostics import Rejected
from specledger.evidence.chain import run_id
from specledger.load import Bundle
from specledger.oracles.retry_clock import Clock
from specledger.spec.scenario import Guard, Scenario
from specledger.wings.guard.client import PROTOCOL
from specledger.wings.guard.conversation import Answer, Conversation
from specledger.wings.guard.log import E_GUARD_LOG, ConversationLog
from specledger.wings.guard.protocol import (
    E_GUARD_CONVERSATION,
    E_GUARD_SEALED,
    E_GUARD_UNWRITABLE,
    Ask,
    Begin,
    End,
    Message,
    Note,
    Refusal,
    Report,
    Say,
    error_answer,
    is_name,
)
from specledger.wings.trajectories.model import Call, Finding, Speaker
from specledger.wings.trajectories.model import Message as Heard

LOGS: Final = "logs"
"""The folder of the logs of conversations that did not end."""
SEALED: Final = "sealed"
"""The folder of the evidence of those that ended."""
MOST_MEMORY: Final = 64 << 20
"""Bytes of memory, about, that all open conversations may take together before none takes anything any more."""
MOST_CONVERSATIONS: Final = 500
"""Each has its log open, and a process may often have 1,024 files, of which connections take some."""
_THREADS: Final = 64
"""Threads for each of three kinds of work."""
_BUSY: Final = "its last decision is still being made"

Made = TypeVar("Made")


class _Place:
    """A conversation, and who may use it."""

    def __init__(self, conversation: Conversation) -> None:
        self.conversation = conversation
        self.turn = asyncio.Lock()
        self.reported = asyncio.Event()


class GuardService:
    """The guard of one scenario, in one process. Its methods belong to one event loop."""

    def __init__(self, bundle: Bundle, folder: Path, clock: Clock | None = None) -> None:
        """Prepare the guard; its conversations are kept in a folder. The clock is that of this machine, if left out.

        Raises:
            Rejected: The scenario does not compile.
        """
        model = bundle.main.model
        assert isinstance(model, Scenario)  # noqa: S101 - the command loads scenarios only
        self.bundle, self.folder, self._clock = bundle, folder, clock or Clock()
        self.plan = compile_scenario(bundle)
        self.settings = model.guard or Guard()
        self._logging, self._deciding, self._opening = (
            ThreadPoolExecutor(_THREADS, thread_name_prefix=f"guard-{work}") for work in ("log", "decide", "open")
        )
        self._places: dict[str, _Place] = {}
        self._begun: dict[str, asyncio.Task[_Place]] = {}
        self._last = 0

    async def answer(self, message: Message) -> dict[str, Any]:
        """The answer to a message, without its `id`.

        Raises:
            Refusal: It cannot be answered otherwise.
        """
        match message:
            case Begin():
                return await self._begin(message)
            case Ask():
                return await self._ask(message)
            case End():
                return await self._end(message)
            case Say():
                heard = Heard(Speaker(message.speaker), message.text, message.actor)
                unless = message.unless_argument
                return await self._note(message.conversation, lambda place: place.conversation.say(heard, unless))
            case Note():
                finding = Finding(message.code, message.message)
                return await self._note(message.conversation, lambda place: place.conversation.add(finding))
            case Report():
                answer = await self._note(message.conversation, lambda place: _report(place, message))
                self._place(message.conversation).reported.set()
                return answer

    async def _begin(self, message: Begin) -> dict[str, Any]:
        name = message.conversation
        resumed = True
        if name is None:
            name, resumed = await self._begin_new(), False
        elif name not in self._places:
            place = await asyncio.shield(self._begun.get(name) or self._beginning(name))
            resumed = place.conversation.entries > 0
        return {
            "type": "begun",
            "protocol": PROTOCOL,
            "conversation": name,
            "scenario": self.plan.name,
            "specs": self.plan.specs,
            "fail": self.settings.fail,
            "resumed": resumed,
        }

    async def _begin_new(self) -> str:
        """Begin a conversation of a name that is free, also if another guard of this folder takes one meanwhile."""
        while True:
            name = self._free_name()
            try:
                await asyncio.shield(self._beginning(name))
            except Refusal as refusal:
                if refusal.diagnostic.code == E_GUARD_LOG and (self.folder / LOGS / f"{name}.jsonl").exists():
                    continue
                raise
            return name

    def _free_name(self) -> str:
        """A name that no conversation has, and that is not given again."""
        while True:
            self._last += 1
            name = f"c{self._last}"
            places = (self.folder / LOGS / f"{name}.jsonl", self.folder / SEALED / name)
            if name not in self._begun and not any(place.exists() for place in places):
                return name

    def _beginning(self, name: str) -> asyncio.Task[_Place]:
        """The work of beginning a conversation, which all wait for who begin it meanwhile."""
        if len(self._places) + len(self._begun) >= MOST_CONVERSATIONS:
            raise Refusal(E_GUARD_CONVERSATION, f"there are {MOST_CONVERSATIONS} conversations")
        self._begun[name] = asyncio.create_task(self._place_of(name))
        return self._begun[name]

    async def _place_of(self, name: str) -> _Place:
        try:
            place = _Place(await self._in_thread(partial(self._opened, name), self._opening))
            self._places[name] = place
        finally:
            del self._begun[name]
        return place

    def _opened(self, name: str) -> Conversation:
        if (self.folder / SEALED / name).exists():
            raise Refusal(E_GUARD_SEALED, f"the conversation {name} was sealed")
        try:
            log = ConversationLog(self.folder / LOGS / f"{name}.jsonl", run_id(self.plan.specs))
            try:
                closed = self.settings.fail == "closed"
                return Conversation(name, self.plan, log, closed=closed, microseconds=self._clock.microseconds)
            except BaseException:
                log.close()
                raise
        except Rejected as rejected:
            first = rejected.diagnostics[0]
            raise Refusal(first.code, first.message) from None
        except OSError as error:
            raise Refusal(E_GUARD_CONVERSATION, f"its log cannot be opened: {error.strerror}") from None

    def _place(self, name: str) -> _Place:
        place = self._places.get(name)
        if place is None:
            raise Refusal(E_GUARD_CONVERSATION, f"there is no conversation {name}; `begin` it")
        return place

    def _place_to_go_on(self, name: str) -> _Place:
        """The same of a conversation that is to take more, where there is room for it."""
        if sum(other.conversation.kept for other in self._places.values()) > MOST_MEMORY:
            message = f"the open conversations take more than {MOST_MEMORY} bytes of memory; end some"
            raise Refusal(E_GUARD_CONVERSATION, message)
        return self._place(name)

    async def _note(self, name: str, work: Callable[[_Place], str]) -> dict[str, Any]:
        place = self._place_to_go_on(name)
        async with place.turn:
            return {"type": "noted", "receipt": await self._in_thread(lambda: work(place))}

    async def _ask(self, message: Ask) -> dict[str, Any]:
        place = self._place_to_go_on(message.conversation)
        conversation = place.conversation
        known = None if message.call is None else conversation.known(_call(message, message.call))
        if known is None:
            await self._take_turn(place, message.wait_ms / 1000)
            call = _call(message, message.call or conversation.free_id())
            try:
                known = conversation.known(call)
            finally:
                if conversation.asked(call.id):
                    place.turn.release()
            known = known or await self._decide(place, conversation.stamped(call))
        return _answer(known)

    async def _take_turn(self, place: _Place, patience: float) -> None:
        """Wait until no call of the conversation is decided or waits for its result; then hold its turn."""
        conversation, seconds = place.conversation, self.settings.deadline_ms / 1000
        while True:
            waiting = conversation.waiting
            if waiting is not None:
                place.reported.clear()
                with suppress(TimeoutError):
                    await asyncio.wait_for(place.reported.wait(), patience)
            try:
                await asyncio.wait_for(place.turn.acquire(), seconds)
            except TimeoutError:
                raise Refusal(E_GUARD_CONVERSATION, _BUSY) from None
            if conversation.waiting is None:
                return
            if conversation.waiting == waiting:  # nobody told what came back from it
                try:
                    await self._in_thread(partial(conversation.report, conversation.waiting))
                except BaseException:
                    place.turn.release()
                    raise
                return
            place.turn.release()

    async def _decide(self, place: _Place, call: Call) -> Answer:
        """Decide a call, or give it up in time; the turn ends with the thread that decides."""
        loop = asyncio.get_running_loop()
        work: Future[Answer] = self._deciding.submit(place.conversation.ask, call)
        work.add_done_callback(lambda _: loop.call_soon_threadsafe(place.turn.release))
        waiting = asyncio.wrap_future(work)
        done, _ = await asyncio.wait({waiting}, timeout=self.settings.deadline_ms / 1000)
        if done:
            return waiting.result()
        waiting.add_done_callback(lambda late: late.cancelled() or late.exception())
        return await self._in_thread(lambda: place.conversation.give_up(call))

    async def _end(self, message: End) -> dict[str, Any]:
        place = self._place(message.conversation)
        async with place.turn:
            self._place(message.conversation)  # another message may have ended it meanwhile
            answer = await self._in_thread(lambda: self._seal(place.conversation), self._opening)
            self._places.pop(message.conversation, None)
        return answer

    def _seal(self, conversation: Conversation) -> dict[str, Any]:
        from specledger.wings.guard.sealing import seal  # noqa: PLC0415 - what runs and writes evidence

        folder = self.folder / SEALED / conversation.name
        try:
            finished = seal(self.bundle, conversation.finish(), conversation.head, folder)
        except Rejected as rejected:
            first = rejected.diagnostics[0]
            raise Refusal(first.code, first.message) from None
        except OSError as error:
            raise Refusal(E_GUARD_UNWRITABLE, f"its evidence cannot be written: {error.strerror}") from None
        disk.SYSTEM.remove(self.folder / LOGS / f"{conversation.name}.jsonl")
        manifest = finished.manifest
        told = {"verdict": str(finished.verdict), "root": manifest["receipts"]["root"], "evidence": str(folder)}
        return {"type": "ended", **told, "guard": manifest["result"].get("guard", {})}

    def left(self) -> list[str]:
        """The names of conversations that did not end, whether or not somebody goes on with them."""
        return sorted(path.stem for path in (self.folder / LOGS).glob("*.jsonl") if is_name(path.stem))

    async def seal_left(self) -> dict[str, dict[str, Any]]:
        """End the conversations that no process has open; by their names the answers, or why they were not ended."""
        answers = {}
        for name in self.left():
            try:
                await self.answer(Begin(0, protocol=PROTOCOL, conversation=name))
                answers[name] = await self.answer(End(0, conversation=name))
            except Refusal as refusal:
                answers[name] = error_answer(refusal)
        return answers

    async def _in_thread(self, work: Callable[[], Made], threads: ThreadPoolExecutor | None = None) -> Made:
        return await asyncio.get_running_loop().run_in_executor(threads or self._logging, work)

    def close(self) -> None:
        """Leave all conversations as they are, to be resumed."""
        for threads in (self._deciding, self._opening, self._logging):
            threads.shutdown(wait=True)
        for place in self._places.values():
            place.conversation.close()


def _call(message: Ask, name: str) -> Call:
    """The call that is asked about, by its id."""
    return Call(name, message.tool, message.arguments, message.batch, message.actor)


def _report(place: _Place, message: Report) -> str:
    call = place.conversation.waiting if message.call is None else message.call
    return place.conversation.report(call or "", message.content, error=message.error)


def _answer(answer: Answer) -> dict[str, Any]:
    return {
        "type": "decision",
        **answer.decision.document(),
        "decision": "allow" if answer.allowed else "deny",
        "reason": answer.reason,
        "cause": answer.cause.value,
        "receipt": answer.receipt,
    }
