"""Tags: at most ten of an object and fifty of a bucket, with bounded names and values."""

from urllib.parse import parse_qsl

from atrium.product.s3 import xml
from atrium.product.s3.model import S3Error

OF_OBJECT, OF_BUCKET = 10, 50
_LONGEST_NAME, _LONGEST_VALUE = 128, 256


def in_header(text: str | None) -> dict[str, str]:
    """The tags in an x-amz-tagging header, which is written like a query."""
    try:
        pairs = parse_qsl(text or "", keep_blank_values=True, max_num_fields=OF_OBJECT)
    except ValueError as error:
        raise S3Error("InvalidTag", f"at most {OF_OBJECT} tags") from error
    return _required(pairs, OF_OBJECT)


def in_document(raw: bytes, most: int = OF_OBJECT) -> dict[str, str]:
    """The tags in a Tagging document."""
    found = xml.read(raw, "Tagging").first("TagSet")
    if found is None:
        raise S3Error("MalformedXML", "a Tagging has a TagSet")
    return _required([(one.text("Key") or "", one.text("Value") or "") for one in found.all("Tag")], most)


def document_of(tags: dict[str, str]) -> bytes:
    """The tags as a document, by name."""
    listed = "".join(
        xml.element("Tag", xml.leaf("Key", key), xml.leaf("Value", value)) for key, value in sorted(tags.items())
    )
    return xml.document("Tagging", xml.element("TagSet", listed))


def _required(pairs: list[tuple[str, str]], most: int) -> dict[str, str]:
    if len(pairs) > most:
        raise S3Error("InvalidTag", f"at most {most} tags")
    for name, value in pairs:
        if not 1 <= len(name) <= _LONGEST_NAME:
            raise S3Error("InvalidTag", "The TagKey you have provided is invalid")
        if len(value) > _LONGEST_VALUE:
            raise S3Error("InvalidTag", "The TagValue you have provided is invalid")
    found = dict(pairs)
    if len(found) != len(pairs):
        raise S3Error("InvalidTag", "Cannot provide multiple Tags with the same key")
    return found
