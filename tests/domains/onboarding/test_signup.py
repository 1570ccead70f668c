"""Signing up: one reply for everybody, each proof once, each person once, and a mistake that costs nothing."""

import asyncio
import base64
import json
import random
import threading
from collections import Counter
from typing import Any
from uuid import UUID

import msgspec
import pytest
from altcha import v2

from atrium.boot.assemble import Application
from atrium.product.onboarding import answers, proof, prospect_rows
from atrium.product.onboarding.funnel import derive_digest
from atrium.product.onboarding.model import ProofBad, ProofExpired
from atrium.product.onboarding.prospect_rows import NewProspect
from tests.domains.onboarding.conftest import (
    ANSWERS,
    EXPERIENCE,
    proof_for,
    prospects,
    publish,
    sign_up,
    solved,
    spelled,
)
from tests.postgres import run_as_owner
from tests.support.client import Client
from tests.support.people import Company


async def test_a_stranger_becomes_a_prospect(owner: Client, visitor: Client) -> None:
    await publish(owner)

    received = await sign_up(visitor, " Ada@EXAMPLE.com ", locale="es")

    assert (received.status, received.body) == (202, {"status": "received"})
    [found] = await prospects(owner)
    assert found["fields"] == {**ANSWERS, "email": "Ada@EXAMPLE.com"}
    assert (found["state"], found["locale"], found["submissions"], found["decided"]) == ("captured", "es", 1, None)
    assert (found["signals"], [one["verdict"] for one in found["verdicts"]]) == ([], ["pass"])


async def test_nobody_learns_who_is_known(owner: Client, visitor: Client) -> None:
    await publish(owner)
    for email in ("known@example.com", "declined@example.com"):
        await sign_up(visitor, email)
    [declined] = await prospects(owner, q="declined@")
    await owner.post(f"/api/beta/prospects/{declined['id']}/decide", {"decision": "decline"})

    replies = [
        await sign_up(visitor, "new@example.com"),
        await sign_up(visitor, "KNOWN@example.com"),
        await sign_up(visitor, f"{owner.username}@example.com"),
        await sign_up(visitor, "declined@example.com"),
        await sign_up(visitor, "robot@mailinator.com", hp="x", elapsed_ms=1),
    ]

    assert len({(reply.status, reply.raw) for reply in replies}) == 1
    assert len({tuple(reply.headers) for reply in replies}) == 1
    assert {one["fields"]["email"]: one["submissions"] for one in await prospects(owner)} == {
        "new@example.com": 1, "known@example.com": 2, f"{owner.username}@example.com": 1, "declined@example.com": 2,
        "robot@mailinator.com": 1,
    }  # fmt: skip


@pytest.mark.parametrize("table", ["orgs", "instance"])
async def test_nothing_is_kept_while_the_company_or_the_tenant_is_suspended(
    company: Company, owner: Client, visitor: Client, table: str
) -> None:
    await publish(owner)
    proof = await proof_for(visitor)
    url = company.house.services.settings.database_url

    await run_as_owner(url, f"UPDATE {table} SET suspended_at = now()")
    refused = await sign_up(visitor, "late@example.com", proof=proof)
    await run_as_owner(url, f"UPDATE {table} SET suspended_at = NULL")
    kept = await prospects(owner)
    again = await sign_up(visitor, "late@example.com", proof=proof)

    assert (refused.status, refused["code"], kept) == (402, "tenancy.suspended", [])
    assert again.status == 202
    assert [one["submissions"] for one in await prospects(owner)] == [1]


async def test_a_person_who_comes_again_adds_answers_and_moves_nothing(owner: Client, visitor: Client) -> None:
    await publish(owner)
    for number in range(8):
        await sign_up(visitor, "ada@example.com", fields={"why": f"reason {number}"})

    [found] = await prospects(owner)

    assert (found["fields"]["why"], [one["why"] for one in found["later"]]) == (
        "reason 0", [f"reason {number}" for number in range(1, 6)],
    )  # fmt: skip
    assert (found["submissions"], found["signals"]) == (8, [{"name": "repeated", "value": 8}])


