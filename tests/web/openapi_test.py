#!/usr/bin/env python3
"""openapi_test.py LINKHEALTHD: docs/schema/openapi.json against the real daemon.

Each path is asked as it stands there: its status, type and required keys are those that it promises. Whether each path that the
daemon answers is in it: tests/daemon/api_routes_test.cpp, by the daemon's own table. The event stream: that an id is resumed.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from web_daemon import ROOT, Daemon  # noqa: E402

PROGRAM = ""
QUERIES = {"/api/v1/recording": "?for=1"}


class Api(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.daemon = Daemon(PROGRAM, cls.folder.name)
        cls.addClassCleanup(cls.folder.cleanup)
        cls.addClassCleanup(cls.daemon.end)
        cls.daemon.played()
        with open(os.path.join(ROOT, "docs/schema/openapi.json"), encoding="utf-8") as file:
            cls.text = file.read()
        cls.document = json.loads(cls.text)

    def concrete(self, path, operation):
        for parameter in operation.get("parameters", []):
            if parameter["in"] == "path":
                example = "bnxt_re1/1" if parameter["name"] == "port" else parameter["example"]
                path = path.replace("{" + parameter["name"] + "}", example)
        self.assertNotIn("{", path)
        return path

    def fits(self, path, answers, status, kind, body):
        self.assertIn(str(status), answers, f"{path} answers {status}, which is not promised")
        content = answers[str(status)]["content"]
        kinds = {one.split(";")[0] for one in content}
        self.assertTrue("*/*" in kinds or kind.split(";")[0] in kinds, f"{path} gives {kind}, not {kinds}")
        schema = next(iter(content.values()))["schema"]
        if "$ref" in schema:
            schema = self.document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
        if kind.startswith("application/json"):
            value = json.loads(body)
            for key in schema.get("required", []):
                self.assertIn(key, value, path)

    def ask(self, method, path, *arguments):
        head = os.path.join(self.folder.name, "head")
        done = subprocess.run(["curl", "-sS", "--max-time", "15", "-D", head, "-X", method, "--unix-socket", self.daemon.socket, *arguments,
                               "http://localhost" + path], capture_output=True, check=False)
        with open(head, encoding="utf-8") as file:
            lines = file.read()
        kind = re.search(r"(?im)^content-type: *(.*?)\r?$", lines)[1]
        return int(lines.split()[1]), kind, done.stdout.decode(errors="replace")

    def test_it_is_served_as_it_is(self):
        self.assertEqual(self.ask("GET", "/api/v1/openapi.json")[2], self.text)

    def test_each_path_answers_as_it_says(self):
        self.assertGreater(len(self.document["paths"]), 15)
        for path, methods in self.document["paths"].items():
            for method, operation in methods.items():
                with self.subTest(f"{method} {path}"):
                    where = self.concrete(path, operation) + QUERIES.get(path, "")
                    if path == "/api/v1/events/stream":
                        continue  # below: it does not end
                    if method == "post":
                        # an empty object says nothing that could be done: refused in the form that is promised
                        status, kind, body = self.ask("POST", where, "-H", "Content-Type: application/json", "-d", "{}")
                        self.fits(path, operation["responses"], status, kind, body)
                        continue
                    status, kind, body = self.ask("GET", where)
                    self.assertEqual(status, 200, f"{where}: {body[:200]}")
                    self.fits(path, operation["responses"], status, kind, body)
                    self.assertEqual(self.ask("HEAD", where, "--head")[0:2], (status, kind)) if path != "/api/v1/recording" else None

    def test_what_is_not_there_is_refused_as_promised(self):
        for path, methods in self.document["paths"].items():
            operation = methods.get("get")
            if operation is None or "{" not in path:
                continue
            with self.subTest(path):
                where = re.sub(r"{\w+}", "no-such-thing-here", path)
                status, kind, body = self.ask("GET", where)
                self.assertEqual(status, 404)
                self.fits(path, operation["responses"], status, kind, body)

    def test_each_path_refuses_other_methods(self):
        for path, methods in self.document["paths"].items():
            where = self.concrete(path, next(iter(methods.values())))
            status, _, _ = self.ask("DELETE", where)
            self.assertEqual(status, 405, path)
        self.assertEqual(self.ask("GET", "/api/v1/nothing")[0], 404)

    def stream(self, *arguments):
        done = subprocess.run(["curl", "-sSN", "--max-time", "2", *arguments, self.daemon.base + "/api/v1/events/stream"], capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.returncode, 28, done.stderr)  # its time was over: the stream was still open
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
