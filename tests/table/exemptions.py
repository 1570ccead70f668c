"""Rows that one probe does not apply to, each with the reason; an entry that is stale or not needed fails the suite."""

from tests.table.rows import Key

_INSTANCE = "an operator acts on the whole instance, whichever company a person is in"
_NAMES = "the name is the registry's, the same for every team; what is switched is the caller's own team's"

_PAGES = "a plugin's files are the same for every team"
_KEYS = "a key is each team's own: the same one elsewhere is another object"
_NO_TEXTS = "the listing says where jobs stand and carries no text of theirs; whose they are is shown in tests/domains/jobs/test_api.py"
_LAST_PAGE = (
    "who joined last is on the last page; whose people are listed is shown in tests/domains/identity/test_members.py"
)
_WORKERS = "a worker serves every team of its company"
_MACHINES = "a machine that serves a company serves all its teams"
_OWN_MACHINES = (
    "a company retires its own machines with org:manage; tests/domains/executors/test_workers.py shows who may"
)
_WORKER_ROWS = (
    ("POST", "/api/workers/jobs/:id/heartbeat"), ("POST", "/api/workers/jobs/:id/complete"), ("POST", "/api/workers/jobs/:id/fail"),
)  # fmt: skip
_NUMBERS = "a version's number is each note's own; foreign notes are probed by the listing of their versions"
_COMPANY = "a company's plane spans all its teams"
_REF_ROWS = (
    ("POST", "/api/orgs/:ref/suspend"), ("POST", "/api/orgs/:ref/resume"), ("POST", "/api/orgs/:ref/quota"),
    ("GET", "/api/orgs/:ref"), ("PATCH", "/api/orgs/:ref"),
)  # fmt: skip
_CATALOGS = "the catalogs belong to the instance: every team of its first company works on the same messages"
_FIRST_TEAM = (
    "the form is the instance's: its first team has all of it, and tests/domains/onboarding shows that no other has any"
)
_BOOKS = "the server books what is spent, one round for everybody in the company; nothing of the caller's is kept"


EXEMPT: dict[str, dict[Key, str]] = {
    "role_without_permission": {("DELETE", "/api/executors/:id"): _OWN_MACHINES},
    "token_without_permission": {("DELETE", "/api/executors/:id"): _OWN_MACHINES},
    "another_teams_id": {
        **dict.fromkeys(_REF_ROWS, _INSTANCE),
        ("PATCH", "/api/org/members/:id"): _COMPANY,
        ("PUT", "/api/l10n/messages/:id"): _CATALOGS,
        ("POST", "/api/l10n/review/:id"): _CATALOGS,
        ("GET", "/api/notes/:id/versions/:number"): _NUMBERS,
        ("PUT", "/api/notes/:id/versions/:number"): _NUMBERS,
        **dict.fromkeys(_WORKER_ROWS, _WORKERS),
        ("DELETE", "/api/executors/:id"): _INSTANCE,
        ("PUT", "/api/repo/*key"): _KEYS,
        ("GET", "/api/x/:plugin/bundle/*path"): _PAGES,
        ("DELETE", "/api/admin/users/:id/2fa"): _INSTANCE,
        ("POST", "/api/tools/:name"): _NAMES,
        ("POST", "/api/features/:name"): _NAMES,
    },
    "another_companys_id": {
        ("GET", "/api/notes/:id/versions/:number"): _NUMBERS,
        ("PUT", "/api/notes/:id/versions/:number"): _NUMBERS,
        ("DELETE", "/api/executors/:id"): _INSTANCE,
        ("PUT", "/api/repo/*key"): _KEYS,
        ("GET", "/api/x/:plugin/bundle/*path"): _PAGES,
        **dict.fromkeys(_REF_ROWS, _INSTANCE),
        ("DELETE", "/api/admin/users/:id/2fa"): _INSTANCE,
        ("POST", "/api/tools/:name"): _NAMES,
        ("POST", "/api/features/:name"): _NAMES,
    },
    "revoked_midway": {
        ("POST", "/api/ai/echo"): _BOOKS,
    },
    "anothers_listing": {
        ("GET", "/api/orgs"): _INSTANCE,
        ("GET", "/api/beta/prospects"): _FIRST_TEAM,
        ("GET", "/api/jobs"): _NO_TEXTS,
        ("GET", "/api/l10n/messages"): _CATALOGS,
        ("GET", "/api/members"): _LAST_PAGE,
        ("GET", "/api/executors"): _MACHINES,
        ("GET", "/api/tools"): _NAMES,
        ("GET", "/api/features"): _NAMES,
    },
}  # fmt: skip
