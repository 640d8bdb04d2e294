#!/usr/bin/env python3
"""agree.py LINKHEALTH SOCKET DEVICE NETDEV: the report of a port says what the kernel's own tools print for it.

Reads the tools, then the report, then the tools again: a value must lie between the two readings (counters grow; the others
are equal). Prints one line for each value that differs, and how many were compared. Exit code 1 when one differs.
"""
import json
import re
import subprocess
import sys

TIMEOUT_S = 30


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=TIMEOUT_S).stdout


def first(pattern, text, convert=str):
    """Group 1 of the first line that matches; an absent line is an error: the tool printed something else."""
    match = re.search(pattern, text, re.MULTILINE)
    if not match:
        raise ValueError(f"no line matches {pattern}")
    return convert(match.group(1).strip())


def optics(netdev):
    """What `ethtool -m` prints: identity, temperature, supply, and per lane mW and mA."""
    text = run("ethtool", "-m", netdev)
    values = {
        "module.vendor": first(r"Vendor name +: (.*)", text),
        "module.part_number": first(r"Vendor PN +: (.*)", text),
        "module.serial": first(r"Vendor SN +: (.*)", text),
        "module.temperature_c": first(r"Module temperature +: ([-0-9.]+) degrees C", text, float),
        "module.supply_v": first(r"Module voltage +: ([0-9.]+) V", text, float),
    }
    for name, label in (("rx_power_mw", r"(?:Rcvr signal avg optical power|Rx optical power|Rx power)"),
                        ("tx_power_mw", r"(?:Transmit avg optical power|Tx optical power|Tx power)"),
                        ("tx_bias_ma", r"(?:Laser tx bias current|Laser bias current|Tx bias current)")):
        lines = re.findall(rf"{label} *\(Channel (\d+)\) +: ([0-9.]+) m[WA]", text)
        if len(lines) < 4:
            raise ValueError(f"ethtool -m {netdev} gives {len(lines)} lanes of {name}")
        for lane, value in lines[:4]:
            values[f"module.lanes[{int(lane) - 1}].{name}"] = float(value)
    return values


def link(netdev, device):
    """What `ethtool` and `ibv_devinfo` print; the physical state's word as sysfs has it."""
    text, verbs = run("ethtool", netdev), run("ibv_devinfo", "-d", device, "-v")
    with open(f"/sys/class/infiniband/{device}/ports/1/phys_state", encoding="ascii") as file:
        phys_state = file.read().split(": ")[1].strip()
    return {
        "link.speed_mbps": first(r"Speed: (\d+)Mb/s", text, int),
        "link.lanes": first(r"Lanes: (\d+)", text, int),
        "link.carrier": first(r"Link detected: (\w+)", text) == "yes",
        "link.state": first(r"state:\s+PORT_(\w+)", verbs),
        "link.phys_state": phys_state,
        "id.link_layer": first(r"link_layer:\s+(\w+)", verbs),
        "id.guid": first(r"node_guid:\s+([0-9a-f:]+)", verbs),
    }


def driver_statistics(netdev):
    """What `ethtool -S` prints; a driver without any is an error of the tool, and nothing to compare."""
    return subprocess.run(["ethtool", "-S", netdev], capture_output=True, text=True, timeout=TIMEOUT_S).stdout


def carrier(netdev):
    """The kernel's own counts, which `ip` prints only with details."""
    return {f"link.{name}": int(open(f"/sys/class/net/{netdev}/{name}", encoding="ascii").read())
            for name in ("carrier_up_count", "carrier_down_count")}


def counters(netdev, device):
    """What `ethtool -I --show-fec` and `rdma statistic show` print."""
    fec = run("ethtool", "-I", "--show-fec", netdev)
    values = {f"counters.fec_{name}": first(rf"^ *{name}: (\d+)", fec, int)
              for name in ("corrected_blocks", "uncorrectable_blocks", "corrected_bits")}
    # a driver's own statistics, as far as they are in the counter table
    for name, value in re.findall(r"^ +(link_down_events_phy|rx_pcs_symbol_err_phy|rx_bits_phy|rx_discards_phy): (\d+)$",
                                  driver_statistics(netdev), re.MULTILINE):
        values[f"counters.{name}"] = int(value)
    shown = json.loads(run("rdma", "-j", "statistic", "show", "link", f"{device}/1"))[0]
    values |= {f"counters.{name}": value for name, value in shown.items() if name not in ("ifindex", "ifname", "port")}
    return values


def everything(netdev, device):
    return optics(netdev) | link(netdev, device) | carrier(netdev) | counters(netdev, device)


def report_of(linkhealth, socket, port):
    """The port's part of the report; its groups (link, counters, module) are in its `now`."""
    report = json.loads(run(linkhealth, "--socket", socket, "status", "--json"))
    entry = next(entry for entry in report["ports"] if entry["port"] == port)
    return entry | (entry.get("now") or entry.get("latest") or {})


def lookup(tree, path):
    for key in re.findall(r"[^.\[\]]+", path):
        tree = tree[int(key)] if isinstance(tree, list) else tree[key]
    return tree


def same(low, value, high):
    if isinstance(low, bool) or isinstance(low, str):
        return value in (low, high)
    # ethtool prints two to four decimals
    slack = 0 if isinstance(low, int) else 0.006
    return low - slack <= value <= high + slack


def main(linkhealth, socket, device, netdev):
    before = everything(netdev, device)
    port = report_of(linkhealth, socket, f"{device}/1")
    after = everything(netdev, device)
    differ = 0
    for path, low in before.items():
        try:
            value = lookup(port, path)
        except (KeyError, IndexError, TypeError):
            print(f"{path}: the tool says {low}, the report has none")
            differ += 1
            continue
        if not same(low, value, after[path]):
            print(f"{path}: the tool says {low} (then {after[path]}), the report {value}")
            differ += 1
    print(f"{len(before)} values compared, {differ} differ")
    return 1 if differ else 0


if __name__ == "__main__":
    if len(sys.argv) != 5:
        print(__doc__.strip(), file=sys.stderr)
        sys.exit(2)
    sys.exit(main(*sys.argv[1:]))
