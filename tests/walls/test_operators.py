"""A finding about the serving role: it makes no operator."""

import pytest

from tests.support.people import Company


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE users SET operator = true",
        "INSERT INTO users (id, org_id, team_id, username, role, operator)"
        " SELECT gen_random_uuid(), org_id, team_id, 'mallory', role, true FROM users LIMIT 1",
        "UPDATE users SET org_id = gen_random_uuid()",
    ],
)
async def test_f19_the_serving_role_makes_no_operator(company: Company, sql: str) -> None:
    await company.join("member")

    with pytest.raises(Exception, match="permission denied"):
        async with company.house.services.database.begin(company.org.id) as db:
            await db.run(sql)
