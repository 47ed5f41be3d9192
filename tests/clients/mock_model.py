#!/usr/bin/env python3
"""A model that follows a script, for tests with real agents.

    mock_model.py SCRIPT LOG PORT-FILE [ADDRESS]

It speaks the Messages API of Anthropic, the Responses and Chat Completions APIs of OpenAI and Gemini's generateContent, as
streams and whole. SCRIPT is a JSON list of turns: {"tool": REGEX, "command": TEXT, "arguments": {...}} calls the first tool of
the request whose name matches, {"text": TEXT} answers. Which turn it is follows from the number of tool results in the request, so
that side requests (titles, summaries) do not disturb. LOG gets a line of JSON for each request: path, headers, and what the agent
sent: "body", or "raw" if that is no JSON.
"""

import http.server
import json
import re
import sys
import threading


def fill(schema, turn, number=10000):
    """Arguments for a tool: those of the turn, the command where the schema has a place for it, something for the rest."""
    properties = schema.get("properties", {}) if isinstance(schema, dict) else {}
    arguments = dict(turn.get("arguments", {}))
    for name in ("command", "cmd", "script"):
        if name in properties and "command" in turn:
            is_list = properties[name].get("type") in ("array", ["array"])
            arguments[name] = ["bash", "-lc", turn["command"]] if is_list else turn["command"]
            break
    if "commands" in properties and "command" in turn:
        arguments["commands"] = [turn["command"]]
    for name in schema.get("required", []) if isinstance(schema, dict) else []:
        kind = str(properties.get(name, {}).get("type")).lower()
        arguments.setdefault(name, {"integer": number, "number": number, "boolean": False, "array": []}.get(kind, "a test"))
    return arguments


class Script:
    def __init__(self, turns):
        self.turns = turns

    def next(self, results, tools):
        """("text", TEXT) or ("call", NAME, ARGUMENTS), after `results` tool results; `tools`: [(NAME, SCHEMA)]."""
        if not tools:
            return ("text", "ok")
        turn = self.turns[min(results, len(self.turns) - 1)]
        if "text" in turn:
            return ("text", turn["text"])
        for name, schema in tools:
            if re.fullmatch(turn["tool"], name):
                return ("call", name, fill(schema, turn))
        return ("text", "no tool matches " + turn["tool"])


# --- The APIs: what a request asks, and the events of the answer ---------------------------------


