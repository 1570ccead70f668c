"""Turns of a model: jobs of the kind `ai.turn`, answered by whatever speaks the OpenAI-compatible wire."""

import json
from typing import Any

import httpx

from atrium_worker.api import Job

TURN_KIND = "ai.turn"
_PASSED_ON = ("messages", "max_tokens", "tools", "response_format")
_FINISHES = frozenset({"stop", "length", "tool_calls", "content_filter"})
# A model may think for long before it says anything; the job's lease is what ends a wait.
_TIMEOUTS = httpx.Timeout(30, read=900)
# Characters that make a token, when the model does not count for us.
_PER_TOKEN = 3


class Model:
    """A model behind an OpenAI-compatible URL; a cancelled turn hangs up, which stops the model."""

    def __init__(self, url: str, key: "str | None" = None, name: "str | None" = None) -> None:
        self._url, self._key, self._name = url.rstrip("/"), key, name

    async def take_turn(self, job: Job) -> "dict[str, Any]":
        """The result of one `ai.turn`."""
        body = {part: job.input[part] for part in _PASSED_ON if part in job.input}
        model = job.input.get("model") or self._name
        if model:
            body["model"] = model
        headers = {"authorization": f"Bearer {self._key}"} if self._key else {}
        async with httpx.AsyncClient(timeout=_TIMEOUTS, headers=headers) as client:
            answer = await client.post(f"{self._url}/chat/completions", json=body)
        if answer.status_code != 200:
            raise RuntimeError(f"the model answered {answer.status_code}: {_reason(answer)}")
        return _result(job.input, answer.json())


def _result(asked: "dict[str, Any]", answer: "dict[str, Any]") -> "dict[str, Any]":
    choice = answer["choices"][0]
    message = choice["message"]
    calls = [_call(index, call) for index, call in enumerate(message.get("tool_calls") or [])]
    finish = choice.get("finish_reason")
    result: dict[str, Any] = {
        "text": message.get("content") or "",
        "finish": finish if finish in _FINISHES else "tool_calls" if calls else "stop",
        "usage": _usage(asked, message, answer.get("usage")),
    }
    thinking = message.get("reasoning_content") or message.get("reasoning")
    if isinstance(thinking, str) and thinking:
        result["thinking"] = thinking
    if calls:
        result["calls"] = calls
    return result


def _call(index: int, call: "dict[str, Any]") -> "dict[str, str]":
    """A call whose arguments have been read once: half of one would only fail later and elsewhere."""
    name, arguments = call["function"]["name"], call["function"].get("arguments") or "{}"
    try:
        found = json.loads(arguments)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise ValueError(f"the model called {name} with arguments that are not a JSON object")
    return {"id": call.get("id") or f"call_{index}", "name": name, "arguments": arguments}


def _usage(asked: "dict[str, Any]", message: "dict[str, Any]", reported: Any) -> "dict[str, int]":
    counted = reported if isinstance(reported, dict) else {}
    prompt, completion = counted.get("prompt_tokens"), counted.get("completion_tokens")
    return {
        "prompt_tokens": prompt if isinstance(prompt, int) else _estimate(asked["messages"]),
        "completion_tokens": completion if isinstance(completion, int) else _estimate(message),
    }


def _estimate(said: Any) -> int:
    return len(json.dumps(said, ensure_ascii=False)) // _PER_TOKEN


def _reason(answer: httpx.Response) -> str:
    try:
        error = answer.json()["error"]
        return str(error["message"] if isinstance(error, dict) else error)[:300]
    except (ValueError, KeyError, TypeError):
        return answer.text[:300] or answer.reason_phrase
