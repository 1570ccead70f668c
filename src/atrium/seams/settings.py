"""Every SERVICE_* variable: a name, a type, a default, a sentence. Read once; no other module reads the environment."""

import difflib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import timedelta
from enum import Enum
from pathlib import Path
from typing import Any

import msgspec

from atrium.kit.refusals import CommandError
from atrium.seams.guests import Grants, ToolEffects
from atrium.seams.setting_values import Home, LogLevel, McpServers, Plans, PushExecutors

PREFIX = "SERVICE_"


class BadSetting(CommandError):
    """A variable in the environment cannot be read; the message names it and what it takes."""


def setting(default: Any, sentence: str, *, secret: bool = False, least: int = 1, most: int | None = None) -> Any:
    """A field with the sentence its reference page prints; `least` and `most` are the ends of what a number may be."""
    return field(default=default, metadata={"sentence": sentence, "secret": secret, "least": least, "most": most})


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The instance's settings, frozen at start."""

    database_url: str = setting(
        "", "PostgreSQL address; alone it is enough: connections drop to the unprivileged role.", secret=True
    )
    database_owner_url: str = setting(
        "", "A separate login for migrations, when the serving login must not own tables.", secret=True
    )
    database_pool: int = setting(10, "Most PostgreSQL connections a process keeps.")
    long_transactions: int = setting(
        2,
        "Most transactions of a process that may take long, such as searches; about the cores that PostgreSQL has.",
        most=256,
    )
    database_statement_cache: int = setting(
        1024, "Prepared statements kept per connection; 0 behind PgBouncer older than 1.21.", least=0
    )
    migrate: bool = setting(True, "Migrate the schema at start; off when a separate step runs `atrium migrate`.")
    data_dir: Path = setting(
        Path("atrium-data"),
        "Folder for what is not in PostgreSQL: blobs, uploads on their way, the generated key, the database of `atrium up`.",
    )
    secret_key: str = setting(
        "",
        "Key (32 bytes or more of text) that seals secrets; several separated by commas rotate, newest first.",
        secret=True,
    )
    multitenant: bool = setting(True, "Whether the instance carries several companies.")
    home: Home = setting(Home.CONSOLE, "What `/` serves: `console` or `beta`.")
    beta_experience: str = setting(
        "", "JSON file with the sign-up form that `beta` shows until one is published; a plugin's when empty."
    )
    beta_proof_cost: int = setting(1000, "Rounds of PBKDF2 in one try at a sign-up's proof of work.", most=1_000_000)
    beta_proof_tries: int = setting(
        1000,
        "Tries that a sign-up's proof of work takes on average; more where many sign up.",
        least=2,
        most=10_000_000,
    )
    beta_origins: str = setting(
        "", "Origins (comma separated) whose pages may use the sign-up form; those of every origin when empty."
    )
    base_url: str = setting("", "Address people reach this server at, for links; taken from the request when empty.")
    hosted: bool = setting(False, "Hosted mode: one tenant, provisioned and suspended with the provisioning token.")
    provision_token: str = setting("", "The credential of the provisioning routes in hosted mode.", secret=True)
    demo: bool = setting(False, "Allow POST /api/admin/seed-tenants, which makes companies with known passwords.")
    domain_proof: bool = setting(
        False, "Ask for a TXT record before a company's hostname counts; operators may waive it."
    )
    dns_servers: str = setting(
        "", "Name servers (address or address@port, comma separated) for that record; the system's when empty."
    )
    bootstrap_token: str = setting(
        "", "When set, POST /api/bootstrap must carry it as its bearer credential.", secret=True
    )
    plugins_dir: str = setting("", "One more folder to load plugins from.")
    oop_dir: str = setting("", "Folder of guests: plugins that run outside the server, in a sandbox; none when empty.")
    oop_grants: Grants = setting(
        Grants(),
        'Capabilities of guests: a JSON object such as {"summary": ["notes.read"]}; a guest without a grant has none.',
    )
    oop_effects: ToolEffects = setting(
        ToolEffects(),
        'Effects of guests\' tools: a JSON object such as {"summary": {"count": "read"}}; `egress`, the strictest, where it says nothing.',
    )
    search_milliseconds: int = setting(
        400,
        "Milliseconds that PostgreSQL may look for the answers of a search; one that takes longer is cut short and says so.",
        least=1,
    )
    compute_processes: int = setting(2, "Processes that one serving process starts for work over long texts.", most=64)
    oop_processes: int = setting(32, "Processes of guests that one serving process keeps at most.", most=1024)
    blob_store: str = setting("rs3", "Where the bytes of objects are kept: `rs3` (local folders), `s3`, or a plugin's.")
    blob_s3_bucket: str = setting("", "Bucket of the store `s3`.")
    blob_s3_prefix: str = setting("", "What every name in the bucket begins with, such as `atrium/`.")
    blob_s3_endpoint: str = setting("", "Address of an S3-compatible cloud; Amazon's own when empty.")
    blob_s3_region: str = setting("us-east-1", "Region of the bucket.")
    blob_s3_access_key_id: str = setting("", "Access key of the bucket; the machine's own role when empty.")
    blob_s3_secret_access_key: str = setting("", "Secret of that access key.", secret=True)
    blob_keep_hours: int = setting(
        168,
        "Hours for which bytes stay in the blob store after the last version of theirs; 0 frees them at once.",
        least=0,
        most=876_600,
    )
    backup_dir: str = setting(
        "",
        "Folder that serving processes keep backups in, and back up to before they migrate; none are made when empty.",
    )
    backup_hours: int = setting(
        24, "Hours between two backups that a serving process makes and verifies; 0 makes none by itself.", least=0
    )
    backup_database_url: str = setting(
        "",
        "A login for backups that sees every company's rows: a superuser, or one with BYPASSRLS; the owner's when empty.",
        secret=True,
    )
    s3_bucket: str = setting("files", "Name of the bucket that holds a team's objects for S3 clients.")
    s3_region: str = setting(
        "atrium", "Region told to S3 clients; any is accepted. One of Amazon's would bring old signatures."
    )
    s3_domain: str = setting("", "Hostname that speaks only S3; a name below it is a bucket (virtual-host style).")
    s3_port: int = setting(0, "One more port, which speaks only S3; none when 0.", least=0, most=65_535)
    s3_url: str = setting("", "Address S3 clients reach this server at; made from the settings above when empty.")
    s3_extra_buckets: bool = setting(
        False, "Let people create buckets besides their team's; each is a folder of the team's bucket."
    )
    object_limit: int = setting(53_687_091_200, "Most bytes of one object (50 GiB).")
    upload_timeout: int = setting(60, "Seconds an upload may stand still before it is given up.")
    extraction: bool = setting(True, "Extract the text of uploaded documents, in processes of their own.")
    extraction_input: int = setting(104_857_600, "Most bytes of a document whose text is extracted.")
    extraction_seconds: int = setting(20, "Seconds one document may take, of processor and of clock.")
    extraction_memory: int = setting(
        1_073_741_824, "Bytes of memory one document may take; a process reads up to three at once."
    )
    extraction_output: int = setting(2_097_152, "Most bytes of text kept of one document; the rest is cut off.")
    embed_worker: bool = setting(
        False, "Run jobs in the serving process as well; `atrium up` always does, larger installs start `atrium work`."
    )
    worker_concurrency: int = setting(8, "Jobs that one worker process runs at once.")
    executor_hosts: str = setting(
        "", "Hosts (comma separated) that push executors may be on although they are not on the public internet."
    )
    local_model_url: str = setting(
        "", "OpenAI-compatible URL of this server's own model, such as http://127.0.0.1:8080/v1; simulated when empty."
    )
    local_model_key: str = setting("", "Key of that URL.", secret=True)
    local_model: str = setting("", "Name of the model to ask for there; the server's only one when empty.")
    local_model_usage_pieces: bool = setting(
        False, "Ask that model for its token counts with every piece; llama.cpp, vLLM and SGLang tell them."
    )
    chat_executor: str = setting("", "Executor of chats and the agent; this server when empty.")
    agent_seconds: int = setting(120, "Seconds that the agent may take for one run, or to go on with one.", most=900)
    mcp: bool = setting(True, "Serve the teams' tools to MCP clients at `/mcp`.")
    streams_per_process: int = setting(2000, "Most replies of models that one process carries at once.")
    turn_retention_hours: int = setting(24, "Hours for which a model's reply can be read again.", most=8_760)
    translation_retention_days: int = setting(
        90, "Days for which a person finds their translations again.", most=36_525
    )
    push_executors: PushExecutors = setting(
        PushExecutors(),
        "Machines that this server calls for everybody: a JSON list of objects with name, url, and perhaps key, model and capabilities.",
        secret=True,
    )
    mcp_servers: McpServers = setting(
        McpServers(),
        "MCP servers whose tools teams may turn on: a JSON list of objects with name, and url (key) or command (env);"
        " orgs limits one to companies, effects says what its tools do.",
        secret=True,
    )
    plans: Plans = setting(
        Plans(),
        'Plans, each a set of caps on a whole company: a JSON object of objects such as {"ai.requests/day": 200}; `unlimited` has none.',
    )
    utility_executor: str = setting(
        "", "Executor of the role `utility` for teams that chose none; this server when empty."
    )
    job_retention_days: int = setting(30, "Days for which finished jobs are kept.")
    run_retention_days: int = setting(90, "Days for which ended runs of workflows, and what fired them, are kept.")
    trigger_depth: int = setting(
        5, "How many runs may follow from each other by triggers, one writing what starts the next.", least=0, most=100
    )
    trash_days: int = setting(
        30, "Days for which deleted notes, documents and files can be restored; 0 deletes them at once.", least=0
    )
    default_locale: str = setting("en", "Locale of people who have not chosen one, until the instance sets its own.")
    locales_dir: str = setting(
        "",
        "Folder of catalogs above the shipped ones, and of what is exported; `locales` in the data folder when empty.",
    )
    rate_per_credential: int = setting(6000, "Requests a minute one credential may make to one process.")
    rate_public_writes: int = setting(
        60, "Public writes (sign-in, first run) a minute from one address, over all processes."
    )
    rate_challenges: int = setting(60, "Challenges for signing up a minute to one address, over all processes.")
    login_failures: int = setting(
        5, "Failed sign-ins in 15 minutes, per account and per address, before backoff starts."
    )
    body_limit: int = setting(1_048_576, "Most bytes of a JSON body.")
    header_timeout: int = setting(15, "Seconds a client may take to send a request's head.")
    body_timeout: int = setting(30, "Seconds a client may take to send a JSON body.")
    send_timeout: int = setting(60, "Seconds a client may take nothing of a reply that waits for it.")
    drain_seconds: int = setting(20, "Seconds a stopping process gives to requests in flight.", least=0)
    trusted_proxies: str = setting(
        "", "Addresses (comma separated) whose X-Forwarded-For and X-Forwarded-Proto are believed."
    )
    tls_certificate: str = setting(
        "", "File with this server's certificate chain (PEM): it then speaks HTTPS itself, without a proxy in front."
    )
    tls_key: str = setting("", "File with the certificate's private key (PEM).")
    transfer_key: str = setting(
        "",
        "Seals and signs a company that moves to another instance; the same on both (32 characters or more).",
        secret=True,
    )
    metrics_token: str = setting(
        "",
        "The credential with which Prometheus reads GET /api/metrics, and nothing else (32 characters or more).",
        secret=True,
    )
    access_log: bool = setting(True, "Write one line per request to standard output.")
    access_log_paths: bool = setting(
        False, "Write whole paths into those lines instead of the route and its ids; paths hold keys of private files."
    )
    log_level: LogLevel = setting(LogLevel.INFO, "Lowest level that is logged: debug, info, warning or error.")

    def trash_age(self) -> timedelta:
        """For how long deleted things are kept; more than a century is a century."""
        return timedelta(days=min(self.trash_days, 36_525))

    def allowed_beta_origins(self) -> frozenset[str]:
        """The origins of `beta_origins`, one by one."""
        return frozenset(filter(None, self.beta_origins.lower().replace(" ", "").split(",")))

    def trusted_executor_hosts(self) -> frozenset[str]:
        """The hosts of `executor_hosts`, one by one."""
        return frozenset(filter(None, self.executor_hosts.lower().replace(" ", "").split(",")))


