"""A finding about suspended companies: what ends or hardens their credentials still works."""

import pytest

from tests.support.people import Company
from tests.table.specimens import made

pytestmark = pytest.mark.finding


async def test_f10_a_suspended_company_ends_and_hardens_its_credentials(company: Company) -> None:
    owner = await company.join("owner", password="a long enough phrase")
    token = await made(owner.post("/api/tokens", {"name": "leaked"}))
    key = await made(owner.post("/api/s3/credentials", {}))
    await company.suspend()

    answers = [
        await owner.delete(f"/api/tokens/{token['id']}"),
        await owner.delete(f"/api/s3/credentials/{key['id']}"),
        await owner.post("/api/password", {"password": "a long enough phrase", "new_password": "another long phrase"}),
        await owner.post("/api/2fa/enable", {"password": "another long phrase"}),
    ]

    assert [answer.status for answer in answers] == [200] * len(answers)
    assert (await owner.post("/api/tokens", {"name": "another"})).code == "tenancy.suspended"
