#!/usr/bin/env python3
"""pictures.py FLEET_NODES [--seconds 90]: draws docs/pictures/fleet.svg and link.svg from what a real Prometheus answers to the
queries of the dashboards, over a simulated fleet of 48 nodes. Plain SVG: small, and readable in a diff."""
import argparse
import html
import json
import math
import os
import signal
import sys
import time

from world import ROOT, World

COLOURS = {"healthy": "#3f9c35", "at_risk": "#c9a100", "degraded": "#e07b00", "down": "#c9302c", "unknown": "#8e5bb5", "exempt": "#888888"}
INK, FAINT, LINE = "#222222", "#777777", "#dddddd"
WIDTH = 900


class Svg:
    def __init__(self, height, title):
        self.parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
                      f'role="img" aria-label="{html.escape(title)}" font-family="sans-serif" font-size="13">',
                      f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>']

    def text(self, x, y, words, colour=INK, size=13, anchor="start", bold=False):
        weight = ' font-weight="bold"' if bold else ""
        self.parts.append(f'<text x="{x:.0f}" y="{y:.0f}" fill="{colour}" font-size="{size}" text-anchor="{anchor}"{weight}>'
                          f"{html.escape(str(words))}</text>")

    def box(self, x, y, width, height, colour=None):
        fill = f'fill="{colour}"' if colour else f'fill="none" stroke="{LINE}"'
        self.parts.append(f'<rect x="{x:.0f}" y="{y:.0f}" width="{max(0, width):.0f}" height="{height:.0f}" {fill}/>')

    def line(self, points, colour):
        path = " ".join(f"{x:.0f},{y:.0f}" for x, y in points)
        self.parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')

    def save(self, name):
        path = os.path.join(ROOT, "docs/pictures", name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join([*self.parts, "</svg>"]) + "\n")


