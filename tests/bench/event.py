#!/usr/bin/env python3
"""Time from a kernel link event to its value in /metrics: event.py LINKHEALTHD WORK EVENTS, in namespaces of its own.

A veth pair takes the place of a port's interface: a tree of files is mounted over /sys, with the interface's own index,
so that the daemon (which runs on the live system here) watches it. The carrier file is written just before the kernel
is told to take the link down or up. The time begins when a listener of our own gets the event: before it, the kernel
waits for its readers (synchronize_net), which takes some milliseconds. A value that was there before the listener heard
of its event has no time: the daemon's own look at the file may come between, or the machine kept the listener waiting.
Such are left out, and when they are many nothing was measured. Before the first event: wake-ups of the whole daemon as
it is shipped, with its feeds and the threads of the far ends, while nothing happens.
"""
import contextlib
import fcntl
import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import time

import fake_sysfs
from measure import Program

SIOCSIFFLAGS, IFF_UP = 0x8914, 1
FAR = "far0"
SETTLE_S, IDLE_S = 5, 30
MOST_EARLY = 1 / 20  # of the events: more of them is not the daemon's own look, which takes its turn once a second


def set_up(up):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack("16sH14x", FAR.encode(), IFF_UP if up else 0))


def write(path, value):
    with open(path, "w", encoding="ascii") as file:
        file.write(f"{value}\n")


class Events:
    """When the kernel told of a change of the interface with index 2 (struct nlmsghdr, ifinfomsg). Heard in a process of its
    own, before all others where that is allowed: one that has its turn after the daemon hears of it when all is over."""

    def __init__(self):
        heard, told = os.pipe()
        script = os.getpid()
        self.listener = os.fork()
        if self.listener == 0:
            self.listen(script, told)
            os._exit(0)
        os.close(told)
        os.set_blocking(heard, False)
        self.heard = heard

    @staticmethod
    def listen(script, told):
        with contextlib.suppress(PermissionError):
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as events:
            events.bind((0, 1))  # RTMGRP_LINK
            events.settimeout(2)
            while os.getppid() == script:  # it ends with the script, however that ends
                try:
                    message = events.recv(65536)
                except TimeoutError:
                    continue
                now = time.perf_counter()  # CLOCK_MONOTONIC: that of all processes
                if struct.unpack_from("=i", message, 20)[0] == 2:
                    os.write(told, struct.pack("=d", now))

    def times(self):
        """Of those since the last call."""
        with contextlib.suppress(BlockingIOError):
            return [at for at, in struct.iter_unpack("=d", os.read(self.heard, 65536 * 8))]
        return []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.kill(self.listener, signal.SIGKILL)
        os.waitpid(self.listener, 0)


def main():
    daemon, work, events = sys.argv[1], sys.argv[2], int(sys.argv[3])
    tree = f"{work}/event/sys"
    fake_sysfs.make(tree, 1)
    net = os.path.realpath(f"{tree}/class/net/ens1np0")
    with open(f"{net}/address", encoding="ascii") as file:
        address = file.read().strip()  # another one would be another interface, whose events are not the port's
    for command in ("ip link set lo up", f"ip link add ens1np0 index 2 address {address} type veth peer name {FAR} index 900",
                    "ip link set ens1np0 up"):
        subprocess.run(command.split(), check=True)
    set_up(True)
    subprocess.run(["mount", "--bind", tree, "/sys"], check=True)
    net = os.path.realpath("/sys/class/net/ens1np0")
    state = f"{work}/event"
    took = []
    with Events() as events_seen, Program([daemon, "--listen", "127.0.0.1:{port}", "--socket", f"{state}/s", "--state-dir", state, "--dry-run",
                  "--log-level", "error"]) as program:
        client = program.client()
        value = lambda: re.search(r"^linkhealth_link_up\{.*\} (\d)", client.text(), re.MULTILINE).group(1)
        time.sleep(SETTLE_S)
        switches, begun = program.switches(), time.perf_counter()
        time.sleep(IDLE_S)
        wakes = (program.switches() - switches) / (time.perf_counter() - begun)
        counts = {"carrier_up_count": 1, "carrier_down_count": 1}
        for number in range(events):
            up = number % 2 == 1
            name = "carrier_up_count" if up else "carrier_down_count"
            counts[name] += 1
            time.sleep(0.3 + 0.037 * (number % 10))  # not in step with the daemon's own look at the file each second
            events_seen.times()
            asked = time.perf_counter()
            write(f"{net}/carrier", int(up))
            write(f"{net}/{name}", counts[name])
            set_up(up)
            while value() != str(int(up)):
                if time.perf_counter() - asked > 5:
                    sys.exit(f"event {number} was not seen within 5 s")
            seen = time.perf_counter()
            while not (told := events_seen.times()):
                if time.perf_counter() - asked > 5:
                    sys.exit(f"the kernel told nothing of event {number}")
                time.sleep(0.001)
            if seen >= told[0]:
                took.append((seen - told[0]) * 1e3)
    if (early := events - len(took)) > events * MOST_EARLY:
        sys.exit(f"{early} of {events} values were there before the kernel's event was heard of: their times are not known")
    took.sort()
    print(json.dumps({"events": events, "idle_wakes_per_s": wakes, "p50_ms": took[len(took) // 2], "p99_ms": took[min(len(took) - 1, int(len(took) * 0.99))]}))


if __name__ == "__main__":
    main()
