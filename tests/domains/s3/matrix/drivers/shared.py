"""What the drivers of libraries have in common: a verb, its arguments, and where to go. Runs in the client's own environment."""

import json
import os
import sys
from collections.abc import Callable

URL, BUCKET = os.environ["S3_URL"], os.environ["S3_BUCKET"]
KEY_ID, SECRET = os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"]
REGION, CERTIFICATE = os.environ["AWS_REGION"], os.environ.get("S3_CERTIFICATE")


def main(**verbs: Callable[..., object]) -> None:
    """Do what the command line says and print what it gives, as JSON."""
    verb, *arguments = sys.argv[1:]
    found = verbs[verb](*arguments)
    if found is not None:
        print(json.dumps(found))
