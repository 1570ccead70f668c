"""A server with one route more: `python -m tests.processes.start.ticking serve --port N`."""

import asyncio
import sys

from atrium.boot.assemble import assemble
from atrium.boot.serve import bind, prepare_database, run
from atrium.boot.wiring import DOMAINS
from atrium.kit.telemetry.log import set_up_logging
from atrium.routes import ROUTES
from atrium.seams.settings import read_settings
from atrium.seams.wiring import Domain
from tests.processes.start import ticks

TICKING = ("-m", "tests.processes.start.ticking")

if __name__ == "__main__":
    settings = read_settings()
    set_up_logging(settings.log_level)
    asyncio.run(prepare_database(settings))
    house = assemble(settings, (*ROUTES, *ticks.ROWS), (*DOMAINS, Domain("ticks", ticks)))
    run(house, bind("127.0.0.1", int(sys.argv[-1])))
