"""What a server's tool returned, as a value of ours: its data where it gives some, else its text."""

from typing import Any

from atrium.engine.tools.model import ToolFailed
from atrium.seams.tools import Tool

_LONGEST_ERROR = 2_000


def value_of(tool: Tool, result: Any) -> Any:
    """The value of a result in the SDK's types; one that says it is an error is the tool's failure."""
    text = "\n".join(_text_of(block) for block in result.content)
    if result.is_error:
        raise ToolFailed(f"{tool.name} failed: {text[:_LONGEST_ERROR] or 'it does not say why'}")
    return text if result.structured_content is None else result.structured_content


def _text_of(block: Any) -> str:
    match block.type:
        case "text":
            return str(block.text)
        case "image" | "audio":
            return f"[{block.type}, {block.mime_type}, {len(block.data) * 3 // 4} bytes, left out]"
        case "resource_link":
            return f"[link to {block.uri}]"
        case "resource":
            return str(getattr(block.resource, "text", None) or f"[resource {block.resource.uri}, left out]")
    return f"[{block.type}, left out]"
