"""Searches that are not cut off on a busy machine; the test about that makes them slow itself."""

import pytest

from atrium.product.search import service
from tests.support.patience import PATIENCE


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "budget_of", lambda looking: int(PATIENCE * 1000))
