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


def panel(kind, title, queries, width=12, height=8, unit="short", note="", log=False, overrides=None, decimals=None, links=()):
    """queries: (expression, legend), or only the expression for an instant table. links: (column, title, address) of a table."""
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
    overrides = list(overrides or []) + [
        {"matcher": {"id": "byName", "options": column}, "properties": [{"id": "links", "value": [{"title": text, "url": url}]}]}
        for column, text, url in links]
    if kind == "timeseries":
        defaults["custom"] = {"lineWidth": 1, "fillOpacity": 10,
                              "scaleDistribution": {"type": "log", "log": 10} if log else {"type": "linear"}}
    out = {"type": kind, "title": title, "description": note, "datasource": DATASOURCE, "targets": targets,
           "fieldConfig": {"defaults": defaults, "overrides": overrides}, "options": {}, "size": (width, height)}
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


# Where a click leads: from a switch to its links, from a node to its ports, from a link to its lanes.
TO_SWITCH = ("peer_system", "Open the switch", "/d/linkhealth-switch?var-datasource=${datasource}&var-switch=${__data.fields.peer_system}")
TO_NODE = ("instance", "Open the node", "/d/linkhealth-node?var-datasource=${datasource}&var-node=${__data.fields.instance}")
TO_LINK = ("device", "Open the link", "/d/linkhealth-link?var-datasource=${datasource}&var-node=${__data.fields.instance}"
           "&var-device=${__data.fields.device}&var-port=${__data.fields.port}")
TO_LINK_HERE = (TO_LINK[0], TO_LINK[1], TO_LINK[2].replace("${__data.fields.instance}", "${node}"))


def what_now(where, links, width=24):
    """The open faults that need work, the most severe and surest first: each row is a link to open."""
    return panel("table", "What to do now? Open faults that need work", [f"sort_desc({OPEN}{{{where}}})"], width, 8, "percentunit",
                 note="The value is the probability. Acknowledged faults and repairs being verified are left out. Open a link for its first step.",
                 links=links)


def fleet():
    return dashboard("fleet", "fleet", [
        what_now("", (TO_LINK, TO_NODE, TO_SWITCH)),
        panel("stat", "How many links are in which state?", [("fleet:linkhealth_links:count", "{{health}}")], 12, 5, overrides=health_colours()),
        panel("stat", "How much bandwidth is lost?", [("fleet:linkhealth_bandwidth_lost_bytes_per_second:sum", "")], 4, 5, "Bps"),
        panel("stat", "How many faults need work?", [(f"count({OPEN}) or vector(0)", "")], 4, 5),
        panel("stat", "How many nodes do not answer?", [('count(up{job="linkhealth"} == 0) or vector(0)', "")], 4, 5),
        panel("table", "Which switches have the most bad links?", [f"topk(15, sum by (peer_system) (switch:linkhealth_links:count{{{BAD}}}))"], 8,
              note="Links that are degraded or down", links=(TO_SWITCH,)),
        panel("table", "Which faults are open?", [f"count by (fault, end, severity) ({OPEN})"], 8),
        panel("table", "Which faults keep coming back? (7 days)", ["topk(15, link_fault:linkhealth_faults_opened:count7d)"], 8, decimals=0, links=(TO_LINK, TO_NODE)),
        panel("timeseries", "Is the number of unhealthy links falling?", [('fleet:linkhealth_links:count{health!~"healthy|exempt"}', "{{health}}")],
              note="At bring-up this is the burn-down.", overrides=health_colours()),
        panel("timeseries", "Is there a flap storm?", [("fleet:linkhealth_links_flapping:ratio5m", "share of all links")],
              unit="percentunit", note="Unplanned carrier losses only. Storm: 1%."),
        panel("timeseries", "Are repairs keeping up? (events in an hour)",
              [('sum by (event) (sum_over_time(fault:linkhealth_fault_events:rate5m{event=~"opened|proving|closed|reopened"}[1h])) * 60',
                "{{event}}")], decimals=0),
        panel("timeseries", "Do repairs hold? (7 days)", [("fault:linkhealth_repairs_held:ratio7d", "{{fault}}")],
              unit="percentunit"),
        panel("table", "Which repair action holds? (7 days)",
              ["sum by (action, outcome) (sum_over_time(action:linkhealth_repairs:rate5m[7d])) * 60"], decimals=0),
        panel("table", "Which racks have bad links?", [f"topk(15, sum by (pod, rack) (rack:linkhealth_links:count{{{BAD}}}))"], 6,
              note="Links that are degraded or down; needs the labels pod and rack"),
        panel("table", "Which rails have bad links?", [f"sum by (rail) (rail:linkhealth_links:count{{{BAD}}})"], 6,
              note="Links that are degraded or down; needs the label rail"),
    ])


