"""`python -m atrium`."""

from atrium.cli import main

raise SystemExit(main())
