"""How relevant search is beside tantivy, over manual pages of Debian's packages.

uv pip install tantivy
python -m benchmarks.bench_relevance [--queries 500] [--folder DIRECTORY]
python -m benchmarks.bench_relevance --workspace  # 200 questions made by hand over sixty notes in four languages; nothing is downloaded

Beside each other in one run: nDCG@10 of the same questions over the same pages, each with title, head and text. What is downloaded stays
in the folder.
"""

import argparse
import asyncio
import importlib
import re
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from atrium.product.search.words import HEAD_WORDS, words_of
from benchmarks import workspace_questions
from benchmarks.man_pages import FOLDER, Question, download, questions_of, read_pages
from benchmarks.relevance import SHOWN, Page, Relevance, measure, ndcg
from benchmarks.workspace_texts import TEXTS

LEAST_PAGES, LEAST_SHARE, LEAST_NDCG, LEAST_MISSPELT, LEAST_EXACT = 3000, 0.97, 0.63, 0.95, 0.99


def ask_tantivy(pages: Sequence[Page], questions: list[Question]) -> float:
    """What tantivy makes of it: three stemmed fields, any word, BM25 added up."""
    tantivy: Any = importlib.import_module("tantivy")
    schema = tantivy.SchemaBuilder().add_integer_field("at", stored=True)
    for name in ("title", "head", "text"):
        schema.add_text_field(name, tokenizer_name="en_stem")
    index = tantivy.Index(schema.build())
    writer = index.writer(50_000_000)
    for at, page in enumerate(pages):
        head = " ".join(words_of(page.body, HEAD_WORDS))
        writer.add_document(tantivy.Document(at=[at], title=[page.title], head=[head], text=[page.body]))
    writer.commit()
    index.reload()
    searcher = index.searcher()

    def found(text: str) -> list[int]:
        query = index.parse_query(re.sub(r"[^\w\s]", " ", text), ["title", "head", "text"])
        return [searcher.doc(address)["at"][0] for _, address in searcher.search(query, SHOWN).hits]

    return statistics.mean(ndcg(found(asked.text), asked.answers) for asked in questions)


def compare(pages: Sequence[Page], questions: list[Question], titles: int) -> tuple[Relevance, float]:
    """Ask both and print what they found; ours, and our share of theirs."""
    theirs = ask_tantivy(pages, questions)
    began = time.perf_counter()
    ours = asyncio.run(measure(pages, questions, titles))
    share = ours.ndcg / theirs
    print(f"nDCG@10 {ours.ndcg:.4f}, tantivy {theirs:.4f}: {share:.3f} of it (at least {LEAST_SHARE})")
    print(f"titles with one typing error in the first ten: {ours.misspelt:.3f} (at least {LEAST_MISSPELT})")
    print(f"exact titles first: {ours.exact:.3f} (at least {LEAST_EXACT})")
    print(f"{ours.cut} searches stopped before the end, {ours.late} took longer than a server lets them")
    print(f"{time.perf_counter() - began:.0f} s")
    return ours, share


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=500)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--workspace", action="store_true")
    options = parser.parse_args()
    if options.workspace:
        ours, share = compare(TEXTS, workspace_questions.questions(), len(TEXTS))
        print(", ".join(f"{locale} {found:.3f}" for locale, found in ours.by_locale.items()))
        return 0 if share >= LEAST_SHARE and ours.ndcg >= LEAST_NDCG else 1
    pages = read_pages(download(options.folder))
    questions = questions_of(pages, options.queries)
    print(f"{len(pages)} pages (at least {LEAST_PAGES}), {len(questions)} questions")
    ours, share = compare(pages, questions, options.queries)
    good = share >= LEAST_SHARE and ours.ndcg >= LEAST_NDCG
    good = good and ours.misspelt >= LEAST_MISSPELT and ours.exact >= LEAST_EXACT
    return 0 if good and len(pages) >= LEAST_PAGES else 1


if __name__ == "__main__":
    raise SystemExit(main())