def switch():
    name = 'peer_system="$switch"'
    return dashboard("switch", "switch", [
        what_now(name, (TO_LINK, TO_NODE)),
        panel("stat", "How many links of $switch are in which state?", [(f"switch:linkhealth_links:count{{{name}}}", "{{health}}")], 12, 5,
              overrides=health_colours()),
        panel("stat", "How much bandwidth is lost?", [(f"switch:linkhealth_bandwidth_lost_bytes_per_second:sum{{{name}}} or vector(0)", "")], 6, 5, "Bps"),
        panel("stat", "Is the switch itself at fault?", [(f"switch:linkhealth_shared_fault:links{{{name}}} or vector(0)", "links")], 6, 5,
              note="More than 0: so many of its links fail together that the switch is likelier at fault than they are"),
        panel("timeseries", "Is the number of unhealthy links falling?",
              [(f'switch:linkhealth_links:count{{{name}, health!~"healthy|exempt"}}', "{{health}}")], overrides=health_colours()),
        panel("timeseries", "How many links went down? (in 5 minutes)", [(f"switch:linkhealth_link_downs:rate5m{{{name}}} * 300", "losses")]),
        panel("table", "Which line card has bad links?", [f"switch_card:linkhealth_links:count{{{name}}}"], note="Needs the label peer_card"),
        panel("table", "Where do the two ends disagree?", [f"link:linkhealth_ends_disagree:up{{{name}}}"], links=(TO_LINK, TO_NODE)),
    ], [variable("switch", "label_values(switch:linkhealth_links:count, peer_system)")])


def node():
    name = 'instance="$node"'
    return dashboard("node", "node", [
        what_now(name, (TO_LINK, TO_SWITCH)),
        panel("table", "How is each port?", [f"(linkhealth_port_health{{{name}}} == 1) * on (instance, device, port) group_left (netdev, pci, "
                                             f"peer_system, peer_port) topk by (instance, device, port) (1, linkhealth_port_info{{{name}}})"], 24,
              links=(TO_LINK, TO_SWITCH)),
        panel("table", "Which faults are acknowledged or being verified?",
              [f"linkhealth_fault_active{{{name}}}"], 24, 6, "percentunit", note="All faults of the node, whatever their state", links=(TO_LINK_HERE,)),
        panel("timeseries", "How much light margin is left?", [(f"linkhealth_rx_power_margin_db{{{name}}}", "{{device}}/{{port}}")],
              unit="dB", note="Received power above the module's low alarm"),
        panel("timeseries", "Which port has bit errors? (pre-FEC BER)", [(f"linkhealth_pre_fec_ber{{{name}}} > 0", "{{device}}/{{port}}")], unit="sci", log=True),
        panel("timeseries", "Which port goes down? (in an hour)",
              [(f"sum by (device, port, intent) (increase(linkhealth_link_downs_total{{{name}}}[1h]))", "{{device}}/{{port}} {{intent}}")]),
        panel("timeseries", "Is the monitor on time?", [(f"linkhealth_probe_duration_seconds{{{name}}}", "{{probe}}"),
                                                        (f"linkhealth_loop_lateness_seconds{{{name}}}", "lateness")], unit="s"),
        panel("table", "What cannot be read, and why?", [f"linkhealth_gap{{{name}}}"], 24, 6),
    ], [variable("node", "label_values(linkhealth_build_info, instance)")])


