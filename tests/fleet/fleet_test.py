#!/usr/bin/env python3
"""fleet_test.py FLEET_NODES LINKHEALTH: a small fleet (24 nodes of 8 links, simulated, with the real engine and metrics), a
real Prometheus with the rules and configuration that we ship, and:

  every rule evaluates without an error; every query of a panel, a variable and an annotation of dashboards/grafana has an
  answer; no series more than documented; `linkhealth fleet` says what Prometheus has.

Exit code 77: prometheus is not installed. Everything listens on 127.0.0.1 and is ended with it.
"""
import json
import os
import re
import signal
import sys
import time

import cli_checks
from world import ROOT, Missing, World

NODES = 24


def boards():
    folder = os.path.join(ROOT, "dashboards/grafana")
    for name in sorted(os.listdir(folder)):
        yield name, json.load(open(os.path.join(folder, name), encoding="utf-8"))


def queries():
    """(where, query) of all panels, variables and annotations."""
    for name, board in boards():
        for panel in board["panels"]:
            for target in panel["targets"]:
                yield f"{name}: {panel['title']}", target["expr"]
        for variable in board["templating"]["list"]:
            if variable["type"] == "query":
                expr, label = re.fullmatch(r"label_values\((.*), (\w+)\)", variable["definition"]).groups()
                yield f"{name}: ${variable['name']}", f'count by ({label}) ({{{label}!=""}} and {expr})' if "{" not in expr else expr
        for annotation in board["annotations"]["list"]:
            yield f"{name}: {annotation['name']}", annotation["target"]["expr"]


def choices(world):
    """What somebody would choose in the variables: links with faults first, then links of other nodes."""
    links = world.query('sort_desc(linkhealth_fault_active)') + world.query("linkhealth_link_up")
    seen, out = set(), []
    for labels, _ in links:
        at = (labels["instance"], labels["device"], labels["port"])
        if at not in seen:
            seen.add(at)
            out.append({"$node": at[0], "$device": at[1], "$port": at[2]})
    switches = [labels["peer_system"] for labels, _ in world.query("sort_desc(switch:linkhealth_links_bad:count)")]
    switches += [labels["peer_system"] for labels, _ in world.query("switch:linkhealth_link_downs:rate5m")]
    return out[:40], list(dict.fromkeys(switches))


def answered(world, query, links, switches):
    if "$switch" in query:
        return any(world.query(query.replace("$switch", name)) for name in switches)
    if "$node" not in query:
        return bool(world.query(query))
    for link in links:
        expr = query
        for name, value in link.items():
            expr = expr.replace(name, value)
        if world.query(expr):
            return True
    return False


def every_panel(world, limit_s=45):
    waiting, total = list(queries()), len(list(queries()))
    assert total > 40, f"only {total} queries were found in dashboards/grafana"

    def all_answered():
        links, switches = choices(world)
        for one in list(waiting):
            if answered(world, one[1], links, switches):
                waiting.remove(one)
        return not waiting
    try:
        world.until("every panel shows something", all_answered, limit_s)
    except AssertionError as error:
        raise AssertionError(f"empty: {waiting}; {error}") from None
    print(f"{total} queries of the dashboards, each with an answer")


def every_rule(world):
    rules = [rule for group in world.get("/api/v1/rules")["groups"] for rule in group["rules"]]
    broken = [f"{rule['name']}: {rule.get('lastError', rule['health'])}" for rule in rules if rule["health"] != "ok"]
    assert not broken, broken
    empty = [rule["name"] for rule in rules if rule["type"] == "recording" and rule["name"] not in MAY_BE_EMPTY
             and not world.query(rule["name"])]
    assert not empty, f"recorded nothing: {empty}"
    print(f"{len(rules)} rules evaluated without an error, each recording rule with a result")


# link:linkhealth_port_to_node:info: links from node to node; no simulated link has one
MAY_BE_EMPTY = {"link:linkhealth_port_to_node:info", "switch:linkhealth_shared_fault:links", "instance:linkhealth_shared_fault:links",
                "pod:linkhealth_bandwidth_lost_bytes_per_second:sum"}


def budget(world):
    """15 series a link, 120 a node of 8 links, where nothing is wrong and everything can be read."""
    rows = world.query('count by (instance) ({job="linkhealth", __name__=~"linkhealth_.*|process_.*"}) unless on (instance) '
                       "(linkhealth_fault_active or on (instance) linkhealth_gap or on (instance) linkhealth_fault_events_total)")
    assert rows, "no node without a fault"
    worst = max(value for _, value in rows)
    assert worst <= 120, f"{worst} series of a node of 8 links"
    print(f"{worst:.0f} series at most of {len(rows)} nodes with nothing wrong")


def fleet_command(world, linkhealth):
    """A scrape that a busy machine misses makes a node's series stale for a moment: asked until both say the same."""
    said = []

    def same():
        try:
            cli_checks.run(world, linkhealth)
        except AssertionError as error:
            said.append(str(error))
            return False
        return True
    try:
        world.until("linkhealth fleet says what Prometheus has", same, 60)
    except AssertionError as error:
        raise AssertionError(f"{error}: {said[-1] if said else ''}") from None


def play(kind, nodes, checks):
    """Starts a world of `kind`, runs each of `checks` on it; the exit code."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended from outside"))  # stops what was started
    began = time.monotonic()
    try:
        with kind(nodes, ["--nodes", NODES, "--cast", 1, "--every", 2, "--period-ms", 1000, "--before", 40], scrape_s=1,
                  rules_s=2, optics=True) as world:
            world.until("all nodes answer", lambda: world.value('sum(up{job="linkhealth"})') == NODES, 60)
            print(f"{NODES} nodes, {world.fleet['series']} series, after {time.monotonic() - began:.0f} s")
            for check in checks:
                check(world)
    except Missing as why:
        print(f"skipped: {why}")
        return 77
    except AssertionError as error:
        print(f"FAIL {error}")
        return 1
    print(f"{time.monotonic() - began:.0f} s")
    return 0


def main():
    nodes, linkhealth = sys.argv[1:3]
    return play(World, nodes, [every_panel, every_rule, budget, lambda world: fleet_command(world, linkhealth)])


if __name__ == "__main__":
    sys.exit(main())