async def test_signals_are_noticed_and_refuse_nothing(owner: Client, visitor: Client) -> None:
    await publish(owner)

    await sign_up(visitor, "robot@sub.mailinator.com", hp="filled", elapsed_ms=20)
    for number in range(11):
        await sign_up(visitor, f"p{number}@example.com")

    found = {one["fields"]["email"]: one for one in await prospects(owner, verdict="suspect")}
    robot = {one["name"]: one["value"] for one in found["robot@sub.mailinator.com"]["signals"]}
    assert robot == {"honeypot": 1, "fast": 20, "disposable_domain": "sub.mailinator.com"}
    assert {"p9@example.com", "p10@example.com", "robot@sub.mailinator.com"} == set(found)
    assert found["p10@example.com"]["signals"] == [{"name": "address_burst", "value": 12}]
    assert {one["fields"]["email"] for one in await prospects(owner, verdict="pass")} == {
        f"p{number}@example.com" for number in range(9)
    }


async def test_a_proof_counts_once_and_a_mistake_does_not_cost_it(owner: Client, visitor: Client) -> None:
    await publish(owner)
    shown = await proof_for(visitor)

    wrong = await sign_up(visitor, "no address", proof=shown)
    right = await sign_up(visitor, "ada@example.com", proof=shown)
    again = await sign_up(visitor, "bob@example.com", proof=shown)

    assert (wrong.status, wrong.code, wrong["errors"][0]["path"]) == (400, "onboarding.bad_answers", "fields.email")
    assert (right.status, again.status, again.code) == (202, 409, "onboarding.proof_used")
    assert [one["fields"]["email"] for one in await prospects(owner)] == ["ada@example.com"]


async def test_of_many_with_one_proof_one_is_kept(owner: Client, visitor: Client) -> None:
    await publish(owner)
    shown = await proof_for(visitor)

    replies = await asyncio.gather(*(sign_up(visitor, f"p{n}@example.com", proof=shown) for n in range(20)))

    assert sorted(reply.status for reply in replies) == [202, *[409] * 19]
    assert len(await prospects(owner)) == 1


async def test_of_many_with_one_address_one_person_is_kept(owner: Client, visitor: Client) -> None:
    await publish(owner)
    proofs = [await proof_for(visitor) for _ in range(20)]

    replies = await asyncio.gather(*(sign_up(visitor, "ada@example.com", proof=one) for one in proofs))

    [found] = await prospects(owner)
    assert ({reply.status for reply in replies}, found["submissions"], len(found["later"])) == ({202}, 20, 5)


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"email": ""}, "email"),
        ({"email": None}, "email"),
        ({"email": ["a@b.example"]}, "email"),
        ({"email": "a@b"}, "email"),
        ({"email": "a b@c.example"}, "email"),
        ({"email": "a@b.example\nBcc: x"}, "email"),
        ({"terms": False}, "terms"),
        ({"terms": "yes"}, "terms"),
        ({"size": "huge"}, "size"),
        ({"site": "javascript:alert(1)"}, "site"),
        ({"site": "https://"}, "site"),
        ({"why": "x" * 501}, "why"),
        ({"why": {"$gt": 1}}, "why"),
        ({"other": "x"}, "other"),
        ({"hp": "x"}, "hp"),
    ],
)
async def test_answers_are_held_against_the_form(
    owner: Client, visitor: Client, fields: dict[str, Any], path: str
) -> None:
    await publish(owner)

    refused = await sign_up(visitor, "ada@example.com", proof="none", fields=fields)

    assert (refused.status, refused.code) == (400, "onboarding.bad_answers"), refused.raw
    assert [one["path"] for one in refused["errors"]] == [f"fields.{path}"]


@pytest.mark.parametrize(
    ("one", "other"),
    [("Ada@Example.COM", "ada@example.com"), ("ada@bücher.example", "ADA@xn--bcher-kva.example")],
)
def test_an_address_has_one_spelling(one: str, other: str) -> None:
    assert answers.canonical_address(one) == answers.canonical_address(other) is not None


