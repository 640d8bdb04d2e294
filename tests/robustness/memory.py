#!/usr/bin/env python3
"""The real daemon and its state database under kill -9 and on a full disk. Every wait is for a thing to happen.

usage: memory.py LINKHEALTHD LINKHEALTH      prints one line a test; exit code 1 when one failed
"""
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import traceback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from odd_nodes import ALL, CONFIG, DAEMON, Daemon, Node, put  # noqa: E402

QUICK = CONFIG + "ledger: {down_hold_s: 0, signal_hold_s: 0, notice_hold_s: 0}\n"


class Skipped(Exception):
    pass


def set_link(node, up):
    """Down by an administrator: a fault that needs no module to be seen."""
    net, port = f"{node.function(0)}/net/ens0", node.port(0)
    put(f"{net}/carrier", "1" if up else "0")
    put(f"{port}/state", "4: ACTIVE" if up else "1: DOWN")
    put(f"{port}/phys_state", "5: LinkUp" if up else "3: Disabled")
    put(f"{net}/flags", "0x1003" if up else "0x1002")
    with open(f"{net}/carrier_down_count", encoding="utf-8") as file:
        put(f"{net}/carrier_down_count", str(int(file.read()) + (0 if up else 1)))


def events(daemon):
    return json.loads(daemon.get("/api/v1/events?limit=1000"))["events"]


def open_faults(daemon):
    return [fault["id"] for fault in daemon.ports()["mlx5_0/1"]["faults"] if fault["state"] != "closed"]


def kill(daemon):
    daemon.process.kill()
    daemon.process.wait()
    daemon.log.close()


def a_kill_at_any_moment(node, directory):
    """The fault that was told is known after each kill, by the same id, and is never told as new."""
    node.add(0)
    daemon = Daemon(node, state=directory, config=QUICK)
    daemon.until(lambda: "mlx5_0/1" in daemon.ports(), "the port")
    set_link(node, False)
    daemon.until(lambda: events(daemon), "the fault is reported")
    told = [event["fault"]["id"] for event in events(daemon) if event["event"] == "opened"]
    assert len(told) == 1, told
    chance = random.Random(5)  # one for all rounds: a new one would return its first number each time
    for _ in range(200 if ALL else 8):
        kill(daemon)
        daemon = Daemon(node, state=directory, config=QUICK)
        daemon.until(lambda: open_faults(daemon) == told, "the same fault after the kill")
        # After this many requests, somewhere in a cycle.
        for _ in range(chance.randrange(30)):
            daemon.get("/api/v1/ports/mlx5_0/history?since=600")
    opened = {event["id"] for event in events(daemon) if event["event"] == "opened"}
    assert len(opened) == 1, opened
    history = json.loads(daemon.get("/api/v1/ports/ens0/history?since=600"))
    assert [event["event"] for event in history["events"]][0] == "opened", history["events"]
    daemon.stop()
    database = sqlite3.connect(f"file:{directory}/linkhealth.db?mode=ro", uri=True)
    assert database.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    assert database.execute("SELECT count(*) FROM events WHERE document->>'event'='opened'").fetchone()[0] == 1


def a_full_disk(node, directory):
    """A small file system, filled to the last byte: the fault is reported, one error, and it is written when there is room."""
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=700k", "tmpfs", directory], capture_output=True).returncode:
        raise Skipped("cannot mount a tmpfs")
    try:
        node.add(0)
        daemon = Daemon(node, state=directory, config=QUICK)
        daemon.until(lambda: "\nlinkhealth_store_up 1\n" in daemon.metrics(), "the database works")
        with open(directory + "/full", "wb", buffering=0) as file:
            try:
                while file.write(b"x" * 512):
                    pass
            except OSError:
                pass
        set_link(node, False)
        daemon.until(lambda: open_faults(daemon), "the fault")
        daemon.until(lambda: "\nlinkhealth_store_up 0\n" in daemon.metrics(), "the database cannot be written")
        told = open_faults(daemon)
        os.unlink(directory + "/full")
        daemon.until(lambda: "\nlinkhealth_store_up 1\n" in daemon.metrics(), "the database is written again")
        kill(daemon)
        daemon = Daemon(node, state=directory, config=QUICK)
        daemon.until(lambda: open_faults(daemon) == told, "the fault from the time of the full disk")
        daemon.stop()
    finally:
        subprocess.run(["umount", "-l", directory], check=False)


def a_second_daemon(node, directory):
    """It does not start on the state of the first, which goes on."""
    daemon = Daemon(node, state=directory)
    second = subprocess.run([DAEMON, "--sysroot", node.root, "--state-dir", directory, "--socket", directory + "/other.sock", "--listen",
                             "127.0.0.1:0", "--dry-run"], capture_output=True, text=True, timeout=30, check=False)
    assert second.returncode != 0 and f"another linkhealthd keeps its state in {directory}" in second.stderr, second.stderr
    assert daemon.get("/-/ready") is not None
    kill(daemon)
    daemon = Daemon(node, state=directory)  # its lock was released with the process
    daemon.stop()


def no_file_in_the_place_of_the_database(node, directory):
    """A FIFO that nobody writes to holds up neither the start nor the end."""
    os.mkfifo(directory + "/linkhealth.db")
    daemon = Daemon(node, state=directory)
    daemon.until(lambda: "\nlinkhealth_store_up 0\n" in daemon.metrics(), "nothing is kept")
    assert "not a regular file" in daemon.log_text()
    daemon.stop()


def main():
    failed = 0
    for test in (a_kill_at_any_moment, a_full_disk, a_second_daemon, no_file_in_the_place_of_the_database):
        node, directory = Node(), tempfile.mkdtemp(prefix="memory_state.")
        try:
            test(node, directory)
            print(f"ok   {test.__name__}")
        except Skipped as why:
            print(f"SKIPPED {test.__name__}: {why}")
        except Exception:  # noqa: BLE001
            failed += 1
            print(f"FAIL {test.__name__}")
            traceback.print_exc(file=sys.stdout)
        finally:
            node.close()
            shutil.rmtree(directory, ignore_errors=True)
        sys.stdout.flush()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
