"""A server that can be asked how long its event loop stood still: `python -m tests.domains.edge.watched serve --port N`."""

import asyncio
import sys

from atrium.boot.assemble import assemble
from atrium.boot.serve import bind, prepare_database, run
from atrium.boot.wiring import DOMAINS
from atrium.kit.telemetry.log import set_up_logging
from atrium.routes import ROUTES
from atrium.seams.settings import read_settings
from atrium.seams.wiring import Domain
from tests.domains.edge import watch

WATCHED = ("-m", "tests.domains.edge.watched")

if __name__ == "__main__":
    settings = read_settings()
    set_up_logging(settings.log_level)
    asyncio.run(prepare_database(settings))
    house = assemble(settings, (*ROUTES, *watch.ROWS), (*DOMAINS, Domain("watch", watch)))
    run(house, bind("127.0.0.1", int(sys.argv[-1])))
