"""A guest whose tools answer with texts of strangers, and one that writes a note; it runs inside the sandbox, with nothing of Atrium's."""

# mypy: ignore-errors
# ruff: noqa
import json
import sys

with open("says.json") as file:
    SAYS = json.load(file)
NUMBER = {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]}
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
TOOLS = [
    {"name": "look", "description": "Look.", "parameters": NUMBER},
    {"name": "fail", "description": "Fail.", "parameters": NUMBER},
    {"name": "keep", "description": "Keep a text.", "parameters": TEXT},
]


def send(message: dict) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def kept(call: str, text: str) -> dict:
    send({"id": "g1", "method": "notes.write", "params": {"call": call, "title": text, "body": text}})
    while (reply := json.loads(sys.stdin.readline())).get("id") != "g1":
        pass
    return {"result": "kept"} if "result" in reply else {"error": reply["error"]}


for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") == "initialize":
        send({"id": message["id"], "result": {"protocol": 1, "tools": TOOLS}})
    elif message.get("method") == "call":
        params = message["params"]
        arguments = params["arguments"]
        if params["name"] == "keep":
            answer = kept(params["call"], arguments["text"])
        elif params["name"] == "fail":
            answer = {"error": {"code": 1, "message": SAYS[arguments["number"]]}}
        else:
            answer = {"result": SAYS[arguments["number"]]}
        send({"id": message["id"], **answer})
