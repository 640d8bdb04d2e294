#!/usr/bin/env python3
"""deliveries_test.py LINKHEALTHD: what is sent to other systems, by the real daemon that plays a fault that is repaired.

A real Alertmanager (it comes once, and resolves when the fault is closed; with the routes of deploy/), a webhook that fails at
first, a textfile that node_exporter reads, and --dry-run, which sends nothing. Parts whose program is missing say so.
"""
import gzip
import http.server
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import unittest
import urllib.request

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from web_daemon import DEMO, ROOT, Daemon, until  # noqa: E402

PROGRAM = ""
ALERTMANAGER = shutil.which("prometheus-alertmanager") or shutil.which("alertmanager")
NODE_EXPORTER = shutil.which("prometheus-node-exporter") or shutil.which("node_exporter")


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Hook:
    """A server that keeps what is posted; the first `fails` posts are answered 503."""

    def __init__(self, fails=0):
        self.got, self.refused, self.lock = [], 0, threading.Lock()
        hook = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                with hook.lock:
                    if hook.refused < fails:
                        hook.refused += 1
                        self.send_response(503)
                    else:
                        hook.got.append((self.path, dict(self.headers), body.decode()))
                        self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def posts(self):
        with self.lock:
            return list(self.got)

    def end(self):
        self.server.shutdown()
        self.server.server_close()


def repaired(folder):
    """The demo's fault, and after it hours in which the link is as before: the first snapshots once more, later."""
    lines = gzip.open(DEMO, "rt", encoding="utf-8").read().splitlines()
    header, snapshots = lines[0], [json.loads(line) for line in lines[1:]]
    last = snapshots[-1]
    good = [one for one in snapshots if one["t"] < 2400 and "events" not in one]
    from datetime import datetime, timedelta
    at, out = datetime.fromisoformat(last["at"].replace("Z", "+00:00")), list(snapshots)
    counters = {port: dict(value.get("counters", {})) for port, value in last["ports"].items()}
    for number in range(1, 400):
        pattern = json.loads(json.dumps(good[(number - 1) % len(good)]))
        pattern["t"] = round(last["t"] + 30 * number, 3)
        pattern["at"] = (at + timedelta(seconds=30 * number)).strftime("%Y-%m-%dT%H:%M:%SZ")
        pattern.pop("uptime_s", None)
        for port, value in pattern["ports"].items():
            if "counters" in value:  # they go on from where they were: traffic, a corrected bit now and then, and no error
                here = counters.get(port, {})
                for name in here:
                    if name in ("port_rcv_data", "port_xmit_data", "port_rcv_packets", "port_xmit_packets", "fec_corrected_bits"):
                        here[name] += 1000
                value["counters"] = dict(here)
        out.append(pattern)
    path = os.path.join(folder, "repaired.jsonl")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join([header] + [json.dumps(one) for one in out]) + "\n")
    return path


