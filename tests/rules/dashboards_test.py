#!/usr/bin/env python3
"""dashboards_test.py [--types]: whether Grafana would take dashboards/grafana/*.json.

Ours: unique ids and names, panels inside the 24 columns and none over another, every panel and query with the chosen data
source, unique refIds, known kinds and units, every $variable defined and every variable used.
--types: also against Grafana's own TypeScript types (npm packages @grafana/schema and typescript, installed for the test into
build/). Exit code 77 with --types when npm is not there.
"""
import json
import os
import re
import subprocess
import sys

import npm_packages

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BOARDS = os.path.join(ROOT, "dashboards/grafana")
KINDS = {"stat", "table", "timeseries"}
# the ones we use of Grafana's value formats (packages/grafana-data, valueFormats/categories.ts)
UNITS = {"short", "Bps", "bps", "percentunit", "dB", "dBm", "sci", "s", "celsius"}
# read by Grafana's Prometheus data source, but not in the types of a dashboard; likewise `expr` of an annotation's target and
# `definition` of a variable
PLUGIN_KEYS = ("step", "titleFormat", "textFormat", "useValueForTime")
problems = []


def expect(right, what):
    if not right:
        problems.append(what)


def load():
    return {name: json.load(open(os.path.join(BOARDS, name), encoding="utf-8")) for name in sorted(os.listdir(BOARDS))}


def unique(values, what):
    values = list(values)
    expect(len(values) == len(set(values)), f"{what}: not unique: {sorted(value for value in set(values) if values.count(value) > 1)}")


def places(name, panels):
    taken = {}
    for panel in panels:
        at = panel["gridPos"]
        expect(all(isinstance(at[key], int) for key in "xywh") and at["w"] > 0 and at["h"] > 0 and at["x"] >= 0
               and at["x"] + at["w"] <= 24, f"{name}: {panel['title']}: gridPos {at}")
        for x in range(at["x"], at["x"] + at["w"]):
            for y in range(at["y"], at["y"] + at["h"]):
                expect((x, y) not in taken, f"{name}: {panel['title']} lies over {taken.get((x, y))}")
                taken[(x, y)] = panel["title"]


def drill_downs(panel):
    return [link["url"] for override in panel["fieldConfig"]["overrides"] for one in override["properties"] if one["id"] == "links" for link in one["value"]]


def board(name, content, boards):
    expect(content["uid"] == "linkhealth-" + name.removesuffix(".json") and len(content["uid"]) <= 40, f"{name}: uid")
    expect(isinstance(content["schemaVersion"], int) and content["schemaVersion"] >= 36, f"{name}: schemaVersion")
    panels, variables = content["panels"], content["templating"]["list"]
    unique((panel["id"] for panel in panels), f"{name}: panel ids")
    unique((panel["title"] for panel in panels), f"{name}: titles")
    unique((variable["name"] for variable in variables), f"{name}: variables")
    places(name, panels)
    sources = [panel["datasource"] for panel in panels] + [target["datasource"] for panel in panels for target in panel["targets"]]
    sources += [variable["datasource"] for variable in variables if variable["type"] == "query"]
    sources += [one["datasource"] for one in content["annotations"]["list"]]
    expect(all(source == {"type": "prometheus", "uid": "${datasource}"} for source in sources), f"{name}: a data source of its own")
    for panel in panels:
        where = f"{name}: {panel['title']}"
        expect(panel["type"] in KINDS, f"{where}: kind {panel['type']}")
        expect(panel["fieldConfig"]["defaults"]["unit"] in UNITS, f"{where}: unit {panel['fieldConfig']['defaults']['unit']}")
        expect(panel["targets"] and all(target["expr"].strip() for target in panel["targets"]), f"{where}: no query")
        unique((target["refId"] for target in panel["targets"]), f"{where}: refIds")
        expect("?" in panel["title"], f"{where}: the title asks no question")
        for address in drill_downs(panel):
            board_name, asked = re.fullmatch(r"/d/linkhealth-(\w+)\?(.*)", address).groups()
            theirs = {variable["name"] for variable in boards[f"{board_name}.json"]["templating"]["list"]}
            given = set(re.findall(r"var-(\w+)=", asked))
            expect(given == theirs, f"{where}: {board_name} needs {sorted(theirs)}, the link gives {sorted(given)}")
        expect(panel["type"] != "table" or all(target.get("instant") and target.get("format") == "table" for target in panel["targets"]),
               f"{where}: a table of a range")
    text = json.dumps({key: value for key, value in content.items() if key != "templating"}) + "".join(
        variable.get("definition", "") for variable in variables)
    used = set(re.findall(r"\$\{?(\w+)\}?", text)) - {"__data"}  # Grafana's own: the fields of the row that was clicked
    names = {variable["name"] for variable in variables}
    expect(used <= names, f"{name}: not defined: {sorted(used - names)}")
    expect(names <= used, f"{name}: not used: {sorted(names - used)}")


def types(boards):
    """Grafana's own types; the JSON becomes constants of a TypeScript file."""
    work, why = npm_packages.install()
    if not work:
        print("skipped: " + why)
        return 77
    lines = ["import type { Dashboard } from '@grafana/schema';"]
    for number, content in enumerate(boards.values()):
        plain = json.loads(json.dumps(content))
        for one in plain["annotations"]["list"]:
            for key in PLUGIN_KEYS:
                one.pop(key)
            one["target"].pop("expr")
        for one in plain["templating"]["list"]:
            one.pop("definition", None)
        lines.append(f"export const board{number}: Dashboard = {json.dumps(plain, indent=1)};")
    with open(os.path.join(work, "boards.ts"), "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    done = subprocess.run([os.path.join(work, "node_modules/.bin/tsc"), "--noEmit", "--strict", "--skipLibCheck", "--module", "esnext",
                           "--moduleResolution", "bundler", "--target", "es2020", "boards.ts"], cwd=work, capture_output=True,
                          text=True, timeout=180, check=False)
    expect(done.returncode == 0, "Grafana's types: " + done.stdout[:2000])
    return 0


def main():
    boards = load()
    expect(len(boards) == 5, f"dashboards: {list(boards)}")
    unique((content["title"] for content in boards.values()), "titles")
    for name, content in boards.items():
        board(name, content, boards)
    skipped = types(boards) if "--types" in sys.argv else 0
    for problem in problems:
        print("FAIL " + problem)
    if problems:
        return 1
    if not skipped:
        print(f"{len(boards)} dashboards, {sum(len(content['panels']) for content in boards.values())} panels"
              + (", also by Grafana's own types" if "--types" in sys.argv else ""))
    return skipped


if __name__ == "__main__":
    sys.exit(main())
