"""Documents as people send them, each with a marker in a place that is easy to miss."""

import io
from collections.abc import Callable
from email.message import EmailMessage

import docx
import openpyxl
import pptx
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.platypus import PageBreak, Paragraph, SimpleDocTemplate

MARKER = "Quetzalcoatlus"


def pdf(pages: int = 3) -> bytes:
    style, held = getSampleStyleSheet()["Normal"], io.BytesIO()
    story = []
    for number in range(pages):
        story += [
            Paragraph(f"Page {number}: the quarterly report shows growth in every region.", style) for _ in range(30)
        ]
        story += [Paragraph(MARKER if number == pages - 1 else "", style), PageBreak()]
    SimpleDocTemplate(held).build(story)
    return held.getvalue()


def word() -> bytes:
    held, document = io.BytesIO(), docx.Document()
    document.add_paragraph("Quarterly report")
    document.add_table(1, 2).cell(0, 1).text = MARKER
    document.save(held)
    return held.getvalue()


def slides() -> bytes:
    held, deck = io.BytesIO(), pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    slide.shapes.title.text = "Quarter"
    slide.notes_slide.notes_text_frame.text = MARKER
    deck.save(held)
    return held.getvalue()


def sheet() -> bytes:
    held, book = io.BytesIO(), openpyxl.Workbook()
    book.create_sheet("Second").append(["x", MARKER, 3])
    book.save(held)
    return held.getvalue()


def page() -> bytes:
    return f"<html><head><title>T</title><script>evil()</script></head><body><p>{MARKER}</p></body></html>".encode()


def mail() -> bytes:
    message = EmailMessage()
    message["Subject"], message["From"] = "Ársskýrsla", "a@example.org"
    message.set_content("plain")
    message.add_alternative("<p>html part</p>", subtype="html")
    message.add_attachment(MARKER.encode(), maintype="text", subtype="plain", filename="a.txt")
    return bytes(message)


SAMPLES: dict[str, tuple[str, Callable[[], bytes]]] = {
    "a.pdf": ("application/pdf", pdf),
    "a.docx": ("application/vnd.openxmlformats-officedocument.wordprocessingml.document", word),
    "a.pptx": ("application/vnd.openxmlformats-officedocument.presentationml.presentation", slides),
    "a.xlsx": ("application/octet-stream", sheet),
    "a.html": ("text/html; charset=utf-8", page),
    "a.md": ("text/markdown", lambda: f"# Head\n\n{MARKER}".encode()),
    "a.csv": ("text/csv", lambda: f"id,name\n1,{MARKER}\n".encode()),
    "a.eml": ("message/rfc822", mail),
    "latin.txt": ("text/plain", lambda: f"señor größer {MARKER}".encode("cp1252")),
    "wide.txt": ("text/plain", lambda: f"þökk {MARKER}".encode("utf-16")),
}
