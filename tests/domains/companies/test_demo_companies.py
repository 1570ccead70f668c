"""A finding about demo companies: they are found again, whatever others are called."""

from pathlib import Path

import pytest

from tests.support.people import found_company
from tests.support.servers import fresh_application

pytestmark = pytest.mark.finding


async def test_d14_demo_companies_are_found_again_whatever_others_are_called(tmp_path: Path) -> None:
    async with fresh_application(data_dir=tmp_path) as house:
        for name in ("The demo-bakery of others", "aaa demo-shipping"):
            company = await found_company(house, name)
        operator = await company.join("owner", org_role="org_owner", operator=True)

        first, second = [await operator.post("/api/admin/seed-tenants") for _ in range(2)]

    assert first.status in (200, 201)
    assert (second.status, second.body) == (first.status, first.body)