def read_settings(
    environment: Mapping[str, str] | None = None, usual: Mapping[str, Any] | None = None, **overrides: Any
) -> Settings:
    """The settings of this process; a value that cannot be read stops the start by name. `usual` replaces defaults."""
    found = os.environ if environment is None else environment
    values: dict[str, Any] = {
        f.name: _convert(f.name, f.type, found[name], f.metadata)
        for f in fields(Settings)
        if (name := PREFIX + f.name.upper()) in found
    }
    return Settings(**({**(usual or {})} | values | overrides))


def wants_traces(environment: Mapping[str, str] | None = None) -> bool:
    """Whether the standard OTEL_ variables name a place to send traces to."""
    found = os.environ if environment is None else environment
    off = found.get("OTEL_SDK_DISABLED", "").lower() == "true" or found.get("OTEL_TRACES_EXPORTER", "otlp") != "otlp"
    return not off and bool(found.get("OTEL_EXPORTER_OTLP_ENDPOINT") or found.get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"))


def chose_sampler(environment: Mapping[str, str] | None = None) -> bool:
    """Whether OTEL_TRACES_SAMPLER says which traces are recorded."""
    return bool((os.environ if environment is None else environment).get("OTEL_TRACES_SAMPLER"))


def read_supervision(process: int, environment: Mapping[str, str] | None = None) -> tuple[str, float]:
    """Where the service manager of this process listens, and after how many seconds of silence it ends it; empty and 0 for none."""
    found = os.environ if environment is None else environment
    watched = found.get("WATCHDOG_PID", str(process)) == str(process)
    microseconds = found.get("WATCHDOG_USEC", "") if watched else ""
    return found.get("NOTIFY_SOCKET", ""), int(microseconds) / 1e6 if microseconds.isdigit() else 0.0


def search_path() -> str:
    """Where the commands that the settings name are looked for."""
    return os.environ.get("PATH", os.defpath)


def unknown_names(environment: Mapping[str, str] | None = None) -> list[str]:
    """A sentence for every SERVICE_ variable that is no setting, with the name that was probably meant."""
    known = [PREFIX + f.name.upper() for f in fields(Settings)]
    found = os.environ if environment is None else environment
    strays = sorted(name for name in found if name.startswith(PREFIX) and name not in known)
    return [f"{name} is not a setting{_guess(name, known)}" for name in strays]


def _guess(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name.upper(), known, n=1, cutoff=0.8)
    return f"; did you mean {near[0]}?" if near else "; `atrium settings` lists them all"


def _convert(name: str, kind: Any, text: str, about: Mapping[str, Any]) -> object:
    least, most = about["least"], about["most"]
    try:
        if kind is bool:
            return {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False, "": False}[
                text.lower()
            ]
        if kind is int and not least <= int(text) <= (most or int(text)):
            raise ValueError(text)
        return kind(text)
    except (KeyError, ValueError) as error:
        known = {
            bool: "1 or 0",
            int: f"int of at least {least}" + (f" and at most {most}" if most else ""),
        }
        usual = getattr(kind, "TAKES", kind.__name__)
        takes = "|".join(kind._value2member_map_) if issubclass(kind, Enum) else known.get(kind, usual)
        given = "" if about["secret"] else f"={text!r}"
        raise BadSetting(f"{PREFIX}{name.upper()}{given} cannot be read: it takes {takes}") from error


def describe_settings() -> str:
    """Every variable with its default and its sentence, for `atrium settings` and the reference page."""
    return "\n".join(
        f"{PREFIX}{f.name.upper()}={_shown(f.default)}\n    {f.metadata['sentence']}" for f in fields(Settings)
    )


def _shown(default: object) -> str:
    if isinstance(default, bool):
        return str(int(default))
    if isinstance(default, PushExecutors | McpServers):
        return msgspec.json.encode(list(default)).decode()
    if isinstance(default, Plans | Grants | ToolEffects):
        return default.as_json()
    return str(default.value if isinstance(default, Enum) else default)
