"""Ends child processes of this one."""

import contextlib
from asyncio.subprocess import Process

_STDOUT, _STDERR = 1, 2


async def end_process(process: Process) -> int:
    """Kill it and wait until it is gone, however much of what it wrote is unread; its exit code.

    asyncio counts a process as gone once its pipes have ended too, and does not read one whose buffer is full:
    a process that wrote more than was wanted would be waited for without end.
    """
    with contextlib.suppress(ProcessLookupError):
        process.kill()
    if process.stdin is not None and not process.stdin.is_closing():
        process.stdin.transport.abort()
    for number in (_STDOUT, _STDERR):
        pipe = process._transport.get_pipe_transport(number)  # type: ignore[attr-defined]  # its reader does not name it
        if pipe is not None:
            pipe.close()
    return await process.wait()
