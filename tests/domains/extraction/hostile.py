"""Documents built to harm whoever reads them: bombs, loops, entities, lies about sizes."""

import io
import os
import zipfile
import zlib
from collections.abc import Callable

from tests.support import honest

# More than any document unpacks to, and still quickly made.
BOMB = 600 << 20
ENTITIES = (
    b'<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd"><!ENTITY a "lolololololololol">'
    + b"".join(b'<!ENTITY %c "%s">' % (98 + n, b"&%c;" % (97 + n) * 10) for n in range(9))
    + b"]>"
)


def pdf_of(*objects: bytes, trailer: bytes = b"", start: int | None = None) -> bytes:
    out, offsets = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj" % number + body + b"endobj\n"
    at = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1) + b"".join(
        b"%010d 00000 n \n" % o for o in offsets
    )
    return out + b"trailer<</Size %d/Root 1 0 R%s>>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, trailer, start or at)


CATALOG, PAGES = b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[3 0 R]/Count 1>>"
FONT = b"/Resources<</Font<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>"
PAGE = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R" + FONT + b">>"


def stream(body: bytes, filters: bytes = b"") -> bytes:
    return b"<</Length %d%s>>stream\n" % (len(body), filters) + body + b"\nendstream"


def packed(unit: bytes, times: int, layers: int = 1) -> bytes:
    packer = zlib.compressobj(9)
    body = b"".join(packer.compress(unit) for _ in range(times)) + packer.flush()
    return body if layers == 1 else zlib.compress(body, 9)


def pdf_bomb() -> bytes:
    body = packed(b"BT /F1 12 Tf (A) Tj ET " * 43_690, 1024, layers=2)
    return pdf_of(CATALOG, PAGES, PAGE, stream(body, b"/Filter[/FlateDecode/FlateDecode]"))


def pdf_text_bomb() -> bytes:
    body = packed(b"BT /F1 1 Tf (" + b"A" * 60_000 + b") Tj ET\n", 1500)
    return pdf_of(CATALOG, PAGES, PAGE, stream(body, b"/Filter/FlateDecode"))


def pdf_page_loop() -> bytes:
    return pdf_of(CATALOG, b"<</Type/Pages/Kids[2 0 R 2 0 R]/Count 1000000>>")


def pdf_many_pages() -> bytes:
    return pdf_of(CATALOG, b"<</Type/Pages/Kids[" + b"3 0 R " * 400_000 + b"]/Count 400000>>", PAGE, stream(b"BT ET"))


def pdf_xref_loop() -> bytes:
    return pdf_of(CATALOG, PAGES, PAGE, stream(b""), trailer=b"/Prev 9/XRefStm 9", start=9)


def pdf_nested() -> bytes:
    return pdf_of(CATALOG, PAGES, b"[" * 2_000_000 + b"]" * 2_000_000, stream(b""))


def pdf_form_recursion() -> bytes:
    form = stream(b"/X Do " * 50, b"/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X 5 0 R>>>>")
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R/Resources<</XObject<</X 5 0 R>>>>>>"
    return pdf_of(CATALOG, PAGES, page, stream(b"/X Do " * 50), form)


def pdf_cut_off() -> bytes:
    return honest.pdf()[:900]


def pdf_of_noise() -> bytes:
    return b"%PDF-1.7\n" + os.urandom(3_000_000)


def rezipped(source: bytes, change: dict[str, Callable[[bytes], bytes]], drop: tuple[str, ...] = ()) -> bytes:
    held = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(source)) as old,
        zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as new,
    ):
        for entry in old.infolist():
            data = old.read(entry)
            if entry.filename in change:
                data = change[entry.filename](data)
            if entry.filename not in drop:
                new.writestr(entry.filename, data)
    return held.getvalue()


def docx_bomb() -> bytes:
    text = b"<w:p><w:r><w:t>" + b"A" * BOMB + b"</w:t></w:r></w:p></w:body>"
    return rezipped(honest.word(), {"word/document.xml": lambda data: data.replace(b"</w:body>", text)})


def docx_lying_bomb() -> bytes:
    """Says that it is small, and is not: the sizes in the directory are only claims."""
    bomb = bytearray(
        rezipped(honest.word(), {"word/document.xml": lambda data: data.replace(b"</w:body>", b"A" * BOMB)})
    )
    at = bomb.find(b"PK\x01\x02")
    while at >= 0:
        name = bytes(bomb[at + 46 : at + 46 + int.from_bytes(bomb[at + 28 : at + 30], "little")])
        if name == b"word/document.xml":
            bomb[at + 24 : at + 28] = (1000).to_bytes(4, "little")
        at = bomb.find(b"PK\x01\x02", at + 4)
    return bytes(bomb)


