"""A hostname counts once its TXT record is there, or once an operator takes their word for it."""

import asyncio
from collections.abc import AsyncIterator
from typing import cast

import dns.flags
import dns.message
import dns.rdatatype
import dns.rrset
import pytest

from tests.support.people import found_company
from tests.support.servers import open_application, settings_for


class NameServer(asyncio.DatagramProtocol):
    """Answers TXT questions from a dict."""

    def __init__(self) -> None:
        self.records: dict[str, str] = {}

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.DatagramTransport, transport)

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        question = dns.message.from_wire(data)
        answer = dns.message.make_response(question)
        answer.flags |= dns.flags.AA
        name = question.question[0].name
        text = self.records.get(name.to_text(omit_final_dot=True))
        if text is not None:
            answer.answer.append(dns.rrset.from_text(name, 60, "IN", "TXT", f'"{text}"'))
        self.transport.sendto(answer.to_wire(), addr)


@pytest.fixture
async def names() -> AsyncIterator[tuple[NameServer, str]]:
    transport, server = await asyncio.get_running_loop().create_datagram_endpoint(
        NameServer, local_addr=("127.0.0.1", 0)
    )
    yield server, f"127.0.0.1@{transport.get_extra_info('sockname')[1]}"
    transport.close()


async def test_a_hostname_counts_once_its_record_is_there(database_url: str, names: tuple[NameServer, str]) -> None:
    server, address = names
    async with open_application(settings_for(database_url, domain_proof=True, dns_servers=address)) as house:
        company = await found_company(house)
        operator = await company.join("owner", operator=True)
        at, host = f"/api/orgs/{company.org.id}", f"p{company.org.id.hex[-8:]}.example"

        asked = await operator.patch(at, {"domain": host})
        unproven = await operator.patch(at, {"domain": host})
        open_still = await operator.get("/api/orgs", headers={"host": host})
        server.records[asked["proof"]["name"]] = asked["proof"]["value"]
        proven = await operator.patch(at, {"domain": host})

        assert (asked["domain_verified"], unproven["domain_verified"], unproven["proof"]) == (
            False,
            False,
            asked["proof"],
        )
        assert asked["proof"]["name"] == f"_atrium-challenge.{host}"
        assert open_still.status == 200
        assert (proven["domain_verified"], proven["proof"]) == (True, None)
        assert (await operator.get("/api/orgs", headers={"host": host})).status == 404


async def test_an_operator_may_waive_the_proof(database_url: str, names: tuple[NameServer, str]) -> None:
    async with open_application(settings_for(database_url, domain_proof=True, dns_servers=names[1])) as house:
        company = await found_company(house)
        operator = await company.join("owner", operator=True)

        answer = await operator.patch(
            f"/api/orgs/{company.org.id}", {"domain": f"w{company.org.id.hex[-8:]}.example", "waive_proof": True}
        )

        assert answer["domain_verified"] is True
