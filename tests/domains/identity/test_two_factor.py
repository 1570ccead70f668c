"""The second factor over HTTP: enrolling, codes that work once, losing the phone, and what is kept at rest."""

import asyncio
import base64
import time
from typing import Any
from uuid import UUID

import pyotp
import pytest

from atrium.boot.assemble import Application
from atrium.ground.identity.two_factor import totp_binding
from atrium.kit.crypto.keys import Unsealable
from tests.support.client import Answer, Client
from tests.support.people import Company, found_company
from tests.support.signing_in import PASSWORD, in_sql, log_in, person, signed_in, with_token

STEP = 30


async def enrol(client: Client) -> Answer:
    answer = await client.post("/api/2fa/enable", {})
    assert answer.status == 200, answer.raw
    return answer


async def code_of(secret: str, steps: int = 0) -> str:
    """The code of this step or a neighbouring one; waits out the last moments of a step, when "this" is about to change."""
    if (left := STEP - time.time() % STEP) < 1:
        await asyncio.sleep(left)
    return pyotp.TOTP(secret).at(int(time.time()) + steps * STEP)


async def sealed_seed(house: Application, client: Client) -> bytes:
    [[sealed]] = await in_sql(house, "SELECT totp_sealed FROM users WHERE id = $1::uuid", client.user_id)
    assert isinstance(sealed, bytes)
    return sealed


async def revocation_seen_by(reader: Client) -> Any:
    events = (await reader.get("/api/audit"))["items"]
    [event] = [event for event in events if event["kind"] == "identity.two_factor_revoked"]
    return event


async def test_enrolling_shows_the_secret_its_address_and_ten_codes(company: Company) -> None:
    ann = await person(company)

    answer = await enrol(ann)

    assert set(answer.body) == {"secret", "otpauth_uri", "recovery_codes"}
    parsed = pyotp.parse_uri(answer["otpauth_uri"])
    assert isinstance(parsed, pyotp.TOTP)
    assert (parsed.secret, parsed.name, parsed.issuer) == (answer["secret"], ann.username, "Atrium")
    assert len(base64.b32decode(answer["secret"])) >= 20
    assert len(set(answer["recovery_codes"])) == 10
    assert (await ann.get("/api/whoami"))["two_factor"] is True


async def test_enrolling_twice_is_refused_and_changes_nothing(company: Company) -> None:
    ann = await person(company)
    secret = (await enrol(ann))["secret"]

    again = await ann.post("/api/2fa/enable", {})

    assert (again.status, again.code) == (409, "identity.two_factor_on")
    assert (await log_in(ann, code=await code_of(secret))).status == 200


async def test_a_right_password_alone_asks_for_a_code(company: Company) -> None:
    ann = await person(company)
    await enrol(ann)

    bare, wrong = await log_in(ann), await log_in(ann, "not the password")

    assert (bare.status, bare.code) == (401, "identity.totp_required")
    assert (wrong.status, wrong.code) == (401, "identity.bad_credentials")


async def test_a_right_code_signs_in_however_it_was_pasted(company: Company) -> None:
    ann = await person(company)
    secret = (await enrol(ann))["secret"]

    assert (await log_in(ann, code=f" {await code_of(secret)}\n")).status == 200


@pytest.mark.parametrize("code", ["000000", "1234567", "nonsense", "١٢٣٤٥٦", "é", " "])
async def test_a_wrong_code_is_refused(company: Company, code: str) -> None:
    ann = await person(company)
    await enrol(ann)

    answer = await log_in(ann, code=code)

    assert (answer.status, answer.code) == (401, "identity.code_refused")


async def test_a_code_works_once(company: Company) -> None:
    ann = await person(company)
    code = await code_of((await enrol(ann))["secret"])
    assert (await log_in(ann, code=code)).status == 200

    replayed = await log_in(ann, code=code)

    assert (replayed.status, replayed.code) == (401, "identity.code_refused")


async def test_of_many_sign_ins_with_one_code_one_is_let_in(company: Company) -> None:
    ann = await person(company)
    code = await code_of((await enrol(ann))["secret"])

    answers = await asyncio.gather(*(log_in(ann, code=code) for _ in range(5)))

    assert sorted(answer.status for answer in answers) == [200] + [401] * 4


async def test_a_clock_may_be_one_step_off_and_no_more(company: Company) -> None:
    ann = await person(company)
    secret = (await enrol(ann))["secret"]

    assert (await log_in(ann, code=await code_of(secret, -2))).status == 401
    assert (await log_in(ann, code=await code_of(secret, 2))).status == 401
    assert (await log_in(ann, code=await code_of(secret, -1))).status == 200
    assert (await log_in(ann, code=await code_of(secret, +1))).status == 200
    # What came before the last accepted step is spent with it.
    assert (await log_in(ann, code=await code_of(secret))).status == 401


