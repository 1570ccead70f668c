"""How long a test waits for what must happen: a limit that never elapses unless something is broken."""

import os

PATIENCE = float(os.environ.get("ATRIUM_PATIENCE", "60"))
