"""Refusals in S3's words: the status of each of its codes, and which code stands for a refusal of ours."""

from atrium.kit.errors import AppError, Kind
from atrium.product.s3.model import S3Error
from atrium.product.s3.xml import leaf

STATUS = {
    "AccessControlListNotSupported": 400, "AccessDenied": 403, "AccountProblem": 403, "AuthorizationHeaderMalformed": 400,
    "AuthorizationQueryParametersError": 400, "BadDigest": 400, "BucketAlreadyOwnedByYou": 409, "BucketNotEmpty": 409,
    "EntityTooLarge": 400, "EntityTooSmall": 400, "IncompleteBody": 400, "InternalError": 500, "InvalidAccessKeyId": 403,
    "InvalidArgument": 400, "InvalidBucketName": 400, "InvalidBucketState": 409, "InvalidDigest": 400, "InvalidPart": 400,
    "InvalidPartNumber": 416, "InvalidPartOrder": 400, "InvalidPolicyDocument": 400, "InvalidRange": 416, "InvalidRequest": 400,
    "InvalidTag": 400, "InvalidURI": 400, "KeyTooLongError": 400, "MalformedPOSTRequest": 400, "MalformedTrailerError": 400,
    "MalformedXML": 400, "MethodNotAllowed": 405, "MissingContentLength": 411, "NoSuchBucket": 404,
    "NoSuchBucketPolicy": 404, "NoSuchCORSConfiguration": 404, "NoSuchKey": 404, "NoSuchLifecycleConfiguration": 404,
    "NoSuchObjectLockConfiguration": 404, "NoSuchPublicAccessBlockConfiguration": 404, "NoSuchTagSet": 404, "NoSuchUpload": 404,
    "NoSuchVersion": 404, "NoSuchWebsiteConfiguration": 404, "ObjectLockConfigurationNotFoundError": 404,
    "OperationAborted": 409, "OwnershipControlsNotFoundError": 404, "PermanentRedirect": 301,
    "PreconditionFailed": 412, "QuotaExceeded": 403,
    "ReplicationConfigurationNotFoundError": 404, "RequestTimeTooSkewed": 403, "RequestTimeout": 400,
    "ServerSideEncryptionConfigurationNotFoundError": 404, "ServiceUnavailable": 503, "SignatureDoesNotMatch": 403,
    "SlowDown": 503, "UnresolvableGrantByEmailAddress": 400, "XAmzContentSHA256Mismatch": 400,
}  # fmt: skip
_BY_CODE = {
    "quotas.exceeded": "QuotaExceeded",
    "repository.bad_key": "KeyTooLongError",
    "repository.key_taken": "AccessDenied",
    "repository.missing": "NoSuchKey",
    "repository.range": "InvalidRange",
    "repository.stalled": "RequestTimeout",
    "repository.upload_missing": "NoSuchUpload",
    "repository.version_missing": "NoSuchVersion",
    "request.too_large": "EntityTooLarge",
}
_BY_KIND = {
    Kind.UNAUTHENTICATED: "AccessDenied",
    Kind.SUSPENDED: "AccountProblem",
    Kind.FORBIDDEN: "AccessDenied",
    Kind.MISSING: "NoSuchKey",
    Kind.CONFLICT: "OperationAborted",
    Kind.TOO_LARGE: "EntityTooLarge",
    Kind.EXHAUSTED: "SlowDown",
    Kind.UNAVAILABLE: "ServiceUnavailable",
}


def name_of(error: AppError) -> str:
    """S3's code for a refusal."""
    if isinstance(error, S3Error):
        return error.name
    if error.kind is Kind.STALE:
        # A condition on something that is not there is answered as if it had been asked for.
        return "PreconditionFailed" if "current" in error.facts else "NoSuchKey"
    return _BY_CODE.get(error.code) or _BY_KIND.get(error.kind, "InvalidRequest")


def document_of(name: str, message: str, resource: str, request_id: str, facts: dict[str, object]) -> bytes:
    """The refusal as S3 writes it."""
    more = "".join(leaf(key, value) for key, value in facts.items() if key[:1].isupper())
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f"<Error><Code>{name}</Code>{leaf('Message', message)}{more}{leaf('Resource', resource)}"
        f"<RequestId>{request_id}</RequestId><HostId>{request_id}</HostId></Error>"
    ).encode("utf-8", "replace")
