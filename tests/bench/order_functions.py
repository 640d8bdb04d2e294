#!/usr/bin/env python3
"""Writes daemon/cycle.ld: which functions the linker lays side by side, because a running daemon executes them.

    cmake --preset release -B build/unordered -DLINKHEALTH_BENCH=ON -DLINKHEALTH_CAN_ORDER=OFF && cmake --build build/unordered
    tests/bench/order_functions.py --bin build/unordered/bin       # 3 minutes; wants valgrind
    tests/bench/order_functions.py --check PROGRAM     # how many of the file's functions PROGRAM has; exit code 1: too few

A function that has been renamed is simply not moved; from time to time the file is made anew (docs/adr/0010-layout.md). It is made from
programs without it: valgrind knows no names in a section of our own.
"""
import argparse
import bisect
import os
import re
import subprocess
import sys
import tempfile
import time

import fake_sysfs
from measure import Program

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
FILE = f"{SOURCE}/daemon/cycle.ld"
HEAD = """\
/* What a running daemon executes lies side by side: each page of code that a cycle touches is memory of the process, and
   sixteen are mapped around it. Made by tests/bench/order_functions.py; docs/adr/0010-layout.md says why. First what
   each cycle executes to read and to answer, then to judge, both in the order in which it does; then what comes once a
   minute or less. */
"""
ENOUGH = 0.75


def callgrind(folder, program, *arguments):
    return Program(["valgrind", "--tool=callgrind", "--instr-atstart=no", "--demangle=no", "--compress-strings=no",
                    f"--callgrind-out-file={folder}/out", program, *arguments])


