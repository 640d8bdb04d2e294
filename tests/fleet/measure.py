#!/usr/bin/env python3
"""measure.py FLEET_NODES [--nodes 250,1000] [--seconds 240] [--out FILE]: what a fleet costs a Prometheus, measured, and what
follows for larger ones. Prints the tables of docs/scale.md as Markdown; --out writes the figures as JSON beside.

For each size: N simulated nodes of 8 links (real engine, real metrics, gzip), scraped every 15 s by a real Prometheus with our
rules at their own intervals. Needs minutes; run it on a quiet machine. Sizes beyond are extrapolated along a line through the
two largest sizes (rules, memory) or in proportion (samples).
"""
import argparse
import datetime
import json
import os
import platform
import signal
import sys
import time
import urllib.request

from world import PORTS, World

SCRAPE_S = 15
PLAN = (1_000, 12_500, 125_000)


def memory_bytes(pid):
    for line in open(f"/proc/{pid}/status", encoding="utf-8"):
        if line.startswith("VmRSS"):
            return int(line.split()[1]) * 1024
    return 0


def cpu_s(pid):
    fields = open(f"/proc/{pid}/stat", encoding="utf-8").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def folder_bytes(folder):
    return sum(os.path.getsize(os.path.join(path, name)) for path, _, names in os.walk(folder) for name in names)


def own(world):
    """Prometheus' own counters, by name: summed over their labels."""
    text = urllib.request.urlopen(world.url + "/metrics", timeout=60).read().decode()
    out = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            name, value = line.rsplit(" ", 1)
            name = name.split("{", 1)[0]
            out[name] = out.get(name, 0) + float(value)
    return out


def rule_seconds(world):
    """{group: seconds of its last evaluation}, and {rule: seconds}."""
    groups = [group for group in world.get("/api/v1/rules")["groups"] if group["name"] != "site"]
    return ({group["name"]: group["evaluationTime"] for group in groups},
            {rule["name"]: rule["evaluationTime"] for group in groups for rule in group["rules"]},
            {group["name"]: group["interval"] for group in groups})


