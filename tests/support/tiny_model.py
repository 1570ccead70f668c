"""A language model of 200 kB whose weights are written by hand, so that tests drive a real llama.cpp server without a download.

Free text is printable noise. Asked with tools, it calls one; shown the tool's result, it says so. `/think` in the question makes
it think first. What a schema allows is the server's own grammar's doing.
"""

import random
import struct
from array import array
from pathlib import Path
from typing import Any

WIDTH, HEADS, HEAD, LAYERS, INNER, CONTEXT = 32, 4, 8, 2, 64, 4096
NORMAL, UNKNOWN, CONTROL, SPECIAL, BYTE = 1, 2, 3, 4, 6
TEMPLATE = """
{%- if tools %}<|im_start|>system
<tools>{% for tool in tools %}{{ tool | tojson }}{% endfor %}</tools><|im_end|>{% endif %}
{%- for m in messages %}
{%- if m.role == 'tool' %}<|im_start|>user
<tool_response>{{ m.content }}</tool_response><|im_end|>
{%- else %}<|im_start|>{{ m.role }}
{% if m.reasoning_content %}<think>
{{ m.reasoning_content }}
</think>
{% endif %}{{ m.content or '' }}
{%- for call in m.tool_calls or [] %}{% set f = call.function or call %}
<tool_call>
{"name": "{{ f.name }}", "arguments": {{ f.arguments | tojson }}}
</tool_call>{% endfor %}<|im_end|>
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}<|im_start|>assistant
{% endif %}""".lstrip("\n")

ANSWER, TOOLS, RESULT, CALL, END_OF_CALL, ASKED_TO_THINK, THINK, THOUGHT, END_OF_THOUGHT, RECEIVED = WORDS = (
    "<|im_start|>assistant\n", "<tools>", "<tool_response>", "<tool_call>", "</tool_call>", "/think",
    "<think>", "mulling", "</think>", "Tool result received.",
)  # fmt: skip
VOCABULARY: list[tuple[str, int]] = [
    ("<unk>", UNKNOWN), ("<s>", CONTROL), ("</s>", CONTROL), ("<|im_end|>", CONTROL), ("<|im_start|>", CONTROL),
    *((f"<0x{byte:02X}>", BYTE) for byte in range(256)),
    *(("\u2581" if letter == " " else letter, NORMAL) for letter in [*map(chr, range(32, 127)), "\n"]),
    *((word, SPECIAL) for word in WORDS),
]  # fmt: skip
INDEX = {token: index for index, (token, _) in enumerate(VOCABULARY)}
START, END = 1, 3
# Places in the residual stream: a constant, two flags that attention raises, one mark per word that matters; the rest is noise.
CONSTANT, WANTS_TOOL, WANTS_THOUGHT = 0, 1, 2
MARKED = (TOOLS, RESULT, "<s>", ANSWER, ASKED_TO_THINK, THINK, THOUGHT, END_OF_CALL, CALL, "}", RECEIVED)
MARK = {token: place for place, token in enumerate(MARKED, start=3)}
NOISE = 3 + len(MARKED)

Matrix = list[list[float]]


def build(path: Path) -> Path:
    """Write the model."""
    noise = random.Random(7)
    tensors = {
        "token_embd.weight": _embedding(noise),
        "output.weight": _output(noise),
        "output_norm.weight": [[1.0] * WIDTH],
    }
    for layer in range(LAYERS):
        tensors |= {f"blk.{layer}.{name}.weight": matrix for name, matrix in _layer(noise, layer).items()}
    path.write_bytes(_file(tensors))
    return path


def _noise(source: random.Random, rows: int, columns: int, scale: float) -> Matrix:
    return [[source.gauss(0, 1) * scale for _ in range(columns)] for _ in range(rows)]


def _embedding(noise: random.Random) -> Matrix:
    rows = _noise(noise, len(VOCABULARY), WIDTH, 1)
    for (token, _), row in zip(VOCABULARY, rows, strict=True):
        row[:NOISE] = [0.0] * NOISE
        row[CONSTANT] = 6
        if token in MARK:
            row[NOISE:] = [0.0] * (WIDTH - NOISE)
            row[MARK[token]] = 10
    return rows


def _output(noise: random.Random) -> Matrix:
    rows = _noise(noise, len(VOCABULARY), WIDTH, 0.6)
    for (_, kind), row in zip(VOCABULARY, rows, strict=True):
        row[:NOISE] = [0.0] * NOISE
        row[CONSTANT] = 0 if kind == NORMAL else -30
    # Replies end after a while, and strings stay short.
    rows[END][CONSTANT], rows[INDEX['"']][CONSTANT] = 1.5, 2

    def both(said: str, flag: int, after: str, sign: int = 1) -> None:
        row = rows[INDEX[said]]
        row[CONSTANT], row[flag], row[MARK[after]] = -30, 6 * sign, 12

    both(CALL, WANTS_TOOL, ANSWER)
    both(THINK, WANTS_THOUGHT, ANSWER)
    both(END_OF_CALL, WANTS_TOOL, "}")
    both(RECEIVED, WANTS_TOOL, ANSWER, -1)
    chains = (
        (THOUGHT, THINK),
        (END_OF_THOUGHT, THOUGHT),
        ("<|im_end|>", END_OF_CALL),
        ("<|im_end|>", RECEIVED),
        ("\n", CALL),
    )
    for said, after in chains:
        rows[INDEX[said]][MARK[after]] = 30
    return rows


