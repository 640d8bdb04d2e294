#!/usr/bin/env python3
"""Writes labelled recordings: generate.py --set field|hard|healthy --cases N --seed S --out DIR [--fault NAME]"""
import argparse
import json
import pathlib
import random

import disturb
import faults
import shared
from link import MEDIA
from node import Node, Port

BY_DRIVER = {"mlx5_core": list(MEDIA), "bnxt_en": [n for n in MEDIA if MEDIA[n].speed_mbps <= 400000],
             "ice": [n for n in MEDIA if MEDIA[n].speed_mbps <= 200000], "efa": ["100G-DAC"]}

LOADED = ("host_bottleneck", "congestion", "loss_elsewhere", "pcie_degraded")     # visible while a job runs


def build(seed, kind, wanted=None, max_ports=10):
    rng = random.Random(f"{kind}-{seed}")
    hard, healthy = kind == "hard", kind == "healthy"
    hours = rng.uniform(20, 26) if healthy else (rng.uniform(3, 6) if hard else rng.uniform(2.5, 5))
    cadence = 60 if healthy else rng.choice([15, 30, 60, 60])
    node = Node(rng, hard, hours, cadence, rng.choice([60, 120, 300]) if hard or healthy else 60, 300)
    driver = rng.choices(["mlx5_core", "bnxt_en", "ice", "efa"], [70, 15, 12, 3 if healthy else 0])[0]
    ib = driver == "mlx5_core" and rng.random() < 0.5
    count = rng.choice([1, 2, 2, 4, 4, 8, 10]) if not hard else rng.choice([1, 2, 2, 3, 4, 8])
    name = wanted
    if not healthy and not wanted:
        pool = faults.FIELD
        name = rng.choices(list(pool), list(pool.values()))[0] if not hard else rng.choice(list(pool))
    choice = BY_DRIVER[driver]
    if name in faults.LIGHT:
        choice = [n for n in choice if MEDIA[n].optical]
    elif name == "faulty_cable":
        choice = [n for n in choice if not MEDIA[n].optical]
    elif name == "module_overheated":
        choice = [n for n in choice if MEDIA[n].kind != "dac"]
    main = MEDIA[rng.choice(choice)]
    other = MEDIA[rng.choice(BY_DRIVER[driver])] if rng.random() < 0.2 else main
    level = rng.choice([0, 1, 1, 2, 3]) if hard else rng.choices([0, 1, 2, 3], [10, 30, 25, 35])[0]
    leaves = max(1, count // rng.choice([1, 2, 2, 4])) if name != "far_switch_fault" else max(1, count // 2)
    count = min(count, max_ports)
    if name == "far_switch_fault":
        count = max(2, count)
    plan = rng.choice(["full", "full", "speed", "peer", "none"]) if hard else rng.choice(["full"] * 5 + ["none"])
    first_leaf = rng.randrange(1, 200)
    for i in range(count):
        port = Port(node, i, other if i == count - 1 and count > 2 else main, driver, ib, level,
                    f"sw-{first_leaf + i % leaves:03d}", rng)
        peer = {"system": port.switch, "port": port.far_port}
        speed = {"speed_mbps": port.medium.speed_mbps, "lanes": port.medium.lanes}
        port.plan = {"full": {**speed, "peer": peer}, "speed": speed, "peer": {"peer": peer}, "none": {}}[plan]
        node.ports.append(port)
    if driver == "mlx5_core" and count % 2 == 0 and rng.random() < 0.35:     # two ports on each card
        for a, b in zip(node.ports[::2], node.ports[1::2]):
            b.id["pci"] = a.id["pci"][:-1] + "1"
            b.caps["pcie"] = a.caps["pcie"]
            b.base_pcie, b.pcie = dict(a.base_pcie), dict(a.pcie)
    scenes = random.Random(f"shared-{kind}-{seed}")     # separate, so that they change no other case
    if count > 1 and rng.random() < 0.2 and driver != "efa" and name != "far_switch_fault":
        last = node.ports[-1]
        last.exempt, last.plan, last.level = "unused", {}, 0
        last.up, last.link.near.present, last.downs, last.ups = False, False, 0, 0
        last.down_since = -9000.0
        last.reset_counters(fresh=True)
        last.note_reason("nocable")
    if scenes.random() < (0.25 if healthy else 0.15):
        shared.split_modules(node, scenes)
    for p in node.ports:
        p.telemetry_s = scenes.choice([0, 0, 30, 120, 900])
    if driver != "efa":             # low but sufficient light
        for p in node.ports:
            if p.medium.optical and rng.random() < 0.12:
                db = rng.uniform(0.8, 2.0)
                if min(p.link.light(True, i) for i in range(p.medium.lanes)) - p.medium.sens - db > 2.6:
                    faults.add_db(p.link.loss_in, range(p.medium.lanes), db)
    onset = 0.0 if hard and rng.random() < 0.25 else rng.uniform(2400, node.end_t - 6000)
    node.seen_first = onset > 0
    if name in LOADED:
        node.jobs = [(0.0, 1e9, rng.uniform(0.25, 0.7))]
    played = not healthy and not wanted and scenes.random() < (0.25 if hard else 0.1) and \
        shared.play(node, onset, scenes)
    if not healthy and not played:
        able = [p for p in node.ports if faults.possible(name, p)]
        if not able:
            return None
        p = rng.choice(able)
        got = getattr(faults, name)(p, onset, rng, hard)
        p.truth = got
        if hard and rng.random() < 0.25:      # a second fault, on another port if there is one
            extra = rng.choice(list(faults.FIELD))
            if extra not in ("far_switch_fault", "far_port_down", name, *LOADED):
                spare = [q for q in node.ports if faults.possible(extra, q) and q.switch != p.switch]
                if spare:
                    q = rng.choice(spare)
                    q.truth = getattr(faults, extra)(q, rng.uniform(2400, node.end_t - 6000), rng, hard)
    events = rng.randrange(4, 12) if healthy else (rng.randrange(0, 5) if hard else rng.choice([0, 0, 0, 1, 2]))
    node.done = []
    for _ in range(events):
        what = rng.choice(disturb.ALL)
        if not healthy and what in (disturb.reboot, disturb.switch_upgrade, disturb.daemon_restart):
            continue                  # would move or hide the onset
        when = rng.uniform(1200, node.end_t - 3600)
        node.done.append((round(when), what.__name__))
        what(node, when, rng)
    return node


def truth_of(p):
    base = {"media": p.medium.name, "far_level": p.level, "severity": "hard" if p.node.hard else "field"}
    if p.truth:
        out = {**base, **p.truth}
        return out
    out = {**base, "fault": "healthy", "end": "", "onset_t": None, "also_accept": []}
    if p.tolerate:
        out["tolerate"] = sorted({n for n, _, _ in p.tolerate})
        out["tolerate_when"] = [[n, round(a), round(b)] for n, a, b in p.tolerate]
    if p.exempt:
        out["exempt"] = p.exempt
    return out


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--set", choices=["field", "hard", "healthy"], required=True)
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--fault")
    parser.add_argument("--max-ports", type=int, default=10)
    parser.add_argument("--out", required=True)
    args = parser.parse_args()
    out = pathlib.Path(args.out)
    out.mkdir(parents=True, exist_ok=True)
    truths, seed, made = {}, args.seed, 0
    while made < args.cases:
        node = build(seed, args.set, args.fault, args.max_ports)
        seed += 1
        if node is None:
            continue
        node.run()
        file = f"{args.set}-{seed - 1:06d}.jsonl.gz"
        node.write(out / file)
        truths[file] = {p.key: truth_of(p) for p in node.ports}
        made += 1
    (out / "truth.json").write_text(json.dumps(truths, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