def one_size(program, nodes, seconds, warm_s):
    arguments = ["--nodes", nodes, "--before", 8, "--every", 12, "--period-ms", SCRAPE_S * 1000]
    with World(program, arguments, SCRAPE_S, site=False) as world:
        world.until("all nodes answer", lambda: world.value('sum(up{job="linkhealth"})') == nodes, 120)
        time.sleep(warm_s)
        before, cpu_before, began = own(world), cpu_s(world.prometheus.pid), time.monotonic()
        wire_before, wal_before = world.cost(), folder_bytes(os.path.join(world.data, "wal"))
        groups = {}
        while time.monotonic() - began < seconds:
            time.sleep(10)
            for name, value in rule_seconds(world)[0].items():
                groups.setdefault(name, set()).add(value)
        after, wire = own(world), world.cost()
        took, cpu = time.monotonic() - began, cpu_s(world.prometheus.pid) - cpu_before
        samples = after["prometheus_tsdb_head_samples_appended_total"] - before["prometheus_tsdb_head_samples_appended_total"]
        scraped = (wire["scrapes"] - wire_before["scrapes"]) * wire["series"] / nodes
        last, rules, intervals = rule_seconds(world)
        middle = {name: sorted(values)[len(values) // 2] for name, values in groups.items()}
        figures = {
            "nodes": nodes, "links": nodes * PORTS, "series_per_node": wire["series"] / nodes,
            "head_series": after["prometheus_tsdb_head_series"], "scraped_series": wire["series"],
            "samples_per_s": samples / took, "scraped_per_s": scraped / took, "cpu_cores": cpu / took,
            "rss_bytes": memory_bytes(world.prometheus.pid),
            "cpu_us_per_sample": cpu / samples * 1e6,
            "wire_bytes_per_scrape": (wire["wire_bytes"] - wire_before["wire_bytes"]) / max(1, wire["scrapes"] - wire_before["scrapes"]),
            "wal_bytes_per_sample": (folder_bytes(os.path.join(world.data, "wal")) - wal_before) / samples,
            "up": world.value('sum(up{job="linkhealth"})'), "late_groups": after.get("prometheus_rule_group_iterations_missed_total", 0),
            "groups_s": middle, "groups_last_s": last, "intervals_s": intervals, "rules_s": rules,
        }
        return figures


def block_bytes(world):
    """What a compacted block takes for each sample: the head is written as a block by a snapshot, promtool counts."""
    request = urllib.request.Request(world.url + "/api/v1/admin/tsdb/snapshot", method="POST")
    with urllib.request.urlopen(request, timeout=300) as answer:
        name = json.load(answer)["data"]["name"]
    folder = os.path.join(world.data, "snapshots", name)
    chunks = sum(folder_bytes(os.path.join(folder, block, "chunks")) for block in os.listdir(folder)
                 if os.path.isdir(os.path.join(folder, block, "chunks")))
    index = sum(os.path.getsize(os.path.join(folder, block, "index")) for block in os.listdir(folder)
                if os.path.exists(os.path.join(folder, block, "index")))
    samples = series = 0
    for block in os.listdir(folder):
        meta = os.path.join(folder, block, "meta.json")
        if os.path.exists(meta):
            stats = json.load(open(meta, encoding="utf-8"))["stats"]
            samples += stats["numSamples"]
            series += stats["numSeries"]
    return {"chunk_bytes": chunks, "index_bytes": index, "samples": samples, "series": series}


def disk(program, seconds):
    """Bytes of a sample in full chunks (120 samples): few nodes, a scrape and a step of the simulation each second."""
    with World(program, ["--nodes", 40, "--before", 8, "--every", 12, "--period-ms", 1000], 1, with_rules=False) as world:
        time.sleep(seconds)
        return block_bytes(world)


def line(points, x):
    """Through the two largest points, to x."""
    (x0, y0), (x1, y1) = sorted(points)[-2:]
    return max(0, y1 + (y1 - y0) / (x1 - x0) * (x - x1))


def plan(sizes, block):
    largest = max(sizes, key=lambda size: size["nodes"])
    rows = []
    # a block of the daemon's own length: 2 h at 15 s are 480 samples of a series in 4 full chunks; the index is for a series
    bytes_per_sample = block["chunk_bytes"] / block["samples"] + block["index_bytes"] / block["series"] / (7200 / SCRAPE_S)
    for nodes in PLAN:
        links = nodes * PORTS
        series = largest["head_series"] / largest["nodes"] * nodes
        samples = series / SCRAPE_S * (largest["samples_per_s"] / (largest["head_series"] / SCRAPE_S))
        memory = line([(size["head_series"], size["rss_bytes"]) for size in sizes], series)
        slowest = max((line([(size["links"], size["groups_s"][name]) for size in sizes], links) / largest["intervals_s"][name], name)
                      for name in largest["groups_s"])
        rule_cores = sum(line([(size["links"], size["groups_s"][name]) for size in sizes], links) / largest["intervals_s"][name]
                         for name in largest["groups_s"])
        rows.append({
            "nodes": nodes, "links": links, "series": series, "samples_per_s": samples, "memory_bytes": memory,
            "memory_planned_bytes": memory * 1.5, "cpu_cores": largest["cpu_us_per_sample"] * samples / 1e6,
            "rule_cores": rule_cores, "slowest_share": slowest[0], "slowest_group": slowest[1],
            "disk_bytes_per_day": samples * 86400 * bytes_per_sample, "wal_bytes": samples * 3 * 3600 * largest["wal_bytes_per_sample"],
            "wire_bytes_per_s": largest["wire_bytes_per_scrape"] * nodes / SCRAPE_S, "bytes_per_sample": bytes_per_sample,
        })
    return rows


def gib(value):
    return f"{value / 2**30:.1f}"


def markdown(sizes, rows):
    now = datetime.datetime.now(datetime.timezone.utc)
    cores = len(os.sched_getaffinity(0))
    out = [f"Measured {now:%Y-%m-%d} on {cores} cores ({platform.machine()}, Linux {platform.release().split('-')[0]}, shared virtual "
           "machine), Prometheus of Debian 12, the simulated nodes on the same cores.", "",
           "| nodes | links | series a node | head series | samples/s | RSS MiB | bytes a series | CPU cores | CPU µs a sample | WAL bytes a sample"
           " | wire bytes a scrape |", "|---|---|---|---|---|---|---|---|---|---|---|"]
    out += [f"| {s['nodes']} | {s['links']} | {s['series_per_node']:.0f} | {s['head_series']:.0f} | {s['samples_per_s']:.0f} | "
            f"{s['rss_bytes'] / 2**20:.0f} | {s['rss_bytes'] / s['head_series']:.0f} | {s['cpu_cores']:.2f} | {s['cpu_us_per_sample']:.1f} | "
            f"{s['wal_bytes_per_sample']:.1f} | {s['wire_bytes_per_scrape']:.0f} |" for s in sizes]
    out += ["", "Evaluation of the rule groups, seconds (median), and along the line to 100,000 links:", "",
            "| group | interval | " + " | ".join(f"{s['links']} links" for s in sizes) + " | a 1,000 links | 100,000 links | share of its interval |",
            "|---|---|" + "---|" * (len(sizes) + 3)]
    for name in sizes[-1]["groups_s"]:
        far = line([(s["links"], s["groups_s"][name]) for s in sizes], 100_000)
        interval = sizes[-1]["intervals_s"][name]
        out.append(f"| `{name}` | {interval:.0f} s | " + " | ".join(f"{s['groups_s'][name]:.3f}" for s in sizes) +
                   f" | {far / 100:.3f} | {far:.2f} | {far / interval * 100:.0f} % |")
    out += ["", "What follows, at 15 s and the default set:", "",
            "| nodes | links | series | samples/s | RAM, measured line | RAM to plan (x1.5) | CPU cores | of them rules | slowest group | disk a day | "
            "WAL | wire |", "|---|---|---|---|---|---|---|---|---|---|---|---|"]
    out += [f"| {r['nodes']:,} | {r['links']:,} | {r['series'] / 1e6:.2f} M | {r['samples_per_s'] / 1e3:.0f} k | {gib(r['memory_bytes'])} GiB | "
            f"{gib(r['memory_planned_bytes'])} GiB | {r['cpu_cores']:.2f} | {r['rule_cores']:.2f} | {r['slowest_share'] * 100:.0f} % of its interval | "
            f"{gib(r['disk_bytes_per_day'])} GiB | {gib(r['wal_bytes'])} GiB | {r['wire_bytes_per_s'] / 1e6:.1f} MB/s |" for r in rows]
    out += ["", f"Disk: {rows[0]['bytes_per_sample']:.2f} bytes a sample, chunks of a snapshot plus the index over a block of 2 h."]
    return "\n".join(out) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", metavar="FLEET_NODES")
    parser.add_argument("--nodes", default="250,1000")
    parser.add_argument("--seconds", type=int, default=240)
    parser.add_argument("--warm", type=int, default=60, help="seconds before the measurement begins")
    parser.add_argument("--disk-seconds", type=int, default=250, help="more than 120 samples of each series")
    parser.add_argument("--out")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended from outside"))  # stops what was started
    sizes, block = [], disk(options.program, options.disk_seconds)
    print(f"disk: {block}", file=sys.stderr, flush=True)
    for nodes in sorted(int(number) for number in options.nodes.split(",")):
        sizes.append(one_size(options.program, nodes, options.seconds, options.warm))
        print(f"{nodes} nodes: measured", file=sys.stderr, flush=True)
        if options.out:
            with open(options.out, "w", encoding="utf-8") as file:
                json.dump(sizes, file, indent=1)
    print(markdown(sizes, plan(sizes, block)) if len(sizes) > 1 else json.dumps(sizes, indent=1))


if __name__ == "__main__":
    main()
