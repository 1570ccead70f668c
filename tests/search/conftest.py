"""Searches that are not cut off on a busy machine; tests about that set the time themselves."""

import pytest

from atrium.product.search import service
from tests.patience import PATIENCE


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "_BUDGET_MS", int(PATIENCE * 1000))
