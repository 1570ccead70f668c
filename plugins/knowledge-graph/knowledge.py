"""Brings `index-knowledge`; its tools are the server's own."""

import json
from pathlib import Path

from atrium.sdk import Plugin

PLUGIN = Plugin(workflows=(json.loads((Path(__file__).parent / "index-knowledge.json").read_text()),))
