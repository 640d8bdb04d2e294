#!/usr/bin/env python3
"""Judges linkhealth on labelled recordings: score.py DIR --linkhealth build/fast/bin/linkhealth [--misses]"""
import argparse
import concurrent.futures
import json
import pathlib
import statistics
import subprocess
import sys

DOWN = {"module_missing", "module_unsupported", "settings_mismatch", "admin_down", "unplugged", "far_port_down", "nic_fault"}


def very_name(said, truth):
    """Only the truth itself, not what the recording cannot tell from it: by this the confidence is judged."""
    return said["fault"] == truth["fault"] and (not truth.get("end") or said.get("end") == truth["end"])


def matches(said, truth):
    for want in [{"fault": truth["fault"], "end": truth["end"]}] + truth["also_accept"]:
        if said["fault"] == want["fault"] and want.get("end", said.get("end")) == said.get("end"):
            return True
    return False


def end_right(said, truth):
    ends = [truth["end"]] + [a.get("end") for a in truth["also_accept"]]
    names = {a["fault"] for a in truth["also_accept"]}
    return said.get("end") in ends or said["fault"] in names and matches(said, truth)


def replay(linkhealth, path):
    run = subprocess.run([linkhealth, "replay", str(path), "--format", "jsonl"], capture_output=True, text=True)
    if run.returncode:
        raise SystemExit(f"{path}: {run.stderr.strip()}")
    lines = [json.loads(line) for line in run.stdout.splitlines()]
    return [e for e in lines if "event" in e], next(e["report"] for e in lines if "report" in e)


def tolerated(event, truth):
    for name, start, until in truth.get("tolerate_when", []):
        if event["fault"]["fault"] == name and start - 5 <= event["t"] <= until:
            return True
    return "tolerate_when" not in truth and event["fault"]["fault"] in truth.get("tolerate", [])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("dir")
    parser.add_argument("--linkhealth", default="build/fast/bin/linkhealth")
    parser.add_argument("--misses", action="store_true")
    parser.add_argument("--reopened", action="store_true", help="count what is opened again, too")
    parser.add_argument("--floor", action="append", default=[], help="name=value: right, first3, end (at least), "
                        "false, calibration (at most)")
    args = parser.parse_args()
    folder = pathlib.Path(args.dir)
    truths = json.loads((folder / "truth.json").read_text())
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = dict(zip(truths, pool.map(lambda f: replay(args.linkhealth, folder / f), truths)))
    n = right = first3 = end = healthy_s = wrongly = 0
    false, misses, delays, said_right = [], [], {"down": [], "degraded": []}, []
    per, once = {}, {}
    for file, ports in truths.items():
        events, report = results[file]
        reported = {p["port"]: p for p in report["ports"]}
        for key, truth in ports.items():
            opened = [e for e in events if e["port"] == key and e["event"] in ("opened", "reopened")]
            if truth["fault"] == "healthy":
                healthy_s += report["t"]
                for e in [e for e in opened if e["event"] == "opened" or args.reopened]:
                    if not tolerated(e, truth):
                        false.append((file, key, truth["media"], round(e["t"]), e["fault"]["fault"],
                                      round(e["fault"]["confidence"], 2), e["fault"]["summary"]))
                continue
            n += 1
            faults = [f for f in reported.get(key, {}).get("faults", []) if f["state"] != "closed"]
            top = faults[0] if faults else None
            ok = bool(top) and matches(top, truth)
            if truth.get("shared"):
                once.setdefault((file, truth["shared"]), set()).add(top["id"] if top else key)
            elif top and len(top.get("ports", ())) > 1 and any(
                    ports[q]["fault"] not in ("healthy", truth["fault"]) for q in top["ports"] if q in ports):
                wrongly += 1
            three = [d for f in faults[:3] for d in [f] + f.get("differential", [])][:4]
            ok3 = ok or any(matches({"end": d.get("end"), **d}, truth) for d in three)
            okend = bool(top) and end_right(top, truth)
            right, first3, end = right + ok, first3 + ok3, end + okend
            row = per.setdefault(truth["fault"], [0, 0, 0, 0])
            for i, v in enumerate((1, ok, ok3, okend)):
                row[i] += v
            if top:
                said_right.append((top["confidence"], very_name(top, truth)))
            if not ok:
                misses.append((truth["fault"], truth.get("kind") or truth.get("mode") or "", file, key, truth["media"],
                               f"far {truth['far_level']}", f"onset {truth['onset_t']:.0f}",
                               f"{top['fault']}@{top['end']} {top['confidence']:.2f}: {top['summary']}" if top else
                               "nothing" + (" (was: " + opened[-1]["fault"]["fault"] + ")" if opened else "")))
            after = [e["t"] for e in opened if e["t"] >= truth["onset_t"]]
            if after and truth["onset_t"] > 0:
                kind = "down" if truth["fault"] in DOWN or truth.get("mode") in ("dead", "broken", "down") else "degraded"
                delays[kind].append(after[0] - truth["onset_t"])
    days = healthy_s / 86400
    bins = {}
    for c, ok in said_right:
        bins.setdefault(min(9, int(c * 10)), []).append((c, ok))
    calibration = sum(abs(sum(c for c, _ in b) - sum(o for _, o in b)) for b in bins.values()) / max(1, len(said_right))
    share = lambda k: k / n if n else 1.0
    rate = 1000 * len(false) / days if days else 0.0
    figures = {"right": share(right), "first3": share(first3), "end": share(end), "false": rate,
               "calibration": calibration}
    print(f"faulty ports {n}   right {share(right):.3f}   first three {share(first3):.3f}   end {share(end):.3f}   "
          f"strict calibration error {calibration:.3f}")
    ports = len({f[:2] for f in false})
    print(f"false diagnoses {len(false)} on {ports} ports in {days:.1f} healthy port-days: {rate:.1f} per 1,000")
    if once or wrongly:
        print(f"shared faults told once {sum(len(ids) == 1 for ids in once.values())} of {len(once)}, own faults told as one: "
              f"{wrongly}")
    for kind, d in delays.items():
        if d:
            print(f"delay, {kind}: median {statistics.median(d):.0f} s, p90 {sorted(d)[int(len(d) * .9)]:.0f} s (n {len(d)})")
    for fault, (k, a, b, c) in sorted(per.items()):
        print(f"  {fault:20} {k:4}  {a / k:.2f} {b / k:.2f} {c / k:.2f}")
    if args.misses:
        for miss in sorted(misses):
            print("miss ", " | ".join(map(str, miss)))
        for f in sorted(false, key=lambda f: f[4]):
            print("false", " | ".join(map(str, f)))
    failed = False
    for floor in args.floor:
        name, value = floor.split("=")
        bad = figures[name] > float(value) if name in ("false", "calibration") else figures[name] < float(value)
        if bad:
            print(f"FAILED: {name} is {figures[name]:.3f}, the floor is {value}")
            failed = True
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
