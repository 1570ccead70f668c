"""Password hashing: argon2id as declared, one at a time, and the same work when there is nothing to compare."""

import asyncio
import threading
from typing import Any

import pytest
from argon2 import PasswordHasher, extract_parameters
from argon2.low_level import Type

from atrium.kit.crypto import passwords as module
from atrium.kit.crypto.passwords import KDF, Passwords
from atrium.kit.work.shares import account


@pytest.fixture
def passwords() -> Passwords:
    return Passwords()


async def test_a_hash_matches_its_password_alone(passwords: Passwords) -> None:
    stored = await passwords.hash("correct horse")

    assert await passwords.matches(stored, "correct horse")
    assert not await passwords.matches(stored, "correct horse ")
    assert not await passwords.matches(stored, "Correct horse")
    assert not await passwords.matches(stored, "")


async def test_the_same_password_is_stored_differently_each_time(passwords: Passwords) -> None:
    assert await passwords.hash("same") != await passwords.hash("same")


async def test_a_hash_is_made_as_declared(passwords: Passwords) -> None:
    made = extract_parameters(await passwords.hash("x"))

    assert made.type is Type.ID
    assert f"argon2id m={made.memory_cost // 1024}MiB t={made.time_cost} p={made.parallelism}" == KDF


@pytest.mark.parametrize("password", ["", "a password that is never used", "correct horse"])
async def test_nothing_matches_where_no_password_is_stored(passwords: Passwords, password: str) -> None:
    assert not await passwords.matches(None, password)


@pytest.mark.parametrize("stored", ["", "x", "$argon2id$v=19$", "plain text", "$2b$12$" + "x" * 53])
async def test_a_damaged_hash_matches_nothing(passwords: Passwords, stored: str) -> None:
    assert not await passwords.matches(stored, "plain text")


async def test_an_unknown_person_costs_as_much_as_a_known_one(
    passwords: Passwords, monkeypatch: pytest.MonkeyPatch
) -> None:
    verified: list[str] = []
    original = module._verify

    def noted(stored: str, given: str) -> bool:
        verified.append(stored)
        return original(stored, given)

    monkeypatch.setattr(module, "_verify", noted)
    await passwords.matches(None, "x")

    [decoy] = verified
    assert extract_parameters(decoy) == extract_parameters(await passwords.hash("x"))


async def test_a_weaker_hash_is_due_for_renewal(passwords: Passwords) -> None:
    weak = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1).hash("x")

    assert passwords.needs_rehash(weak)
    assert not passwords.needs_rehash(await passwords.hash("x"))
    assert await passwords.matches(weak, "x")


async def test_only_one_is_hashed_at_a_time(passwords: Passwords, monkeypatch: pytest.MonkeyPatch) -> None:
    running, most, lock = 0, 0, threading.Lock()
    original = module._verify

    def counted(*arguments: Any) -> bool:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        try:
            return original(*arguments)
        finally:
            with lock:
                running -= 1

    monkeypatch.setattr(module, "_verify", counted)
    await asyncio.gather(*(passwords.matches(None, "x") for _ in range(4)))

    assert most == 1


async def test_one_who_signs_in_does_not_wait_for_all_attempts_of_another(
    passwords: Passwords, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In steps: after the attempt that is under way, the next turn is the one of whoever has had none."""
    begun, original = list[str](), module._verify

    def noted(stored: str, given: str) -> bool:
        begun.append(given)
        return original(stored, given)

    async def attempt(owner: str, number: int) -> None:
        account.set(owner)
        await passwords.matches(None, f"{owner} {number}")

    monkeypatch.setattr(module, "_verify", noted)
    many = [asyncio.create_task(attempt("hostile", number)) for number in range(8)]
    await asyncio.sleep(0)
    await asyncio.gather(asyncio.create_task(attempt("ada", 0)), *many)

    assert begun.index("ada 0") <= 2
    assert len(begun) == 9
