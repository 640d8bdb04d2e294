"""A real linkhealthd that plays a recording, for the tests of its TCP side: started, asked, ended."""
import json
import os
import re
import signal
import subprocess
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DEMO = os.path.join(ROOT, "demo/dirty_connector.jsonl.gz")


def until(what, check, limit_s=120):
    end = time.monotonic() + limit_s
    while time.monotonic() < end:
        found = check()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError(f"not within {limit_s} s: {what}")


class Daemon:
    """`config`: text of the YAML beside what the test needs. The recording is played at once unless `speed` says otherwise."""

    def __init__(self, program, folder, config="", arguments=(), speed=100000, play=DEMO):
        self.folder = folder
        self.socket = os.path.join(folder, "linkhealth.sock")
        self.log_path = os.path.join(folder, "daemon.log")
        path = os.path.join(folder, "linkhealth.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"listen: 127.0.0.1:0\nsocket: {self.socket}\nstate_dir: {folder}/state\n{config}")
        with open(self.log_path, "w", encoding="utf-8") as log:
            self.process = subprocess.Popen([program, "--config", path, "--play", play, "--play-speed", str(speed), *arguments],
                                            stdout=log, stderr=log)
        try:
            address = until("the daemon says where it listens", self.address)
        except AssertionError:
            self.end()
            raise
        self.scheme, self.host = address
        self.base = f"{self.scheme}://{self.host}"

    def log(self):
        with open(self.log_path, encoding="utf-8") as file:
            return file.read()

    def address(self):
        found = re.search(r"metrics at (https?)://([^/]+)/metrics", self.log())
        if not found and self.process.poll() is not None:
            raise AssertionError(f"the daemon ended: {self.log()}")
        return found and found.groups()

    def played(self):
        until("the recording is played", lambda: "the recording has ended" in self.log(), 240)

    def curl(self, *arguments, path="/-/healthy"):
        """(exit code, status, body)"""
        done = subprocess.run(["curl", "-sS", "--max-time", "60", "-w", "\n%{http_code}", *arguments, self.base + path],
                              capture_output=True, text=True, check=False)
        body, _, status = done.stdout.rpartition("\n")
        return done.returncode, int(status or 0), body + done.stderr

    def local(self, path, *arguments):
        """(status, body) on the Unix socket"""
        done = subprocess.run(["curl", "-sS", "--max-time", "60", "-w", "\n%{http_code}", "--unix-socket", self.socket, *arguments,
                               "http://localhost" + path], capture_output=True, text=True, check=True)
        body, _, status = done.stdout.rpartition("\n")
        return int(status), body

    def report(self):
        return json.loads(self.local("/api/v1/report")[1])

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError("the daemon did not end") from None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()
