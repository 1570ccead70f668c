"""Rows that one probe does not apply to, each with the reason; an entry that is stale or not needed fails the suite."""

from tests.contract.rows import Key

_INSTANCE = "an operator acts on the whole instance, whichever company a person is in"
_NAMES = "the name is the registry's, the same for every team; what is switched is the caller's own team's"

EXEMPT: dict[str, dict[Key, str]] = {
    "another_teams_id": {
        ("DELETE", "/api/admin/users/:id/2fa"): _INSTANCE,
        ("POST", "/api/tools/:name"): _NAMES,
        ("POST", "/api/features/:name"): _NAMES,
    },
    "another_companys_id": {
        ("DELETE", "/api/admin/users/:id/2fa"): _INSTANCE,
        ("POST", "/api/tools/:name"): _NAMES,
        ("POST", "/api/features/:name"): _NAMES,
    },
    "anothers_listing": {
        ("GET", "/api/tools"): _NAMES,
        ("GET", "/api/features"): _NAMES,
    },
    "suspended_write": {
        ("DELETE", "/api/admin/users/:id/2fa"): "operators keep the instance running while their own company is suspended",
    },
}  # fmt: skip
