#!/usr/bin/env python3
"""deploy_test.py: what deploy/ ships is valid: Prometheus' and Alertmanager's configuration by their own tools (also with the
commented parts in use), routes by amtool, the Kubernetes manifest by its structure (Debian has no validator of manifests).
Exit code 77 when promtool or amtool is missing and all that could be checked is right.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

import yaml

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DEPLOY = os.path.join(ROOT, "deploy")
problems, skipped = [], []


def expect(right, what):
    if not right:
        problems.append(what)


def run(tool, *arguments):
    if not shutil.which(tool):
        skipped.append(f"{tool} is not installed")
        return None
    done = subprocess.run([tool, *arguments], capture_output=True, text=True, timeout=60)
    if done.returncode:
        problems.append(f"{tool} {' '.join(arguments)}: {done.stdout}{done.stderr}")
    return done.stdout


def prometheus():
    run("promtool", "check", "config", os.path.join(DEPLOY, "prometheus.yml"))
    text = open(os.path.join(DEPLOY, "prometheus.yml"), encoding="utf-8").read()
    used = re.sub(r"(?m)^( *)# ( *(?:- )?[a-z_]+:(?: .*)?| *- \{.*)$", r"\1\2", text)
    used = used.replace("../dashboards", os.path.join(ROOT, "dashboards")).replace("targets/*", os.path.join(DEPLOY, "targets/*"))
    content = yaml.safe_load(used)
    expect("http_sd_configs" in content["scrape_configs"][0] and len(content["scrape_configs"]) == 2,
           "the commented parts of prometheus.yml were not found")
    with tempfile.NamedTemporaryFile("w", suffix=".yml", encoding="utf-8") as file:
        file.write(used)
        file.flush()
        run("promtool", "check", "config", file.name)


def alertmanager():
    path = os.path.join(DEPLOY, "alertmanager.yml")
    run("amtool", "check-config", path)
    for severity, receiver in (("page", "oncall"), ("ticket", "tickets"), ("info", "nobody"), ("", "tickets")):
        run("amtool", "config", "routes", "test", f"--config.file={path}", f"--verify.receivers={receiver}",
            *([f"severity={severity}"] if severity else ["alertname=Other"]))


def kubernetes():
    """The fields without which it would not watch a node: structure only."""
    documents = list(yaml.safe_load_all(open(os.path.join(DEPLOY, "kubernetes-daemonset.yaml"), encoding="utf-8")))
    kinds = {document["kind"]: document for document in documents}
    expect(list(kinds) == ["Namespace", "ConfigMap", "DaemonSet"], f"kinds: {list(kinds)}")
    expect([d["apiVersion"] for d in documents] == ["v1", "v1", "apps/v1"], "apiVersion")
    daemon = kinds["DaemonSet"]
    expect(all(kinds[kind]["metadata"]["namespace"] == kinds["Namespace"]["metadata"]["name"] for kind in ("ConfigMap", "DaemonSet")),
           "the namespace")
    pod, labels = daemon["spec"]["template"]["spec"], daemon["spec"]["template"]["metadata"]["labels"]
    expect(daemon["spec"]["selector"]["matchLabels"].items() <= labels.items(), "the selector does not match the pods")
    expect(pod["hostNetwork"] is True and "runtimeClassName" not in pod, "hostNetwork, and no RuntimeClass")
    container = pod["containers"][0]
    rights = container["securityContext"]
    expect(rights["capabilities"] == {"drop": ["ALL"], "add": ["NET_ADMIN", "SYSLOG"]} and rights["privileged"] is False,
           "the rights are not those of systemd/linkhealthd.service")
    unit = open(os.path.join(ROOT, "systemd/linkhealthd.service"), encoding="utf-8").read()
    expect("CapabilityBoundingSet=CAP_NET_ADMIN CAP_SYSLOG\n" in unit, "systemd/linkhealthd.service has other capabilities")
    mounts = {mount["name"]: mount for mount in container["volumeMounts"]}
    volumes = {volume["name"]: volume for volume in pod["volumes"]}
    expect(mounts.keys() == volumes.keys(), "volumes and mounts differ")
    expect(mounts["sys"]["mountPath"] == "/sys" and mounts["sys"]["readOnly"] is True, "/sys, read only")
    expect(volumes["sys"]["hostPath"]["path"] == "/sys", "/sys is the host's")
    config = yaml.safe_load(kinds["ConfigMap"]["data"]["linkhealth.yaml"])
    expect(config["listen"].endswith(f":{container['ports'][0]['containerPort']}"), "the port is not the one it listens on")
    if len(sys.argv) > 1:  # linkhealthd: the configuration in the ConfigMap is one that it takes
        with tempfile.NamedTemporaryFile("w", suffix=".yaml", encoding="utf-8") as file:
            file.write(kinds["ConfigMap"]["data"]["linkhealth.yaml"])
            file.flush()
            run(sys.argv[1], "--config", file.name, "--check-config")


def main():
    prometheus()
    alertmanager()
    kubernetes()
    for problem in problems:
        print("FAIL " + problem)
    if problems:
        return 1
    if skipped:
        print("skipped: " + ", ".join(sorted(set(skipped))) + " (packages prometheus and prometheus-alertmanager)")
        return 77
    print("deploy/: prometheus.yml, alertmanager.yml and its routes, kubernetes-daemonset.yaml (structure)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
