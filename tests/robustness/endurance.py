#!/usr/bin/env python3
"""The real daemon over a long or a hard time, which a played recording makes short: a simulated week, 64 flapping ports, 10,000
link events a second. Its memory, descriptors and threads are those of before.

usage: endurance.py LINKHEALTHD LINKHEALTH      prints one line a test with what was measured; exit code 1 when one failed
"""
import copy
import datetime
import gzip
import json
import os
import random
import re
import shutil
import sys
import tempfile
import time
import traceback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from odd_nodes import ALL, Daemon  # noqa: E402

DEMO = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../demo/demo.jsonl.gz")
DAY_S = 86400
LONGEST_S = 900  # of any test here
# The history of a played recording is kept in memory instead of a file: its limit.
CONFIG = "database: {max_mb: 1}\n"


def demo():
    """(header, samples): a node whose connector gets dirty and is cleaned, in 3.7 hours."""
    header, *samples = (json.loads(line) for line in gzip.open(DEMO, "rt", encoding="utf-8"))
    header.pop("known", None)
    return header, samples


def moved(sample, header, by_s):
    """The same sample, `by_s` later."""
    begun = datetime.datetime.fromisoformat(header["at"].replace("Z", "+00:00"))
    at = begun + datetime.timedelta(seconds=sample["t"] + by_s)
    return {**sample, "t": sample["t"] + by_s, "at": at.strftime("%Y-%m-%dT%H:%M:%SZ"), "uptime_s": sample["uptime_s"] + by_s}


class Player:
    """A daemon that plays the samples that `make` yields."""

    def __init__(self, header, samples, speed):
        self.directory = tempfile.mkdtemp(prefix="endurance.")
        self.file, self.last_t = self.directory + "/node.jsonl.gz", 0
        with gzip.open(self.file, "wt", encoding="utf-8", compresslevel=1) as file:
            file.write(json.dumps(header) + "\n")
            for sample in samples:
                file.write(json.dumps(sample) + "\n")
                self.last_t = sample["t"]
        self.daemon = Daemon(None, state=self.directory, config=CONFIG, play=(self.file, speed))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.daemon.close()
        shutil.rmtree(self.directory, ignore_errors=True)

    def t(self):
        return self.daemon.report()["t"]

    def sizes(self):
        return {"kB": self.daemon.status_number("VmRSS"), "descriptors": self.daemon.files(), "threads": self.daemon.status_number("Threads")}

    def play(self, every_s, look):
        """Calls look(t) at least every `every_s` of the recording, until its end."""
        next_t, end = 0, time.monotonic() + LONGEST_S
        while (t := self.t()) < self.last_t:
            assert time.monotonic() < end, f"only at {t:.0f} of {self.last_t:.0f} s"
            assert self.daemon.process.poll() is None, self.daemon.log_text()
            if t >= next_t:
                look(t)
                next_t = t + every_s
            time.sleep(0.05)
        look(t)

    def opened(self):
        """How many faults this daemon opened, by its own counter."""
        lines = re.findall(r'^linkhealth_fault_events_total\{[^}]*event="opened"[^}]*\} (\d+)', self.daemon.get("/metrics"), re.M)
        return sum(map(int, lines))


def a_week():
    """Each 3.7 hours a fault, a repair, its proof; the counters start again. After the second day nothing grows."""
    days = 7 if ALL else 3
    header, samples = demo()
    length_s = samples[-1]["t"] + 50
    rounds = int(days * DAY_S / length_s)
    made = (moved(sample, header, number * length_s) for number in range(rounds) for sample in samples)
    with Player(header, made, 20_000) as player:
        seen = []
        player.play(DAY_S / 4, lambda t: seen.append((t / DAY_S, player.sizes())))
        early = max((sizes for day, sizes in seen if 1 < day <= 2), key=lambda sizes: sizes["kB"])
        last, opened = seen[-1][1], player.opened()
        assert opened == rounds, f"{opened} faults opened in {rounds} times"
        assert last["kB"] < early["kB"] + 2048, seen
        # one more descriptor or thread: an answer being sent
        assert last["descriptors"] <= early["descriptors"] + 1 and last["threads"] <= early["threads"] + 1, seen
        return f"{days} days, {rounds} faults: on the second day at most {early}, at the end {last}"


