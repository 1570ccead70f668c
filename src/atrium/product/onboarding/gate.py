"""The gate's signals: what is noticed about a sign-up. None of them refuses it; a person sees them and decides."""

import msgspec

from atrium.product.onboarding.model import GateVerdict, Signal
from atrium.product.onboarding.proof import LIFETIME

# A person needs longer than this to read a form and fill it in.
FAST_MS = 3_000
LATE = LIFETIME // 2
# Providers of addresses that are thrown away, the ones in common use. A list of all would hit people who mean it.
DISPOSABLE = frozenset(
    {
        "10minutemail.com", "discard.email", "dispostable.com", "emailondeck.com", "fakeinbox.com", "getnada.com", "guerrillamail.com",
        "guerrillamail.net", "mailcatch.com", "maildrop.cc", "mailinator.com", "mailnesia.com", "mintemail.com", "mohmal.com", "moakt.com",
        "sharklasers.com", "spamgourmet.com", "temp-mail.org", "tempmail.dev", "tempr.email", "throwawaymail.com", "trashmail.com",
        "yopmail.com", "yopmail.fr",
    }
)  # fmt: skip


class Noticed(msgspec.Struct, frozen=True, kw_only=True):
    """What is known about a sign-up besides its answers."""

    address: str
    honeypot: bool
    elapsed_ms: int | None
    proof_age: int


def signals_of(noticed: Noticed) -> list[Signal]:
    """What the request itself shows; how often a network and a person came is known where it is written."""
    found: list[Signal] = []
    domain = noticed.address.rpartition("@")[2]
    if noticed.honeypot:
        found.append(Signal("honeypot", 1))
    if noticed.elapsed_ms is not None and noticed.elapsed_ms < FAST_MS:
        found.append(Signal("fast", noticed.elapsed_ms))
    labels = domain.split(".")
    if any(".".join(labels[start:]) in DISPOSABLE for start in range(len(labels) - 1)):
        found.append(Signal("disposable_domain", domain))
    if noticed.proof_age > LATE:
        found.append(Signal("late_proof", noticed.proof_age))
    return found


def verdict_of(signals: list[Signal]) -> GateVerdict:
    """Whether a person should look twice; a late proof alone is a slow reader."""
    return "suspect" if any(signal.name != "late_proof" for signal in signals) else "pass"
