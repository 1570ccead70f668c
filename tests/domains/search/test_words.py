"""How texts are cut into words: the quick ways find the same words as the thorough one, and snippets mark the words that matched."""

from random import Random

import pytest

from atrium.product.search import snippets
from atrium.product.search.words import chunks_of, compose, index, spans, triples_of, words_of

ALPHABETS = ("ab XY 09_-'\"", "aÉßﬁİ e\u0301_ñþ", "日本カナ한 ab_é", "".join(map(chr, range(0x20, 0x2500))))


def texts(count: int) -> list[str]:
    dice = Random(3)
    return ["".join(dice.choices(dice.choice(ALPHABETS), k=dice.randint(0, 60))) for _ in range(count)]


def test_words_are_those_that_can_be_marked() -> None:
    for text in (*texts(300), "w" * 100, "日" * 300):
        words = [word for word, _, _ in spans(compose(text))]

        assert (words_of(text), words_of(text, 3)) == (words, words[:3])


def test_a_word_is_marked_where_it_is_asked_for_as_a_word_a_beginning_or_a_stem() -> None:
    dice = Random(4)
    for text in map(compose, texts(500)):
        words = [word for word, _, _ in spans(text)]
        pieces = [word[: dice.randint(1, len(word))] for word in dice.choices(words, k=3)] if words else ["a"] * 3
        asked = snippets.MarkedWords(pieces[:1], pieces[1], (pieces[2],))

        found = list(asked.spans_in(text))

        assert found == [span for span in spans(text) if asked[span[0]]]


def test_a_longer_text_keeps_the_words_of_a_shorter_one_where_they_are() -> None:
    words = [f"w{number % 170}" for number in range(240)]
    short, long = (index("Some title", "", " ".join([*words, *more])) for more in ([], [f"x{n}" for n in range(60)]))

    assert long.lexemes.startswith(f"{short.lexemes} 'x0':")


@pytest.mark.parametrize("word", ["budge", "budget", "harbours", "quarterly", "acknowledgement"])
def test_one_typing_error_leaves_a_chunk_whole(word: str) -> None:
    wrong = {word[:at] + "z" + word[at + 1 :] for at in range(len(word))}
    wrong |= {word[:at] + word[at + 1 :] for at in range(len(word))}
    wrong |= {word[:at] + "z" + word[at:] for at in range(len(word) + 1)}
    wrong |= {word[:at] + word[at + 1] + word[at] + word[at + 2 :] for at in range(len(word) - 1)}
    titled = set(triples_of([word]))

    assert all(any(set(chunk) <= titled for chunk in chunks_of(asked)) for asked in wrong if len(asked) >= 5)
