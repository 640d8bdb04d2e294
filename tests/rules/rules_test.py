#!/usr/bin/env python3
"""rules_test.py LINKHEALTH [WORDS]: what alerts and what must not, with promtool. Each check lists all alerts that may be firing then:
one more is a failure. Fails also when a rule has no case. WORDS: only the cases with these words in their name. Skipped (exit code 77) without promtool.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from cases import Case, alert, always, downs, events, fault, node, port, series

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RULES = [os.path.join(ROOT, "dashboards/rules", name) for name in
         ("linkhealth-recording.yaml", "linkhealth-alerts-faults.yaml", "linkhealth-alerts.yaml")]
URGENCY = {"critical": "page", "warning": "ticket", "notice": "info"}


def flat(groups):
    return [one for group in groups for one in group]


def catalogue(program):
    out = subprocess.run([program, "rules", "--json"], check=True, capture_output=True, text=True).stdout
    return json.loads(out)["faults"]


def alert_names():
    """(fault, end) -> alert of the generated file."""
    text = open(RULES[1], encoding="utf-8").read()
    found = re.findall(r'alert: (\w+)\n\s+expr: \S+\{fault="(\w+)", end="(\w+)"\}', text)
    return {(name, end): alertname for alertname, name, end in found}


def every_fault(faults):
    """Each fault, each end, each severity: fires when its time has come and not before."""
    names = alert_names()
    for entry in faults:
        name, end = entry["fault"], entry["end"]
        wait = {"critical": 5, "warning": 10, "notice": 30}[entry["severity"]]
        # a healthy port as well: one faulty port of three is not the node's fault
        case = Case(f"{name} {end}", *[node(f"n-{severity}") for severity in URGENCY],
                    *[port(f"n-{severity}", "mlx5_0", "at_risk", ("leaf-1", "E1")) for severity in URGENCY],
                    *[port(f"n-{severity}", "mlx5_1") for severity in URGENCY],
                    *[fault(f"n-{severity}", "mlx5_0", name, end, severity) for severity in URGENCY])
        case.firing(f"{wait - 1}m")
        case.firing(f"{wait}m", *[alert(names[(name, end)], urgency, instance=f"n-{severity}", device="mlx5_0",
                                        peer_system="leaf-1", fault=name) for severity, urgency in URGENCY.items()])
        yield case


DIRTY = {"device": "mlx5_0", "fault": "dirty_connector"}


def single_links():
    yield Case("two nodes with the same device name",
               node("gpu-1"), node("gpu-2"), port("gpu-1", "mlx5_0", "degraded", ("leaf-1", "E1")),
               port("gpu-2", "mlx5_0", "healthy", ("leaf-2", "E1")), fault("gpu-1", "mlx5_0", "dirty_connector")
               ).firing("9m").firing("10m", alert("LinkDirtyConnector", "ticket", instance="gpu-1", peer_system="leaf-1", **DIRTY)
               ).records("10m", "link:linkhealth_fault_open:confidence",
                         ({"job": "linkhealth", "instance": "gpu-1", "device": "mlx5_0", "port": "1", "netdev": "ens0",
                           "fault": "dirty_connector", "end": "path", "severity": "warning", "peer_system": "leaf-1",
                           "peer_port": "E1"}, 0.9)
               ).records("10m", "switch:linkhealth_links_bad:count", ({"peer_system": "leaf-1"}, 1)
               ).records("10m", "switch:linkhealth_nodes_bad:count", ({"peer_system": "leaf-1"}, 1)
               ).records("10m", "instance:linkhealth_links_bad:count", ({"instance": "gpu-1"}, 1))
    yield Case("a port without linkhealth_port_info still alerts", node("gpu-1"), fault("gpu-1", "mlx5_0", "dirty_connector")
               ).firing("10m", alert("LinkDirtyConnector", "ticket", instance="gpu-1", **DIRTY)
               ).about("10m", "link:linkhealth_fault_open:unnamed", "sum by (instance) (link:linkhealth_fault_open:unnamed)",
                       ({"instance": "gpu-1"}, 0.9))
    for state in ("acknowledged", "proving"):
        yield Case(f"{state}: no alert", node("gpu-1"), port("gpu-1", "mlx5_0", "down", ("leaf-1", "E1")),
                   fault("gpu-1", "mlx5_0", "unplugged", severity="critical", state=state)).firing("60m").firing("5h")
    yield Case("acknowledged after it alerted", node("gpu-1"), port("gpu-1", "mlx5_0", "down", ("leaf-1", "E1")),
               fault("gpu-1", "mlx5_0", "unplugged", severity="critical", values="0.9x20 stale"),
               fault("gpu-1", "mlx5_0", "unplugged", severity="critical", state="acknowledged", values="_x20 0.9x900")
               ).firing("20m", alert("LinkUnplugged", "page", instance="gpu-1", device="mlx5_0", peer_system="leaf-1",
                                     fault="unplugged")).firing("22m").firing("60m")
    yield Case("a fault of three minutes never alerts", node("gpu-1"), port("gpu-1", "mlx5_0", "healthy", ("leaf-1", "E1")),
               fault("gpu-1", "mlx5_0", "unplugged", severity="critical", values="0.9x3 stale")
               ).firing("3m").firing("5m").firing("8m").firing("60m")
    gap = "1x6 stale _x1 1x900"
    yield Case("a missing scrape neither ends nor restarts an alert", node("gpu-1", gap),
               port("gpu-1", "mlx5_0", "degraded", ("leaf-1", "E1"), gap),
               fault("gpu-1", "mlx5_0", "dirty_connector", values="0.9x6 stale _x1 0.9x900")
               ).firing("10m", alert("LinkDirtyConnector", "ticket", instance="gpu-1", peer_system="leaf-1", **DIRTY))
    late = "1x15 stale _x1 1x900"
    yield Case("a missing scrape while it alerts", node("gpu-1", late),
               port("gpu-1", "mlx5_0", "degraded", ("leaf-1", "E1"), late),
               fault("gpu-1", "mlx5_0", "dirty_connector", values="0.9x15 stale _x1 0.9x900")
               ).firing("16m", alert("LinkDirtyConnector", "ticket", instance="gpu-1", peer_system="leaf-1", **DIRTY)
               ).firing("17m", alert("LinkDirtyConnector", "ticket", instance="gpu-1", peer_system="leaf-1", **DIRTY))
    yield Case("maintenance: set down, and a port that nobody uses", node("gpu-1"),
               port("gpu-1", "mlx5_0", "down", ("leaf-1", "E1"), link_up=0), port("gpu-1", "mlx5_1", "exempt", link_up=0),
               fault("gpu-1", "mlx5_0", "admin_down", "local", "notice"),
               downs("gpu-1", "mlx5_0", "0x5 1x900", "voluntary"), downs("gpu-1", "mlx5_0", always(0))
               ).firing("29m").firing("60m", alert("LinkAdminDown", "info", instance="gpu-1", device="mlx5_0",
                                                   peer_system="leaf-1", fault="admin_down")
               ).records("60m", "switch:linkhealth_links_bad:count").records("60m", "link:linkhealth_link_downs:rate5m")
    off = "1x20 stale _x4 1x900"
    yield Case("a reboot: five minutes away, then all counters at zero", node("gpu-1", off),
               port("gpu-1", "mlx5_0", "healthy", ("leaf-1", "E1"), off), port("gpu-1", "mlx5_1", "healthy", ("leaf-2", "E1"), off),
               downs("gpu-1", "mlx5_0", "7x20 stale _x4 0x900"), downs("gpu-1", "mlx5_0", "0x20 stale _x4 1x900", "voluntary"),
               events("gpu-1", "dirty_connector", "reopened", "3x20 stale"),
               events("gpu-1", "dirty_connector", "opened", "5x20 stale _x4 0x900")
               ).firing("21m").firing("24m").firing("26m").firing("40m").firing("90m")
    yield Case("one flap, two flaps and three", node("gpu-1"),
                                    *[port("gpu-1", f"mlx5_{number}") for number in range(3)],
                                    downs("gpu-1", "mlx5_0", "0x30 1x900"), downs("gpu-1", "mlx5_1", "0x30 1x60 2x900"),
                                    downs("gpu-1", "mlx5_2", "0x30 1x60 2x60 3x900")
                                    ).firing("40m").firing("150m").firing(
                                        "170m", alert("LinkFlapsWithoutDiagnosis", "ticket", instance="gpu-1", device="mlx5_2")
                                    ).firing("260m")
    yield Case("flaps that have a name", node("gpu-1"), port("gpu-1", "mlx5_0", "degraded", ("leaf-1", "E1")),
               downs("gpu-1", "mlx5_0", "0x30 1x60 2x60 3x900"), fault("gpu-1", "mlx5_0", "dirty_connector", state="acknowledged")
               ).firing("170m")
    yield Case("a counter reset is no flap", node("gpu-1"), port("gpu-1", "mlx5_0"), downs("gpu-1", "mlx5_0", "90x30 0x900")
               ).firing("35m").firing("60m").records("33m", "link:linkhealth_link_downs:rate5m")
    yield Case("bad without a diagnosis", node("gpu-1"), port("gpu-1", "mlx5_0", "down"), port("gpu-1", "mlx5_1", "degraded"),
               port("gpu-1", "mlx5_2", "exempt"), port("gpu-1", "mlx5_3", "at_risk"),
               fault("gpu-1", "mlx5_1", "dirty_connector", state="acknowledged")
               ).firing("29m").firing("31m", alert("LinkBadWithoutDiagnosis", "ticket", instance="gpu-1", device="mlx5_0"))
    yield Case("both ends", node("gpu-1"), node("gpu-2"), port("gpu-1", "mlx5_0", peer=("leaf-1", "E1")),
               port("gpu-1", "mlx5_1", peer=("leaf-1", "E2")), port("gpu-1", "mlx5_2", peer=("leaf-1", "E3")),
               port("gpu-1", "mlx5_3", peer=("gpu-2", "ens0")), port("gpu-2", "mlx5_0", peer=("gpu-1", "ens3"), link_up=0),
               [series("site:switch_port_up", always(1), peer_system="leaf-1", peer_port="E1"),
                series("site:switch_port_up", always(0), peer_system="leaf-1", peer_port="E2")]
               ).firing("14m").firing("15m", *[alert("LinkEndsDisagree", "ticket", instance=instance, device=device, peer_system=peer)
                                               for instance, device, peer in (("gpu-1", "mlx5_1", "leaf-1"),
                                                                              ("gpu-1", "mlx5_3", "gpu-2"), ("gpu-2", "mlx5_0", "gpu-1"))]
               ).about("15m", "link:linkhealth_port_to_node:info", "count(link:linkhealth_port_to_node:info)", ({}, 2)
               ).about("15m", "link:linkhealth_ends_disagree:up", "sum by (instance, device) (link:linkhealth_ends_disagree:up)",
                       ({"instance": "gpu-1", "device": "mlx5_1"}, 1), ({"instance": "gpu-1", "device": "mlx5_3"}, 1),
                       ({"instance": "gpu-2", "device": "mlx5_0"}, 0))


def shared_causes():
    nodes = [f"gpu-{number}" for number in range(6)]
    cards = [f"mlx5_{number}" for number in range(8)]
    down = flat(port(name, card, "down", ("leaf-1", f"E{name}{card}"), rack="r1", link_up=0) + fault(
        name, card, "far_port_down", "far", "critical", rack="r1") for name in nodes for card in cards)
    switch = alert("LinkSwitchManyBadLinks", "page", peer_system="leaf-1")
    yield Case("48 links of one switch: its page comes before theirs, and no node is blamed", *[node(name) for name in nodes], down
               ).firing("1m").firing("2m", switch).firing("4m", switch).firing(
                   "5m", switch, *[alert("LinkFarPortDown", "page", instance=name, device=card, peer_system="leaf-1",
                                         fault="far_port_down") for name in nodes for card in cards]
               ).records("4m", "switch:linkhealth_links_bad:count", ({"peer_system": "leaf-1"}, 48)
               ).records("4m", "switch:linkhealth_shared_fault:links", ({"peer_system": "leaf-1"}, 48)
               ).records("4m", "instance:linkhealth_links_bad:count").records("4m", "instance:linkhealth_shared_fault:links")
    back = "0.9x20 stale"
    healed = flat(port(name, card, "healthy", ("leaf-1", f"E{name}{card}")) + fault(
        name, card, "far_port_down", "far", "critical", values=back if card != "mlx5_0" or name != "gpu-0" else "0.9x24 stale")
        for name in nodes for card in cards)
    yield Case("the switch is well again: its alert outlives those of its links", *[node(name) for name in nodes], healed
               ).firing("22m", switch, alert("LinkFarPortDown", "page", instance="gpu-0", device="mlx5_0", peer_system="leaf-1",
                                             fault="far_port_down")).firing("27m", switch).firing("40m")
    big = flat(port(f"gpu-{number}", "mlx5_0", "degraded" if number < 4 else "healthy", ("leaf-1", f"E{number}"))
               for number in range(40)) + flat(port(f"gpu-{number}", "mlx5_1") for number in range(40))
    four = flat(fault(f"gpu-{number}", "mlx5_0", "dirty_connector") for number in range(4))
    yield Case("4 of 40 links of a switch are four faults", *[node(f"gpu-{number}") for number in range(40)], big, four
               ).firing("9m").firing("12m", *[alert("LinkDirtyConnector", "ticket", instance=f"gpu-{number}", peer_system="leaf-1",
                                                    **DIRTY) for number in range(4)])
    yield Case("the node's own faults and notices do not speak against a switch", *[node(name) for name in nodes],
               *[port(name, "mlx5_0", "degraded", ("leaf-1", f"E{name}")) for name in nodes], *[port(name, "mlx5_1") for name in nodes],
               *[fault(name, "mlx5_0", "pcie_degraded", "node") for name in nodes],
               *[fault(name, "mlx5_0", "congestion", "fabric", "notice") for name in nodes]
               ).firing("9m").records("9m", "switch:linkhealth_links_bad:count")
    rails = flat(port("gpu-1", card, "down", (f"leaf-{card}", "E1")) + fault("gpu-1", card, "nic_fault", "node", "critical")
                 for card in cards[:4]) + flat(port("gpu-1", card, "healthy", (f"leaf-{card}", "E1")) for card in cards[4:])
    yield Case("half of a node's links", node("gpu-1"), rails
               ).firing("1m").firing("3m", alert("LinkNodeManyBadLinks", "page", instance="gpu-1")
               ).records("3m", "instance:linkhealth_shared_fault:links", ({"instance": "gpu-1"}, 4))
    yield Case("two of a node's links", node("gpu-1"), flat(
        port("gpu-1", card, "degraded" if card < "mlx5_2" else "healthy", (f"leaf-{card}", "E1")) for card in cards[:4]),
        flat(fault("gpu-1", card, "dirty_connector") for card in cards[:2])).firing("9m")
    yield from storms()
    yield from parts()


def storms():
    links = flat(port(f"gpu-{number}", "mlx5_0", peer=(f"leaf-{number % 5}", f"E{number}"), rack="r1", pod="a",
                      part=("V", "P", "1")) for number in range(100))
    calm = flat(downs(f"gpu-{number}", "mlx5_0", always(0), rack="r1", pod="a") for number in range(12, 100))
    nodes = flat(node(f"gpu-{number}") for number in range(100))
    storm = flat(downs(f"gpu-{number}", "mlx5_0", "0x29 1x3 2x3 3x3 4x900", rack="r1", pod="a") for number in range(12))
    named = flat(fault(f"gpu-{number}", "mlx5_0", "congestion", "fabric", "notice", "acknowledged") for number in range(12))
    yield Case("flap storm", nodes, links, calm, storm, named
               ).firing("31m").firing("33m", alert("LinkFleetFlapStorm", "page")).firing("70m"
               ).records("33m", "fleet:linkhealth_links_flapping:ratio5m", ({}, 0.12)
               ).about("33m", "fleet:linkhealth_link_downs:rate5m", "fleet:linkhealth_link_downs:rate5m > bool 0", ({}, 1)
               ).records("20m", "fleet:linkhealth_link_downs:rate5m", ({}, 0)
               ).about("33m", "link:linkhealth_link_downs_placed:rate5m", "count(link:linkhealth_link_downs_placed:rate5m)", ({}, 12)
               ).about("33m", "switch:linkhealth_link_downs:rate5m", "count(switch:linkhealth_link_downs:rate5m)", ({}, 5)
               ).about("33m", "rack:linkhealth_link_downs:rate5m", "count by (pod, rack) (rack:linkhealth_link_downs:rate5m)",
                       ({"pod": "a", "rack": "r1"}, 1)
               ).about("33m", "part:linkhealth_link_downs:rate5m", "count by (part_number) (part:linkhealth_link_downs:rate5m)",
                       ({"part_number": "P"}, 1))
    few = flat(downs(f"gpu-{number}", "mlx5_0", "0x29 1x3 2x900" if number < 9 else "0x900", rack="r1", pod="a") for number in range(12))
    yield Case("nine links that flap are no storm", nodes, links, calm, few).firing("33m").firing("36m")
    reboot = flat(downs(f"gpu-{number}", "mlx5_0", "0x29 1x900", "voluntary") for number in range(100))
    yield Case("100 nodes reloaded on purpose are no storm", nodes, links, reboot).firing("33m").firing("40m")


def parts():
    bad = flat(port(f"a-{number}", "mlx5_0", "down" if number < 10 else "healthy", part=("V", "BAD", "1")) for number in range(20))
    bad += flat(fault(f"a-{number}", "mlx5_0", "bad_module", "local", state="acknowledged") for number in range(10))
    good = flat(port(f"b-{number}", "mlx5_0", part=("V", "GOOD", "2"), pod="p", rack="r") for number in range(80))
    yield Case("a part stands out", bad, good, node("a-0")
               ).firing("59m").firing("61m", alert("LinkPartStandsOut", "ticket", vendor="V", part_number="BAD")
               ).records("61m", "firmware:linkhealth_links:count",
                         ({"vendor": "V", "part_number": "BAD", "firmware": "1", "health": "down"}, 10),
                         ({"vendor": "V", "part_number": "BAD", "firmware": "1", "health": "healthy"}, 10),
                         ({"vendor": "V", "part_number": "GOOD", "firmware": "2", "health": "healthy"}, 80)
               ).records("61m", "part:linkhealth_links:count",
                         ({"vendor": "V", "part_number": "BAD", "health": "down"}, 10),
                         ({"vendor": "V", "part_number": "BAD", "health": "healthy"}, 10),
                         ({"vendor": "V", "part_number": "GOOD", "health": "healthy"}, 80)
               ).records("61m", "vendor:linkhealth_links:count", ({"vendor": "V", "health": "down"}, 10),
                         ({"vendor": "V", "health": "healthy"}, 90)
               ).records("61m", "fleet:linkhealth_links:count", ({"health": "down"}, 10), ({"health": "healthy"}, 90)
               ).records("61m", "pod:linkhealth_links:count", ({"pod": "p", "health": "healthy"}, 80)
               ).records("61m", "rack:linkhealth_links:count", ({"pod": "p", "rack": "r", "health": "healthy"}, 80))
    few = flat(port(f"a-{number}", "mlx5_0", "down" if number < 4 else "healthy", part=("V", "BAD", "1")) for number in range(20))
    few += flat(fault(f"a-{number}", "mlx5_0", "bad_module", "local", state="acknowledged") for number in range(4))
    yield Case("four bad ones of a part are no pattern", few, good, node("a-0")).firing("90m")


def repairs():
    entry = (node("gpu-1"), port("gpu-1", "mlx5_0", "degraded", ("leaf-1", "E1")), port("gpu-1", "mlx5_1"))
    again = alert("LinkFaultReopened", "ticket", instance="gpu-1", peer_system="leaf-1", **DIRTY)
    dirty = alert("LinkDirtyConnector", "ticket", instance="gpu-1", peer_system="leaf-1", **DIRTY)
    came = fault("gpu-1", "mlx5_0", "dirty_connector", values="_x90 0.9x900")
    yield Case("a fault came back", *entry, came, events("gpu-1", "dirty_connector", "reopened", "0x90 1x900")
               ).firing("94m").firing("101m", again, dirty).firing("170m", dirty)
    yield Case("a fault came back after the monitor was restarted: the counter appears with 1", *entry, came,
               events("gpu-1", "dirty_connector", "reopened", "_x90 1x900")).firing("101m", again, dirty).firing("170m", dirty)
    yield Case("an old count that Prometheus sees for the first time", *entry, fault("gpu-1", "mlx5_0", "dirty_connector"),
               events("gpu-1", "dirty_connector", "reopened", always(3))).firing("20m", dirty).firing("70m", dirty)
    yield Case("a counter reset is no return", *entry, fault("gpu-1", "mlx5_0", "dirty_connector"),
               events("gpu-1", "dirty_connector", "reopened", "3x70 0x900")).firing("80m", dirty)
    thrice = "0x60 1x60 2x60 3x900"
    yield Case("opened three times in a week", node("gpu-1"), port("gpu-1", "mlx5_0"), events("gpu-1", "dirty_connector", "opened", thrice)
               ).firing("150m").firing("200m", alert("LinkRepeatOffender", "ticket", instance="gpu-1", **DIRTY)
               ).about("200m", "link_fault:linkhealth_faults_opened:count7d",
                       "round(link_fault:linkhealth_faults_opened:count7d)", ({"instance": "gpu-1", "port": "1", **DIRTY}, 3)
               ).about("200m", "link_fault:linkhealth_fault_events:rate5m",  # for the whole node, as in the runbook
                       "round(sum by (instance, fault) (sum_over_time("
                       "link_fault:linkhealth_fault_events:rate5m{event=~\"opened|reopened\"}[7d])) * 60)",
                       ({"instance": "gpu-1", "fault": "dirty_connector"}, 3)
               ).about("63m", "link_fault:linkhealth_fault_events:rate5m",
                       "count by (instance, fault, event) (link_fault:linkhealth_fault_events:rate5m)",
                       ({"instance": "gpu-1", "fault": "dirty_connector", "event": "opened"}, 1)
               ).about("63m", "fault:linkhealth_fault_events:rate5m", "count by (fault, event) (fault:linkhealth_fault_events:rate5m)",
                       ({"fault": "dirty_connector", "event": "opened"}, 1))
    closed = flat(events(f"gpu-{number}", "dirty_connector", "closed", "0x30 1x900") for number in range(10))
    reopened = flat(events(f"gpu-{number}", "dirty_connector", "reopened", "0x60 1x900") for number in range(5))
    yield Case("half of the repairs held", closed, reopened, node("gpu-1")
               ).firing("60m").firing("130m", alert("LinkRepairsDoNotHold", "info", fault="dirty_connector")
               ).about("130m", "fault:linkhealth_repairs_held:ratio7d", "round(fault:linkhealth_repairs_held:ratio7d, 0.01)",
                       ({"fault": "dirty_connector"}, 0.5))
    yield Case("all repairs held", closed, node("gpu-1")).firing("130m"
               ).about("130m", "fault:linkhealth_repairs_held:ratio7d", "round(fault:linkhealth_repairs_held:ratio7d, 0.01)",
                       ({"fault": "dirty_connector"}, 1))


def figures():
    def place(name, card, **label):
        return [series("linkhealth_port_info", always(1), instance=name, device="mlx5_0", port="1", peer_system="spine-1",
                       peer_port="E", peer_card=card, hca_type="MT4129", nic_firmware="28.1", **label)]
    yield Case("line card and rail; a site without these labels has none", node("gpu-1"), place("gpu-1", "3", rail="0"),
               place("gpu-2", "4", rail="0"),
               [series("linkhealth_port_health", always(1), instance=name, device="mlx5_0", port="1", health=health)
                for name, health in (("gpu-1", "healthy"), ("gpu-2", "at_risk"))],
               [series("linkhealth_rx_power_margin_db", always(value), instance=name, device="mlx5_0", port="1")
                for name, value in (("gpu-1", 3), ("gpu-2", 0.5))]
               ).records("5m", "switch_card:linkhealth_links:count",
                         ({"peer_system": "spine-1", "peer_card": "3", "health": "healthy"}, 1),
                         ({"peer_system": "spine-1", "peer_card": "4", "health": "at_risk"}, 1)
               ).records("5m", "rail:linkhealth_links:count", ({"rail": "0", "health": "healthy"}, 1),
                         ({"rail": "0", "health": "at_risk"}, 1)
               ).records("5m", "switch:linkhealth_links:count", ({"peer_system": "spine-1", "health": "healthy"}, 1),
                         ({"peer_system": "spine-1", "health": "at_risk"}, 1)
               ).records("5m", "fleet:linkhealth_links_low_rx_margin:count", ({}, 1)
               ).records("5m", "nic_firmware:linkhealth_links:count",
                         ({"hca_type": "MT4129", "nic_firmware": "28.1", "health": "healthy"}, 1),
                         ({"hca_type": "MT4129", "nic_firmware": "28.1", "health": "at_risk"}, 1)
               ).about("5m", "link:linkhealth_port:info", "count by (rail) (link:linkhealth_port:info)", ({"rail": "0"}, 2)
               ).about("5m", "link:linkhealth_port_health:info", "count by (peer_card) (link:linkhealth_port_health:info)",
                       ({"peer_card": "3"}, 1), ({"peer_card": "4"}, 1))
    yield Case("repairs, by what was done", node("gpu-1"),
               [series("linkhealth_repairs_total", "0x10 1x900", instance="gpu-1", action="module_replaced", outcome="held"),
                series("linkhealth_repairs_total", always(0), instance="gpu-1", action="fibre_reseated", outcome="failed")]
               ).about("13m", "action:linkhealth_repairs:rate5m", "count by (action, outcome) (action:linkhealth_repairs:rate5m)",
                       ({"action": "module_replaced", "outcome": "held"}, 1))
    at = {"device": "mlx5_0", "port": "1", "pod": "a"}
    yield Case("bandwidth lost; two targets with one instance break no rule", node("gpu-1"),
               port("gpu-1", "mlx5_0", peer=("leaf-1", "E1"), pod="a"),
               [series("linkhealth_port_info", always(1), instance="gpu-1", device="mlx5_0", port="1", peer_system="leaf-1",
                       job="again", pod="a"),  # either of the two is right (topk of equals)
                series("linkhealth_bandwidth_expected_bytes_per_second", always(50), instance="gpu-1", **at),
                series("linkhealth_bandwidth_available_bytes_per_second", always(20), instance="gpu-1", **at),
                series("linkhealth_bandwidth_expected_bytes_per_second", always(50), instance="gpu-2", **at),
                series("linkhealth_bandwidth_available_bytes_per_second", always(50), instance="gpu-2", **at)]
               ).records("5m", "link:linkhealth_bandwidth_lost_bytes_per_second:current",
                         ({"instance": "gpu-1", **at}, 30)
               ).records("5m", "fleet:linkhealth_bandwidth_lost_bytes_per_second:sum", ({}, 30)
               ).records("5m", "pod:linkhealth_bandwidth_lost_bytes_per_second:sum", ({"pod": "a"}, 30)
               ).records("5m", "switch:linkhealth_bandwidth_lost_bytes_per_second:sum", ({"peer_system": "leaf-1"}, 30))
    yield Case("time between losses of a part: 2 links, 300 minutes, 2 losses", node("gpu-1"),
               port("gpu-1", "mlx5_0", part=("V", "P", "1")), port("gpu-1", "mlx5_1", part=("V", "P", "1")),
               downs("gpu-1", "mlx5_0", "0x100 1x100 2x900")
               ).about("299m", "part:linkhealth_mtbf_seconds:30d", "round(part:linkhealth_mtbf_seconds:30d / 60, 20)",
                       ({"vendor": "V", "part_number": "P"}, 300))


def monitor():
    yield Case("no target at all", [series("up", always(1), job="other", instance="x")]
               ).firing("9m").firing("11m", alert("LinkHealthAllAbsent", "page"))
    yield Case("one monitor is gone", node("gpu-0", "1x10 stale _x900"), *[node(f"gpu-{number}") for number in range(1, 9)]
               ).firing("24m").firing("27m", alert("LinkHealthAbsent", "ticket", instance="gpu-0"))
    yield Case("many monitors are gone", *[node(f"gpu-{number}", "1x10 stale _x900") for number in range(6)],
               *[node(f"gpu-{number}") for number in range(6, 20)]
               ).firing("15m").firing("22m", alert("LinkHealthManyAbsent", "page"))

    def own(metric, values):
        return [series(metric, values, job="linkhealth", instance="gpu-1")]
    now = "0+60x900"
    yield Case("a fresh sample, and a pause of four minutes", node("gpu-1"), node("gpu-2"),
               own("linkhealth_last_sample_timestamp_seconds", now),
               [series("linkhealth_last_sample_timestamp_seconds", "0+60x20 1200x4 1500+60x900", job="linkhealth", instance="gpu-2")]
               ).firing("24m").firing("30m").firing("60m")
    yield Case("the sample gets old", node("gpu-1"), own("linkhealth_last_sample_timestamp_seconds", "0+60x10 600x900")
               ).firing("16m").firing("25m", alert("LinkHealthStale", "ticket", instance="gpu-1"))
    yield Case("late cycles; one late cycle is nothing", node("gpu-1"), own("linkhealth_loop_lateness_seconds", "0.1x20 5x900"),
               [series("linkhealth_loop_lateness_seconds", "0.1x20 50x2 0.1x900", job="linkhealth", instance="gpu-2")]
               ).firing("26m").firing("45m", alert("LinkHealthLoopLate", "ticket", instance="gpu-1"))
    yield Case("a read that hangs; one that came back", node("gpu-1"), own("linkhealth_stuck_probes", "0x20 2x900"),
               [series("linkhealth_stuck_probes", "0x20 1x8 0x900", job="linkhealth", instance="gpu-2")]
               ).firing("30m").firing("40m", alert("LinkHealthStuckProbe", "ticket", instance="gpu-1"))
    yield Case("unknown for a moment, each half hour", node("gpu-1"), [
        series("linkhealth_port_health", values, job="linkhealth", instance="gpu-1", device="mlx5_0", port="1", health=health)
        for health, values in (("unknown", "1 stale _x28 1 stale _x28 1 stale"), ("healthy", "_ 1x28 stale 1x28 stale 1x900"))]
        ).firing("40m").firing("70m").firing("100m")
    yield Case("a disk that stays full; one that was full for a while", node("gpu-1"), own("linkhealth_store_up", "1x20 0x900"),
               [series("linkhealth_store_up", "1x20 0x8 1x900", job="linkhealth", instance="gpu-2")]
               ).firing("30m").firing("40m", alert("LinkHealthForgets", "ticket", instance="gpu-1"))
    yield Case("nobody can say", node("gpu-1"), port("gpu-1", "mlx5_0", "unknown"), port("gpu-1", "mlx5_1", "unknown"),
               fault("gpu-1", "mlx5_1", "monitor_blind", "node", state="acknowledged")
               ).firing("29m").firing("61m", alert("LinkHealthUnknown", "info", instance="gpu-1", device="mlx5_0"))


def named_groups():
    return re.findall(r"- name: (\S+)", "".join(open(path, encoding="utf-8").read() for path in RULES))


def named_rules():
    text = "".join(open(path, encoding="utf-8").read() for path in RULES)
    return set(re.findall(r"- alert: (\S+)", text)), set(re.findall(r"- record: (\S+)", text))


def unknown_metrics():
    """Names in rules and dashboards that the program does not serve: a metric that was renamed leaves no empty alert behind."""
    served = set(re.findall(r"^\| `(linkhealth_\w+)`", open(os.path.join(ROOT, "docs/metrics.md"), encoding="utf-8").read(), re.M))
    boards = os.path.join(ROOT, "dashboards/grafana")
    texts = {path: open(path, encoding="utf-8").read() for path in RULES + [os.path.join(boards, name) for name in os.listdir(boards)]}
    return sorted(f"{os.path.basename(path)}: {name}" for path, text in texts.items()
                  for name in set(re.findall(r"(?<![\w:])(linkhealth_\w+)(?![\w:])", text)) - served)


def texts_for_people():
    """What names series to people or asks for them: documents, runbooks, dashboards, deploy/, `linkhealth fleet`, and the rules."""
    found = (path for pattern in ("*.md", "docs/**/*.md", "dashboards/**/*.*", "deploy/**/*.*", "cli/*.cpp")
             for path in pathlib.Path(ROOT).glob(pattern) if path.suffix != ".pyc")
    return {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in found}


def unrecorded(texts):
    """Names of recorded series that no rule records: who looks there sees nothing and thinks that all is well."""
    records = named_rules()[1]
    return sorted(f"{path}: {name}" for path, text in texts.items()
                  for name in set(re.findall(r"(?<![\w:])\w+:linkhealth_\w+:\w+", text)) - records)


# labels added by Prometheus itself or by a site's own series
NOT_OURS = {"instance", "job", "alertname", "severity", "alertstate", "le", "__name__"}


def unknown_labels():
    """Labels in rules, dashboards and their queries that no metric carries: neither the program's, nor by the relabeling of
    deploy/prometheus.yml. A rule over such a label is empty everywhere."""
    page = open(os.path.join(ROOT, "docs/metrics.md"), encoding="utf-8").read()
    served = set(re.findall(r"`(\w+)`", " ".join(line.split("|")[3] for line in page.splitlines() if line.startswith("| `"))))
    deploy = open(os.path.join(ROOT, "deploy/prometheus.yml"), encoding="utf-8").read()
    served |= set(re.findall(r"target_label: (\w+)", deploy)) | NOT_OURS
    boards = os.path.join(ROOT, "dashboards/grafana")
    out = []
    for path in RULES + [os.path.join(boards, name) for name in os.listdir(boards)]:
        text = open(path, encoding="utf-8").read().replace('\\"', '"')
        used = set(re.findall(r"\$labels\.(\w+)", text)) - {"fault_severity"}
        for names in re.findall(r"(?<!\w)(?:by|without|on|group_left|ignoring) ?\(\s*([\w, \n]*?)\s*\)", text):
            used |= {name.strip() for name in names.split(",") if name.strip()}
        for names in re.findall(r"(?:linkhealth_|ALERTS|up|site:)[\w:]*\{([^{}]*)\}", text):
            used |= set(re.findall(r"(\w+) ?(?:=~|!~|!=|=)", names))
        out += [f"{os.path.basename(path)}: {name}" for name in sorted(used - served)]
    return out


def main():
    unknown = unknown_metrics() + unknown_labels()
    if unknown:
        print("not in docs/metrics.md: " + ", ".join(unknown))
        return 1
    missing = unrecorded(texts_for_people())
    if missing:
        print("no rule records: " + ", ".join(missing))
        return 1
    promtool = shutil.which("promtool")
    if not promtool:
        print("skipped: promtool is not installed (package prometheus)")
        return 77
    if subprocess.run([promtool, "check", "rules", *RULES]).returncode:
        return 1
    cases = [*every_fault(catalogue(sys.argv[1])), *single_links(), *shared_causes(), *repairs(), *figures(), *monitor()]
    alerts, records = named_rules()
    untested = (alerts - set().union(*(case.fired for case in cases))) | (records - set().union(*(case.recorded for case in cases)))
    if untested:
        print("no case for: " + ", ".join(sorted(untested)))
        return 1
    cases = [case for case in cases if len(sys.argv) < 3 or sys.argv[2] in case.name]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "cases.json")
        with open(path, "w", encoding="utf-8") as file:
            # otherwise promtool runs groups in no order; in Prometheus they are up to an interval apart
            json.dump({"rule_files": RULES, "evaluation_interval": "1m", "group_eval_order": named_groups(),
                       "tests": [case.promtool() for case in cases]}, file)
        done = subprocess.run([promtool, "test", "rules", path], timeout=500)
    checks = sum(len(case.checks) for case in cases)
    print(f"{len(cases)} cases, {checks} checks of {len(alerts)} alerts and {len(records)} recording rules")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
