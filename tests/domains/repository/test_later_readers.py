"""A finding about files: a later reader reads older versions."""

import pytest

from tests.support.client import Client

pytestmark = pytest.mark.finding


async def test_g13_a_later_reader_reads_older_versions_of_a_file(alice: Client, bob: Client) -> None:
    headers = {"content-type": "text/plain"}
    first = await alice.put("/api/repo/berths.txt?visibility=private", b"first", headers=headers)
    await alice.put("/api/repo/berths.txt", b"second", headers=headers)
    at = f"/api/repo-obj/{first['id']}"

    assert (await bob.get(f"{at}/content", version=1)).status == 404
    share = {"principal_type": "user", "principal_id": bob.user_id, "capability": "view"}
    assert (await alice.post(f"{at}/share", share)).status in (200, 201)

    assert [(await bob.get(f"{at}/content", version=number)).raw for number in (1, 2)] == [b"first", b"second"]
