#!/usr/bin/env python3
"""generate.py --linkhealth PATH [--check]: writes the files that are generated from the fault table:

  dashboards/rules/linkhealth-alerts-faults.yaml   an alert for each fault and end
  docs/runbooks/FAULT.md                           a page for each fault
  docs/runbooks/README.md                          their list
  docs/faults.md                                   all faults with their symptoms
  docs/schema/report.json                          the names that a fault may have

  dashboards/rules/linkhealth-alerts.yaml          the addresses of the runbooks in it (the rest is written by hand)

--check writes nothing and fails, naming the file, when a file is out of date.
--runbooks, --page and --grafana are the site's addresses in the alerts. By default each alert leads to the page of its node, which
also serves the runbooks; alerts that are about no node, or about one that does not answer, to the page of any node that answers.
"""
import argparse
import json
import math
import os
import re
import subprocess
import sys

from runbook_notes import NOTES

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RUNBOOKS = "docs/runbooks"
SCHEMA = "docs/schema/report.json"
ALERTS = "dashboards/rules/linkhealth-alerts-faults.yaml"
SHARED = "dashboards/rules/linkhealth-alerts.yaml"
# How long a fault must be open before its alert fires; the node has held it for 30 to 300 s before.
FOR = {"critical": "5m", "warning": "10m", "notice": "30m"}
# faults whose severity does not rise when the link goes down
NEVER_WORSE = ("monitor_blind", "wrong_cabling", "bad_training")
URGENCY = {"critical": "page", "warning": "ticket", "notice": "info"}


def faults_of(program):
    out = subprocess.run([program, "rules", "--json"], check=True, capture_output=True, text=True).stdout
    return json.loads(out)


def looks_like(fault):
    """The symptoms that one fault in five shows, and the decisive ones."""
    return [sign for sign in fault["symptoms"] if sign["decisive"] or sign["probability"] >= 0.2]


def often(share):
    words = ((0.8, "always"), (0.45, "often"), (0.15, "sometimes"), (0.02, "rarely"), (0, "never"))
    return next(word for least, word in words if share >= least)


def divergence(one, other):
    """How well a yes-or-no reading distinguishes two faults: the symmetric Kullback-Leibler divergence."""
    p, q = (min(max(share, 0.005), 0.995) for share in (one, other))
    return (p - q) * math.log(p / q) + (q - p) * math.log((1 - p) / (1 - q))


def neighbours(fault, faults):
    """The three most similar faults, each with the symptom that distinguishes it best."""
    near = []
    for other in faults:
        if other is fault or (fault["media"] and other["media"] and not set(fault["media"]) & set(other["media"])):
            continue
        theirs = {sign["symptom"]: sign["probability"] for sign in other["symptoms"]}
        gaps = [(divergence(sign["probability"], theirs[sign["symptom"]]), sign["symptom"], sign["probability"],
                 theirs[sign["symptom"]]) for sign in fault["symptoms"]]
        near.append((sum(gap[0] for gap in gaps), other, max(gaps)))
    return [(other, best) for _, other, best in sorted(near, key=lambda one: one[0])[:3]]


def plain(step):
    """A repair step without the names that only a node knows."""
    return (step.replace("{lane}", " of that lane").replace("{peer}", "the far end").replace(" ({serial})", ""))


def camel(name):
    return "".join(word.capitalize() for word in name.split("_"))


def alert_name(fault, both_ends):
    far = "Far" if fault["end"] == "far" and fault["fault"] in both_ends else ""
    name = "Link" + camel(fault["fault"]) + far
    return name.replace("LinkNic", "Nic").replace("LinkPcie", "Pcie")


def both_ends_of(faults):
    names = [fault["fault"] for fault in faults]
    return {name for name in names if names.count(name) > 1}


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


PLACE = ("{{ $labels.instance }} {{ $labels.device }}/{{ $labels.port }}"
         "{{ with $labels.peer_system }} to {{ . }}{{ end }}{{ with $labels.peer_port }} {{ . }}{{ end }}"
         "{{ with $labels.rack }}, rack {{ . }}{{ end }}")
SEVERITY = ('{{ if eq $labels.severity "critical" }}page{{ else if eq $labels.severity "warning" }}ticket'
            '{{ else }}info{{ end }}')


NODE_PAGE = "http://{{ $labels.instance }}:9942"
ANY_NODE = "http://{{ with query \"topk(1, linkhealth_build_info)\" }}{{ . | first | label \"instance\" }}{{ end }}:9942"


