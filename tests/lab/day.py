#!/usr/bin/env python3
"""day.py [--pictures DIR] OUT: the scenario day_in_the_life in the lab that is built in OUT, and beside it a real browser that looks at
the page of the daemon in there (tests/web/lab_page_test.mjs), at each stage and all the time.

Without Chromium, node or what drives it the browser's part is a SKIP line, and the scenario runs without it.
"""
import argparse
import os
import socket
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
WEB = os.path.join(os.path.dirname(HERE), "web")
sys.path.insert(0, WEB)
from page_test import browser  # noqa: E402

SECONDS = 1500  # the scenario takes three to ten minutes: an emulated machine on shared cores


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--pictures", help="a directory for screenshots")
    parser.add_argument("--keep", help="what the machine leaves behind: day.txt, console.log")
    parser.add_argument("out", help="where tests/lab/build.sh built the lab")
    options = parser.parse_args()
    if options.pictures:
        os.makedirs(options.pictures, exist_ok=True)
    run = tempfile.mkdtemp(prefix="run.", dir=options.out)  # run.sh removes it
    stages = os.path.join(run, "out")
    os.mkdir(stages)
    port, found, watcher = free_port(), browser(), None
    machine = [os.path.join(HERE, "run.sh"), "--systemd", "--timeout", str(SECONDS), "--run", run, "--forward", f"{port}:9942"]
    if options.keep:
        machine += ["--out", options.keep]
    if isinstance(found, str):
        print(f"SKIP day_in_the_life: the page in a browser: {found}", flush=True)
    else:
        with open(os.path.join(stages, "watched"), "w", encoding="utf-8"):
            pass
        watcher = subprocess.Popen([found[1], os.path.join(WEB, "lab_page_test.mjs"), f"http://127.0.0.1:{port}", "rxe0/1", stages,
                                    *([os.path.abspath(options.pictures)] if options.pictures else [])],
                                   env={**os.environ, "CHROMIUM": found[0]})
    code = 1
    try:
        code = subprocess.run([*machine, options.out, os.path.join(HERE, "scenarios/all.sh"), "day_in_the_life"], check=False,
                              env={**os.environ, "LAB_SCENARIO_SECONDS": str(SECONDS - 100)}).returncode
        if watcher is not None and watcher.wait(30) != 0:
            code = code or 1
    except subprocess.TimeoutExpired:
        print("FAIL day_in_the_life: the browser waits for a stage that did not come", flush=True)
        code = code or 1
    finally:
        if watcher is not None and watcher.poll() is None:
            watcher.terminate()
            watcher.wait(30)
    return code


if __name__ == "__main__":
    sys.exit(main())