def control(process, *words):
    subprocess.run(["callgrind_control", *words, str(process.pid)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def executed(folder, program):
    """What was executed of PROGRAM's own code since the dump before, by the names that the linker knows."""
    newest = max((f"{folder}/{name}" for name in os.listdir(folder) if name.startswith("out.")), key=os.path.getmtime)
    names, of_program = set(), False
    for line in open(newest, encoding="utf-8", errors="replace"):
        if line.startswith("ob="):
            of_program = os.path.realpath(line[3:].strip()) == os.path.realpath(program)
        elif line.startswith("fn=") and of_program:
            names.add(re.sub(r"'\d+$", "", line[3:].strip()))  # 'N: a recursion
    return names


def dump(process, folder, program):
    before = set(os.listdir(folder))
    control(process, "-d")
    for _ in range(200):
        if set(os.listdir(folder)) - before:
            break
        time.sleep(0.1)
    time.sleep(0.5)
    return executed(folder, program)


def stepped(bin_folder, tree, cycles, *options):
    """(in each cycle, ever after the start)"""
    program = f"{bin_folder}/bench_stepped_daemon"
    with tempfile.TemporaryDirectory() as folder, callgrind(folder, program, "{port}", tree, *options) as process:
        client = process.client("/metrics?collect[]=counters")

        def run(count):
            for _ in range(count):
                client.get()

        control(process, "-i", "on")
        run(cycles)
        ever = dump(process, folder, program)
        run(25)
        return dump(process, folder, program), ever


def functions(program):
    """[(address, end, names)], by address"""
    found = {}
    for line in subprocess.run(["nm", "-S", program], check=True, capture_output=True, text=True).stdout.splitlines():
        words = line.split()
        if len(words) == 4 and words[2] in "tTwW":
            found.setdefault(int(words[0], 16), (int(words[1], 16), []))[1].append(words[3])
    return [(address, address + size, names) for address, (size, names) in sorted(found.items())]


def loaded_at(pid, program):
    with open(f"/proc/{pid}/maps", encoding="utf-8") as maps:
        return min(int(line.split("-")[0], 16) for line in maps if line.rstrip().endswith(os.path.realpath(program)))


def in_order(bin_folder, tree, *options):
    """What a cycle executes, as it comes: where code is fetched from memory, what comes next is fetched along."""
    program = f"{bin_folder}/bench_stepped_daemon"
    with tempfile.TemporaryDirectory() as folder:
        trace = f"{folder}/out"
        with Program(["valgrind", "--tool=lackey", "--basic-counts=no", "--trace-superblocks=yes", "--vex-guest-chase=no", f"--log-file={trace}", program,
                      "{port}", tree, *options]) as process:
            client = process.client("/metrics?collect[]=counters")
            for _ in range(12):
                client.get()
            time.sleep(1)  # what is done after an answer
            begin = os.path.getsize(trace)
            for _ in range(3):
                client.get()
            time.sleep(1)
            base = loaded_at(process.pid, program)
        with open(trace, encoding="utf-8") as file:
            file.seek(begin)
            blocks = [int(line.split()[1], 16) - base for line in file.read().splitlines() if re.fullmatch("SB [0-9a-f]+", line)]
    known = functions(program)
    starts = [address for address, _, _ in known]
    names = {}
    for block in dict.fromkeys(blocks):
        at = bisect.bisect_right(starts, block) - 1
        if at >= 0 and block < known[at][1]:
            names.update(dict.fromkeys(known[at][2]))
    return list(names)


def live(bin_folder, tree):
    """linkhealthd as shipped, with its database, after its self-test."""
    program = f"{bin_folder}/linkhealthd"
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as state:
        with open(f"{state}/c.yaml", "w", encoding="utf-8") as config:
            config.write("{}\n")
        arguments = ["--config", f"{state}/c.yaml", "--listen", "127.0.0.1:{port}", "--socket", f"{state}/s", "--state-dir", state,
                     "--sysroot", tree, "--dry-run", "--log-level", "error"]
        with callgrind(folder, program, *arguments) as process:
            client = process.client("/metrics")
            time.sleep(20)
            control(process, "-i", "on")
            for _ in range(14):
                time.sleep(5)
                client.get()
            return dump(process, folder, program)


def sections(names):
    """A constructor's section has the name of its other variant, and what the compiler cut off or specialised has a tail."""
    plain = [re.sub(r"\.(isra|part|constprop|cold)\b.*$", "", name) for name in names]
    return list(dict.fromkeys(re.sub(r"([CD])[12]E", r"\1[12]E", name) for name in plain if re.fullmatch(r"[\w.]+", name)))


def refuse_ordered(program):
    headers = subprocess.run(["readelf", "-SW", program], check=True, capture_output=True, text=True).stdout
    if ".text.cycle" in headers:
        sys.exit(f"{program} is laid out by {os.path.basename(FILE)} already: build it with -DLINKHEALTH_CAN_ORDER=OFF")


def write(bin_folder):
    for program in ("bench_stepped_daemon", "linkhealthd"):
        refuse_ordered(f"{bin_folder}/{program}")
    each, ever = set(), set()
    with tempfile.TemporaryDirectory(dir="/dev/shm") as trees:
        for devices, cycles in ((10, 330), (64, 130)):
            fake_sysfs.make(f"{trees}/{devices}/sys", devices, equal=True)
            fake_sysfs.make(f"{trees}/full{devices}/sys", devices)
            in_each, after_start = stepped(bin_folder, f"{trees}/{devices}", cycles)
            each |= in_each
            ever |= after_start
        reads, _ = stepped(bin_folder, f"{trees}/10", 330, "--no-diagnosis")
        ever |= live(bin_folder, f"{trees}/full10")
        order = [*in_order(bin_folder, f"{trees}/10", "--no-diagnosis"), *sorted(reads), *in_order(bin_folder, f"{trees}/10"),
                 *sorted(each), *sorted(ever)]
    lines = [f"    *(.text.{name}*)" for name in sections(order)]
    with open(FILE, "w", encoding="utf-8") as file:
        file.write(HEAD + "SECTIONS\n{\n  .text.cycle : ALIGN(4096)\n  {\n" + "\n".join(lines) + "\n  }\n}\nINSERT BEFORE .text;\n")
    print(f"{FILE}: {len(lines)} functions, {len(each | reads)} of them in each cycle")


def check(program):
    asked = re.findall(r"\*\(\.text\.(\S+)\*\)", open(FILE, encoding="utf-8").read())
    symbols = subprocess.run(["nm", program], check=True, capture_output=True, text=True).stdout
    there = {re.sub(r"([CD])[12]E", r"\1[12]E", line.split()[-1].split(".")[0]) for line in symbols.splitlines()}
    found = sum(name.split(".")[0] in there for name in asked)
    print(f"{found} of {len(asked)} functions that lie side by side are in {os.path.basename(program)}")
    if found < ENOUGH * len(asked):
        print("too few: tests/bench/order_functions.py makes daemon/cycle.ld anew", file=sys.stderr)
        return 1
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=f"{SOURCE}/build/unordered/bin")
    parser.add_argument("--check", metavar="PROGRAM")
    options = parser.parse_args()
    if options.check:
        return check(options.check)
    write(options.bin)
    return 0


if __name__ == "__main__":
    sys.exit(main())
