"""Twenty models that break what they are given, each in its own way."""

import re
from collections.abc import Callable
from random import Random

MARK = re.compile(r"⟦(\d+)⟧")
_RANDOM = Random(7)


def reversed_words(sent: str) -> str:
    return re.sub(r"[A-Za-z]{3,}", lambda word: word[0][::-1], sent)


def shuffled(sent: str) -> str:
    words = reversed_words(sent).split(" ")
    return " ".join(_RANDOM.sample(words, len(words)))


ADVERSARIES: dict[str, Callable[[str], object]] = {
    "reverses words": reversed_words,
    "drops every mark": lambda sent: reversed_words(MARK.sub("", sent)),
    "drops one mark": lambda sent: reversed_words(MARK.sub("", sent, count=1)),
    "doubles a mark": lambda sent: reversed_words(MARK.sub(lambda mark: mark[0] * 2, sent, count=1)),
    "renumbers marks": lambda sent: reversed_words(MARK.sub(lambda mark: f"⟦{int(mark[1]) + 1}⟧", sent)),
    "reorders everything": shuffled,
    "puts spaces into marks": lambda sent: reversed_words(MARK.sub(lambda mark: f"⟦ {mark[1]} ⟧", sent)),
    "elides": lambda sent: "l'" + sent.replace(" ⟦", " l'⟦"),
    "adds an argument": lambda sent: reversed_words(sent) + " {injected}",
    "adds a plural": lambda sent: reversed_words(sent) + " {n, plural, other {x}}",
    "opens a brace": lambda sent: "{" + reversed_words(sent),
    "adds a script": lambda sent: reversed_words(sent) + "<script>alert(1)</script><b>",
    "begins a heading": lambda sent: "# " + reversed_words(sent),
    "quotes": lambda sent: "'" + reversed_words(sent) + "'{'",
    "writes other brackets": lambda sent: sent.translate({0x27E6: 0xFF3B, 0x27E7: 0xFF3D}),
    "says nothing": lambda sent: "",
    "chats": lambda sent: 'Sure! Here it is:\n```json\n{"t": "' + sent + '"}\n```',
    "turns the direction": lambda sent: "\u202e" + reversed_words(sent),
    "talks without an end": lambda sent: reversed_words(sent) * 50,
    "sends no text": lambda sent: None,
    "starts a list and a link": lambda sent: "- [x](https://evil.example) *" + reversed_words(sent) + "* `rm`",
    "writes a table": lambda sent: reversed_words(sent) + " | more | cells",
}
