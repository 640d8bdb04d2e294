#!/usr/bin/env python3
"""totals.py BUILD: what ctest ran in BUILD, test by test. Prints a line for each test that failed or was skipped, with its
FAIL lines and the end of its output or its reason, and at last "PASSED FAILED SKIPPED".

BUILD/junit.xml is ctest's own account: a program of googletest is one entry there. Its tests are in BUILD/results/, a file
for each entry; a program that died before it wrote that file is one failed test. No test at all is a failure.
"""
import os
import re
import sys
import xml.etree.ElementTree as ET

OUTPUT_LINES = 60


def entries(build):
    """(name, state, output) of each entry of ctest; state: passed, failed or skipped."""
    try:
        root = ET.parse(os.path.join(build, "junit.xml")).getroot()
    except (OSError, ET.ParseError):
        return
    for case in root.iter("testcase"):
        skipped = case.find("skipped")
        if case.get("status") == "run":
            state = "passed"
        elif skipped is not None and skipped.get("message", "").startswith("SKIP_"):
            state = "skipped"  # reported by the test itself; ctest also uses "notrun" for a missing program
        else:
            state = "failed"
        yield case.get("name"), state, case.findtext("system-out") or ""


def inner(path):
    """(name, state, text) of each test of one program, or None where it left no account."""
    try:
        root = ET.parse(path).getroot()
    except (OSError, ET.ParseError):
        return None
    rows = []
    for case in root.iter("testcase"):
        failures, skipped = case.findall("failure"), case.find("skipped")
        name = f"{case.get('classname')}.{case.get('name')}"
        if failures:
            rows.append((name, "failed", "\n".join(failure.get("message", "") for failure in failures)))
        elif skipped is not None or case.get("status") == "notrun":
            rows.append((name, "skipped", skipped.get("message", "") if skipped is not None else "disabled"))
        else:
            rows.append((name, "passed", ""))
    return rows


def tests(build):
    for name, state, output in entries(build):
        rows = inner(os.path.join(build, "results", name + ".xml"))
        if rows is None:
            yield name, state, output
            continue
        yield from rows
        if state == "failed" and not any(row[1] == "failed" for row in rows):
            yield name, "failed", output  # all its tests passed, but the program failed at its end: a leak, for example


def reason(text):
    """The line that says why: of a script the last one."""
    lines = [line for line in text.splitlines() if line.strip() and not re.search(r"\.cpp:\d+$", line.strip())]
    return lines[-1].strip() if lines else "no reason given"


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    count = {"passed": 0, "failed": 0, "skipped": 0}
    for name, state, text in tests(sys.argv[1]):
        count[state] += 1
        if state == "failed":
            print(f"FAIL {name}")
            lines = text.splitlines()
            shown = [line for line in lines[:-OUTPUT_LINES] if line.startswith("FAIL")] + lines[-OUTPUT_LINES:]
            print("\n".join("     | " + line for line in shown))
        elif state == "skipped":
            print(f"skip {name}: {reason(text)}")
    if not sum(count.values()):
        print(f"FAIL {sys.argv[1]}: no test ran")
        count["failed"] = 1
    print(count["passed"], count["failed"], count["skipped"])
    return 0


if __name__ == "__main__":
    sys.exit(main())
