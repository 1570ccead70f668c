"""The sign-up form that an instance shows until it publishes one of its own."""

import json
from pathlib import Path

from atrium.sdk import Plugin

PLUGIN = Plugin(onboarding=json.loads(Path(__file__).with_name("experience.json").read_text("utf-8")))
