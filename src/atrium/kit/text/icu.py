"""ICU MessageFormat: a strict parser to a tree, printing a tree back, and what a message promises to its program.

Strict: what implementations read differently (an unclosed quotation, a lone brace, a tag without its end) is refused with its position.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

DEEPEST = 10
SIMPLE_TYPES = frozenset({"number", "date", "time", "spellout", "ordinal", "duration"})
CHOICE_TYPES = frozenset({"plural", "selectordinal", "select"})
CATEGORIES = ("zero", "one", "two", "few", "many", "other")
_SPACE, _NAME = re.compile(r"\s*"), re.compile(r"\w+")
_STYLE, _OFFSET, _EXACT = re.compile(r"[^{}'<>]+"), re.compile(r"offset:\s*(\d{1,9})"), re.compile(r"=\d{1,9}")
_TAG = re.compile(r"<(/?)([A-Za-z][\w.-]*)(/?)>")
_PLAIN = re.compile(r"[^'{}<#]+")
# The character after an apostrophe that makes it open a quotation; in a plural `#` as well.
_QUOTABLE = frozenset("{}<>")


class MessageRefused(ValueError):
    """Not a message; says what is wrong and at which character."""

    def __init__(self, problem: str, position: int) -> None:
        super().__init__(f"{problem} (character {position + 1})")
        self.problem, self.position = problem, position


@dataclass(frozen=True, slots=True)
class PlainText:
    """Words, without any quoting."""

    text: str


@dataclass(frozen=True, slots=True)
class Argument:
    """`{name}`, `{name, type}` or `{name, type, style}`."""

    name: str
    type: str = ""
    style: str = ""


@dataclass(frozen=True, slots=True)
class Tag:
    """`<name>`, `</name>` or `<name/>`."""

    name: str
    end: bool = False
    empty: bool = False


@dataclass(frozen=True, slots=True)
class Pound:
    """`#`, the number of the plural around it."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A plural, an ordinal or a select: one of several messages."""

    name: str
    type: str
    branches: "tuple[tuple[str, Message], ...]"
    offset: int = 0

    def branch(self, selector: str) -> "Message | None":
        """The message of a selector."""
        return dict(self.branches).get(selector)


Node = PlainText | Argument | Tag | Pound | Choice
Message = tuple[Node, ...]


@dataclass(slots=True)
class Signature:
    """What the program and the message have agreed on."""

    arguments: dict[str, str] = field(default_factory=dict)
    tags: Counter[str] = field(default_factory=Counter)
    # By argument; exact numbers such as `=0` among them.
    plurals: dict[str, set[str]] = field(default_factory=dict)
    selects: dict[str, set[str]] = field(default_factory=dict)


def parse(source: str) -> Message:
    """The tree of a message."""
    reading = _Reading(source)
    message = reading.message(0, pound=False)
    if reading.at < len(source):
        raise MessageRefused("this } closes nothing", reading.at)
    return message


def print_message(message: Message, *, pound: bool = False) -> str:
    """The message as source; `pound` says whether it stands directly in a plural, where # is a number."""
    return "".join(print_node(node, pound=pound) for node in message)


def print_node(node: Node, *, pound: bool = False) -> str:
    """One part of a message as source."""
    match node:
        case PlainText():
            return _quoted(node.text, pound=pound)
        case Argument():
            return "{" + ", ".join(part for part in (node.name, node.type, node.style) if part) + "}"
        case Tag():
            return f"<{'/' * node.end}{node.name}{'/' * node.empty}>"
        case Pound():
            return "#"
        case Choice():
            inside = takes_pound(node)
            offset = f" offset:{node.offset}" if node.offset else ""
            branches = " ".join(f"{name} {{{print_message(body, pound=inside)}}}" for name, body in node.branches)
            return f"{{{node.name}, {node.type},{offset} {branches}}}"


def takes_pound(choice: Choice) -> bool:
    """Whether # is a number in its branches."""
    return choice.type != "select"


def signature(message: Message) -> Signature:
    """Arguments with their types, tags, and the selectors of plurals and selects, through all branches."""
    found = Signature()
    for node in walk(message):
        match node:
            case Argument():
                found.arguments[node.name] = found.arguments.get(node.name) or node.type
            case Tag() if not node.end:
                found.tags[node.name] += 1
            case Choice():
                found.arguments[node.name] = node.type
                kinds = found.selects if node.type == "select" else found.plurals
                kinds.setdefault(node.name, set()).update(name for name, _ in node.branches)
    return found


def walk(message: Message) -> Iterator[Node]:
    """Every node, outer ones first."""
    for node in message:
        yield node
        if isinstance(node, Choice):
            for _, body in node.branches:
                yield from walk(body)


def _quoted(text: str, *, pound: bool) -> str:
    special = "[{}<]|#" if pound else "[{}<]"
    found = [match.start() for match in re.finditer(special, text)]
    if not found:
        # Only an apostrophe that something follows which it could quote needs to be doubled; what follows the text is not known here.
        return re.sub(r"'(?=['{}<>#|]|\Z)", "''", text)
    # One quotation from the first to the last: two that touch would be read as an apostrophe.
    first, last = found[0], found[-1] + 1
    before, inside, after = (part.replace("'", "''") for part in (text[:first], text[first:last], text[last:]))
    return f"{before}'{inside}'{after}"