def sixty_four_flapping_ports():
    """Each link falls and comes back every 20 to 90 s for an hour."""
    header, samples = demo()
    template = samples[0]["ports"]["bnxt_re0/1"]
    header.pop("expected", None)
    chance, ports, next_change = random.Random(7), {}, {}
    for i in range(64):
        port = copy.deepcopy(template)
        port["id"].update(device=f"bnxt_re{i}", netdev=f"ens{i}np0", pci=f"0000:{16 + i:02x}:00.0", guid=f"0290:fbe6:5496:{i:04x}")
        port["module"]["serial"] = f"KS{i:06d}"
        port["peer"].update(system=f"leaf-{i % 8}", port=f"Ethernet{i}/1")
        ports[f"bnxt_re{i}/1"] = port
        next_change[f"bnxt_re{i}/1"] = 600 + chance.uniform(0, 90)

    def hour():
        for step in range(420):
            t, events = step * 10.0, []
            for key, port in ports.items():
                while next_change[key] < t:
                    link = port["link"]
                    link["carrier"] = not link["carrier"]
                    link.update(zip(("state", "phys_state"), ("ACTIVE", "LinkUp") if link["carrier"] else ("DOWN", "Polling")))
                    link["carrier_up_count" if link["carrier"] else "carrier_down_count"] += 1
                    events.append({"t": next_change[key], "port": key, "kind": "carrier_up" if link["carrier"] else "carrier_down"})
                    next_change[key] += chance.uniform(20, 90) / 2
                if port["link"]["carrier"]:
                    for name in ("port_xmit_data", "port_rcv_data", "port_xmit_packets", "port_rcv_packets"):
                        port["counters"][name] += 10**8
            events.sort(key=lambda event: event["t"])
            yield moved({"t": t, "uptime_s": 10**6, "ports": copy.deepcopy(ports), "events": events}, header, 0)

    with Player(header, hour(), 200) as player:
        seen = []
        player.play(300, lambda t: seen.append((t, player.sizes())))
        early, last = seen[len(seen) // 2][1], seen[-1][1]
        ports_now, opened = player.daemon.ports(), player.opened()
        silent = [key for key, port in ports_now.items() if port["health"] == "healthy"]
        assert len(ports_now) == 64 and not silent, f"flapping and healthy: {silent}"
        assert opened <= 2 * 64, f"{opened} faults were opened: each port's flaps are one matter"
        assert last["kB"] < early["kB"] + 8192, seen
        series = len([line for line in player.daemon.get("/metrics").splitlines() if not line.startswith("#")])
        return f"{opened} faults opened in an hour, {series} series, after half the time {early}, at the end {last}"


def ten_thousand_events_a_second():
    """For a minute, of two ports; then the truth of the end is known and the memory is as before."""
    header, samples = demo()
    last_t = samples[40]["t"]

    def minutes():
        yield from samples[:40]
        for step in range(1, 7):
            t = last_t + 10 * step
            kinds = ("carrier_down", "carrier_up")
            events = [{"t": t - 10 + i * 1e-4, "port": f"bnxt_re{i // 2 % 2}/1", "kind": kinds[i % 2]} for i in range(100_000)]
            yield {**moved(samples[40], header, 10 * step), "events": events}
        for sample in samples[41:60]:
            yield moved(sample, header, 60)

    with Player(header, minutes(), 60) as player:
        before, most = None, 0

        def look(t):
            nonlocal before, most
            sizes = player.sizes()
            before = sizes if t < last_t else before
            most = max(most, sizes["kB"])
        player.play(5, look)
        after = player.sizes()
        losses = {key: port["figures"]["involuntary_downs_24h"] for key, port in player.daemon.ports().items()}
        assert all(port["now"]["link"]["carrier"] for port in player.daemon.ports().values())
        assert all(count >= 500 for count in losses.values()), losses  # the number remembered individually
        assert after["kB"] < before["kB"] + 65536, (before, after)
        return f"600,000 events: before {before['kB']} kB, at most {most} kB, after {after['kB']} kB; losses counted {losses}"


def main():
    failed = 0
    for test in (a_week, sixty_four_flapping_ports, ten_thousand_events_a_second):
        begun = time.monotonic()
        try:
            print(f"ok   {test.__name__}: {test()} ({time.monotonic() - begun:.0f} s)")
        except Exception:  # noqa: BLE001
            failed += 1
            print(f"FAIL {test.__name__}")
            traceback.print_exc(file=sys.stdout)
        sys.stdout.flush()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
