"""S3's signature on a request that somebody else sends."""

from typing import Any

from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials


def signed_headers(key: dict[str, Any], method: str, url: str, body: bytes = b"") -> dict[str, str]:
    """The headers with which a request counts as the key's owner's."""
    request = AWSRequest(method, url, data=body)
    S3SigV4Auth(Credentials(key["access_key_id"], key["secret_access_key"]), "s3", key["region"]).add_auth(request)
    headers = {name.lower(): value for name, value in request.headers.items()}
    return {**headers, "content-length": str(len(body))}
