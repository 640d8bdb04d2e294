"""What tests/bench/run measures with: a keep-alive client, the figures that /proc gives of a process, strace."""
import gzip
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

REST_S = 0.02  # what a program does after its last answer is waited for


def memory_directory():
    """Where files are in memory, as sysfs is: a machine may drop its cache of files between two reads, and the next ones
    then wait for a disk. None: there is no such place, and the figures are to be read with that in mind."""
    kinds = {line.split()[1]: line.split()[2] for line in open("/proc/mounts", encoding="utf-8")}
    if kinds.get("/dev/shm") == "tmpfs" and os.access("/dev/shm", os.W_OK):
        return "/dev/shm"
    print("no tmpfs at /dev/shm: the trees are on a disk, whose reads are in the figures", file=sys.stderr)
    return None


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Client:
    """One keep-alive connection to 127.0.0.1 that asks as Prometheus does. Connects anew when it was closed."""

    def __init__(self, port, path="/metrics"):
        self.port, self.connects = port, 0
        self.request = (f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAccept: text/plain;version=0.0.4\r\n"
                        "Accept-Encoding: gzip\r\n\r\n").encode()
        self.connect()

    def connect(self):
        self.connects += 1
        self.buffer = b""
        self.socket = socket.create_connection(("127.0.0.1", self.port), timeout=30)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def more(self):
        data = self.socket.recv(262144)
        if not data:
            raise EOFError
        self.buffer += data

    def until(self, mark):
        while mark not in self.buffer:
            self.more()
        head, self.buffer = self.buffer.split(mark, 1)
        return head

    def take(self, size):
        while len(self.buffer) < size:
            self.more()
        data, self.buffer = self.buffer[:size], self.buffer[size:]
        return data

    def body(self):
        lines = self.until(b"\r\n\r\n").decode("latin1").lower().split("\r\n")
        if " 200" not in lines[0]:
            raise RuntimeError(lines[0])
        fields = dict(line.split(":", 1) for line in lines[1:])
        if "chunked" not in fields.get("transfer-encoding", ""):
            return self.take(int(fields["content-length"]))
        parts = []
        while size := int(self.until(b"\r\n"), 16):
            parts.append(self.take(size))
            self.take(2)
        self.until(b"\r\n")
        return b"".join(parts)

    def get(self):
        """The body as it came over the wire."""
        for _ in range(2):
            try:
                self.socket.sendall(self.request)
                return self.body()
            except (EOFError, ConnectionError):  # the server ended the connection: as Prometheus, once more
                self.connect()
        raise EOFError

    def text(self):
        body = self.get()
        return (gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body).decode()


class Program:
    """A started exporter. `command` has {port} where the port goes."""

    def __init__(self, command, environment=None):
        self.port = free_port()
        self.log = tempfile.TemporaryFile()
        self.process = subprocess.Popen([word.replace("{port}", str(self.port)) for word in command],
                                        stdout=self.log, stderr=self.log, env={**os.environ, **(environment or {})})
        self.pid = self.process.pid
        self.command = command

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def client(self, path="/metrics"):
        """Waits until the program answers with a sample."""
        for _ in range(400):
            if self.process.poll() is not None:
                break
            try:
                client = Client(self.port, path)
                client.get()
                return client
            except (OSError, EOFError, RuntimeError):
                time.sleep(0.05)
        self.log.seek(0)
        raise RuntimeError(f"{self.command[0]} does not answer: {self.log.read().decode()[-800:]}")

    def threads(self, file):
        for thread in os.listdir(f"/proc/{self.pid}/task"):
            try:
                with open(f"/proc/{self.pid}/task/{thread}/{file}", encoding="ascii") as text:
                    yield text.read()
            except OSError:
                pass  # it ended

    def cpu_ms(self):
        """Time on a processor of all threads, from the scheduler (ns)."""
        return sum(int(text.split()[0]) for text in self.threads("schedstat")) / 1e6

    def switches(self):
        """Times that a thread went to sleep by itself: each is a wake-up later."""
        return sum(int(text.split("\nvoluntary_ctxt_switches:")[1].split()[0]) for text in self.threads("status"))

    def disk_waits(self):
        """Pages of it that had to come from a disk (major faults): the machine had taken them back."""
        with open(f"/proc/{self.pid}/stat", encoding="ascii") as text:
            return int(text.read().rpartition(") ")[2].split()[9])

    def rss_mb(self):
        with open(f"/proc/{self.pid}/status", encoding="ascii") as text:
            return int(re.search(r"VmRSS:\s+(\d+)", text.read()).group(1)) / 1024


class Strace:
    """`with Strace(pid, "-c") as trace: …` then trace.lines."""

    def __init__(self, pid, *options):
        self.pid, self.options, self.lines = pid, options, []

    def __enter__(self):
        self.out = tempfile.NamedTemporaryFile("r", suffix=".strace")
        self.process = subprocess.Popen(["strace", "-f", "-qq", *self.options, "-o", self.out.name, "-p", str(self.pid)],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(100):  # until every thread is traced
            if all("TracerPid:\t0\n" not in self.status(t) for t in os.listdir(f"/proc/{self.pid}/task")):
                break
            time.sleep(0.05)
        return self

    def status(self, thread):
        try:
            with open(f"/proc/{self.pid}/task/{thread}/status", encoding="ascii") as text:
                return text.read()
        except OSError:
            return ""

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(20)
        self.lines = self.out.read().splitlines()

    def calls(self):
        """By name, of `strace -c`."""
        rows = [line.split() for line in self.lines]
        return {row[-1]: int(row[3]) for row in rows
                if len(row) >= 5 and row[0].replace(".", "").isdigit() and row[-1] != "total"}