class Deliveries(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="linkhealth-deliveries-")
        self.addCleanup(shutil.rmtree, self.folder)

    def hook(self, fails=0):
        one = Hook(fails)
        self.addCleanup(one.end)
        return one

    def daemon(self, config, *arguments, **more):
        one = Daemon(PROGRAM, self.folder, config, ["--play-announce", *arguments], **more)
        self.addCleanup(lambda: one.process.poll() is None and one.end())
        return one

    def alertmanager(self, hook):
        port = free_port()
        path = os.path.join(self.folder, "alertmanager.yml")
        with open(path, "w", encoding="utf-8") as file:
            file.write("route:\n  receiver: hook\n  group_by: [alertname, fault, peer_system]\n  group_wait: 1s\n  group_interval: 1s\n"
                       "  repeat_interval: 1d\nreceivers:\n  - name: hook\n    webhook_configs:\n"
                       f"      - {{url: '{hook.url}/page', send_resolved: true}}\n")
        log = open(os.path.join(self.folder, "alertmanager.log"), "w", encoding="utf-8")
        self.addCleanup(log.close)
        process = subprocess.Popen([ALERTMANAGER, f"--config.file={path}", f"--storage.path={self.folder}/am",
                                    f"--web.listen-address=127.0.0.1:{port}", "--cluster.listen-address="], stdout=log, stderr=log)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)
        base = f"http://127.0.0.1:{port}"

        def ready():
            try:
                return urllib.request.urlopen(base + "/-/ready", timeout=5).status == 200
            except OSError:
                return False
        until("Alertmanager is ready", ready)
        return base

    @unittest.skipUnless(ALERTMANAGER, "prometheus-alertmanager is not installed")
    def test_a_real_alertmanager_hears_of_it_once_and_that_it_is_over(self):
        hook = self.hook()
        base = self.alertmanager(hook)
        daemon = self.daemon(f"site: {{rack: r7, row: '3'}}\nalertmanager: {{urls: ['{base}'], resend_s: 1}}\n", play=repaired(self.folder),
                             speed=4000)
        daemon.played()
        until("a notification that it is resolved", lambda: any('"status":"resolved"' in body for _, _, body in hook.posts()), 40)
        bodies = [json.loads(body) for _, _, body in hook.posts()]
        firing = [body for body in bodies if body["status"] == "firing"]
        self.assertEqual(len(firing), 1, [body["status"] for body in bodies])
        labels = firing[0]["alerts"][0]["labels"]
        self.assertEqual({key: labels.get(key) for key in ("alertname", "instance", "device", "port", "fault", "end", "peer_system", "rack",
                                                           "severity", "scope")},
                         {"alertname": "LinkDirtyConnector", "instance": "hgx-1434", "device": "bnxt_re1", "port": "1",
                          "fault": "dirty_connector", "end": "path", "peer_system": "leaf-3", "rack": "r7", "severity": "ticket",
                          "scope": "link"})
        self.assertEqual(firing[0]["groupLabels"], {"alertname": "LinkDirtyConnector", "fault": "dirty_connector", "peer_system": "leaf-3"})
        self.assertIn("clean both ends", firing[0]["alerts"][0]["annotations"]["first_step"])
        self.assertIn("closed", daemon.log())
        self.assertNotIn("tried again", daemon.log())

    def test_an_alertmanager_that_is_away_hears_of_it_later(self):
        hook = self.hook(fails=2)
        daemon = self.daemon(f"alertmanager: {{urls: ['{hook.url}/'], resend_s: 3600}}\n")
        posts = until("it comes after two failures", hook.posts)
        path, fields, body = posts[0]
        self.assertEqual((path, fields["Content-Type"]), ("/api/v2/alerts", "application/json"))
        alerts = json.loads(body)
        self.assertEqual([alert["labels"]["fault"] for alert in alerts], ["dirty_connector"])
        self.assertLess(alerts[0]["startsAt"], alerts[0]["endsAt"])
        until("it says that it works again", lambda: "works again" in daemon.log())
        self.assertEqual(daemon.log().count("tried again until it works"), 1)

    def test_a_webhook_with_a_template(self):
        hook = self.hook(fails=1)
        template = os.path.join(self.folder, "hook.json")
        token = os.path.join(self.folder, "token")
        with open(template, "w", encoding="utf-8") as file:
            file.write('{"text": "{{kind}}: {{node}} {{port}}: {{summary}}", "sure": {{confidence_percent}}, "all": {{event}}}')
        with open(token, "w", encoding="utf-8") as file:
            file.write("s3cret\n")
        daemon = self.daemon(f"webhook: {{url: '{hook.url}/x', template_file: {template}, token_file: {token}}}\n",
                             play=repaired(self.folder))
        daemon.played()
        count = len(json.loads(daemon.local("/api/v1/events?limit=1000")[1])["events"])
        self.assertGreaterEqual(count, 3)
        until("all events", lambda: len(hook.posts()) == count)
        bodies = [json.loads(body) for _, _, body in hook.posts()]
        kinds = [body["all"]["event"] for body in bodies]
        self.assertEqual((kinds[0], kinds[-1]), ("opened", "closed"))
        self.assertTrue(bodies[0]["text"].startswith("opened: hgx-1434 bnxt_re1/1: lane 4 receives"), bodies[0])
        self.assertTrue(50 < bodies[0]["sure"] < 100)
        keys = [fields["Idempotency-Key"] for _, fields, _ in hook.posts()]
        self.assertEqual(len(set(keys)), count)
        self.assertEqual(hook.posts()[0][1]["Authorization"], "Bearer s3cret")
        self.assertNotIn("s3cret", daemon.log())

    def test_a_template_that_is_wrong_stops_the_start(self):
        for text, words in (('{"a": "{{summry}}"}', "did you mean {{summary}}?"), ('{"a": {{summary}}}', "what it gives is no JSON"),
                            ('{"a": "{{summary"}', "a {{ has no }}")):
            path = os.path.join(self.folder, "hook.json")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            with self.assertRaises(AssertionError) as raised:
                self.daemon(f"webhook: {{url: 'http://127.0.0.1:1/', template_file: {path}}}\n")
            self.assertIn(words, str(raised.exception))

    def test_a_textfile_that_node_exporter_reads(self):
        folder = os.path.join(self.folder, "textfile")
        os.mkdir(folder)
        path = os.path.join(folder, "linkhealth.prom")
        daemon = self.daemon(f"textfile: {{path: {path}, period_s: 1}}\n")
        daemon.played()

        def written():
            if not os.path.exists(path):
                return ""
            with open(path, encoding="utf-8") as file:
                text = file.read()
            return text if "linkhealth_fault_active{" in text else ""
        until("the fault is in the file", written)
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o644)
        if NODE_EXPORTER:
            port = free_port()
            exporter = subprocess.Popen([NODE_EXPORTER, "--collector.disable-defaults", "--collector.textfile",
                                         f"--collector.textfile.directory={folder}", f"--web.listen-address=127.0.0.1:{port}"],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                def scraped():
                    try:
                        return urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5).read().decode()
                    except OSError:
                        return ""
                text = until("node_exporter answers", scraped)
            finally:
                exporter.terminate()
                exporter.wait()
            self.assertIn('linkhealth_fault_active{', text)
            self.assertIn("node_textfile_scrape_error 0", text)
        daemon.end()
        self.assertEqual(os.listdir(folder), [], "a monitor that is gone leaves no last word")

    def test_dry_run_sends_nothing(self):
        hook = self.hook()
        path = os.path.join(self.folder, "linkhealth.prom")
        daemon = self.daemon(f"alertmanager: {{urls: ['{hook.url}']}}\nwebhook: {{url: '{hook.url}/x'}}\ntextfile: {{path: {path}}}\n", "--dry-run")
        daemon.played()
        self.assertIn("dirty_connector opened", daemon.log())
        daemon.end()
        self.assertEqual(hook.posts(), [])
        self.assertFalse(os.path.exists(path))

    def test_a_played_recording_is_nobodys_news(self):
        hook = self.hook()
        with Daemon(PROGRAM, self.folder, f"webhook: {{url: '{hook.url}/x'}}\n") as daemon:
            daemon.played()
            with open(f"/proc/{daemon.process.pid}/maps", encoding="utf-8") as maps:
                self.assertNotIn("libcurl", maps.read())
        self.assertEqual(hook.posts(), [])


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=2)
