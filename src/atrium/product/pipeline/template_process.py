"""Forms: a Liquid template and data become Markdown, in a process of its own that ends with the form."""

import json
import tempfile
from pathlib import Path
from typing import IO, Any

from atrium.kit.ids import new_id
from atrium.kit.isolation.process_pool import PoolBusy, ProcessPool
from atrium.kit.isolation.scripts import RunningScript, Script, ScriptResult, ScriptTookTooLong, start_script
from atrium.product.pipeline.model import BadTemplate, RenderersBusy, TemplateTooHeavy
from atrium.seams.context import Operation, Services

LONGEST_TEMPLATE, LARGEST_DATA = 256 << 10, 1 << 20
LARGEST_FORM = 1 << 20
SECONDS = 5
_MEMORY = 256 << 20
_REFUSED, _TOO_HEAVY = 3, 4
# The domain's name, under which its processes are kept.
_NAME = "pipeline"
_AT_ONCE, _QUEUE_SECONDS = 4, 30.0
_SCRIPT = Script(
    path=Path(__file__).with_name("renderer.py"),
    arguments=tuple(map(str, (SECONDS, _MEMORY, LARGEST_FORM))),
    seconds=SECONDS,
    memory=_MEMORY,
    output=LARGEST_FORM + 4,
)

Renderers = ProcessPool[RunningScript]


async def start(services: Services) -> Renderers:
    """Places for forms that are rendered at once; one company has at most half of them."""
    return Renderers(_AT_ONCE)


async def stop(services: Services, renderers: Renderers) -> None:
    """End every process."""
    await renderers.close()


async def render(op: Operation, template: str, data: dict[str, Any]) -> str:
    """The form; refused when the template is wrong, or takes more time, memory, loops or output than a form may."""
    if len(template) > LONGEST_TEMPLATE:
        raise TemplateTooHeavy(f"template: it has more than {LONGEST_TEMPLATE} characters")
    with tempfile.TemporaryFile() as asked:
        await op.services.threads.run(op.who.org_id, _fill, asked, template, data)
        done = await _run(op, asked)
    if done.code != 0:
        raise _refusal(done)
    return done.output.decode("utf-8", "replace").replace("\0", "")


async def _run(op: Operation, asked: IO[bytes]) -> ScriptResult:
    async def begin() -> RunningScript:
        return await start_script(_SCRIPT, asked, op.services.sandbox)

    renderers: Renderers = op.services.started[_NAME]
    try:
        # Each form has a process of its own: what one of them does to it, no other meets.
        async with renderers.hold(new_id(), op.who.org_id, begin, _QUEUE_SECONDS) as running:
            try:
                return await running.finish()
            finally:
                await running.end()
    except PoolBusy as error:
        raise RenderersBusy("every renderer is in use; try again in a moment", retry_after=2) from error
    except ScriptTookTooLong as error:
        raise TemplateTooHeavy(f"template: rendering it {error}") from error


def _fill(file: IO[bytes], template: str, data: dict[str, Any]) -> None:
    known = json.dumps(data, ensure_ascii=False).encode("utf-8", "replace")
    if len(known) > LARGEST_DATA:
        raise TemplateTooHeavy(f"data: it has more than {LARGEST_DATA} bytes")
    asked = json.dumps(template, ensure_ascii=False).encode("utf-8", "replace")
    file.write(b'{"template": %b, "data": %b}' % (asked, known))
    file.seek(0)


def _refusal(done: ScriptResult) -> BadTemplate | TemplateTooHeavy:
    said = done.complaint[:300]
    if done.code == _REFUSED:
        return BadTemplate(f"template: {said}", errors=[{"path": "/template", "message": said}])
    if done.code != _TOO_HEAVY:
        said = f"rendering it took more than {SECONDS} s or too much memory"
    return TemplateTooHeavy(f"template: {said}", errors=[{"path": "/template", "message": said}])
