"""A model of admission beside the real one: whatever sequence of asks, settlements and deaths, the two agree."""

import asyncio
import contextlib
from collections.abc import Coroutine
from typing import Any
from uuid import UUID

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule

from atrium.boot.assemble import Application
from atrium.ground.quotas import service as quotas
from atrium.ground.quotas.model import Admission
from atrium.kit.errors import Exhausted
from tests.domains.quotas.test_admission import acting, limit, used
from tests.postgres import fresh_database, run_as_owner
from tests.support.people import found_company
from tests.support.processes import sized
from tests.support.servers import open_application, settings_for
from tests.support.state_machines import run_machine

STEPS = sized(300, 5_000)
PER_RUN = 25
TOKENS, AT_ONCE = "ai.tokens.total", "ai.concurrency"


class Quotas(RuleBasedStateMachine):
    """Two teams under one company, tokens limited at both levels, concurrency at one team."""

    admissions = Bundle("admissions")
    house: Application
    loop: asyncio.AbstractEventLoop
    steps = 0

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self.loop.run_until_complete(work)

    @initialize(org=st.integers(0, 60), one=st.integers(0, 60), two=st.integers(0, 60), at_once=st.integers(0, 4))
    def found(self, org: int, one: int, two: int, at_once: int) -> None:
        self.company = self.run(found_company(self.house))
        second = self.run(self.company.add_team())
        self.teams = [self.company.team.id, second.id]
        self.ops = [acting(self.house, self.company, team) for team in self.teams]
        self.limits = {"org": org, self.teams[0]: one, self.teams[1]: two}
        self.at_once = at_once
        self.held: dict[UUID, tuple[UUID, int]] = {}
        self.lapsed: set[UUID] = set()
        self.used = dict.fromkeys(self.teams, 0)
        self.run(limit(self.ops[0], TOKENS, org, level="org"))
        self.run(limit(self.ops[0], TOKENS, one))
        self.run(limit(self.ops[1], TOKENS, two))
        self.run(limit(self.ops[0], AT_ONCE, at_once, window="total"))

    def taken(self, team: UUID) -> int:
        return self.used[team] + sum(amount for owner, amount in self.held.values() if owner == team)

    @rule(target=admissions, which=st.sampled_from([0, 1]), amount=st.integers(0, 25))
    def admit(self, which: int, amount: int) -> Admission | None:
        Quotas.steps += 1
        team = self.teams[which]
        fits = (
            sum(map(self.taken, self.teams)) + amount <= self.limits["org"]
            and self.taken(team) + amount <= self.limits[team]
            and (which == 1 or sum(1 for owner, _ in self.held.values() if owner == team) < self.at_once)
        )
        try:
            admission = self.run(quotas.admit(self.ops[which], {TOKENS: amount, AT_ONCE: 1}, lease=3600))
        except Exhausted:
            assert not fits
            return None
        assert fits
        self.held[admission.id] = team, amount
        return admission  # type: ignore[no-any-return]

    @rule(admission=admissions, share=st.floats(0, 1))
    def settle(self, admission: Admission | None, share: float) -> None:
        if admission is None:
            return
        Quotas.steps += 1
        actual = int(admission.amounts[TOKENS] * share)

        done = self.run(quotas.settle(self.ops[self.teams.index(admission.team_id)], admission, {TOKENS: actual}))

        assert done == (admission.id in self.held or admission.id in self.lapsed)
        if done:
            self.held.pop(admission.id, None)
            self.lapsed.discard(admission.id)
            self.used[admission.team_id] += actual

    @rule(admission=admissions, share=st.floats(0, 1), lost=st.booleans())
    def note(self, admission: Admission | None, share: float, lost: bool) -> None:
        """Settle together with a transaction, which may be rolled back."""
        if admission is None:
            return
        Quotas.steps += 1
        actual = int(admission.amounts[TOKENS] * share)

        self.run(self.noting(admission, actual, lost))

        if not lost and (admission.id in self.held or admission.id in self.lapsed):
            self.held.pop(admission.id, None)
            self.lapsed.discard(admission.id)
            self.used[admission.team_id] += actual

    async def noting(self, admission: Admission, actual: int, lost: bool) -> None:
        with contextlib.suppress(Lost):
            async with self.ops[self.teams.index(admission.team_id)].begin() as ctx:
                await quotas.settle_within(ctx, admission, {TOKENS: actual})
                if lost:
                    raise Lost

    @rule(which=st.sampled_from([0, 1]), amount=st.integers(-10, 10))
    def use(self, which: int, amount: int) -> None:
        """Count what nobody reserved; giving back more than was used leaves nothing."""
        team = self.teams[which]
        amount = max(amount, -self.used[team])
        Quotas.steps += 1
        self.run(self.using(which, amount))
        self.used[team] += amount

    async def using(self, which: int, amount: int) -> None:
        async with self.ops[which].begin() as ctx:
            await quotas.use_within(ctx, self.teams[which], {TOKENS: amount})

    @rule(admission=admissions)
    def die(self, admission: Admission | None) -> None:
        if admission is None or admission.id not in self.held:
            return
        Quotas.steps += 1
        url = self.house.services.settings.database_url
        self.run(
            run_as_owner(url, "UPDATE quota_holds SET expires_at = now() - interval '1 s' WHERE id = $1", admission.id)
        )
        self.held.pop(admission.id)
        self.lapsed.add(admission.id)
        self.run(quotas.settle(self.ops[0], Admission(self.teams[0], self.company.org.id, self.teams[0], {}), {}))

    @invariant()
    def the_books_agree(self) -> None:
        if not hasattr(self, "used"):
            return
        for op, team in zip(self.ops, self.teams, strict=True):
            found = self.run(used(op, "team", TOKENS))
            assert found == (self.used[team], self.taken(team) - self.used[team])
        company = self.run(used(self.ops[0], "org", TOKENS))
        assert company == (sum(self.used.values()), sum(amount for _, amount in self.held.values()))


class Lost(Exception):
    """The transaction is rolled back."""


@pytest.mark.timeout(900)
def test_the_books_agree_with_the_model_after_every_step() -> None:
    with asyncio.Runner() as runner:
        loop = runner.get_loop()
        database = fresh_database()
        url = loop.run_until_complete(database.__aenter__())
        opened = open_application(settings_for(url))
        Quotas.house, Quotas.loop, Quotas.steps = loop.run_until_complete(opened.__aenter__()), loop, 0
        try:
            run_machine(Quotas, STEPS, PER_RUN)
        finally:
            loop.run_until_complete(opened.__aexit__(None, None, None))
            loop.run_until_complete(database.__aexit__(None, None, None))
    print(f"{Quotas.steps} steps")