def anthropic(script, body):
    results = sum(1 for message in body.get("messages", []) if isinstance(message.get("content"), list)
                  for part in message["content"] if part.get("type") == "tool_result")
    tools = [(tool["name"], tool.get("input_schema", {})) for tool in body.get("tools", []) if "name" in tool]
    step = script.next(results, tools)
    usage = {"input_tokens": 10, "output_tokens": 10}
    message = {"id": f"msg_{results}", "type": "message", "role": "assistant", "model": body.get("model", "mock"),
               "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
    if step[0] == "text":
        block, stop = {"type": "text", "text": ""}, "end_turn"
        delta, whole = {"type": "text_delta", "text": step[1]}, {"type": "text", "text": step[1]}
    else:
        block, stop = {"type": "tool_use", "id": f"toolu_{results}", "name": step[1], "input": {}}, "tool_use"
        delta = {"type": "input_json_delta", "partial_json": json.dumps(step[2])}
        whole = dict(block, input=step[2])
    if not body.get("stream"):
        return dict(message, content=[whole], stop_reason=stop)
    events = [{"type": "message_start", "message": message},
              {"type": "content_block_start", "index": 0, "content_block": block},
              {"type": "content_block_delta", "index": 0, "delta": delta},
              {"type": "content_block_stop", "index": 0},
              {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": usage},
              {"type": "message_stop"}]
    return [(event["type"], event) for event in events]


def responses(script, body):
    items = body.get("input", []) if isinstance(body.get("input"), list) else []
    results = sum(1 for item in items if str(item.get("type", "")).endswith("_output"))
    tools, namespaces = [], {}
    for tool in body.get("tools", []):
        if tool.get("type") == "namespace":
            tools += [(tool["name"] + "__" + part["name"], part.get("parameters", {})) for part in tool.get("tools", [])]
            namespaces.update({tool["name"] + "__" + part["name"]: (tool["name"], part["name"]) for part in tool["tools"]})
        elif "name" in tool:
            tools.append((tool["name"], tool.get("parameters", {})))
    step = script.next(results, tools)
    if step[0] == "text":
        item = {"type": "message", "id": f"msg_{results}", "role": "assistant", "status": "completed",
                "content": [{"type": "output_text", "text": step[1], "annotations": []}]}
    else:
        item = {"type": "function_call", "id": f"fc_{results}", "call_id": f"call_{results}", "name": step[1],
                "arguments": json.dumps(step[2]), "status": "completed"}
        if step[1] in namespaces:
            item["namespace"], item["name"] = namespaces[step[1]]
    usage = {"input_tokens": 10, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 10,
             "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 20}
    answer = {"id": f"resp_{results}", "object": "response", "status": "completed", "model": body.get("model", "mock"),
              "output": [item], "usage": usage}
    if not body.get("stream"):
        return answer
    events = [{"type": "response.created", "response": dict(answer, status="in_progress", output=[])},
              {"type": "response.output_item.added", "output_index": 0, "item": item},
              {"type": "response.output_item.done", "output_index": 0, "item": item},
              {"type": "response.completed", "response": answer}]
    return [(event["type"], event) for event in events]


def chat(script, body):
    results = sum(1 for message in body.get("messages", []) if message.get("role") == "tool")
    tools = [(tool["function"]["name"], tool["function"].get("parameters", {}))
             for tool in body.get("tools", []) if "function" in tool]
    step = script.next(results, tools)
    if step[0] == "text":
        message, stop = {"role": "assistant", "content": step[1]}, "stop"
    else:
        call = {"index": 0, "id": f"call_{results}", "type": "function",
                "function": {"name": step[1], "arguments": json.dumps(step[2])}}
        message, stop = {"role": "assistant", "content": None, "tool_calls": [call]}, "tool_calls"
    usage = {"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20}
    head = {"id": f"chat_{results}", "created": 0, "model": body.get("model", "mock")}
    if not body.get("stream"):
        return dict(head, object="chat.completion", usage=usage,
                    choices=[{"index": 0, "message": message, "finish_reason": stop}])
    head["object"] = "chat.completion.chunk"
    return [(None, dict(head, choices=[{"index": 0, "delta": message, "finish_reason": None}])),
            (None, dict(head, choices=[{"index": 0, "delta": {}, "finish_reason": stop}], usage=usage)),
            (None, "[DONE]")]


def gemini(script, body):
    parts = [part for content in body.get("contents", []) for part in content.get("parts", [])]
    results = sum(1 for part in parts if "functionResponse" in part)
    tools = [(tool["name"], tool.get("parametersJsonSchema") or tool.get("parameters", {}))
             for group in body.get("tools", []) for tool in group.get("functionDeclarations", [])]
    wanted = body.get("generationConfig", {})
    schema = wanted.get("responseJsonSchema") or wanted.get("responseSchema")
    # A side request (which model suits the task?) must get JSON of its form, or the agent asks five times, ever more slowly.
    step = ("text", json.dumps(fill(schema, {}, 1))) if schema else script.next(results, tools)
    part = {"text": step[1]} if step[0] == "text" else {"functionCall": {"name": step[1], "args": step[2]}}
    return {"candidates": [{"index": 0, "content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}],
            "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 10, "totalTokenCount": 20}}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.answer(200, b"")

    def do_GET(self):
        self.note(b"null")
        if self.headers.get("Upgrade"):  # a WebSocket: the agent then takes HTTP
            return self.answer(404, b"{}")
        return self.answer(200, json.dumps({"data": [], "models": []}).encode())

    def do_POST(self):
        length = int(self.headers.get("Content-Length") or 0)
        raw = self.rfile.read(length) if length else self.read_chunks()
        if self.headers.get("Content-Encoding") == "gzip":
            import gzip
            raw = gzip.decompress(raw)
        body = self.note(raw) or {}
        path = self.path.split("?")[0]
        if path.endswith("/count_tokens") or path.endswith(":countTokens"):
            return self.answer(200, b'{"input_tokens": 10, "totalTokens": 10}')
        if path.endswith("/messages"):
            return self.give(anthropic(self.server.script, body))
        if path.endswith("/responses"):
            return self.give(responses(self.server.script, body))
        if path.endswith("/chat/completions"):
            return self.give(chat(self.server.script, body))
        if path.endswith(":streamGenerateContent"):
            return self.give([(None, gemini(self.server.script, body))])
        if path.endswith(":generateContent"):
            return self.give(gemini(self.server.script, body))
        return self.answer(404, b"{}")

    def read_chunks(self):
        data = b""
        while self.headers.get("Transfer-Encoding") == "chunked":
            size = int(self.rfile.readline().strip() or b"0", 16)
            data += self.rfile.read(size)
            self.rfile.readline()
            if size == 0:
                break
        return data

    def note(self, raw):
        """Writes the request into the log. Returns its body, if that is JSON."""
        record = {"path": self.path, "host": self.headers.get("Host"), "headers": self.headers.items()}
        try:
            record["body"] = json.loads(raw)
        except ValueError:
            record["raw"] = raw.decode("latin-1")
        with self.server.lock, open(self.server.log, "a", encoding="utf-8") as log:
            log.write(json.dumps(record) + "\n")
        return record.get("body")

    def give(self, answer):
        if isinstance(answer, dict):
            return self.answer(200, json.dumps(answer).encode())
        text = ""
        for name, event in answer:
            text += (f"event: {name}\n" if name else "") + "data: " + \
                (event if isinstance(event, str) else json.dumps(event)) + "\n\n"
        return self.answer(200, text.encode(), "text/event-stream")

    def answer(self, status, data, kind="application/json"):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def main():
    script, log, port_file = sys.argv[1:4]
    server = http.server.ThreadingHTTPServer((sys.argv[4] if len(sys.argv) > 4 else "127.0.0.1", 0), Handler)
    server.daemon_threads = True
    with open(script, encoding="utf-8") as file:
        server.script = Script(json.load(file))
    server.log, server.lock = log, threading.Lock()
    with open(port_file, "w", encoding="utf-8") as file:
        file.write(str(server.server_address[1]))
    server.serve_forever()


main()
