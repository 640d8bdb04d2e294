#!/usr/bin/env python3
"""page_test.py LINKHEALTHD [PICTURES]: the page of a real daemon that plays a dirty connector, in headless Chromium (page_test.mjs).

Exit code 77: Chromium, node, or what drives it is not there (npm ci --ignore-scripts in tests/web installs it).
PICTURES: a directory for screenshots, as docs/pictures has them; then the recording is played slowly, so that the lines have a past.
"""
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from web_daemon import Daemon  # noqa: E402


def browser():
    """(chromium, node), or why there is none"""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    node = shutil.which("node")
    if not chromium or not node:
        return "chromium or node is not installed (packages chromium and nodejs)"
    if not os.path.isdir(os.path.join(HERE, "node_modules/puppeteer-core")):
        done = None
        if shutil.which("npm"):
            done = subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=HERE, capture_output=True, check=False,
                                  timeout=180)
        if done is None or done.returncode != 0:
            return "npm ci --ignore-scripts in tests/web did not install puppeteer-core and axe-core"
    return chromium, node


def main():
    program, pictures = os.path.abspath(sys.argv[1]), sys.argv[2:3]
    found = browser()
    if isinstance(found, str):
        print(f"skipped: {found}")
        return 77
    chromium, node = found
    with tempfile.TemporaryDirectory() as folder, Daemon(program, folder, speed=180 if pictures else 100000) as daemon:
        if not pictures:
            daemon.played()
        return subprocess.run([node, os.path.join(HERE, "page_test.mjs"), daemon.base, "bnxt_re1/1", *[os.path.abspath(one) for one in pictures]],
                              env={**os.environ, "CHROMIUM": chromium}, timeout=900, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
