#!/usr/bin/env python3
"""openapi_test.py LINKHEALTHD: /api/v1/openapi.json, which the daemon makes from its routes, against its answers.

Each path is asked as it stands there: its status and type are those that it promises. The event stream: that an id is resumed.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from web_daemon import Daemon  # noqa: E402

PROGRAM = ""
QUERIES = {"/api/v1/recording": "?for=1"}
EXAMPLES = {"port": "bnxt_re1/1", "file": "app.js", "serial": "KS96511365"}


class Api(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.daemon = Daemon(PROGRAM, cls.folder.name)
        cls.addClassCleanup(cls.folder.cleanup)
        cls.addClassCleanup(cls.daemon.end)
        cls.daemon.played()
        cls.document = json.loads(cls.daemon.local("/api/v1/openapi.json")[1])

    def concrete(self, path, operation):
        for parameter in operation.get("parameters", []):
            if parameter["in"] == "path":
                path = path.replace("{" + parameter["name"] + "}", EXAMPLES[parameter["name"]])
        self.assertNotIn("{", path)
        return path

    def fits(self, path, answers, status, kind):
        answer = answers.get(str(status), answers["default"])
        kinds = {one.split(";")[0] for one in answer["content"]}
        self.assertTrue("*/*" in kinds or kind.split(";")[0] in kinds, f"{path} gives {kind}, not {kinds}")

    def ask(self, method, path, *arguments):
        head = os.path.join(self.folder.name, "head")
        done = subprocess.run(["curl", "-sS", "--max-time", "15", "-D", head, "-X", method, "--unix-socket", self.daemon.socket, *arguments,
                               "http://localhost" + path], capture_output=True, check=False)
        with open(head, encoding="utf-8") as file:
            lines = file.read()
        kind = re.search(r"(?im)^content-type: *(.*?)\r?$", lines)[1]
        return int(lines.split()[1]), kind, done.stdout.decode(errors="replace")

    def test_each_path_answers_as_it_says(self):
        self.assertGreater(len(self.document["paths"]), 15)
        for path, methods in self.document["paths"].items():
            for method, operation in methods.items():
                with self.subTest(f"{method} {path}"):
                    where = self.concrete(path, operation) + QUERIES.get(path, "")
                    if path == "/api/v1/events/stream":
                        continue  # tested below: it does not end
                    if method == "post":
                        # an empty object requests nothing: refused in the documented form
                        status, kind, _ = self.ask("POST", where, "-H", "Content-Type: application/json", "-d", "{}")
                        self.fits(path, operation["responses"], status, kind)
                        continue
                    status, kind, body = self.ask("GET", where)
                    self.assertEqual(status, 200, f"{where}: {body[:200]}")
                    self.fits(path, operation["responses"], status, kind)
                    self.assertEqual(self.ask("HEAD", where, "--head")[0:2], (status, kind)) if path != "/api/v1/recording" else None

    def test_what_is_not_there_is_refused_as_promised(self):
        for path, methods in self.document["paths"].items():
            operation = methods.get("get")
            if operation is None or "{" not in path:
                continue
            with self.subTest(path):
                where = re.sub(r"{\w+}", "no-such-thing-here", path)
                status, kind, _ = self.ask("GET", where)
                self.assertEqual(status, 404)
                self.fits(path, operation["responses"], status, kind)

    def test_each_path_refuses_other_methods(self):
        for path, methods in self.document["paths"].items():
            where = self.concrete(path, next(iter(methods.values())))
            status, _, _ = self.ask("DELETE", where)
            self.assertEqual(status, 405, path)
        self.assertEqual(self.ask("GET", "/api/v1/nothing")[0], 404)

    def stream(self, *arguments):
        done = subprocess.run(["curl", "-sSN", "--max-time", "2", *arguments, self.daemon.base + "/api/v1/events/stream"], capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.returncode, 28, done.stderr)  # curl's time limit: the stream was still open
        return done.stdout

    def test_the_event_stream_begins_where_the_client_was(self):
        fresh = self.stream("-i")
        self.assertIn("Content-Type: text/event-stream", fresh)
        self.assertIn("retry: 5000", fresh)
        self.assertNotIn("data:", fresh, "what was before is not new")
        everything = self.stream("-H", "Last-Event-ID: not known any more")
        ids = re.findall(r"(?m)^id: (.*)$", everything)
        events = [json.loads(line) for line in re.findall(r"(?m)^data: (.*)$", everything)]
        self.assertGreaterEqual(len(ids), 1)
        self.assertEqual(len(set(ids)), len(ids))
        self.assertEqual(events, json.loads(self.daemon.local("/api/v1/events?limit=1000")[1])["events"])
        after_first = re.findall(r"(?m)^id: (.*)$", self.stream("-H", f"Last-Event-ID: {ids[0]}"))
        self.assertEqual(after_first, ids[1:])


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=2)
