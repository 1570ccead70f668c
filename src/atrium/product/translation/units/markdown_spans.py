"""The spans inside a block of Markdown: what is words, and what must come back as it is."""

import re
from bisect import bisect_left
from collections import deque
from collections.abc import Collection
from dataclasses import dataclass
from unicodedata import category

from atrium.product.translation.units.placeholders import ADDRESS, PLACEHOLDER, Piece, Placeholder

Labels = Collection[str]
_TITLE = r"""(?:[ \t\n]{1,20}(?:"[^"\n]{0,500}"|'[^'\n]{0,500}'))?[ \t]{0,20}"""
_DESTINATION = r"(?:<[^<>\n]{0,2000}>|[^\s()<>]{0,2000}(?:\([^\s()<>]{0,500}\)[^\s()<>]{0,500}){0,5})"
_TOKEN = re.compile(
    rf"""
    (?P<free>\\[!-/:-@\[-`{{-~] | &(?:\#\d{{1,7}}|\#[xX][0-9a-fA-F]{{1,6}}|[A-Za-z][A-Za-z0-9]{{1,31}}); | {PLACEHOLDER})
    | (?P<code>`+)
    | (?P<ordered><(?:[A-Za-z][A-Za-z0-9+.-]{{1,31}}:[^\s<>]{{0,2000}}|[\w.+-]{{1,64}}@[\w.-]{{1,255}})>
      | <!--[^<>]{{0,2000}}--> | </?[A-Za-z][\w:-]{{0,60}}(?:\s(?:[^<>"']|"[^"<]{{0,1000}}"|'[^'<]{{0,1000}}'){{0,1000}}+)?/?>
      | \[\^[^\]\s]{{1,100}}\] | {ADDRESS})
    | (?P<close>\]\({_DESTINATION}{_TITLE}\) | \]\[[^\]\[]{{0,500}}\] | \](?:\{{[^{{}}\n]{{1,200}}\}})?)
    | (?P<open>!?\[)
    | (?P<stress>\*+|_+|~~)
    """,
    re.VERBOSE,
)


@dataclass(slots=True)
class _Stress:
    """A run of stars or underscores that may begin or end a stressed part."""

    run: str
    opens: bool
    closes: bool
    paired: bool = False


def spans_of(text: str, labels: Labels) -> list[Piece]:
    """Words and what is held; links, tags and stress keep their order."""
    return _Spans(text, labels).read()


