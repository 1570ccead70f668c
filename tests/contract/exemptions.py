"""Rows that one probe does not apply to, each with the reason; an entry that is stale or not needed fails the suite."""

from tests.contract.rows import Key

_INSTANCE = "an operator acts on the whole instance, whichever company a person is in"
_NAMES = "the name is the registry's, the same for every team; what is switched is the caller's own team's"

_KEYS = "a key is each team's own: the same one elsewhere is another object"
_NO_TEXTS = (
    "the listing says where jobs stand and carries no text of theirs; whose they are is shown in tests/api/test_jobs.py"
)
_WORKERS = "a worker serves every team of its company"
_MACHINES = "a machine that serves a company serves all its teams"
_WORKER_ROWS = (
    ("POST", "/api/workers/jobs/:id/heartbeat"), ("POST", "/api/workers/jobs/:id/complete"), ("POST", "/api/workers/jobs/:id/fail"),
)  # fmt: skip
_COMPANY = "a company's plane spans all its teams"
_OPERATORS = "operators keep the instance running while their own company is suspended"
_REF_ROWS = (
    ("POST", "/api/orgs/:ref/suspend"), ("POST", "/api/orgs/:ref/resume"), ("POST", "/api/orgs/:ref/quota"),
    ("GET", "/api/orgs/:ref"), ("PATCH", "/api/orgs/:ref"),
)  # fmt: skip
_INSTANCE_WRITES = (
    *(row for row in _REF_ROWS if row[0] != "GET"), ("POST", "/api/orgs"), ("POST", "/api/admin/seed-tenants"), ("POST", "/api/quota"),
    ("POST", "/api/executors"), ("DELETE", "/api/executors/:id"),
    ("PUT", "/api/branding"), ("PUT", "/api/i18n"), ("POST", "/api/branding/logo"), ("DELETE", "/api/admin/users/:id/2fa"),
)  # fmt: skip

EXEMPT: dict[str, dict[Key, str]] = {
    "another_teams_id": {
        **dict.fromkeys(_REF_ROWS, _INSTANCE),
        ("PATCH", "/api/org/members/:id"): _COMPANY,
        **dict.fromkeys(_WORKER_ROWS, _WORKERS),
        ("DELETE", "/api/executors/:id"): _INSTANCE,
        ("PUT", "/api/repo/*key"): _KEYS,
        ("DELETE", "/api/admin/users/:id/2fa"): _INSTANCE,
        ("POST", "/api/tools/:name"): _NAMES,
        ("POST", "/api/features/:name"): _NAMES,
    },
    "another_companys_id": {
        ("DELETE", "/api/executors/:id"): _INSTANCE,
        ("PUT", "/api/repo/*key"): _KEYS,
        **dict.fromkeys(_REF_ROWS, _INSTANCE),
        ("DELETE", "/api/admin/users/:id/2fa"): _INSTANCE,
        ("POST", "/api/tools/:name"): _NAMES,
        ("POST", "/api/features/:name"): _NAMES,
    },
    "anothers_listing": {
        ("GET", "/api/orgs"): _INSTANCE,
        ("GET", "/api/jobs"): _NO_TEXTS,
        ("GET", "/api/executors"): _MACHINES,
        ("GET", "/api/tools"): _NAMES,
        ("GET", "/api/features"): _NAMES,
    },
    "suspended_write": dict.fromkeys(_INSTANCE_WRITES, _OPERATORS),
}  # fmt: skip