async def test_a_recovery_code_works_once(company: Company, admin: Client) -> None:
    ann = await person(company)
    code, *_ = (await enrol(ann))["recovery_codes"]

    first, second = await log_in(ann, code=code), await log_in(ann, code=code)

    assert (first.status, second.status, second.code) == (200, 401, "identity.code_refused")
    assert (await ann.get("/api/2fa/recovery-codes")).body == {"unspent": 9}
    kinds = [event["kind"] for event in (await admin.get("/api/audit"))["items"]]
    assert kinds.count("identity.recovery_code_used") == 1


async def test_a_recovery_code_may_be_typed_loosely(company: Company) -> None:
    ann = await person(company)
    upper, loose, *_ = (await enrol(ann))["recovery_codes"]

    assert (await log_in(ann, code=upper.upper())).status == 200
    assert (await log_in(ann, code=loose.replace("-", " "))).status == 200


async def test_a_fresh_set_of_codes_ends_the_old_one(company: Company) -> None:
    ann = await person(company)
    old = (await enrol(ann))["recovery_codes"]
    await log_in(ann, code=old[0])

    fresh = await ann.post("/api/2fa/recovery-codes", {})

    assert not set(fresh["recovery_codes"]) & set(old)
    assert (await ann.get("/api/2fa/recovery-codes")).body == {"unspent": 10}
    assert (await log_in(ann, code=old[1])).status == 401
    assert (await log_in(ann, code=fresh["recovery_codes"][0])).status == 200


async def test_codes_of_one_person_are_worth_nothing_to_another(company: Company) -> None:
    ann, ben = await person(company), await person(company)
    await enrol(ann)
    of_ben = await enrol(ben)

    assert (await log_in(ann, code=of_ben["recovery_codes"][0])).status == 401
    assert (await log_in(ann, code=await code_of(of_ben["secret"]))).status == 401


async def test_without_a_second_factor_there_are_no_codes(company: Company) -> None:
    ann = await person(company)

    renewed, disabled = await ann.post("/api/2fa/recovery-codes", {}), await ann.delete("/api/2fa")

    assert (await ann.get("/api/2fa/recovery-codes")).body == {"unspent": 0}
    assert (renewed.status, renewed.code) == (409, "identity.two_factor_off")
    assert (disabled.status, disabled.code) == (409, "identity.two_factor_off")


async def test_a_token_does_not_count_its_owners_codes(company: Company) -> None:
    scoped = await company.join("member", scope=["notes:read"])

    assert (await scoped.get("/api/2fa/recovery-codes")).status == 403


async def test_turned_off_the_password_alone_is_enough(company: Company) -> None:
    ann = await person(company)
    await enrol(ann)

    disabled = await ann.delete("/api/2fa")

    assert (disabled.status, disabled.body) == (200, {"id": ann.user_id})
    assert (await log_in(ann)).status == 200
    assert (await ann.get("/api/whoami"))["two_factor"] is False


async def test_enrolled_anew_the_old_seed_and_codes_are_dead(company: Company) -> None:
    ann = await person(company)
    old = await enrol(ann)
    await ann.delete("/api/2fa")
    new = await enrol(ann)

    assert (await log_in(ann, code=await code_of(old["secret"]))).status == 401
    assert (await log_in(ann, code=old["recovery_codes"][0])).status == 401
    assert (await log_in(ann, code=await code_of(new["secret"]))).status == 200


async def test_turning_it_on_and_off_ends_the_other_sessions(company: Company) -> None:
    ann = await person(company)
    before = await signed_in(ann)
    secret = (await enrol(ann))["secret"]
    between = await signed_in(ann, code=await code_of(secret))
    await ann.delete("/api/2fa")

    assert (await before.get("/api/whoami")).status == 401
    assert (await between.get("/api/whoami")).status == 401
    assert (await ann.get("/api/whoami")).status == 200


async def test_an_operator_revokes_the_seed_of_a_person_elsewhere(operator: Client, house: Application) -> None:
    theirs = await found_company(house)
    ann = await person(theirs)
    await enrol(ann)

    revoked = await operator.delete(f"/api/admin/users/{ann.user_id}/2fa")

    assert (revoked.status, revoked.body) == (200, {"id": ann.user_id})
    assert (await ann.get("/api/whoami")).status == 401
    again = await signed_in(ann)
    assert (await again.get("/api/2fa/recovery-codes")).body == {"unspent": 0}
    assert (await enrol(again)).status == 200