class _Spans:
    """One pass over a block."""

    def __init__(self, text: str, labels: Labels) -> None:
        self.text, self.labels = text, labels
        self.found: list[Piece | _Stress] = []
        # Brackets that may still become links: their places in `found`, and in the text.
        self.brackets: list[tuple[int, int]] = []
        # So many of them, the outermost, are known to be of pictures.
        self.pictures = 0
        # Where the last bracket stood, of either kind.
        self.last_bracket = -1
        self.runs: dict[int, deque[int]] = {}
        for run in re.finditer("`+", text):
            self.runs.setdefault(len(run[0]), deque()).append(run.start())

    def read(self) -> list[Piece]:
        at = 0
        while token := _TOKEN.search(self.text, at):
            self._say(self.text[at : token.start()])
            at = self._take(token)
        self._say(self.text[at:])
        self._pair()
        pieces = _joined(self.found)
        if Placeholder("![", ordered=True) in pieces:
            # Code that moves into the description of a picture would be none there.
            return [
                Placeholder(piece.source, ordered=True) if isinstance(piece, Placeholder) else piece for piece in pieces
            ]
        return pieces

    def _say(self, words: str) -> None:
        if words:
            self.found.append(words)

    def _take(self, token: re.Match[str]) -> int:
        """Note a token; where to go on."""
        start, end = token.span()
        match token.lastgroup:
            case "code":
                return self._code(start, end)
            case "free" | "ordered":
                self.found.append(Placeholder(token[0], ordered=token.lastgroup == "ordered"))
            case "open":
                self.brackets.append((len(self.found), start))
                self.found.append(token[0])
                self.last_bracket = start
            case "close":
                return self._close(token[0], start, end)
            case _:
                self.found.append(_Stress(token[0], *self._flanks(token[0], start, end)))
        return end

    def _code(self, start: int, end: int) -> int:
        places = self.runs[end - start]
        while places and places[0] <= start:
            places.popleft()
        if not places:
            self.found.append(self.text[start:end])
            return end
        close = places[0] + end - start
        self.found.append(Placeholder(self.text[start:close]))
        return close

    def _close(self, sign: str, start: int, end: int) -> int:
        last, self.last_bracket = self.last_bracket, start
        if not self.brackets:
            self.found.append("]")
            return start + 1
        place, began = self.brackets.pop()
        self.pictures = min(self.pictures, len(self.brackets))
        # No label has brackets inside: with one in between this is none, and need not be read.
        label = " ".join(self.text[began:start].lstrip("![").split()).casefold() if last == began else None
        if sign[1:2] in ("(", "["):
            opening = str(self.found[place])
            reference = sign[2:-1] if sign[1] == "[" else None
            if reference is not None and not self._is_label(" ".join(reference.split()).casefold() or label):
                self.found.append("]")
                return start + 1
            if reference == "":
                return self._whole(place, began, end)
            self.found[place] = Placeholder(opening, ordered=True)
            self.found.append(Placeholder(sign, ordered=True))
            if opening == "[":
                # No link inside a link: brackets further out are words.
                further_out = [one for one in self.brackets[self.pictures :] if self.found[one[0]] == "!["]
                self.brackets[self.pictures :] = further_out
                self.pictures = len(self.brackets)
            return end
        if self._is_label(label):
            return self._whole(place, began, start + 1)
        self.found.append("]")
        return start + 1

    def _is_label(self, name: str | None) -> bool:
        return name is not None and name in self.labels

    def _whole(self, place: int, began: int, end: int) -> int:
        """A reference whose words are its name: held with them."""
        del self.found[place:]
        self.found.append(Placeholder(self.text[began:end], ordered=True))
        return end

    def _flanks(self, run: str, start: int, end: int) -> tuple[bool, bool]:
        """Whether a run may open and whether it may close, by CommonMark's rules."""
        before = self.text[start - 1] if start else " "
        after = self.text[end] if end < len(self.text) else " "
        left = not after.isspace() and (not _is_sign(after) or before.isspace() or _is_sign(before))
        right = not before.isspace() and (not _is_sign(before) or after.isspace() or _is_sign(after))
        if run[0] == "_":
            return left and (not right or _is_sign(before)), right and (not left or _is_sign(after))
        return left, right

    def _pair(self) -> None:
        waiting: list[int] = []
        for number, one in enumerate(self.found):
            if not isinstance(one, _Stress):
                continue
            match_ = (
                next((back for back in reversed(waiting[-20:]) if self._run(back) == one.run), None)
                if one.closes
                else None
            )
            if match_ is not None:
                # Places in `found`, the earlier first.
                del waiting[bisect_left(waiting, match_) :]
                opener = self.found[match_]
                if isinstance(opener, _Stress):
                    opener.paired = one.paired = True
            elif one.opens:
                waiting.append(number)

    def _run(self, number: int) -> str:
        one = self.found[number]
        return one.run if isinstance(one, _Stress) else ""


def _joined(found: list[Piece | _Stress]) -> list[Piece]:
    pieces: list[Piece] = []
    words: list[str] = []
    for one in found:
        piece: Piece = (
            (Placeholder(one.run, ordered=True) if one.paired else one.run) if isinstance(one, _Stress) else one
        )
        if isinstance(piece, str):
            words.append(piece)
            continue
        if words:
            pieces.append("".join(words))
            words.clear()
        pieces.append(piece)
    return [*pieces, "".join(words)] if words else pieces


def _is_sign(character: str) -> bool:
    return category(character)[0] in "PS"
