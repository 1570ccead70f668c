"""A running server with a bucket and a key to it."""

import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.postgres import fresh_database
from tests.support.certificates import self_signed
from tests.support.processes import Process, bootstrap, serving


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a client goes and as whom; `certificate` is the file to trust over HTTPS."""

    url: str
    bucket: str
    region: str
    access_key_id: str
    secret_access_key: str
    certificate: Path | None
    server: Process

    @property
    def host(self) -> str:
        """The address without its scheme."""
        return self.url.partition("://")[2]

    @property
    def secure(self) -> bool:
        return self.certificate is not None

    def environment(self) -> dict[str, str]:
        """What Amazon's own tools, and most others, read."""
        found = {
            "AWS_ACCESS_KEY_ID": self.access_key_id,
            "AWS_SECRET_ACCESS_KEY": self.secret_access_key,
            "AWS_DEFAULT_REGION": self.region,
            "AWS_REGION": self.region,
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_CONFIG_FILE": "/dev/null",
            "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
            "S3_URL": self.url,
            "S3_BUCKET": self.bucket,
        }
        if self.certificate is not None:
            path = str(self.certificate)
            found |= {"AWS_CA_BUNDLE": path, "SSL_CERT_FILE": path, "NODE_EXTRA_CA_CERTS": path, "S3_CERTIFICATE": path}
        return found


@asynccontextmanager
async def endpoint(*, secure: bool) -> AsyncIterator[Endpoint]:
    """A fresh instance and its operator's key."""
    with tempfile.TemporaryDirectory(prefix="atrium-clients-") as name:
        folder = Path(name)
        tls = self_signed(folder) if secure else {}
        async with fresh_database() as url, serving(url, data_dir=folder / "data", **tls) as (server,):
            yield await _with_key(server)


async def _with_key(server: Process) -> Endpoint:
    async with server.client(await bootstrap(server)) as person:
        answer = await person.post("/api/s3/credentials", json={"name": "clients"})
        assert answer.status_code == 201, answer.text
        key = answer.json()
    return Endpoint(
        url=key["endpoint"],
        bucket=key["bucket"],
        region=key["region"],
        access_key_id=key["access_key_id"],
        secret_access_key=key["secret_access_key"],
        certificate=server.certificate,
        server=server,
    )