def _layer(noise: random.Random, layer: int) -> dict[str, Matrix]:
    matrices = {name: _noise(noise, WIDTH, WIDTH, 0.3) for name in ("attn_q", "attn_k", "attn_v", "attn_output")}
    matrices["ffn_gate"], matrices["ffn_up"] = (_noise(noise, INNER, WIDTH, 0.1) for _ in range(2))
    matrices["ffn_down"] = _noise(noise, WIDTH, INNER, 0.3)
    matrices["attn_norm"], matrices["ffn_norm"] = [[1.0] * WIDTH], [[1.0] * WIDTH]
    for name in ("attn_output", "ffn_down"):
        # Noise never writes where the program is.
        matrices[name][:NOISE] = [[0.0] * len(row) for row in matrices[name][:NOISE]]
    if layer == 0:
        _look_for_marks(matrices)
    return matrices


def _look_for_marks(matrices: dict[str, Matrix]) -> None:
    """The first head looks for tools and their results, the second for the wish to think; both rest on the first token."""
    for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
        matrices[name][:] = [[0.0] * WIDTH for _ in range(WIDTH)]
    query, key, value, output = (matrices[f"attn_{name}"] for name in ("q", "k", "v", "output"))
    # The last rotary pair of a head hardly turns, so what it finds does not depend on where.
    first, second = 6, HEAD + 6
    query[first][CONSTANT] = query[second][CONSTANT] = 4
    key[first][MARK[TOOLS]], key[first][MARK[RESULT]], key[first][MARK["<s>"]] = 1, 2, 0.5
    key[second][MARK[ASKED_TO_THINK]], key[second][MARK["<s>"]] = 1, 0.5
    value[0][MARK[TOOLS]], value[0][MARK[RESULT]], value[HEAD][MARK[ASKED_TO_THINK]] = 1, -1, 1
    output[WANTS_TOOL][0] = output[WANTS_THOUGHT][HEAD] = 4.6


def _file(tensors: dict[str, Matrix]) -> bytes:
    """GGUF, version 3: facts, where each tensor is, the tensors."""
    facts = _facts()
    head = struct.pack("<4sIQQ", b"GGUF", 3, len(tensors), len(facts))
    head += b"".join(
        _string(name) + struct.pack("<I", kind) + _value(kind, value) for name, (kind, value) in facts.items()
    )
    body = b""
    for name, rows in tensors.items():
        shape = (len(rows[0]), len(rows)) if len(rows) > 1 else (len(rows[0]),)
        head += _string(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, 0, len(body))
        body = _aligned(body + array("f", [number for row in rows for number in row]).tobytes())
    return _aligned(head) + body


def _facts() -> dict[str, tuple[int, Any]]:
    number, real, boolean, text, many = 4, 6, 7, 8, 9
    tokens, kinds = zip(*VOCABULARY, strict=True)
    return {
        "general.architecture": (text, "llama"),
        "general.name": (text, "tiny"),
        "general.file_type": (number, 0),
        "llama.context_length": (number, CONTEXT),
        "llama.embedding_length": (number, WIDTH),
        "llama.block_count": (number, LAYERS),
        "llama.feed_forward_length": (number, INNER),
        "llama.attention.head_count": (number, HEADS),
        "llama.attention.head_count_kv": (number, HEADS),
        "llama.attention.layer_norm_rms_epsilon": (real, 1e-5),
        "llama.rope.dimension_count": (number, HEAD),
        "llama.rope.freq_base": (real, 1e9),
        "llama.vocab_size": (number, len(VOCABULARY)),
        "tokenizer.ggml.model": (text, "llama"),
        "tokenizer.ggml.pre": (text, "default"),
        "tokenizer.ggml.tokens": (many, (text, tokens)),
        "tokenizer.ggml.scores": (many, (real, [-float(index) for index in range(len(tokens))])),
        "tokenizer.ggml.token_type": (many, (5, kinds)),
        "tokenizer.ggml.bos_token_id": (number, START),
        "tokenizer.ggml.eos_token_id": (number, END),
        "tokenizer.ggml.eot_token_id": (number, END),
        "tokenizer.ggml.unknown_token_id": (number, 0),
        "tokenizer.ggml.add_bos_token": (boolean, True),
        "tokenizer.ggml.add_eos_token": (boolean, False),
        "tokenizer.ggml.add_space_prefix": (boolean, False),
        "tokenizer.chat_template": (text, TEMPLATE),
    }


def _value(kind: int, value: Any) -> bytes:
    if kind == 8:
        return _string(value)
    if kind == 9:
        inner, items = value
        return struct.pack("<IQ", inner, len(items)) + b"".join(_value(inner, item) for item in items)
    return struct.pack({4: "<I", 5: "<i", 6: "<f", 7: "<?"}[kind], value)


def _string(text: str) -> bytes:
    raw = text.encode()
    return struct.pack("<Q", len(raw)) + raw


def _aligned(raw: bytes) -> bytes:
    return raw + bytes(-len(raw) % 32)
