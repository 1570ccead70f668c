"""A guest's process: JSON-RPC in lines, one call at a time, stopped between calls."""

import asyncio
from collections.abc import Awaitable, Callable
from secrets import token_hex
from typing import Any, Literal

import msgspec

from atrium.admin.sandbox.model import GuestBroke, GuestRefused, GuestTimedOut, Introduction
from atrium.kit.errors import AppError, Invalid
from atrium.kit.isolation.sandbox import SandboxedProcess
from atrium.kit.telemetry.log import log

LONGEST_LINE = 1 << 20
MOST_REQUESTS = 1000
_START_SECONDS, _CANCEL_SECONDS = 10, 0.5
_REFUSED, _NO_CALL, _BROKEN = -32001, -32002, -32603

# Answers a capability request: takes the capability's name and its parameters, raises an AppError to refuse.
Broker = Callable[[str, dict[str, Any]], Awaitable[Any]]


class _Problem(msgspec.Struct, frozen=True):
    message: str
    code: int = 0


class _RpcLine(msgspec.Struct, frozen=True):
    """A request, a notification or an answer."""

    jsonrpc: Literal["2.0"]
    id: str | int | None = None
    method: str | None = None
    params: dict[str, Any] = {}
    result: Any = msgspec.UNSET
    error: _Problem | None = None


_DECODER = msgspec.json.Decoder(_RpcLine)


def read_line(raw: bytes) -> _RpcLine:
    """A line of the protocol; GuestBroke says what is wrong with any other."""
    try:
        return _DECODER.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise GuestBroke(f"the guest wrote a line that is not JSON-RPC 2.0: {str(error)[:200]}") from error


async def _nothing(method: str, params: dict[str, Any]) -> Any:
    raise Invalid("a capability can be used only during a call")


class GuestProcess:
    """A process that has introduced itself and now waits for calls."""

    def __init__(self, confined: SandboxedProcess, seconds: int) -> None:
        self._confined, self._seconds = confined, seconds
        # The call before: what a guest still says about it is no fault of the call that runs.
        self._before = ""
        self.has_introduced_itself = False

    @property
    def is_alive(self) -> bool:
        """Whether it can take another call."""
        return self._confined.is_alive

    async def introduce(self, granted: list[str]) -> Introduction:
        """Exchange `initialize`, after which the process stands still."""
        id = token_hex(16)
        params = {"protocol": 1, "granted": granted}
        try:
            async with asyncio.timeout(_START_SECONDS):
                await self._send({"jsonrpc": "2.0", "id": id, "method": "initialize", "params": params})
                answer = await self._answer(id, _nothing)
            introduction = msgspec.convert(answer, Introduction)
        except TimeoutError as error:
            raise GuestTimedOut(f"the guest did not answer `initialize` within {_START_SECONDS} seconds") from error
        except msgspec.ValidationError as error:
            raise GuestBroke(f"the guest's answer to `initialize` does not fit: {error}") from error
        self._rest(id)
        self.has_introduced_itself = True
        return introduction

    async def call(self, name: str, arguments: Any, broker: Broker) -> Any:
        """What the guest answers; while it works, its requests are answered by the broker. A process that misbehaves is ended."""
        id = token_hex(16)
        params = {"call": id, "name": name, "arguments": arguments}
        self._confined.resume()
        try:
            async with asyncio.timeout(self._seconds):
                await self._send({"jsonrpc": "2.0", "id": id, "method": "call", "params": params})
                answer = await self._answer(id, broker)
        except GuestRefused:
            self._rest(id)
            raise
        except TimeoutError as error:
            await self._cancel(id)
            raise GuestTimedOut(f"the guest took more than {self._seconds} seconds") from error
        except asyncio.CancelledError:
            await self._cancel(id)
            raise
        except BaseException:
            self._confined.kill()
            raise
        self._rest(id)
        return answer

    async def end(self) -> int:
        """End it and wait until it is gone."""
        return await self._confined.end()

    async def _cancel(self, id: str) -> None:
        """Tell the guest that the answer is not wanted any more; one that does not end the call soon is ended itself."""
        try:
            async with asyncio.timeout(_CANCEL_SECONDS):
                await self._send({"jsonrpc": "2.0", "method": "cancel", "params": {"call": id}})
                await self._answer(id, _nothing)
        except GuestRefused:
            pass
        except (TimeoutError, AppError):
            self._confined.kill()
            return
        except BaseException:
            self._confined.kill()
            raise
        self._rest(id)

    def _rest(self, id: str) -> None:
        self._before = id
        if not self._confined.pause():
            self._confined.kill()

    async def _answer(self, id: str, broker: Broker) -> Any:
        for _ in range(MOST_REQUESTS):
            line = await self._line()
            if line.method is not None:
                await self._respond(line, line.params.get("call") == id, broker)
            elif line.id == id and line.error is not None:
                raise GuestRefused(f"the guest says: {line.error.message[:300]}")
            elif line.id == id and line.result is not msgspec.UNSET:
                return line.result
            elif line.id != self._before:
                raise GuestBroke("the guest answered something that it was not asked")
        raise GuestBroke(f"the guest sent more than {MOST_REQUESTS} requests in one call")

    async def _respond(self, line: _RpcLine, is_current: bool, broker: Broker) -> None:
        if line.id is None:
            # A notification: there are none that a guest may send, and none that has to be answered.
            return
        if not is_current:
            await self._refuse(line.id, _NO_CALL, "`call` must name the call that runs now")
            return
        method = line.method or ""
        params = {name: value for name, value in line.params.items() if name != "call"}
        try:
            result = await broker(method, params)
            await self._send({"jsonrpc": "2.0", "id": line.id, "result": result})
        except GuestBroke:
            raise
        except AppError as error:
            await self._refuse(line.id, _REFUSED, error.message, {"code": error.code})
        except Exception as error:  # a capability is the boundary of what a guest asks for
            log.error("sandbox.capability_failed", capability=method[:40], exc_info=error)
            await self._refuse(line.id, _BROKEN, "the server could not do this; its log says why")

    async def _refuse(self, id: str | int, code: int, message: str, facts: dict[str, str] | None = None) -> None:
        problem = {"code": code, "message": message, **({"data": facts} if facts else {})}
        await self._send({"jsonrpc": "2.0", "id": id, "error": problem})

    async def _line(self) -> _RpcLine:
        stream = self._confined.process.stdout
        try:
            raw = await stream.readline() if stream is not None else b""
        except ValueError as error:
            raise GuestBroke(f"the guest wrote a line of more than {LONGEST_LINE} bytes") from error
        if not raw.endswith(b"\n"):
            raise GuestBroke("the guest ended without an answer")
        return read_line(raw)

    async def _send(self, message: dict[str, Any]) -> None:
        raw = msgspec.json.encode(message)
        if len(raw) >= LONGEST_LINE:
            raise Invalid(f"this has more than {LONGEST_LINE} bytes; ask for less at once")
        stream = self._confined.process.stdin
        if stream is None:
            raise GuestBroke("the guest ended without an answer")
        try:
            stream.write(raw + b"\n")
            await stream.drain()
        except (OSError, RuntimeError) as error:
            raise GuestBroke("the guest ended without an answer") from error
