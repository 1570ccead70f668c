"""Renders one Liquid template with its data, both as JSON from standard input, to standard output; run alone, with nothing of Atrium's.

Usage: renderer.py seconds memory output. Exit codes: 0 done, 3 refused and 4 too heavy (standard error says why).
"""

import contextlib
import json
import os
import resource
import sys
from typing import Any

MOST_LOOPS, MOST_KEPT, DEEPEST = 100_000, 4 << 20, 30
_REFUSED, _TOO_HEAVY = 3, 4


def confine(seconds: int, memory: int) -> None:
    """Limits that hold where there is no sandbox around the process."""
    limits = {
        resource.RLIMIT_CPU: seconds,
        resource.RLIMIT_AS: memory,
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_NOFILE: 64,
    }
    for name, most in limits.items():
        resource.setrlimit(name, (most, most))


def render(template: str, data: dict[str, Any], output: int) -> str:
    """The text; nothing but `data` can be named, and no other template."""
    from liquid import Environment

    class Forms(Environment):
        loop_iteration_limit = MOST_LOOPS
        local_namespace_limit = MOST_KEPT
        output_stream_limit = output
        context_depth_limit = block_nesting_limit = DEEPEST

    forms = Forms()
    for tag in ("include", "render"):
        del forms.tags[tag]
    return forms.from_string(template).render({"data": data} | data)


def main() -> int:
    """Render, or say why not."""
    seconds, memory, output = map(int, sys.argv[1:4])
    confine(seconds, memory)
    try:
        asked = json.loads(sys.stdin.buffer.read())
        text = render(asked["template"], asked["data"], output)
        sys.stdout.buffer.write(text.encode("utf-8", "replace"))
        sys.stdout.buffer.flush()
    except MemoryError:
        print("it needs more memory than a form may take", file=sys.stderr)
        return _TOO_HEAVY
    except RecursionError:
        print("it is nested too deeply", file=sys.stderr)
        return _TOO_HEAVY
    except Exception as error:  # the outermost place of this process: whatever the template does is why it is refused
        print(_said(error), file=sys.stderr)
        return _TOO_HEAVY if type(error).__name__.endswith("LimitError") else _REFUSED
    return 0


def _said(error: Exception) -> str:
    """One line, with the template's line where that is known."""
    message = getattr(error, "message", None) or f"{type(error).__name__}: {error}"
    place = error.context() if hasattr(error, "context") else None
    return " ".join(f"line {place[0]}: {message}".split() if place else str(message).split())[:300]


if __name__ == "__main__":
    code = main()
    with contextlib.suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)