def looked_up(metric, labels, show):
    """A template that asks Prometheus for one series of the alert's port when it fires; \"\" where the node has none."""
    names = ["instance", "device", "port", *labels]
    matchers = ",".join(f"{name}='%s'" for name in names)
    values = " ".join(f"$labels.{name}" for name in names)
    return f'{{{{ with printf "{metric}{{{matchers}}}" {values} | query }}}}{show}{{{{ end }}}}'


LANE = looked_up("linkhealth_fault_lane", ("fault", "end"), "lane {{ . | first | value }}")
MODULE = looked_up("linkhealth_module_info", (), '{{ . | first | label "vendor" }} {{ . | first | label "part_number" }} SN {{ . | first | label "serial" }}')
RACK = "{{ with $labels.rack }}rack {{ . }}{{ end }}{{ with $labels.u }}, unit {{ . }}{{ end }}"


class Addresses:
    """Where an alert leads."""

    def __init__(self, options):
        self.page, self.grafana, self.runbooks = (getattr(options, name).rstrip("/") for name in ("page", "grafana", "runbooks"))

    def runbook(self, name, of_a_node=True):
        if self.runbooks:
            return f"{self.runbooks}/{name}.md"
        return f"{self.page or (NODE_PAGE if of_a_node else ANY_NODE)}/#/runbook/{name}"

    def port_page(self):
        return f"{self.page or NODE_PAGE}/#/port/{{{{ $labels.device }}}}%2F{{{{ $labels.port }}}}"

    def dashboard(self):
        return (f"{self.grafana}/d/linkhealth-link?var-node={{{{ $labels.instance }}}}&var-device={{{{ $labels.device }}}}"
                "&var-port={{ $labels.port }}")


def alerts_file(faults, addresses):
    both = both_ends_of(faults)
    text = """# Generated by dashboards/generate.py from `linkhealth rules --json`; do not edit. A test fails when it is out of date.
# One alert for each fault and end. Severity: critical page, warning ticket, notice info.
# Acknowledged faults and faults whose repair is being verified do not alert. Needs linkhealth-recording.yaml.
groups:
  - name: linkhealth-faults
    interval: 30s
    rules:
"""
    for fault in faults:
        text += f"""      - alert: {alert_name(fault, both)}
        expr: link:linkhealth_fault_open:confidence{{fault="{fault['fault']}", end="{fault['end']}"}}
        for: {FOR[fault['severity']]}
        labels:
          severity: '{SEVERITY}'
          fault_severity: "{{{{ $labels.severity }}}}"
          scope: link
        annotations:
          summary: {quoted(PLACE + ": " + fault['title'].lower().replace('pcie', 'PCIe').replace('nic ', 'NIC ') + " ({{ $value | humanizePercentage }} confidence)")}
          description: {quoted(fault['meaning'][0].upper() + fault['meaning'][1:] + ".")}
          first_step: {quoted(plain(fault['repair'][0]))}
          lane: {quoted(LANE)}
          module: {quoted(MODULE)}
          place: {quoted(RACK)}
          page_url: {quoted(addresses.port_page())}
          dashboard_url: {quoted(addresses.dashboard())}
          runbook_url: {quoted(addresses.runbook(fault['fault']))}
"""
    return text


def percent(share):
    return f"{share * 100:.0f}%"


def section(fault, faults, symptoms, both):
    lines = []
    if fault["fault"] in both:
        lines += [f"## {fault['title']} (end: {fault['end']})", ""]
    lines += [fault["meaning"][0].upper() + fault["meaning"][1:] + ".", ""]
    lines += [f"Alert `{alert_name(fault, both)}`, after {FOR[fault['severity']].replace('m', ' minutes')}; "
              f"severity {fault['severity']}: {URGENCY[fault['severity']]}"
              + (" (page while the link is down, flaps or loses data)."
                 if fault["severity"] == "warning" and fault["fault"] not in NEVER_WORSE else "."), ""]
    if fault["media"]:
        lines += ["Only on " + " and ".join(fault["media"]) + ".", ""]
    lines += ["**Do this**, cheapest first; check after each step whether it helped", ""]
    lines += [f"{number}. {plain(step)}" for number, step in enumerate(fault["repair"], 1)]
    lines += ["", f"**Fixed when** {fault['verify']}. The daemon checks this itself (shown as *verifying*), then closes the fault; "
              "it reopens the fault if it returns.", ""]
    lines += ["**Symptoms** (the first five, with their probability)", ""]
    lines += signs(looks_like(fault)[:5], symptoms)
    lines += ["", "**Do not confuse with**", ""]
    lines += told_apart(fault, faults, symptoms, "{0}.md")
    return lines + [""]


