"""Installs the npm packages of tests/rules/npm into build/, for checks that Debian has no tool for."""
import os
import shutil
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDER = os.path.join(ROOT, "tests/rules/npm")


def install():
    """(folder, "") or ("", why not)."""
    npm = shutil.which("npm")
    if not npm or not shutil.which("node"):
        return "", "npm and node are not installed"
    work = os.path.join(ROOT, "build/npm")
    os.makedirs(work, exist_ok=True)
    for name in os.listdir(FOLDER):
        shutil.copy(os.path.join(FOLDER, name), work)
    wanted = ("@grafana/schema", "@kubernetes-models/prometheus-operator", "kubernetes-models", "typescript")
    if not all(os.path.isdir(os.path.join(work, "node_modules", name)) for name in wanted):
        got = subprocess.run([npm, "install", "--no-audit", "--no-fund", "--ignore-scripts"], cwd=work, capture_output=True,
                             text=True, timeout=300, check=False)
        if got.returncode:
            return "", "npm could not install its packages: " + (got.stderr.strip().splitlines() or ["?"])[-1]
    return work, ""
