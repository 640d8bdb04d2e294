#!/usr/bin/env python3
"""The fixed check of ctest: makes a small set, judges it, and fails below a floor."""
import argparse
import pathlib
import subprocess
import sys

parser = argparse.ArgumentParser()
for name in ("set", "cases", "seed", "linkhealth", "out"):
    parser.add_argument("--" + name, required=True)
args, floors = parser.parse_known_args()
here = pathlib.Path(__file__).parent
subprocess.run([sys.executable, here / "generate.py", "--set", args.set, "--cases", args.cases, "--seed", args.seed,
                "--out", args.out, "--max-ports", "4"], check=True)
sys.exit(subprocess.run([sys.executable, here / "score.py", args.out, "--linkhealth", args.linkhealth, "--misses", *floors])
         .returncode)
