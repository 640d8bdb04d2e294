#!/usr/bin/env python3
"""generate.py --linkhealth PATH [--check]: writes what is made from the program's own table of faults:

  dashboards/rules/linkhealth-alerts-faults.yaml   an alert for each fault and end
  docs/runbooks/FAULT.md                           a page for each fault
  docs/runbooks/README.md                          their list
  docs/faults.md                                   all faults with their signs, and all symptoms

--check writes nothing and fails, naming the file, when one is not what it would write.
"""
import argparse
import json
import math
import os
import subprocess
import sys

from runbook_notes import NOTES

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RUNBOOKS = "docs/runbooks"
ALERTS = "dashboards/rules/linkhealth-alerts-faults.yaml"
SHARED = "dashboards/rules/linkhealth-alerts.yaml"
# How long a fault must be there before somebody hears of it; the node has held it for 30 to 300 s before (ledger.*_hold_s).
FOR = {"critical": "5m", "warning": "10m", "notice": "30m"}
# diagnosis/faults.cpp, spares_traffic: what is no worse because the link is down
NEVER_WORSE = ("monitor_blind", "wrong_cabling")
URGENCY = {"critical": "page", "warning": "ticket", "notice": "info"}


def faults_of(program):
    out = subprocess.run([program, "rules", "--json"], check=True, capture_output=True, text=True).stdout
    return json.loads(out)


def looks_like(fault):
    """The signs by which people recognise it: those that one in five shows, and those that decide."""
    return [sign for sign in fault["signs"] if sign["decisive"] or sign["probability"] >= 0.2]


def often(share):
    words = ((0.8, "always"), (0.45, "often"), (0.15, "sometimes"), (0.02, "rarely"), (0, "never"))
    return next(word for least, word in words if share >= least)


def divergence(one, other):
    """How much a yes-or-no reading tells two faults apart: the symmetric Kullback-Leibler divergence."""
    p, q = (min(max(share, 0.005), 0.995) for share in (one, other))
    return (p - q) * math.log(p / q) + (q - p) * math.log((1 - p) / (1 - q))


def neighbours(fault, faults):
    """The three faults that look most like it, with the sign that tells each apart best."""
    near = []
    for other in faults:
        if other is fault or (fault["media"] and other["media"] and not set(fault["media"]) & set(other["media"])):
            continue
        theirs = {sign["symptom"]: sign["probability"] for sign in other["signs"]}
        gaps = [(divergence(sign["probability"], theirs[sign["symptom"]]), sign["symptom"], sign["probability"],
                 theirs[sign["symptom"]]) for sign in fault["signs"]]
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


def alerts_file(faults):
    both = both_ends_of(faults)
    text = """# Written by dashboards/generate.py from `linkhealth rules --json`; do not edit. A test fails when it is old.
# One alert for each fault and end. What the fault's severity makes of it: critical page, warning ticket, notice info.
# Acknowledged faults and repairs that prove themselves alert no more. Needs linkhealth-recording.yaml.
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
          summary: {quoted(PLACE + ": " + fault['title'].lower().replace('pcie', 'PCIe').replace('nic ', 'NIC ') + " ({{ $value | humanizePercentage }} sure)")}
          description: {quoted(fault['meaning'][0].upper() + fault['meaning'][1:] + ".")}
          first_step: {quoted(plain(fault['repair'][0]))}
          runbook_url: {RUNBOOKS}/{fault['fault']}.md
"""
    return text


def percent(share):
    return f"{share * 100:.0f} %"


