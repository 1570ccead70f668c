"""The command: kinds and functions from the command line, the token from the environment or a file."""

import argparse
import importlib
import logging
import os
import sys
from pathlib import Path
from typing import Any

from atrium_worker.api import Refused
from atrium_worker.model import TURN_KIND, Model
from atrium_worker.worker import Worker


def main() -> int:
    """Work until told to stop."""
    given = sys.argv[1:]
    options = _model_options(given[1:]) if given[:1] == ["model"] else _options(given)
    logging.basicConfig(level=options.log.upper(), format="%(asctime)s %(levelname)s %(message)s")
    logging.getLogger("httpx").setLevel(logging.WARNING)
    token = options.token_file.read_text().strip() if options.token_file else os.environ.get("ATRIUM_TOKEN", "")
    if not token:
        print("atrium-worker: set ATRIUM_TOKEN, or name a file with --token-file", file=sys.stderr)
        return 2
    models = getattr(options, "serves", [])
    worker = Worker(options.url, token, concurrency=options.concurrency, models=models, drain=options.drain)
    try:
        options.equip(worker, options)
        worker.run()
    except (ImportError, AttributeError, ValueError) as error:
        print(f"atrium-worker: {error}", file=sys.stderr)
        return 2
    except Refused as error:
        print(
            f"atrium-worker: the server refuses this worker ({error}); look at the token and the URL", file=sys.stderr
        )
        return 1
    return 0


def _options(given: "list[str]") -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="atrium-worker",
        description="Run jobs of an Atrium server on this machine.",
        epilog="`atrium-worker model` serves an OpenAI-compatible model; see its own --help.",
    )
    parser.add_argument(
        "--kind", action="append", type=_pair, required=True, metavar="KIND=MODULE:FUNCTION", help="may repeat"
    )
    parser.add_argument(
        "--model", action="append", default=[], dest="serves", help="a model this machine serves; may repeat"
    )
    _add_common(parser)
    parser.set_defaults(equip=_equip_with_functions)
    return parser.parse_args(given)


def _model_options(given: "list[str]") -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="atrium-worker model",
        description="Serve turns (ai.turn) of an Atrium server with an OpenAI-compatible model. Its key, if it has one, is OPENAI_API_KEY.",
    )
    parser.add_argument("--openai-url", required=True, help="where the model is, such as http://127.0.0.1:8080/v1")
    parser.add_argument("--model", help="name of the model to ask for; the one that a job names comes first")
    _add_common(parser)
    parser.set_defaults(equip=_equip_with_model)
    return parser.parse_args(given)


def _add_common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--url", required=True, help="the Atrium server's address")
    parser.add_argument("--token-file", type=Path, help="file with the worker's token; ATRIUM_TOKEN otherwise")
    parser.add_argument("--concurrency", type=int, default=4, help="jobs at once (4)")
    parser.add_argument("--drain", type=float, default=30, help="seconds running jobs get when stopping (30)")
    parser.add_argument("--log", default="info", choices=["debug", "info", "warning", "error"])


def _equip_with_functions(worker: Worker, options: argparse.Namespace) -> None:
    # Functions beside where the command is called are found first, as with `python -m`.
    sys.path.insert(0, os.getcwd())
    for name, function in options.kind:
        worker.add(name, _function(function))


def _equip_with_model(worker: Worker, options: argparse.Namespace) -> None:
    model = Model(options.openai_url, os.environ.get("OPENAI_API_KEY") or None, options.model)
    worker.add(TURN_KIND, model.take_turn)


def _pair(text: str) -> "tuple[str, str]":
    name, equals, function = text.partition("=")
    if not equals or ":" not in function:
        raise argparse.ArgumentTypeError(f"{text!r} is not KIND=MODULE:FUNCTION")
    return name, function


def _function(address: str) -> Any:
    module, _, name = address.partition(":")
    return getattr(importlib.import_module(module), name)


if __name__ == "__main__":
    sys.exit(main())
