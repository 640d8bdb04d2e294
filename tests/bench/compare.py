#!/usr/bin/env python3
"""Compares builds of bench_stepped_daemon (or bench_floor): processor time of a sample and a scrape, with cold caches and in a
tight loop, in turn on the same tree and processor.

    cp build/release/bin/bench_stepped_daemon before      # change something, build
    tests/bench/compare.py before build/release/bin/bench_stepped_daemon build/release/bin/bench_floor

With cold caches: between two cycles more memory is read than the caches and the translation of addresses hold. A cycle then costs what
it costs after a second of sleep, without the second: half a percent shows within a minute, where tests/bench/run --only paced
needs an hour.
"""
import argparse
import contextlib
import os
import statistics
import sys
import tempfile
import time

import fake_sysfs
from measure import REST_S, Program, memory_directory

CYCLES = 10  # of one program, before it is the next one's turn
LINE = 64
EVICTED = 96 << 20


def number(text):
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text} is no number above 0")
    return int(text)


def middle(values):
    """The mean without the fifth at each end: one cycle in ten thousand is taken by somebody else."""
    ordered = sorted(values)
    return statistics.mean(ordered[len(ordered) // 5: len(ordered) - len(ordered) // 5])


def cost_ms(program, turn, between):
    before = program.cpu_ms()
    for _ in range(CYCLES):
        turn()
        between()
    time.sleep(REST_S)
    return (program.cpu_ms() - before) / CYCLES


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="+", metavar="PROGRAM", help="the first is what the others are compared with")
    parser.add_argument("--devices", type=number, default=10, metavar="N", help="of the tree that is read (10)")
    parser.add_argument("--rounds", type=number, default=150, metavar="N", help=f"of {CYCLES} cycles of each program (150)")
    options = parser.parse_args()
    for program in options.programs:
        if not os.access(program, os.X_OK):
            sys.exit(f"compare: {program} is no program")
    memory = b"x" * EVICTED  # not zeros, which are all one page

    def evict():
        time.sleep(0.001)  # until it sleeps
        memory[::LINE]  # pylint: disable=pointless-statement

    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    with tempfile.TemporaryDirectory(prefix="linkhealth-bench-", dir=memory_directory()) as trees, \
            contextlib.ExitStack() as running:
        fake_sysfs.make(f"{trees}/sys", options.devices, equal=True)
        turns = []
        for name in options.programs:
            floor = os.path.basename(name).endswith("floor")
            program = running.enter_context(Program([os.path.abspath(name), "{port}", trees, *([] if floor else ["--no-diagnosis"])]))
            turns.append((program, program.client("/metrics?collect[]=counters").get))
        figures = {"cold": [[] for _ in turns], "tight": [[] for _ in turns]}
        for count in range(-1, options.rounds):
            if sys.stderr.isatty():
                print(f"\rround {count + 1} of {options.rounds} ", end="", file=sys.stderr, flush=True)
            order = list(range(len(turns)))
            for place in order if count % 2 else reversed(order):
                for what, between in (("cold", evict), ("tight", lambda: None)):
                    cost = cost_ms(*turns[place], between)
                    if count >= 0:  # the first round warms up
                        figures[what][place].append(cost)
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr)
    print(f"{'':40} {'cold, ms':>9} {'':>7} {'tight, ms':>10}")
    for place, name in enumerate(options.programs):
        cold, tight = middle(figures["cold"][place]), middle(figures["tight"][place])
        first_cold, first_tight = middle(figures["cold"][0]), middle(figures["tight"][0])
        print(f"{name[-40:]:40} {cold:9.4f} {100 * (cold / first_cold - 1):+6.1f}% {tight:10.4f} {100 * (tight / first_tight - 1):+6.1f}%")


if __name__ == "__main__":
    main()