@pytest.mark.parametrize(
    "domain", ["ab--cd.example", "xn--a.example", "-a.example", "a-.example", "a..example", f"{'a' * 64}.example"]
)
def test_what_is_no_domain_is_no_address(domain: str) -> None:
    assert answers.canonical_address(f"ada@{domain}") is None


async def test_counting_a_network_reads_nothing_of_the_others(
    house: Application, owner: Client, visitor: Client
) -> None:
    await publish(owner)
    await sign_up(visitor, "ada@example.com")
    org_id = UUID(owner.org_id)

    async with house.services.database.begin(org_id) as db:
        for way in ("enable_seqscan", "enable_bitmapscan"):
            await db.value("SELECT set_config(:way, 'off', true)", way=way)
        plan = await db.rows(f"EXPLAIN {prospect_rows.KEEP}", **_values(org_id))

    told = "\n".join(line for (line,) in plan)
    # Once, and not again wherever the count is used.
    assert told.count("using onboarding_proofs_of_network") == 1, told
    assert "by_age" not in told


def _values(org_id: UUID) -> dict[str, Any]:
    new = NewProspect(
        id=org_id, address=b"a", digest=b"d", network=b"n", version=1, fields={}, words="", locale="", signals=[], gate="pass"
    )  # fmt: skip
    return {"org_id": org_id, **msgspec.structs.asdict(new)}


async def test_an_answer_is_held_against_the_form_that_its_challenge_names(owner: Client, visitor: Client) -> None:
    await publish(owner)
    shown = await proof_for(visitor)
    new_field = {"name": "new", "type": "text", "label": "x", "required": True}
    await publish(owner, fields=[EXPERIENCE["fields"][0], new_field], locales={})

    old = await sign_up(visitor, "ada@example.com", proof=shown)
    new = await sign_up(visitor, "bob@example.com")

    assert (old.status, new.status, {one["path"] for one in new["errors"]}) == (
        202, 400, {"fields.new", "fields.why", "fields.size", "fields.terms"},
    )  # fmt: skip


SECRET = b"s" * 32


def forged(dice: random.Random, good: dict[str, Any], other: dict[str, Any]) -> str:
    """A payload that is no proof of ours: changed, spliced, foreign, or not even one."""
    payload = json.loads(json.dumps(good))
    parameters, solution = payload["challenge"]["parameters"], payload["solution"]
    kind = dice.randrange(12)
    if kind == 0:
        parameters["data"] = {"version": parameters["data"]["version"] + dice.randint(1, 9)}
    elif kind == 1:
        parameters["expiresAt"] += dice.randint(1, 10**6)
    elif kind == 2:
        parameters["cost"] = dice.choice([0, 1, -1, 10**12, "1", None])
    elif kind == 3:
        solution["derivedKey"] = dice.randbytes(32).hex()
    elif kind == 4:
        payload["challenge"]["signature"] = dice.randbytes(32).hex()
    elif kind == 5:
        payload["solution"] = other["solution"]
    elif kind == 6:
        payload["challenge"]["signature"] = other["challenge"]["signature"]
    elif kind == 7:
        # Without the usual length it is the same challenge, and so the same proof.
        parameters.pop(dice.choice(sorted(parameters.keys() - {"keyLength"})))
    elif kind == 8:
        parameters["keySignature"] = dice.choice([None, "", other["challenge"]["parameters"]["keySignature"]])
    elif kind == 9:
        foreign = v2.create_challenge(proof.ALGORITHM, 1, counter=1, hmac_secret=b"other", hmac_key_secret=b"other",
                                      expires_at=2**33, data={"version": 1})  # fmt: skip
        payload["challenge"] = foreign.to_dict()
    elif kind == 10:
        parameters["algorithm"] = dice.choice(["SHA-256", "ARGON2ID", "", None])
    else:
        raw = bytearray(json.dumps(good).encode())
        raw[dice.randrange(len(raw))] = dice.randrange(256)
        changed = base64.b64encode(bytes(raw)).decode()
        return dice.choice([changed[: dice.randrange(20, 60)], "", "[]", "bnVsbA==", "{}" * 3000])
    return spelled(payload)