def section(fault, faults, symptoms, both):
    lines = []
    if fault["fault"] in both:
        lines += [f"## {fault['title']} (end: {fault['end']})", ""]
    lines += [fault["meaning"][0].upper() + fault["meaning"][1:] + ".", ""]
    lines += [f"Alert `{alert_name(fault, both)}`, after {FOR[fault['severity']].replace('m', ' minutes')}; "
              f"severity {fault['severity']}, so {URGENCY[fault['severity']]}"
              + (" (page while the link is down or loses data: the severity is critical then)."
                 if fault["severity"] == "warning" and fault["fault"] not in NEVER_WORSE else "."), ""]
    if fault["media"]:
        lines += ["Only on " + " and ".join(fault["media"]) + ".", ""]
    lines += ["**Do this**, cheapest first; after each step look whether it helped", ""]
    lines += [f"{number}. {plain(step)}" for number, step in enumerate(fault["repair"], 1)]
    lines += ["", f"**It is repaired when** {fault['verify']}. The monitor watches that by itself (state *proving*), closes "
              "the fault then, and opens it again if it comes back.", ""]
    lines += ["**What it looks like** (the first five signs)", ""]
    lines += signs(looks_like(fault)[:5], symptoms)
    lines += ["", "**Not to be taken for**", ""]
    lines += told_apart(fault, faults, symptoms, "{0}.md")
    return lines + [""]


def signs(rows, symptoms):
    return [f"* {symptoms[sign['symptom']]} (`{sign['symptom']}`): {percent(sign['probability'])}"
            + (", and settles the matter" if sign["decisive"] else "") for sign in rows]


def told_apart(fault, faults, symptoms, link):
    return [f"* [{other['title']}]({link.format(other['fault'])}): {symptoms[symptom]}: {often(here)} here, {often(there)} there"
            for other, (_, symptom, here, there) in neighbours(fault, faults)]


def faults_page(catalogue):
    faults = catalogue["faults"]
    symptoms = {symptom["symptom"]: symptom["meaning"] for symptom in catalogue["symptoms"]}
    lines = ["<!-- Written by dashboards/generate.py from `linkhealth rules --json`. -->", "# The faults", "",
             "The percentages say how often a fault shows a sign where the sign can be read; what can't be read speaks neither for",
             "nor against. `linkhealth rules NAME` prints the same in a terminal."]
    for fault in faults:
        lines += ["", f"## {fault['title']}", f"`{fault['fault']}` · end: {fault['end']} · severity: {fault['severity']}", "",
                  fault["meaning"][0].upper() + fault["meaning"][1:] + ".", "",
                  "**Causes**: " + "; ".join(fault["causes"]) + "."
                  + (" Only on " + " and ".join(fault["media"]) + "." if fault["media"] else ""), "", "**How it looks**", ""]
        lines += signs(looks_like(fault), symptoms)
        lines += ["", "**How it differs from its neighbours**", ""] + told_apart(fault, faults, symptoms, "runbooks/{0}.md")
        lines += ["", "**What to do**, cheapest first", ""]
        lines += [f"{number}. {plain(step)}" for number, step in enumerate(fault["repair"], 1)]
        lines += ["", f"**Confirm by**: {plain(fault['to_be_sure'])}.", "", f"**Fixed when**: {fault['verify']}.", "",
                  f"**Sources**: {fault['source']}."]
    lines += ["", "## The symptoms", "", "| symptom | meaning | source |", "|---|---|---|"]
    lines += [f"| `{row['symptom']}` | {row['meaning']} | {row['source']} |" for row in catalogue["symptoms"]]
    return "\n".join(lines) + "\n"


def page(name, variants, faults, symptoms, both):
    owner, wakes, never = NOTES[name]
    title = variants[0]["title"] if len(variants) == 1 else camel_title(name)
    lines = ["<!-- Written by dashboards/generate.py from `linkhealth rules --json` and dashboards/runbook_notes.py. -->",
             f"# {title}", "", f"`{name}` · owner: {owner}", "",
             f"**Does it wake somebody?** {wakes}", "",
             "**On the node**: `linkhealth explain PORT` shows what was measured, what speaks against it and which lane, fibre "
             "or serial number the steps mean.", ""]
    for variant in variants:
        lines += section(variant, faults, symptoms, both)
    lines += (["## Do not", ""] if len(variants) > 1 else ["**Do not**", ""])
    lines += [f"* {line}" for line in never]
    lines += ["", "All signs and how faults are told apart: [docs/faults.md](../faults.md), "
              f"`linkhealth rules {name}`.", ""]
    return "\n".join(lines)