async def test_both_companies_see_which_operator_revoked_the_seed(operator: Client, house: Application) -> None:
    theirs = await found_company(house)
    ann, their_admin = await person(theirs), await theirs.join("admin")
    await enrol(ann)

    await operator.delete(f"/api/admin/users/{ann.user_id}/2fa")

    there, here = await revocation_seen_by(their_admin), await revocation_seen_by(operator)
    assert (there["subject"], there["actor_id"], there["actor"]) == (ann.user_id, operator.user_id, None)
    assert there["facts"] == {"by": operator.user_id, "sessions_ended": 1}
    assert (here["subject"], here["actor"], here["facts"]) == (ann.user_id, operator.username, {"company": ann.org_id})


async def test_a_seed_revoked_at_home_is_recorded_once(company: Company, operator: Client) -> None:
    ann = await person(company)
    await enrol(ann)

    await operator.delete(f"/api/admin/users/{ann.user_id}/2fa")

    kinds = [event["kind"] for event in (await operator.get("/api/audit"))["items"]]
    assert kinds.count("identity.two_factor_revoked") == 1


async def test_only_an_operator_revokes(company: Company, operator: Client) -> None:
    ann, owner = await person(company), await company.join("owner", org_role="org_owner")
    scoped = await company.join("owner", operator=True, scope=["settings:manage"])
    await enrol(ann)

    for caller in (ann, owner, scoped):
        assert (await caller.delete(f"/api/admin/users/{ann.user_id}/2fa")).status == 403
    assert (await log_in(ann)).code == "identity.totp_required"


async def test_revoking_from_nobody_is_told_so(company: Company, operator: Client) -> None:
    ann = await person(company)

    off = await operator.delete(f"/api/admin/users/{ann.user_id}/2fa")
    missing = await operator.delete(f"/api/admin/users/{UUID(int=7)}/2fa")

    assert (off.status, off.code) == (409, "identity.two_factor_off")
    assert (missing.status, missing.code) == (404, "identity.user_missing")


async def test_a_seed_is_sealed_at_rest(company: Company, house: Application) -> None:
    ann = await person(company)
    secret = (await enrol(ann))["secret"]

    sealed = await sealed_seed(house, ann)

    assert secret.encode() not in sealed
    assert base64.b32decode(secret) not in sealed


async def test_a_seed_moved_to_another_row_opens_nothing(company: Company, house: Application) -> None:
    ann, ben = await person(company), await person(company)
    secret = (await enrol(ann))["secret"]
    await enrol(ben)

    sealed = await sealed_seed(house, ann)
    await in_sql(house, "UPDATE users SET totp_sealed = $2 WHERE id = $1::uuid", ben.user_id, sealed)

    assert (await log_in(ben, code=await code_of(secret))).status == 500
    with pytest.raises(Unsealable):
        house.services.keys.open(sealed, totp_binding(UUID(ben.org_id), UUID(ben.user_id)))


async def test_recovery_codes_are_kept_as_digests(company: Company, house: Application) -> None:
    ann = await person(company)
    codes = (await enrol(ann))["recovery_codes"]

    kept = await in_sql(house, "SELECT r::text FROM recovery_codes r WHERE user_id = $1::uuid", ann.user_id)

    assert len(kept) == 10
    for code in codes:
        for spelling in (code, code.replace("-", "")):
            assert not any(spelling in str(row) or spelling.encode().hex() in str(row) for row in kept)


async def test_members_see_who_has_a_second_factor(company: Company, admin: Client) -> None:
    ann = await person(company)
    await enrol(ann)

    listed = {member["id"]: member["two_factor"] for member in (await admin.get("/api/members"))["items"]}

    assert listed == {admin.user_id: False, ann.user_id: True}


async def test_a_first_session_may_enrol_and_signs_in_with_both(admin: Client) -> None:
    added = await admin.post("/api/members", {"username": f"ann-{admin.user_id}", "role": "viewer"})
    ann = Client(admin.app, added["token"], added["member"]["id"], username=added["member"]["username"])
    enrolled = await ann.post("/api/2fa/enable", {})

    changed = await ann.post("/api/password", {"new_password": PASSWORD})

    assert (await with_token(ann, changed["token"]).get("/api/whoami"))["two_factor"] is True
    assert (await log_in(ann)).code == "identity.totp_required"
    assert (await log_in(ann, code=await code_of(enrolled["secret"]))).status == 200