def history(world, expr, seconds):
    end = time.time()
    rows = world.get("/api/v1/query_range", query=expr, start=end - seconds, end=end, step=max(1, seconds // 60))["result"]
    return [(row["metric"], [(float(at), float(value)) for at, value in row["values"]]) for row in rows]


def chart(svg, x, y, width, height, title, series, colour_of, name_of, log=False, unit=""):
    """series: [(labels, [(time, value)])]."""
    svg.text(x, y - 8, title, bold=True)
    svg.box(x, y, width, height)
    values = [value for _, points in series for _, value in points if not log or value > 0]
    if not values:
        return svg.text(x + width / 2, y + height / 2, "no data", FAINT, anchor="middle")

    def scale(value):
        return math.log10(value) if log else value
    low, high = (scale(min(values)), scale(max(values))) if log else (0, scale(max(values)))
    if log:
        low, high = math.floor(low), math.ceil(high + 0.01)
    span = (high - low) or 1
    begin, end = min(at for _, points in series for at, _ in points), max(at for _, points in series for at, _ in points)
    for labels, points in series:
        svg.line([(x + (at - begin) / max(1, end - begin) * width, y + height - (scale(value) - low) / span * (height - 6))
                  for at, value in points if not log or value > 0], colour_of(labels))
    svg.text(x + 4, y + 14, f"1e{high:.0f}{unit}" if log else f"{high:.0f}{unit}", FAINT, 11)
    svg.text(x + 4, y + height - 4, f"1e{low:.0f}{unit}" if log else f"{low:.0f}{unit}", FAINT, 11)
    for number, (labels, points) in enumerate(sorted(series, key=lambda row: -row[1][-1][1])[:6]):
        svg.text(x + width - 6, y + 16 + 15 * number, f"{name_of(labels)}", colour_of(labels), 11, "end")
    return None


def bars(svg, x, y, width, title, rows, colour="#c9302c", words=lambda value: f"{value:.0f}"):
    svg.text(x, y - 8, title, bold=True)
    most = max((value for _, value in rows), default=1) or 1
    for number, (name, value) in enumerate(rows):
        svg.text(x, y + 14 + 20 * number, name, size=12)
        svg.box(x + 190, y + 3 + 20 * number, value / most * (width - 240), 14, colour)
        svg.text(x + 196 + value / most * (width - 240), y + 14 + 20 * number, words(value), FAINT, 12)


def fleet(world, seconds):
    svg = Svg(560, "Fleet: links by health, what is not healthy over time, worst switches, faults")
    links = {labels["health"]: value for labels, value in world.query("fleet:linkhealth_links:count")}
    lost = world.value("fleet:linkhealth_bandwidth_lost_bytes_per_second:sum", 0)
    svg.text(20, 30, f"Links: fleet ({world.fleet['nodes']} simulated nodes, a real Prometheus)", size=16, bold=True)
    for number, health in enumerate(health for health in COLOURS if links.get(health)):
        svg.text(20 + 140 * number, 80, f"{links[health]:.0f}", COLOURS[health], 34)
        svg.text(20 + 140 * number, 98, health.replace("_", " "), FAINT)
    svg.text(860, 80, f"{lost * 8 / 1e12:.1f} Tb/s", INK, 28, "end")
    svg.text(860, 98, "bandwidth lost", FAINT, anchor="end")
    chart(svg, 20, 140, 420, 170, "Links that are not healthy", history(world, 'fleet:linkhealth_links:count{health!~"healthy|exempt"}', seconds),
          lambda labels: COLOURS[labels["health"]], lambda labels: labels["health"].replace("_", " "))
    chart(svg, 460, 140, 420, 170, "Share of the links that flap, %", history(world, "fleet:linkhealth_links_flapping:ratio5m * 100", seconds),
          lambda _: "#0b6fa4", lambda _: "flapping")
    rows = world.query('topk(8, sum by (peer_system) (switch:linkhealth_links:count{health=~"degraded|down"}))')
    bars(svg, 20, 355, 420, "Worst switches: links degraded or down", sorted(((labels["peer_system"], value) for labels, value in rows),
                                                                            key=lambda row: -row[1]))
    rows = world.query("topk(8, count by (fault, end) (link:linkhealth_fault_open:confidence))")
    bars(svg, 460, 355, 420, "Faults that want work", sorted(((f"{labels['fault'].replace('_', ' ')} ({labels['end']})", value)
                                                             for labels, value in rows), key=lambda row: -row[1]), "#e07b00")
    svg.save("fleet.svg")


def link(world, seconds):
    """A link with an open fault, an error ratio and lanes."""
    ports = "on (instance, device, port)"  # the error ratio that changed most comes first
    rows = world.query(f'sort_desc(linkhealth_fault_active{{state="open"}} and {ports} linkhealth_pre_fec_ber > 0 '
                       f"and {ports} linkhealth_module_lane_rx_power_watts)")
    change = {(row["instance"], row["device"]): value for row, value in world.query(
        f"max_over_time(linkhealth_pre_fec_ber[{seconds}s]) / (min_over_time(linkhealth_pre_fec_ber[{seconds}s]) > 0)")}
    rows.sort(key=lambda row: -change.get((row[0]["instance"], row[0]["device"]), 0))
    assert rows, "no link with a fault, an error ratio and lanes"
    labels, confidence = rows[0]
    at = ", ".join(f'{key}="{labels[key]}"' for key in ("instance", "device", "port"))
    info = world.query(f"link:linkhealth_port:info{{{at}}}")[0][0]
    svg = Svg(360, "One link: its fault, lanes, error ratio")
    svg.text(20, 30, f"Links: {labels['instance']} {labels['device']}/{labels['port']} to {info.get('peer_system', '?')} "
             f"{info.get('peer_port', '')}", size=16, bold=True)
    svg.text(20, 56, f"{labels['fault'].replace('_', ' ')} (end: {labels['end']}), {confidence * 100:.0f} % sure", COLOURS["degraded"], 15, bold=True)
    svg.text(20, 76, f"pod {info.get('pod', '?')}, row {info.get('row', '?')}, rack {info.get('rack', '?')}, U {info.get('u', '?')}; module "
             f"{info.get('vendor', '?')} {info.get('part_number', '?')}, firmware {info.get('firmware', '?')}", FAINT)
    lanes = sorted(((row["lane"], value) for row, value in world.query(
        f"10 * log10(linkhealth_module_lane_rx_power_watts{{{at}}} * 1000 > 1e-5)")), key=lambda row: int(row[0]))
    dim = sorted(value for _, value in lanes)[len(lanes) // 2] - 2 if lanes else 0
    svg.text(20, 112, "Received power by lane, dBm", bold=True)
    for number, (lane, value) in enumerate(lanes):
        width = max(4, (value + 20) / 24 * 250)
        svg.text(20, 136 + 22 * number, f"lane {lane}", size=12)
        svg.box(70, 124 + 22 * number, width, 15, COLOURS["degraded"] if value < dim else COLOURS["healthy"])
        svg.text(78 + width, 136 + 22 * number, f"{value:.1f}", FAINT, 12)
    chart(svg, 460, 120, 420, 190, "Pre-FEC bit error ratio", history(world, f"linkhealth_pre_fec_ber{{{at}}}", seconds),
          lambda _: "#0b6fa4", lambda _: "pre-FEC", log=True)
    margin = world.value(f"linkhealth_rx_power_margin_db{{{at}}}")
    svg.text(20, 340, f"{margin:.1f} dB above the module's low alarm" if margin is not None else "", FAINT)
    svg.save("link.svg")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", metavar="FLEET_NODES")
    parser.add_argument("--seconds", type=int, default=90)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended from outside"))  # stops what was started
    with World(options.program, ["--nodes", 48, "--cast", 1, "--every", 3, "--period-ms", 1000, "--before", 60, "--live", 2], 1, 2, True) as world:
        time.sleep(options.seconds)
        fleet(world, options.seconds)
        link(world, options.seconds)
    print(json.dumps({name: os.path.getsize(os.path.join(ROOT, "docs/pictures", name)) for name in ("fleet.svg", "link.svg")}))


if __name__ == "__main__":
    main()
