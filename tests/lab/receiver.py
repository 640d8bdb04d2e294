#!/usr/bin/env python3
"""receiver.py PORT FILE: what an Alertmanager notifies. Each post becomes one line of JSON in FILE: {"path", "status", "alerts"}."""
import http.server
import json
import sys


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with open(sys.argv[2], "a", encoding="utf-8") as file:
            file.write(json.dumps({"path": self.path, "status": body["status"], "alerts": body["alerts"]}) + "\n")
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    open(sys.argv[2], "w", encoding="utf-8").close()
    http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Receiver).serve_forever()
