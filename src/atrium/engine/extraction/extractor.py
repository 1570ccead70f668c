"""Reads one document from standard input and writes its text to standard output; run alone, with nothing of Atrium's.

Usage: extractor.py kind seconds memory output. Exit codes: 0 done, 3 refused (standard error says why), 4 cut off.
"""

import contextlib
import ctypes
import io
import os
import resource
import sys
from collections.abc import Callable, Iterator

MOST_UNPACKED = 512 << 20
_NEW_USER, _NEW_NET, _NO_NEW_PRIVILEGES = 0x10000000, 0x40000000, 38


class DocumentRefused(Exception):
    """The document is not what it says, or is built to harm."""


def confine(seconds: int, memory: int) -> None:
    """Give up everything reading does not need; the kernel holds the process to it."""
    library = ctypes.CDLL(None)
    # Without a network nothing in a document can call home; where the kernel does not allow this, the other limits stand.
    library.unshare(_NEW_USER | _NEW_NET)
    library.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    limits = {
        resource.RLIMIT_CPU: seconds,
        resource.RLIMIT_AS: memory,
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_NOFILE: 64,
    }
    for name, most in limits.items():
        resource.setrlimit(name, (most, most))


def read_pdf() -> Iterator[str]:
    """Page by page."""
    import pypdfium2

    for page in pypdfium2.PdfDocument(sys.stdin.buffer.read()):
        text = page.get_textpage()
        yield text.get_text_range() + "\n"
        text.close()
        page.close()


def read_docx() -> Iterator[str]:
    """Paragraphs, tables, headers and footers."""
    import docx

    document = docx.Document(_unpacked())
    for paragraph in document.paragraphs:
        yield paragraph.text + "\n"
    for table in document.tables:
        for row in table.rows:
            yield "\t".join(cell.text for cell in row.cells) + "\n"
    for section in document.sections:
        for paragraph in (*section.header.paragraphs, *section.footer.paragraphs):
            yield paragraph.text + "\n"


def read_pptx() -> Iterator[str]:
    """Slides, tables and notes."""
    import pptx

    for slide in pptx.Presentation(_unpacked()).slides:
        for shape in slide.shapes:
            if shape.has_text_frame:
                yield shape.text_frame.text + "\n"
            if shape.has_table:
                for row in shape.table.rows:
                    yield "\t".join(cell.text for cell in row.cells) + "\n"
        if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
            yield slide.notes_slide.notes_text_frame.text + "\n"


def read_sheet() -> Iterator[str]:
    """Every sheet, row by row."""
    import python_calamine

    data = sys.stdin.buffer.read()
    if data[:2] == b"PK":
        _unpacked(data)
    book = python_calamine.CalamineWorkbook.from_filelike(io.BytesIO(data))
    for name in book.sheet_names:
        yield name + "\n"
        for row in book.get_sheet_by_name(name).iter_rows():
            yield "\t".join(map(str, row)).rstrip("\t") + "\n"


def read_html() -> Iterator[str]:
    """What a reader of the page would see."""
    yield _seen(sys.stdin.buffer.read())


def read_eml() -> Iterator[str]:
    """Subject, people, and every part that is text."""
    import email
    import email.policy

    message = email.message_from_binary_file(sys.stdin.buffer, policy=email.policy.default)
    for header in ("subject", "from", "to", "cc", "date"):
        if message[header]:
            yield f"{message[header]}\n"
    for part in message.walk():
        if part.get_content_maintype() == "text":
            content = part.get_content()
            yield (_seen(content.encode()) if part.get_content_subtype() == "html" else content) + "\n"


def read_plain() -> Iterator[str]:
    """The bytes as text, whatever their encoding."""
    data = sys.stdin.buffer.read()
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        yield data.decode("utf-16", "replace")
        return
    if b"\0" in data[:65_536]:
        raise DocumentRefused("is not text")
    try:
        yield data.decode("utf-8-sig")
    except UnicodeDecodeError:
        yield data.decode("cp1252", "replace")


READERS: dict[str, Callable[[], Iterator[str]]] = {
    "pdf": read_pdf,
    "docx": read_docx,
    "pptx": read_pptx,
    "sheet": read_sheet,
    "html": read_html,
    "eml": read_eml,
    "plain": read_plain,
}


def _unpacked(data: bytes | None = None) -> io.BytesIO:
    import zipfile

    held = io.BytesIO(sys.stdin.buffer.read() if data is None else data)
    with zipfile.ZipFile(held) as archive:
        if sum(one.file_size for one in archive.infolist()) > MOST_UNPACKED:
            raise DocumentRefused("unpacks to far more than a document has")
    held.seek(0)
    return held


def _seen(page: bytes) -> str:
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(page)
    for node in tree.css("script,style,template,noscript"):
        node.decompose()
    title = tree.css_first("title")
    heading = title.text() + "\n" if title is not None else ""
    return heading + (tree.body.text(separator="\n") if tree.body is not None else "")


def main() -> int:
    """Read within limits; the exit code says how it went."""
    kind, seconds, memory, most = sys.argv[1], *map(int, sys.argv[2:5])
    confine(seconds, memory)
    try:
        for piece in READERS[kind]():
            # A lone half of a surrogate pair is no text.
            data = piece.encode("utf-8", "replace")[:most]
            sys.stdout.buffer.write(data)
            most -= len(data)
            if most <= 0:
                sys.stdout.buffer.flush()
                return 4
        sys.stdout.buffer.flush()
    except MemoryError:
        print("needs more memory than a document may take", file=sys.stderr)
        return 3
    except Exception as error:  # the outermost place of this process: whatever a reader met is why it refuses
        print(f"{type(error).__name__}: {error}"[:300], file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    code = main()
    with contextlib.suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    # Straight out: tearing a half-built parser down can take as long as building it.
    os._exit(code)