def link():
    name = 'instance="$node", device="$device", port="$port"'

    def note(title, expr, colour, text):
        return {"name": title, "datasource": DATASOURCE, "enable": True, "iconColor": colour, "step": "60s",
                "target": {"refId": "Annotation", "expr": expr, "datasource": DATASOURCE}, "titleFormat": title, "textFormat": text, "useValueForTime": False}
    return dashboard("link", "link", [
        panel("table", "What is wrong?", [f"sort_desc(linkhealth_fault_active{{{name}}})"], 12, 6, "percentunit",
              note="The first step and the evidence: linkhealth explain on the node, or the node's own page"),
        panel("table", "Which module, which far end?", [f"linkhealth_module_info{{{name}}}", f"linkhealth_port_info{{{name}}}"], 12, 6, links=(TO_SWITCH,)),
        panel("stat", "How is the link?", [(f"linkhealth_port_health{{{name}}} == 1", "{{health}}")], 6, 5, overrides=health_colours()),
        panel("stat", "How much light margin is left?", [(f"linkhealth_rx_power_margin_db{{{name}}}", "")], 6, 5, "dB", decimals=1,
              note="Received power above the module's low alarm"),
        panel("stat", "How fast is it?", [(f"linkhealth_bandwidth_available_bytes_per_second{{{name}}} * 8", "")], 6, 5, "bps"),
        panel("stat", "How often did it go down in 24 h?", [(f'sum(increase(linkhealth_link_downs_total{{{name}, intent="involuntary"}}[1d]))', "")],
              6, 5, decimals=0),
        panel("timeseries", "Which lane lost light? (opt-in group optics)",
              [(f"10 * log10(linkhealth_module_lane_rx_power_watts{{{name}}} * 1000)", "received, lane {{lane}}"),
               (f"10 * log10(linkhealth_module_lane_tx_power_watts{{{name}}} * 1000)", "sent, lane {{lane}}"),
               (f"10 * log10(linkhealth_peer_lane_tx_power_watts{{{name}}} * 1000)", "sent by the far end, lane {{lane}}"),
               (f"10 * log10(linkhealth_peer_lane_rx_power_watts{{{name}}} * 1000)", "received by the far end, lane {{lane}}"),
               (f"min by (instance, device, port) (10 * log10(linkhealth_module_lane_rx_power_watts{{{name}}} * 1000))"
                f" - on (instance, device, port) linkhealth_rx_power_margin_db{{{name}}}", "low alarm of received power")],
              24, unit="dBm", note="The far end only where its module is read: by MAD, or imported from the switch's telemetry."),
        panel("timeseries", "How many bits are wrong before FEC?", [(f"linkhealth_pre_fec_ber{{{name}}} > 0", "pre-FEC BER")], unit="sci", log=True,
              note="KP4 corrects up to about 2.4e-4"),
        panel("timeseries", "Is data lost? (uncorrectable blocks per second)",
              [(f"rate(linkhealth_fec_uncorrectable_blocks_total{{{name}}}[5m])", "blocks")]),
        panel("timeseries", "Is the module too hot? (opt-in group optics)", [(f"linkhealth_module_temperature_celsius{{{name}}}", "module")],
              unit="celsius"),
        panel("timeseries", "When did it go down? (in 5 minutes)", [(f"sum by (intent) (increase(linkhealth_link_downs_total{{{name}}}[5m]))", "{{intent}}")]),
    ], [variable("node", "label_values(linkhealth_build_info, instance)"),
        variable("device", 'label_values(linkhealth_link_up{instance="$node"}, device)'),
        variable("port", 'label_values(linkhealth_link_up{instance="$node", device="$device"}, port)')],
        [note("fault open", f'linkhealth_fault_active{{{name}, state="open"}}', "red", "{{fault}} at {{end}}"),
         note("repair being verified", f'linkhealth_fault_active{{{name}, state="proving"}}', "blue", "{{fault}}"),
         note("link down", f"linkhealth_link_up{{{name}}} == 0", "orange", "{{device}}/{{port}}")])


def modules():
    share = (f"sum by (vendor, part_number) (part:linkhealth_links:count{{{BAD}}}) / "
             'sum by (vendor, part_number) (part:linkhealth_links:count{health!="exempt"})')
    return dashboard("modules", "modules", [
        panel("table", "How many links use which part?", ["sum by (vendor, part_number) (part:linkhealth_links:count)"]),
        panel("table", "Which part stands out? (share degraded or down)", [f"sort_desc({share})"], unit="percentunit"),
        panel("table", "Which module firmware stands out?", ["sum by (vendor, part_number, firmware, health) (firmware:linkhealth_links:count)"], 24),
        panel("table", "Which NIC firmware stands out?", ["sum by (hca_type, nic_firmware, health) (nic_firmware:linkhealth_links:count)"]),
        panel("table", "Which part loses its link most often? (time between losses, 30 days)", ["sort(part:linkhealth_mtbf_seconds:30d)"], unit="s"),
        panel("timeseries", "Which part goes down more than before? (in a day)", [("sum_over_time(part:linkhealth_link_downs:rate5m[1d]) * 60",
                                                               "{{vendor}} {{part_number}}")]),
        panel("timeseries", "Which modules are hottest? (opt-in group optics)", [("topk(10, linkhealth_module_temperature_celsius)",
                                                                      "{{instance}} {{device}}/{{port}}")], unit="celsius"),
        panel("stat", "How many links have less than 1 dB of margin?", [("fleet:linkhealth_links_low_rx_margin:count or vector(0)", "links")]),
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
