#!/usr/bin/env python3
"""grafana.py [--check]: writes dashboards/grafana/*.json: fleet, switch, node, link, modules. They read what
dashboards/rules record. --check writes nothing and fails when a file is old."""
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
DATASOURCE = {"type": "prometheus", "uid": "${datasource}"}
COLOURS = {"healthy": "green", "at_risk": "yellow", "degraded": "orange", "down": "red", "unknown": "purple", "exempt": "gray"}


def health_colours():
    return [{"matcher": {"id": "byName", "options": word}, "properties": [
        {"id": "color", "value": {"mode": "fixed", "fixedColor": colour}}]} for word, colour in COLOURS.items()]


def panel(kind, title, queries, width=12, height=8, unit="short", note="", log=False, overrides=None, decimals=None):
    """queries: (expression, legend), or only the expression for a table of what is now."""
    table = kind == "table"
    targets = []
    for number, query in enumerate(queries):
        expr, legend = query if isinstance(query, tuple) else (query, "")
        target = {"refId": chr(ord("A") + number), "expr": expr, "legendFormat": legend, "datasource": DATASOURCE}
        if table or kind == "stat":
            target["instant"] = True
        if table:
            target["format"] = "table"
        targets.append(target)
    defaults = {"unit": unit, "custom": {}}
    if decimals is not None:
        defaults["decimals"] = decimals
    if kind == "timeseries":
        defaults["custom"] = {"lineWidth": 1, "fillOpacity": 10,
                              "scaleDistribution": {"type": "log", "log": 10} if log else {"type": "linear"}}
    out = {"type": kind, "title": title, "description": note, "datasource": DATASOURCE, "targets": targets,
           "fieldConfig": {"defaults": defaults, "overrides": overrides or []}, "options": {}, "size": (width, height)}
    if table:
        hidden = {"Time": True, "job": True, "__name__": True, "port": False}
        out["transformations"] = [{"id": "organize", "options": {"excludeByName": hidden}}]
        out["options"] = {"showHeader": True}
    if kind == "stat":
        out["options"] = {"reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False}, "colorMode": "value"}
    return out


def variable(name, query):
    return {"name": name, "label": name, "type": "query", "datasource": DATASOURCE, "query": {"query": query, "refId": name},
            "definition": query, "refresh": 2, "sort": 1, "includeAll": False, "multi": False, "options": []}


def dashboard(name, title, panels, variables=(), annotations=()):
    x = y = row = 0
    placed = []
    for number, one in enumerate(panels, 1):
        width, height = one.pop("size")
        if x + width > 24:
            x, y, row = 0, y + row, 0
        placed.append({"id": number, "gridPos": {"x": x, "y": y, "w": width, "h": height}, **one})
        x, row = x + width, max(row, height)
    source = {"name": "datasource", "label": "data source", "type": "datasource", "query": "prometheus", "options": [],
              "refresh": 1, "hide": 0}
    return {"uid": f"linkhealth-{name}", "title": f"Links: {title}", "tags": ["linkhealth"], "schemaVersion": 37, "version": 1,
            "editable": True, "graphTooltip": 1, "refresh": "1m", "time": {"from": "now-6h", "to": "now"}, "timezone": "utc",
            "templating": {"list": [source, *variables]}, "annotations": {"list": list(annotations)}, "panels": placed,
            "links": [{"type": "dashboards", "tags": ["linkhealth"], "title": "Links", "asDropdown": True, "includeVars": True,
                       "icon": "external link", "keepTime": True, "targetBlank": False, "tooltip": ""}]}


BAD = 'health=~"degraded|down"'
OPEN = "link:linkhealth_fault_open:confidence"


def fleet():
    return dashboard("fleet", "fleet", [
        panel("stat", "Links now", [("fleet:linkhealth_links:count", "{{health}}")], 12, 5, overrides=health_colours()),
        panel("stat", "Bandwidth lost", [("fleet:linkhealth_bandwidth_lost_bytes_per_second:sum", "")], 4, 5, "Bps"),
        panel("stat", "Faults that want work", [(f"count({OPEN}) or vector(0)", "")], 4, 5),
        panel("stat", "Nodes that do not answer", [('count(up{job="linkhealth"} == 0) or vector(0)', "")], 4, 5),
        panel("timeseries", "Links that are not healthy", [('fleet:linkhealth_links:count{health!~"healthy|exempt"}', "{{health}}")],
              note="At bring-up this is the burn-down.", overrides=health_colours()),
        panel("timeseries", "Links that flap", [("fleet:linkhealth_links_flapping:ratio5m", "share of all links")],
              unit="percentunit", note="Involuntary carrier losses only. Storm: 1 %."),
        panel("table", "Worst switches", [f"topk(15, sum by (peer_system) (switch:linkhealth_links:count{{{BAD}}}))"], 8,
              note="Links that are degraded or down"),
        panel("table", "Faults by name", [f"count by (fault, end, severity) ({OPEN})"], 8),
        panel("table", "Repeat offenders, 7 days", ["topk(15, link_fault:linkhealth_faults_opened:count7d)"], 8, decimals=0),
        panel("timeseries", "Repairs: opened, proving, closed, reopened (in an hour)",
              [('sum by (event) (sum_over_time(fault:linkhealth_fault_events:rate5m{event=~"opened|proving|closed|reopened"}[1h])) * 60',
                "{{event}}")], decimals=0),
        panel("timeseries", "Repairs that held, 7 days", [("fault:linkhealth_repairs_held:ratio7d", "{{fault}}")],
              unit="percentunit"),
        panel("table", "What was done, and whether it held, 7 days",
              ["sum by (action, outcome) (sum_over_time(action:linkhealth_repairs:rate5m[7d])) * 60"], decimals=0),
        panel("table", "By rack", [f"topk(15, sum by (pod, rack) (rack:linkhealth_links:count{{{BAD}}}))"], 6,
              note="Links that are degraded or down; where the site says where a node stands"),
        panel("table", "By rail", [f"sum by (rail) (rail:linkhealth_links:count{{{BAD}}})"], 6,
              note="Links that are degraded or down; where the site sets rail"),
    ])


def switch():
    name = 'peer_system="$switch"'
    return dashboard("switch", "switch", [
        panel("stat", "Links of $switch", [(f"switch:linkhealth_links:count{{{name}}}", "{{health}}")], 12, 5,
              overrides=health_colours()),
        panel("stat", "Bandwidth lost", [(f"switch:linkhealth_bandwidth_lost_bytes_per_second:sum{{{name}}} or vector(0)", "")], 6, 5, "Bps"),
        panel("stat", "Shared fault", [(f"switch:linkhealth_shared_fault:links{{{name}}} or vector(0)", "links")], 6, 5,
              note="More than 0: the switch is likelier at fault than its links"),
        panel("table", "Its links with faults", [f"{OPEN}{{{name}}}"], 24, unit="percentunit"),
        panel("timeseries", "Its links that are not healthy",
              [(f'switch:linkhealth_links:count{{{name}, health!~"healthy|exempt"}}', "{{health}}")], overrides=health_colours()),
        panel("timeseries", "Carrier losses in 5 minutes", [(f"switch:linkhealth_link_downs:rate5m{{{name}}} * 300", "losses")]),
        panel("table", "By line card", [f"switch_card:linkhealth_links:count{{{name}}}"], note="Where the site sets peer_card"),
        panel("table", "Ends that disagree", [f"link:linkhealth_ends_disagree:up{{{name}}}"]),
    ], [variable("switch", "label_values(switch:linkhealth_links:count, peer_system)")])


def node():
    name = 'instance="$node"'
    return dashboard("node", "node", [
        panel("table", "Ports", [f"(linkhealth_port_health{{{name}}} == 1) * on (instance, device, port) group_left (netdev, pci, "
                                 f"peer_system, peer_port) topk by (instance, device, port) (1, linkhealth_port_info{{{name}}})"], 24),
        panel("table", "Faults, also acknowledged ones and those that prove their repair",
              [f"linkhealth_fault_active{{{name}}}"], 24, 6, "percentunit"),
        panel("timeseries", "Receive power above the low alarm", [(f"linkhealth_rx_power_margin_db{{{name}}}", "{{device}}/{{port}}")],
              unit="dB"),
        panel("timeseries", "Pre-FEC bit error ratio", [(f"linkhealth_pre_fec_ber{{{name}}} > 0", "{{device}}/{{port}}")], unit="sci", log=True),
        panel("timeseries", "Carrier losses in an hour",
              [(f"sum by (device, port, intent) (increase(linkhealth_link_downs_total{{{name}}}[1h]))", "{{device}}/{{port}} {{intent}}")]),
        panel("timeseries", "The monitor", [(f"linkhealth_probe_duration_seconds{{{name}}}", "{{probe}}"),
                                            (f"linkhealth_loop_lateness_seconds{{{name}}}", "lateness")], unit="s"),
        panel("table", "What can't be read", [f"linkhealth_gap{{{name}}}"], 24, 6),
    ], [variable("node", "label_values(linkhealth_build_info, instance)")])


def link():
    name = 'instance="$node", device="$device", port="$port"'

    def note(title, expr, colour):
        return {"name": title, "datasource": DATASOURCE, "enable": True, "iconColor": colour, "step": "60s",
                "target": {"refId": "Annotation", "expr": expr, "datasource": DATASOURCE}, "titleFormat": title, "textFormat": "{{fault}} {{state}}", "useValueForTime": False}
    return dashboard("link", "link", [
        panel("stat", "Health", [(f"linkhealth_port_health{{{name}}} == 1", "{{health}}")], 6, 5, overrides=health_colours()),
        panel("stat", "Above the low alarm", [(f"linkhealth_rx_power_margin_db{{{name}}}", "")], 6, 5, "dB", decimals=1),
        panel("stat", "Speed", [(f"linkhealth_bandwidth_available_bytes_per_second{{{name}}} * 8", "")], 6, 5, "bps"),
        panel("stat", "Carrier losses in 24 h", [(f'sum(increase(linkhealth_link_downs_total{{{name}, intent="involuntary"}}[1d]))', "")],
              6, 5, decimals=0),
        panel("table", "Faults", [f"linkhealth_fault_active{{{name}}}"], 12, 6, "percentunit"),
        panel("table", "Module and far end", [f"linkhealth_module_info{{{name}}}", f"linkhealth_port_info{{{name}}}"], 12, 6),
        panel("timeseries", "Pre-FEC bit error ratio", [(f"linkhealth_pre_fec_ber{{{name}}} > 0", "pre-FEC")], unit="sci", log=True,
              note="KP4 corrects up to some 2.4e-4"),
        panel("timeseries", "Blocks that FEC could not correct, a second",
              [(f"rate(linkhealth_fec_uncorrectable_blocks_total{{{name}}}[5m])", "blocks")]),
        panel("timeseries", "Light by lane at both ends, and the limit (opt-in group optics)",
              [(f"10 * log10(linkhealth_module_lane_rx_power_watts{{{name}}} * 1000)", "received, lane {{lane}}"),
               (f"10 * log10(linkhealth_module_lane_tx_power_watts{{{name}}} * 1000)", "sent, lane {{lane}}"),
               (f"10 * log10(linkhealth_peer_lane_tx_power_watts{{{name}}} * 1000)", "sent by the far end, lane {{lane}}"),
               (f"10 * log10(linkhealth_peer_lane_rx_power_watts{{{name}}} * 1000)", "received there, lane {{lane}}"),
               (f"min by (instance, device, port) (10 * log10(linkhealth_module_lane_rx_power_watts{{{name}}} * 1000))"
                f" - on (instance, device, port) linkhealth_rx_power_margin_db{{{name}}}", "low alarm of what is received")],
              unit="dBm", note="The far end only where its module is read: by MAD, or imported from the switch's telemetry."),
        panel("timeseries", "Temperature (opt-in group optics)", [(f"linkhealth_module_temperature_celsius{{{name}}}", "module")],
              unit="celsius"),
    ], [variable("node", "label_values(linkhealth_build_info, instance)"),
        variable("device", 'label_values(linkhealth_link_up{instance="$node"}, device)'),
        variable("port", 'label_values(linkhealth_link_up{instance="$node", device="$device"}, port)')],
        [note("fault", f'linkhealth_fault_active{{{name}, state="open"}}', "red"),
         note("repair proves itself", f'linkhealth_fault_active{{{name}, state="proving"}}', "blue")])


def modules():
    share = (f"sum by (vendor, part_number) (part:linkhealth_links:count{{{BAD}}}) / "
             'sum by (vendor, part_number) (part:linkhealth_links:count{health!="exempt"})')
    return dashboard("modules", "modules", [
        panel("table", "Links by part", ["sum by (vendor, part_number) (part:linkhealth_links:count)"]),
        panel("table", "Share of a part's links that are degraded or down", [f"sort_desc({share})"], unit="percentunit"),
        panel("table", "By firmware", ["sum by (vendor, part_number, firmware, health) (firmware:linkhealth_links:count)"], 24),
        panel("table", "Links by the NIC's firmware", ["sum by (hca_type, nic_firmware, health) (nic_firmware:linkhealth_links:count)"]),
        panel("table", "Time between two carrier losses, 30 days", ["sort(part:linkhealth_mtbf_seconds:30d)"], unit="s"),
        panel("timeseries", "Carrier losses by part in a day", [("sum_over_time(part:linkhealth_link_downs:rate5m[1d]) * 60",
                                                               "{{vendor}} {{part_number}}")]),
        panel("timeseries", "Hottest modules (opt-in group optics)", [("topk(10, linkhealth_module_temperature_celsius)",
                                                                      "{{instance}} {{device}}/{{port}}")], unit="celsius"),
        panel("stat", "Less than 1 dB above the low alarm", [("fleet:linkhealth_links_low_rx_margin:count or vector(0)", "links")]),
    ])


def build():
    return {one["uid"].removeprefix("linkhealth-") + ".json": json.dumps(one, indent=1, ensure_ascii=False) + "\n"
            for one in (fleet(), switch(), node(), link(), modules())}


def main():
    old = 0
    for name, text in build().items():
        path = os.path.join(HERE, "grafana", name)
        if os.path.exists(path) and open(path, encoding="utf-8").read() == text:
            continue
        old += 1
        if "--check" in sys.argv:
            print(f"dashboards/grafana/{name} is old: run dashboards/grafana.py")
        else:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
    return 1 if old and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