def require_sound(sent: str, secret: bytes = SECRET) -> proof.Proof:
    return proof.require_sound(secret, proof.find_payload(sent))


def verdict(sent: str) -> str:
    try:
        require_sound(sent)
    except ProofExpired:
        return "expired"
    except ProofBad:
        return "bad"
    return "good"


def verdict_of_altcha(sent: str) -> str:
    """What the protocol's own library says, in the same words."""
    secrets = (derive_digest(SECRET, purpose) for purpose in ("challenge", "key"))
    try:
        found = v2.verify_solution(sent, next(secrets), hmac_key_secret=next(secrets))
    except (ValueError, KeyError, TypeError, AttributeError):
        return "bad"
    return "expired" if found.expired else "good" if found.verified else "bad"


async def shown_proof(**changes: Any) -> dict[str, Any]:
    """The payload of a proof of ours."""
    asked = {"version": 1, "cost": 2, "tries": 4} | changes
    found: dict[str, Any] = json.loads(base64.b64decode(solved(_built(await proof.issue(SECRET, **asked)))))
    return found


async def test_no_forged_proof_passes() -> None:
    dice, proofs = random.Random(7), [await shown_proof() for _ in range(2)]

    sent = [forged(dice, *proofs) for _ in range(1000)]

    assert Counter(verdict(one) for one in sent) == {"bad": 1000}
    assert Counter(verdict_of_altcha(one) for one in sent) == {"bad": 1000}
    assert require_sound(spelled(proofs[0])).version == 1
    with pytest.raises(ProofBad):
        require_sound(spelled(proofs[0]), b"t" * 32)


@pytest.mark.parametrize("many", [150, pytest.param(1_000, marks=pytest.mark.proof)])
async def test_no_proof_that_is_forged_old_or_spent_passes_the_row(
    owner: Client, visitor: Client, monkeypatch: pytest.MonkeyPatch, many: int
) -> None:
    await publish(owner)
    spent = await proof_for(visitor)
    assert (await sign_up(visitor, "ada@example.com", proof=spent)).status == 202
    good = [json.loads(base64.b64decode(await proof_for(visitor))) for _ in range(2)]
    with monkeypatch.context() as patch:
        patch.setattr(proof, "LIFETIME", -1)
        old = await proof_for(visitor)
    dice = random.Random(9)
    kinds = {"bad": lambda: forged(dice, *good), "expired": lambda: old, "used": lambda: spent}
    turns = [dice.choice(list(kinds)) for _ in range(many)]

    replies = [await sign_up(visitor, f"p{n}@example.com", proof=kinds[kind]() or " ") for n, kind in enumerate(turns)]

    told = {
        "bad": (400, "onboarding.proof_bad"),
        "expired": (400, "onboarding.proof_expired"),
        "used": (409, "onboarding.proof_used"),
    }
    print(f"{many:,} proofs at the row: {dict(sorted(Counter(turns).items()))}, none passed")
    assert [(reply.status, reply.code) for reply in replies] == [told[kind] for kind in turns]
    assert [one["fields"]["email"] for one in await prospects(owner)] == ["ada@example.com"]


async def test_the_protocols_own_library_says_the_same_about_what_clients_send() -> None:
    dice = random.Random(8)

    for _ in range(100):
        payload = await shown_proof(version=dice.randrange(1 << 31), cost=dice.randint(1, 3), tries=dice.randint(1, 4))
        sent = [
            spelled(payload),
            spelled(
                {"solution": payload["solution"] | {"time": dice.random()}, "challenge": payload["challenge"], "x": 1}
            ),
            spelled(changed(payload, "challenge", "parameters", keyLength=None)),
            spelled(changed(payload, "solution", derivedKey=payload["solution"]["derivedKey"].upper())),
            spelled(changed(payload, "challenge", "parameters", expiresAt=dice.randrange(1, 10**9))),
            spelled(changed(payload, "challenge", signature=payload["challenge"]["signature"].upper())),
        ]
        found = [verdict(one) for one in sent]

        assert found == [verdict_of_altcha(one) for one in sent] == ["good"] * 4 + ["expired", "bad"]


