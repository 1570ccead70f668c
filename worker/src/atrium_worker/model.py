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
_MOST_CALLS = 128


class Model:
    """A model behind an OpenAI-compatible URL; a cancelled turn hangs up, which stops the model."""

    def __init__(self, url: str, key: "str | None" = None, name: "str | None" = None) -> None:
        self._url, self._key, self._name = url.rstrip("/"), key, name

    async def take_turn(self, job: Job) -> "dict[str, Any]":
        """The result of one `ai.turn`."""
        body = {part: job.input[part] for part in _PASSED_ON if part in job.input}
        body |= {"stream": True, "stream_options": {"include_usage": True}}
        model = job.input.get("model") or self._name
        if model:
            body["model"] = model
        headers = {"authorization": f"Bearer {self._key}"} if self._key else {}
        asked = f"{self._url}/chat/completions"
        async with (
            httpx.AsyncClient(timeout=_TIMEOUTS, headers=headers) as client,
            client.stream("POST", asked, json=body) as answer,
        ):
            if answer.status_code != 200:
                await answer.aread()
                raise RuntimeError(f"the model answered {answer.status_code}: {_reason(answer)}")
            if "event-stream" not in answer.headers.get("content-type", ""):
                # It knows no streams, and answers whole.
                await answer.aread()
                return _result(job.input, answer.json())
            return _result(job.input, await _joined(job, answer))


async def _joined(job: Job, answer: httpx.Response) -> "dict[str, Any]":
    """The whole answer out of its pieces; the words are said as they come."""
    message: dict[str, Any] = {"content": "", "reasoning_content": "", "tool_calls": []}
    whole: dict[str, Any] = {"choices": [{"message": message}]}
    async for line in answer.aiter_lines():
        data = line.removeprefix("data:").strip()
        if not line.startswith("data:") or data == "[DONE]":
            continue
        piece = json.loads(data)
        if piece.get("error"):
            raise RuntimeError(f"the model broke off: {_words_of(piece['error'])}")
        whole["usage"] = piece.get("usage") or whole.get("usage")
        for choice in piece.get("choices") or []:
            _add(job, message, choice.get("delta") or {})
            if choice.get("finish_reason"):
                whole["choices"][0]["finish_reason"] = choice["finish_reason"]
    if "finish_reason" not in whole["choices"][0]:
        raise RuntimeError("the model's answer has no end")
    message["content"] = job.said
    return whole


def _add(job: Job, message: "dict[str, Any]", delta: "dict[str, Any]") -> None:
    if delta.get("content"):
        job.say(delta["content"])
    message["reasoning_content"] += delta.get("reasoning_content") or delta.get("reasoning") or ""
    for call in delta.get("tool_calls") or []:
        _add_call(message["tool_calls"], call)


def _add_call(calls: "list[dict[str, Any]]", piece: "dict[str, Any]") -> None:
    """A call comes in pieces that name its place; its name comes once, its arguments bit by bit."""
    place = piece.get("index", len(calls))
    while len(calls) <= place < _MOST_CALLS:
        calls.append({"id": "", "function": {"name": "", "arguments": ""}})
    call, function = calls[place], piece.get("function") or {}
    call["id"] = piece.get("id") or call["id"]
    call["function"]["name"] += function.get("name") or ""
    call["function"]["arguments"] += function.get("arguments") or ""


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


def _usage(asked: "dict[str, Any]", message: "dict[str, Any]", reported: Any) -> "dict[str, Any]":
    counted = reported if isinstance(reported, dict) else {}
    prompt, completion = counted.get("prompt_tokens"), counted.get("completion_tokens")
    if isinstance(prompt, int) and isinstance(completion, int):
        return {"prompt_tokens": prompt, "completion_tokens": completion}
    return {"prompt_tokens": _estimate(asked["messages"]), "completion_tokens": _estimate(message), "exact": False}


def _estimate(said: Any) -> int:
    return len(json.dumps(said, ensure_ascii=False)) // _PER_TOKEN


def _reason(answer: httpx.Response) -> str:
    try:
        return _words_of(answer.json()["error"])
    except (ValueError, KeyError, TypeError):
        return answer.text[:300] or answer.reason_phrase


def _words_of(error: Any) -> str:
    return str(error["message"] if isinstance(error, dict) else error)[:300]