def _with_entities(data: bytes, tag: bytes, word: bytes) -> bytes:
    return data.replace(tag, ENTITIES + tag, 1).replace(word, b"XXE&x;BOMB&j;", 1)


def docx_entities() -> bytes:
    return rezipped(
        honest.word(), {"word/document.xml": lambda d: _with_entities(d, b"<w:document", b"Quarterly report")}
    )


def docx_deep() -> bytes:
    deep = b"<w:p>" * 3_000_000 + b"</w:p>" * 3_000_000 + b"</w:body>"
    return rezipped(honest.word(), {"word/document.xml": lambda data: data.replace(b"</w:body>", deep)})


def docx_without_document() -> bytes:
    return rezipped(honest.word(), {}, drop=("word/document.xml",))


def docx_of_many_paragraphs() -> bytes:
    many = b"<w:p/>" * 8_000_000 + b"</w:body>"
    return rezipped(honest.word(), {"word/document.xml": lambda data: data.replace(b"</w:body>", many)})


def docx_many_entries() -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        for number in range(60_000):
            archive.writestr(f"word/{number}", b"")
    return held.getvalue()


def pptx_entities() -> bytes:
    return rezipped(honest.slides(), {"ppt/slides/slide1.xml": lambda d: _with_entities(d, b"<p:sld ", b"Quarter")})


def pptx_bomb() -> bytes:
    big = b"A" * BOMB
    return rezipped(honest.slides(), {"ppt/slides/slide1.xml": lambda data: data.replace(b"Quarter", big)})


def pptx_without_presentation() -> bytes:
    return rezipped(honest.slides(), {}, drop=("ppt/presentation.xml",))


def xlsx_bomb() -> bytes:
    rows = b'<row r="1"><c r="A1" t="inlineStr"><is><t>' + b"A" * BOMB + b"</t></is></c></row>"
    return rezipped(
        honest.sheet(), {"xl/worksheets/sheet2.xml": lambda d: d.replace(b"</sheetData>", rows + b"</sheetData>")}
    )


def xlsx_far_cell() -> bytes:
    cell = b'<row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>'
    first = b'<sheetData><row r="1"><c r="A1"><v>1</v></c></row>'
    return rezipped(
        honest.sheet(),
        {
            "xl/worksheets/sheet1.xml": lambda d: d.replace(b"<sheetData/>", first + cell).replace(
                b"<sheetData />", first + cell
            )
        },
    )


def xlsx_entities() -> bytes:
    return rezipped(honest.sheet(), {"xl/workbook.xml": lambda d: _with_entities(d, b"<workbook ", b"Second")})


def html_deep() -> bytes:
    return b"<div>" * 5_000_000 + b"x"


def html_long_attribute() -> bytes:
    return b"<p title='" + b"A" * 60_000_000


def html_unclosed() -> bytes:
    return b"<table><tr><td><b><i><a href=x>" * 600_000


def eml_nested() -> bytes:
    out = b""
    for number in range(20_000):
        out += b"Content-Type: multipart/mixed; boundary=b%d\r\n\r\n--b%d\r\n" % (number, number)
    return out + b"\r\nx"


def eml_headers() -> bytes:
    return b"".join(b"To: a%d@example.org,\r\n b@example.org\r\n" % n for n in range(200_000)) + b"\r\nx"


def eml_long_header() -> bytes:
    return b"Subject: " + b"=?utf-8?q?=41?= " * 1_000_000 + b"\r\n\r\nx"


def plain_noise() -> bytes:
    return os.urandom(60_000_000)


DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
SAMPLES: dict[str, tuple[str, Callable[[], bytes]]] = {
    made.__name__: (kind, made)
    for kind, makers in {
        "application/pdf": (
            pdf_bomb, pdf_text_bomb, pdf_page_loop, pdf_many_pages, pdf_xref_loop, pdf_nested, pdf_form_recursion, pdf_cut_off,
            pdf_of_noise,
        ),
        DOCX: (
            docx_bomb, docx_lying_bomb, docx_entities, docx_deep, docx_without_document, docx_of_many_paragraphs, docx_many_entries,
            pdf_cut_off,
        ),
        PPTX: (pptx_entities, pptx_bomb, pptx_without_presentation),
        XLSX: (xlsx_bomb, xlsx_far_cell, xlsx_entities),
        "text/html": (html_deep, html_long_attribute, html_unclosed),
        "message/rfc822": (eml_nested, eml_headers, eml_long_header),
        "text/plain": (plain_noise,),
    }.items()
    for made in makers
}  # fmt: skip
SAMPLES["docx_that_is_a_pdf"] = (DOCX, honest.pdf)
SAMPLES["pdf_that_is_a_docx"] = ("application/pdf", honest.word)