@pytest.mark.parametrize(
    "added", [{"memoryCost": 8}, {"parallelism": None}, {"data": {"version": 1, "more": 1}}, {"expiresAt": 10**400}, {"cost": 2.5}]
)  # fmt: skip
async def test_what_was_not_signed_is_in_no_proof(added: dict[str, Any]) -> None:
    sent = spelled(changed(await shown_proof(), "challenge", "parameters", **added))

    assert verdict(sent) == verdict_of_altcha(sent) == "bad"


def changed(payload: dict[str, Any], *path: str, **values: Any) -> dict[str, Any]:
    """The same payload with other values in one place; None for `keyLength` leaves it out."""
    found: dict[str, Any] = json.loads(json.dumps(payload))
    place = found
    for name in path:
        place = place[name]
    place |= values
    if values.get("keyLength", 0) is None:
        del place["keyLength"]
    return found


def _built(challenge: Any) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.to_builtins(challenge)
    return found


async def test_a_spelling_of_one_proof_is_the_same_proof() -> None:
    payload = await shown_proof()
    turned = {"solution": {**payload["solution"], "time": 9, "counter": 1}, "challenge": payload["challenge"], "x": 1}

    assert require_sound(spelled(payload)).digest == require_sound(spelled(turned)).digest


async def test_an_old_proof_is_refused_as_old(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = spelled(await shown_proof())
    monkeypatch.setattr("time.time", lambda: 2**33)

    with pytest.raises(ProofExpired):
        require_sound(shown)


async def test_a_challenge_is_derived_beside_the_loop(
    owner: Client, visitor: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    await publish(owner)
    create, threads = v2.create_challenge, list[int]()

    def noted(*arguments: Any, **named: Any) -> v2.Challenge:
        threads.append(threading.get_ident())
        return create(*arguments, **named)

    monkeypatch.setattr(v2, "create_challenge", noted)
    challenge = await visitor.get("/api/beta/challenge")

    assert challenge.status == 200
    assert len(threads) == 1
    assert threading.get_ident() not in threads


async def test_many_sign_ups_from_one_network_make_the_next_ones_harder() -> None:
    assert [proof.tries_for(1000, many) for many in (0, 9, 10, 20, 30, 500)] == [1000, 1000, 2000, 4000, 8000, 8000]
    assert proof.network_of("192.0.2.77") == proof.network_of("192.0.2.1") == "192.0.2.0/24"
    assert proof.network_of("2001:db8:1:2::3") == proof.network_of("2001:db8:1:ff::4") == "2001:db8:1::/48"
    assert proof.network_of("2001:db8:1::") != proof.network_of("2001:db8:2::")
    issued = [_built(await proof.issue(SECRET, 1, 1, 20)) for _ in range(60)]
    counters = {json.loads(base64.b64decode(solved(one)))["solution"]["counter"] for one in issued}
    assert min(counters) >= 10
    assert max(counters) <= 30


async def test_after_twenty_sign_ups_a_network_has_more_work_than_others(
    house: Application, owner: Client, visitor: Client
) -> None:
    await publish(owner)
    neighbour, other = Client(house.app, address="203.0.113.200"), Client(house.app, address="192.0.2.200")
    for number in range(20):
        await sign_up(Client(house.app, address=f"203.0.113.{number}"), f"p{number}@example.com")

    harder, usual = await proof_for(neighbour), await proof_for(other)

    # Four tries are set, so two to six; after twice ten sign-ups it is four times as many.
    assert json.loads(base64.b64decode(usual))["solution"]["counter"] <= 6
    assert json.loads(base64.b64decode(harder))["solution"]["counter"] >= 8


async def test_nothing_of_an_address_is_kept_but_digests(house: Application, owner: Client, visitor: Client) -> None:
    await publish(owner)
    await sign_up(visitor, "ada@example.com")

    rows = await run_as_owner(
        house.services.settings.database_url,
        "SELECT row_to_json(p)::text FROM onboarding_proofs p WHERE org_id = $1::text::uuid",
        owner.org_id,
    )

    assert rows
    assert all("198.51" not in row[0] and "@" not in row[0] for row in rows)