class _Reading:
    """One pass over the source."""

    def __init__(self, source: str) -> None:
        self.source, self.at = source, 0

    def message(self, depth: int, *, pound: bool) -> Message:
        """Nodes up to the end or to the } that closes this branch."""
        if depth > DEEPEST:
            raise MessageRefused(f"more than {DEEPEST} messages inside each other", self.at)
        nodes, text, open_tags = list[Node](), list[str](), list[tuple[str, int]]()
        while self.at < len(self.source) and self.source[self.at] != "}":
            start, special = self.at, self._special(depth, pound=pound)
            if isinstance(special, str):
                text.append(special)
                continue
            if text:
                nodes.append(PlainText("".join(text)))
                text.clear()
            nodes.append(special)
            if isinstance(special, Tag):
                self._follow(special, start, open_tags)
        if open_tags:
            raise MessageRefused(f"<{open_tags[-1][0]}> has no end", open_tags[-1][1])
        if text:
            nodes.append(PlainText("".join(text)))
        return tuple(nodes)

    def _follow(self, tag: Tag, start: int, open_tags: list[tuple[str, int]]) -> None:
        if not tag.end and not tag.empty:
            open_tags.append((tag.name, start))
            if len(open_tags) > DEEPEST:
                raise MessageRefused(f"more than {DEEPEST} tags inside each other", start)
        elif tag.end and (not open_tags or open_tags.pop()[0] != tag.name):
            raise MessageRefused(f"</{tag.name}> closes nothing", start)

    def _special(self, depth: int, *, pound: bool) -> Node | str:
        """The next node, or a piece of text."""
        if plain := _PLAIN.match(self.source, self.at):
            self.at = plain.end()
            return plain[0]
        match self.source[self.at]:
            case "{":
                return self._placeholder(depth)
            case "'":
                return self._quotation(pound=pound)
            case "<":
                return self._tag()
        self.at += 1
        return Pound() if pound else "#"

    def _quotation(self, *, pound: bool) -> str:
        start, following = self.at, self.source[self.at + 1 : self.at + 2]
        if following == "'":
            self.at += 2
            return "'"
        if not (following in _QUOTABLE or (following == "#" and pound)):
            self.at += 1
            return "'"
        pieces, at = list[str](), start + 1
        while True:
            end = self.source.find("'", at)
            if end < 0:
                raise MessageRefused("this apostrophe opens a quotation that has no end; write it twice", start)
            pieces.append(self.source[at:end])
            at = end + 1
            if self.source[at : at + 1] != "'":
                break
            pieces.append("'")
            at += 1
        self.at = at
        return "".join(pieces)

    def _tag(self) -> Node | str:
        if found := _TAG.match(self.source, self.at):
            if found[1] and found[3]:
                raise MessageRefused("a tag either begins or ends", self.at)
            self.at = found.end()
            return Tag(found[2], end=bool(found[1]), empty=bool(found[3]))
        following = self.source[self.at + 1 : self.at + 2]
        if following.isalpha() or following == "/":
            raise MessageRefused("a tag is <name>, </name> or <name/>; quote < to write it", self.at)
        self.at += 1
        return "<"

    def _placeholder(self, depth: int) -> Node:
        start = self.at
        self.at += 1
        name = self._name("an argument's name")
        if self._takes("}"):
            return Argument(name)
        self._require(",", "a , or }")
        type = self._name("a type")
        if type in CHOICE_TYPES:
            return self._choice(name, type, depth)
        if type not in SIMPLE_TYPES:
            raise MessageRefused(f"there is no type {type}", start)
        if self._takes("}"):
            return Argument(name, type)
        self._require(",", "a , or }")
        style = _STYLE.match(self.source, self.at)
        if style is None or not style[0].strip():
            raise MessageRefused("a style is missing", self.at)
        self.at = style.end()
        self._require("}", "a }")
        return Argument(name, type, style[0].strip())

    def _choice(self, name: str, type: str, depth: int) -> Choice:
        start, offset = self.at, 0
        self._require(",", "a ,")
        self._skip()
        if type != "select" and (found := _OFFSET.match(self.source, self.at)):
            offset, self.at = int(found[1]), found.end()
        branches: dict[str, Message] = {}
        while not self._takes("}"):
            place, selector = self.at, self._selector(type)
            if selector in branches:
                raise MessageRefused(f"{selector} comes twice", place)
            self._require("{", "a {")
            branches[selector] = self.message(depth + 1, pound=type != "select")
            if self.source[self.at : self.at + 1] != "}":
                raise MessageRefused("a } is missing", self.at)
            self.at += 1
        if "other" not in branches:
            raise MessageRefused(f"{name} has no other", start)
        return Choice(name, type, tuple(branches.items()), offset)

    def _selector(self, type: str) -> str:
        self._skip()
        if type != "select" and (exact := _EXACT.match(self.source, self.at)):
            self.at = exact.end()
            return f"={int(exact[0][1:])}"
        start, selector = self.at, self._name("a selector")
        if type != "select" and selector not in CATEGORIES:
            raise MessageRefused(f"{selector} is no plural form", start)
        return selector

    def _name(self, what: str) -> str:
        self._skip()
        found = _NAME.match(self.source, self.at)
        if found is None:
            raise MessageRefused(f"{what} is missing", self.at)
        self.at = found.end()
        return found[0]

    def _takes(self, sign: str) -> bool:
        self._skip()
        if self.source[self.at : self.at + 1] != sign:
            return False
        self.at += 1
        return True

    def _require(self, sign: str, what: str) -> None:
        if not self._takes(sign):
            raise MessageRefused(f"{what} is missing", self.at)

    def _skip(self) -> None:
        found = _SPACE.match(self.source, self.at)
        self.at = found.end() if found else self.at
