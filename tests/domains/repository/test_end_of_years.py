"""A finding about shares: none lasts until the end of all years."""

import pytest

from tests.domains.s3.test_odd_requests import FAR
from tests.support.client import Client
from tests.support.people import Company

pytestmark = pytest.mark.finding


@pytest.mark.parametrize("moment", FAR)
async def test_f16_a_share_until_the_end_of_all_years_is_refused(company: Company, alice: Client, moment: str) -> None:
    bob = await company.join("member")
    stored = await alice.put("/api/repo/k", b"x")

    answer = await alice.post(f"/api/repo-obj/{stored['id']}/share", {"user_id": bob.user_id, "expires_at": moment})

    assert answer.status == 400, answer.raw
