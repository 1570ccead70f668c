"""Sizes that only a proof has: `make proofs FULL=1` reaches what is marked as a proof and with this."""

import os

import pytest

FULL = bool(os.environ.get("ATRIUM_FULL"))
FULL_ONLY = pytest.mark.skipif(not FULL, reason="the full size; ATRIUM_FULL=1 runs it")
