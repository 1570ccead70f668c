"""Documents that S3 clients hand in: what is read of them, and what is refused before it is read."""

import pytest

from atrium.product.s3.model import S3Error
from atrium.product.s3.xml import document, read

BOMB = (
    '<?xml version="1.0" encoding="{0}"?><!DOCTYPE d [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
    "<Delete>&b;</Delete>"
)


def test_names_and_texts_are_read_whatever_namespace_they_came_in() -> None:
    raw = b'<x:Delete xmlns:x="urn:y"><x:Quiet> true </x:Quiet><Object><Key>a&amp;&#233;</Key><Key>b</Key></Object></x:Delete>'

    found = read(raw, "Delete")

    [one] = found.all("Object")
    assert found.text("Quiet") == " true "
    assert (one.text("Key"), one.texts("Key"), one.text("ETag")) == ("a&é", ["a&é", "b"], None)


def test_an_empty_element_is_one_without_anything_inside() -> None:
    found = read(b"<Tagging><TagSet/></Tagging>", "Tagging").first("TagSet")

    assert found is not None
    assert list(found.all("Tag")) == []


def test_what_is_written_is_read_back() -> None:
    assert read(document("Delete", "<Key>\U0001f600&lt;</Key>"), "Delete").text("Key") == "\U0001f600<"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-be", "utf-16-le", "utf-32", "cp037", "utf-7"])
def test_a_declaration_is_refused_in_any_encoding(encoding: str) -> None:
    with pytest.raises(S3Error, match=r"UTF-8|declare|not XML"):
        read(BOMB.format(encoding.upper()).encode(encoding), "Delete")


def test_a_declaration_behind_an_honest_beginning_is_refused() -> None:
    head = b'<?xml version="1.0" encoding="cp037"?>'

    with pytest.raises(S3Error):
        read(head + BOMB.partition("?>")[2].encode("cp037"), "Delete")


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"<Delete>",
        b"<Delete></Other>",
        b"<Other/>",
        b"<Delete/><Delete/>",
        b"\xff",
        b"<Delete>\0</Delete>",
        b"<Delete>&entity;</Delete>",
        b"<Delete>" + b"<a>" * 20 + b"</a>" * 20 + b"</Delete>",
        b"<Delete>" + b"<a/>" * 200_000 + b"</Delete>",
        b"<Delete a='" + b"v" * 9000 + b"'/>",
    ],
)
def test_what_is_not_such_a_document_is_refused(raw: bytes) -> None:
    with pytest.raises(S3Error) as refused:
        read(raw, "Delete")

    assert refused.value.name == "MalformedXML"