def signs(rows, symptoms):
    return [f"* {symptoms[sign['symptom']]} (`{sign['symptom']}`): {percent(sign['probability'])}"
            + (", decisive" if sign["decisive"] else "") for sign in rows]


def told_apart(fault, faults, symptoms, link):
    return [f"* [{other['title']}]({link.format(other['fault'])}): {symptoms[symptom]}: {often(here)} here, {often(there)} there"
            for other, (_, symptom, here, there) in neighbours(fault, faults)]


def faults_page(catalogue):
    faults = catalogue["faults"]
    symptoms = {symptom["symptom"]: symptom["meaning"] for symptom in catalogue["symptoms"]}
    lines = ["<!-- Generated by dashboards/generate.py from `linkhealth rules --json`. -->", "# The faults", "",
             "The percentages are the probability that a fault shows a symptom whose source is readable; an unreadable source is",
             "evidence neither for nor against. `linkhealth rules NAME` prints the same in a terminal."]
    for fault in faults:
        lines += ["", f"## {fault['title']}", f"`{fault['fault']}` · end: {fault['end']} · severity: {fault['severity']}", "",
                  fault["meaning"][0].upper() + fault["meaning"][1:] + ".", "",
                  "**Causes**: " + "; ".join(fault["causes"]) + "."
                  + (" Only on " + " and ".join(fault["media"]) + "." if fault["media"] else ""), "", "**Symptoms**", ""]
        lines += signs(looks_like(fault), symptoms)
        lines += ["", "**How it differs from similar faults**", ""] + told_apart(fault, faults, symptoms, "runbooks/{0}.md")
        lines += ["", "**What to do**, cheapest first", ""]
        lines += [f"{number}. {plain(step)}" for number, step in enumerate(fault["repair"], 1)]
        for own in fault["repair_of_causes"]:
            lines += ["", f"For the cause *{own['cause']}* instead: {'; '.join(plain(step) for step in own['repair'])}."]
        lines += ["", f"**Confirm by**: {plain(fault['to_be_sure'])}.", "", f"**Fixed when**: {fault['verify']}.", "",
                  f"**Sources**: {fault['source']}."]
    lines += ["", "## The symptoms", "", "| symptom | meaning | source |", "|---|---|---|"]
    lines += [f"| `{row['symptom']}` | {row['meaning']} | {row['source']} |" for row in catalogue["symptoms"]]
    return "\n".join(lines) + "\n"


def page(name, variants, faults, symptoms, both):
    owner, pages, never = NOTES[name]
    title = variants[0]["title"] if len(variants) == 1 else camel_title(name)
    lines = ["<!-- Generated by dashboards/generate.py from `linkhealth rules --json` and dashboards/runbook_notes.py. -->",
             f"# {title}", "", f"`{name}` · owner: {owner}", "",
             f"**Pages on-call?** {pages}", "",
             "**On the node**: `linkhealth explain PORT` shows the measurements, the evidence against the diagnosis, and the "
             "lane, fibre or serial number that the steps refer to.", ""]
    for variant in variants:
        lines += section(variant, faults, symptoms, both)
    lines += (["## Do not", ""] if len(variants) > 1 else ["**Do not**", ""])
    lines += [f"* {line}" for line in never]
    lines += ["", "All symptoms and the differences between faults: [docs/faults.md](../faults.md), "
              f"`linkhealth rules {name}`.", ""]
    return "\n".join(lines)


def camel_title(name):
    return name.replace("_", " ").capitalize()


def written_by_hand():
    """The pages of alerts that belong to no single fault, as the alert file names them."""
    pages = {}
    alert = None
    with open(os.path.join(ROOT, SHARED), encoding="utf-8") as file:
        for line in file:
            words = line.split()
            if words[:2] == ["-", "alert:"]:
                alert = words[2]
            elif words[:1] == ["runbook_url:"]:
                pages.setdefault(runbook_of(line) + ".md", []).append(alert)
    return pages


def runbook_of(line):
    return re.search(r"([a-z_]+)(?:\.md)?['\"]?$", line.rstrip()).group(1)