def camel_title(name):
    return name.replace("_", " ").capitalize()


def written_by_hand():
    """The pages of alerts that are no fault: named by the alert file."""
    pages = {}
    alert = None
    with open(os.path.join(ROOT, SHARED), encoding="utf-8") as file:
        for line in file:
            words = line.split()
            if words[:2] == ["-", "alert:"]:
                alert = words[2]
            elif words[:1] == ["runbook_url:"]:
                pages.setdefault(os.path.basename(words[1]), []).append(alert)
    return pages


def index(faults, both):
    lines = ["<!-- Written by dashboards/generate.py. -->", "# Runbooks", "",
             "One page for each fault and for each alert that is no single fault. Alerts link here (`runbook_url`).", "",
             "| severity of a fault | alert | who hears of it |", "|---|---|---|",
             "| critical: the link is down or data is lost | page | the one on call, now |",
             "| warning: the link carries and will get worse | ticket | the technicians, in working hours |",
             "| notice: nothing to repair at this link | info | nobody is called; shown in dashboards |", "",
             "| page | alert | severity | first step |", "|---|---|---|---|"]
    for fault in faults:
        lines.append(f"| [{fault['title']}]({fault['fault']}.md) | `{alert_name(fault, both)}` | {fault['severity']} | "
                     f"{plain(fault['repair'][0])} |")
    lines += ["", "| page | alerts |", "|---|---|"]
    for name, alerts in written_by_hand().items():
        lines.append(f"| [{camel_title(name[:-3])}]({name}) | {', '.join(f'`{alert}`' for alert in alerts)} |")
    return "\n".join(lines) + "\n"


def build(catalogue):
    faults = catalogue["faults"]
    names = list(dict.fromkeys(fault["fault"] for fault in faults))
    for name in names:
        if name not in NOTES:
            sys.exit(f"generate.py: fault {name} has no entry in dashboards/runbook_notes.py")
    for name in NOTES:
        if name not in names:
            sys.exit(f"generate.py: dashboards/runbook_notes.py has {name}, which is no fault")
    symptoms = {symptom["symptom"]: symptom["meaning"] for symptom in catalogue["symptoms"]}
    both = both_ends_of(faults)
    files = {ALERTS: alerts_file(faults), f"{RUNBOOKS}/README.md": index(faults, both), "docs/faults.md": faults_page(catalogue)}
    for name in names:
        files[f"{RUNBOOKS}/{name}.md"] = page(name, [fault for fault in faults if fault["fault"] == name], faults, symptoms, both)
    return files


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--linkhealth", required=True, metavar="PATH", help="the program, e.g. build/fast/bin/linkhealth")
    parser.add_argument("--check", action="store_true", help="write nothing, fail when a file is old")
    options = parser.parse_args()
    files = build(faults_of(options.linkhealth))
    old = 0
    for name, text in files.items():
        path = os.path.join(ROOT, name)
        have = open(path, encoding="utf-8").read() if os.path.exists(path) else None
        if have == text:
            continue
        old += 1
        if options.check:
            print(f"{name} is {'missing' if have is None else 'old'}: run dashboards/generate.py --linkhealth PATH")
        else:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
    missing = [page for page in written_by_hand() if not os.path.exists(os.path.join(ROOT, RUNBOOKS, page))]
    for page_name in missing:
        print(f"{RUNBOOKS}/{page_name} is missing: write it, an alert links to it")
    wanted = {os.path.basename(name) for name in files} | set(written_by_hand())
    left = sorted(set(os.listdir(os.path.join(ROOT, RUNBOOKS))) - wanted)
    for page_name in left:
        print(f"{RUNBOOKS}/{page_name}: no alert links to it")
    if missing or left or (options.check and old):
        return 1
    print(f"{len(files)} files {'are current' if options.check else f'made, {old} of them new'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