def shared_file(addresses):
    """The alerts written by hand, with the addresses of their runbooks."""
    out, about_a_node = [], False
    with open(os.path.join(ROOT, SHARED), encoding="utf-8") as file:
        for line in file:
            if scope := re.search(r"scope: (\w+)", line):
                about_a_node = scope.group(1) in ("link", "node")
            if line.strip().startswith("runbook_url:"):
                line = line[:line.index("runbook_url:")] + f"runbook_url: {quoted(addresses.runbook(runbook_of(line), about_a_node))}\n"
            out.append(line)
    return "".join(out)


def index(faults, both):
    lines = ["<!-- Generated by dashboards/generate.py. -->", "# Runbooks", "",
             "One page for each fault, and for each alert that belongs to no single fault. Alerts link here (`runbook_url`).", "",
             "| severity of a fault | alert | notified |", "|---|---|---|",
             "| critical: the link is down, flaps or loses data | page | on-call, now |",
             "| warning: the link carries traffic and will get worse | ticket | technicians, in working hours |",
             "| notice: nothing to repair at this link | info | none; shown in dashboards |", "",
             "| page | alert | severity | first step |", "|---|---|---|---|"]
    for fault in faults:
        lines.append(f"| [{fault['title']}]({fault['fault']}.md) | `{alert_name(fault, both)}` | {fault['severity']} | "
                     f"{plain(fault['repair'][0])} |")
    lines += ["", "| page | alerts |", "|---|---|"]
    for name, alerts in written_by_hand().items():
        lines.append(f"| [{camel_title(name[:-3])}]({name}) | {', '.join(f'`{alert}`' for alert in alerts)} |")
    return "\n".join(lines) + "\n"


def schema(names):
    """The schema of the report, with the names of all faults."""
    with open(os.path.join(ROOT, SCHEMA), encoding="utf-8") as file:
        text = file.read()
    rows = ",\n".join(f'            "{name}"' for name in names)
    return re.sub(r'("fault": {\n          "enum": \[\n).*?(\n          \])', rf"\g<1>{rows}\g<2>", text, count=1, flags=re.DOTALL)


def build(catalogue, addresses):
    faults = catalogue["faults"]
    names = list(dict.fromkeys(fault["fault"] for fault in faults))
    for name in names:
        if name not in NOTES:
            sys.exit(f"generate.py: fault {name} has no entry in dashboards/runbook_notes.py")
    for name in NOTES:
        if name not in names:
            sys.exit(f"generate.py: dashboards/runbook_notes.py has {name}, which is not a fault")
    symptoms = {symptom["symptom"]: symptom["meaning"] for symptom in catalogue["symptoms"]}
    both = both_ends_of(faults)
    files = {ALERTS: alerts_file(faults, addresses), SHARED: shared_file(addresses), f"{RUNBOOKS}/README.md": index(faults, both), "docs/faults.md": faults_page(catalogue),
             SCHEMA: schema(names)}
    for name in names:
        files[f"{RUNBOOKS}/{name}.md"] = page(name, [fault for fault in faults if fault["fault"] == name], faults, symptoms, both)
    return files


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--linkhealth", required=True, metavar="PATH", help="the program, e.g. build/fast/bin/linkhealth")
    parser.add_argument("--check", action="store_true", help="write nothing, fail when a file is out of date")
    for name, what in (("runbooks", "of a server with docs/runbooks"), ("page", "of a page that shows any node's ports"),
                       ("grafana", "of Grafana, e.g. https://grafana.example (default: a path that the reader completes)")):
        parser.add_argument(f"--{name}", default="", metavar="URL", help=f"address {what}")
    options = parser.parse_args()
    files = build(faults_of(options.linkhealth), Addresses(options))
    old = 0
    for name, text in files.items():
        path = os.path.join(ROOT, name)
        have = open(path, encoding="utf-8").read() if os.path.exists(path) else None
        if have == text:
            continue
        old += 1
        if options.check:
            print(f"{name} is {'missing' if have is None else 'out of date'}: run dashboards/generate.py --linkhealth PATH")
        else:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
    missing = [page for page in written_by_hand() if not os.path.exists(os.path.join(ROOT, RUNBOOKS, page))]
    for page_name in missing:
        print(f"{RUNBOOKS}/{page_name} is missing: an alert links to it")
    wanted = {os.path.basename(name) for name in files} | set(written_by_hand())
    left = sorted(set(os.listdir(os.path.join(ROOT, RUNBOOKS))) - wanted)
    for page_name in left:
        print(f"{RUNBOOKS}/{page_name}: no alert links to it")
    if missing or left or (options.check and old):
        return 1
    print(f"{len(files)} files {'are up to date' if options.check else f'generated, {old} changed'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
