#!/usr/bin/env python3
"""deploy_test.py: what deploy/ ships is valid: Prometheus' and Alertmanager's configuration by their own tools (also with the
commented parts in use), routes by amtool, the Kubernetes manifest by its structure, Grafana's provisioning by the keys that it documents.
--schema: the manifest also by Kubernetes' own schemas (npm).
Exit code 77 when promtool or amtool is missing and all that could be checked is right.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import yaml

import npm_packages

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
    run("promtool", "check", "config", "--agent", os.path.join(DEPLOY, "prometheus-agent.yml"))
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
    for severity, receiver in (("page", "oncall"), ("ticket", "tickets"), ("info", "dashboards-only"), ("", "tickets")):
        run("amtool", "config", "routes", "test", f"--config.file={path}", f"--verify.receivers={receiver}",
            *([f"severity={severity}"] if severity else ["alertname=Other"]))


def lldpd_in_use():
    """The manifest with its commented parts: lldpd's socket, and its group, without which root without rights is not let in."""
    text = open(os.path.join(DEPLOY, "kubernetes-daemonset.yaml"), encoding="utf-8").read()
    used = re.sub(r"(?m)^( *)# (securityContext: .*|- (?:\{)?name: lldpd.*|  hostPath: .*)$", r"\1\2", text)
    pod = list(yaml.safe_load_all(used))[2]["spec"]["template"]["spec"]
    mounts = {mount["name"]: mount["mountPath"] for mount in pod["containers"][0]["volumeMounts"]}
    paths = {volume["name"]: volume["hostPath"] for volume in pod["volumes"] if "hostPath" in volume}
    expect(mounts.get("lldpd") == "/run/lldpd.socket" and paths.get("lldpd") == {"path": mounts["lldpd"], "type": "Socket"},
           "lldpd's socket in the commented parts")
    expect(len(pod.get("securityContext", {}).get("supplementalGroups", [])) == 1, "lldpd's group in the commented parts")


def config_of(kinds):
    return yaml.safe_load(kinds["ConfigMap"]["data"]["linkhealth.yaml"])


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
    expect(rights["seccompProfile"] == {"type": "RuntimeDefault"}, "no seccomp profile")
    expect(config_of(kinds)["listen"].startswith("127.0.0.1:"), "it listens to all without a password")
    # Those of systemd/linkhealthd.service.
    expect(rights["capabilities"] == {"drop": ["ALL"], "add": ["NET_ADMIN"]} and rights["privileged"] is False,
           "the rights are not those of systemd/linkhealthd.service")
    unit = open(os.path.join(ROOT, "systemd/linkhealthd.service"), encoding="utf-8").read()
    expect("CapabilityBoundingSet=CAP_NET_ADMIN\n" in unit, "systemd/linkhealthd.service has other capabilities")
    # A hung daemon still accepts connections (the kernel does): only its answer proves that it works.
    probe = container["livenessProbe"]
    expect(probe.get("httpGet") == {"host": "127.0.0.1", "path": "/-/healthy", "port": container["ports"][0]["containerPort"]},
           "the liveness probe does not ask /-/healthy")
    mounts = {mount["name"]: mount for mount in container["volumeMounts"]}
    volumes = {volume["name"]: volume for volume in pod["volumes"]}
    expect(mounts.keys() == volumes.keys(), "volumes and mounts differ")
    expect(mounts["sys"]["mountPath"] == "/sys" and mounts["sys"]["readOnly"] is True, "/sys, read only")
    expect(volumes["sys"]["hostPath"]["path"] == "/sys", "/sys is the host's")
    lldpd_in_use()
    config = config_of(kinds)
    expect(config["listen"].endswith(f":{container['ports'][0]['containerPort']}"), "the port is not the one it listens on")
    if len(sys.argv) > 1 and sys.argv[1] != "--schema":  # linkhealthd must accept the configuration in the ConfigMap
        with tempfile.NamedTemporaryFile("w", suffix=".yaml", encoding="utf-8") as file:
            file.write(kinds["ConfigMap"]["data"]["linkhealth.yaml"])
            file.flush()
            run(sys.argv[1], "--config", file.name, "--check-config")


# https://grafana.com/docs/grafana/latest/administration/provisioning: the keys of a data source and a provider
DATASOURCE_KEYS = {"name", "type", "access", "orgId", "uid", "url", "user", "database", "basicAuth", "basicAuthUser", "withCredentials",
                   "isDefault", "jsonData", "secureJsonData", "version", "editable"}
PROMETHEUS_KEYS = {"httpMethod", "timeInterval", "queryTimeout", "customQueryParameters", "manageAlerts", "prometheusType",
                   "prometheusVersion", "cacheLevel", "incrementalQuerying", "disableRecordingRules", "exemplarTraceIdDestinations"}
PROVIDER_KEYS = {"name", "orgId", "folder", "folderUid", "type", "disableDeletion", "updateIntervalSeconds", "allowUiUpdates", "options"}


def grafana():
    """The provisioning files by the keys that Grafana documents (there is no tool of its own for them)."""
    def only(has, allowed, where):
        expect(set(has) <= allowed, f"grafana {where}: unknown: {sorted(set(has) - allowed)}")

    def load(name):
        content = yaml.safe_load(open(os.path.join(DEPLOY, "grafana/provisioning", name), encoding="utf-8"))
        expect(content["apiVersion"] == 1, f"grafana {name}: apiVersion")
        return content
    sources, providers = load("datasources/linkhealth.yaml"), load("dashboards/linkhealth.yaml")
    only(sources, {"apiVersion", "datasources", "deleteDatasources", "prune"}, "data sources")
    only(providers, {"apiVersion", "providers"}, "dashboards")
    for source in sources["datasources"]:
        only(source, DATASOURCE_KEYS, source["name"])
        only(source["jsonData"], PROMETHEUS_KEYS, source["name"] + " jsonData")
        expect(source["type"] == "prometheus" and source["access"] in ("proxy", "direct") and source["url"].startswith("http"), "data source")
        shipped = yaml.safe_load(open(os.path.join(DEPLOY, "prometheus.yml"), encoding="utf-8"))["global"]["scrape_interval"]
        expect(source["jsonData"]["timeInterval"] == shipped, "timeInterval is not the scrape interval of prometheus.yml")
    expect(sum(source.get("isDefault", False) for source in sources["datasources"]) <= 1, "more than one default data source")
    for provider in providers["providers"]:
        only(provider, PROVIDER_KEYS, provider["name"])
        only(provider["options"], {"path", "foldersFromFilesStructure"}, provider["name"] + " options")
        expect(provider["type"] == "file" and os.path.isabs(provider["options"]["path"]), "provider")
        readme = open(os.path.join(DEPLOY, "README.md"), encoding="utf-8").read()
        expect(provider["options"]["path"] in readme, f"deploy/README.md copies nothing to {provider['options']['path']}")


def schema():
    """The manifests by the schemas of Kubernetes' own OpenAPI (npm kubernetes-models)."""
    work, why = npm_packages.install()
    if not work:
        skipped.append(why)
        return
    path = os.path.join(work, "manifests.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(list(yaml.safe_load_all(open(os.path.join(DEPLOY, "kubernetes-daemonset.yaml"), encoding="utf-8"))), file)
    done = subprocess.run(["node", os.path.join(work, "manifests.mjs"), path], cwd=work, capture_output=True, text=True, timeout=60,
                          check=False)
    expect(done.returncode == 0 and done.stdout.count(": valid") == 3, f"kubernetes-daemonset.yaml: {done.stdout}{done.stderr}")


def main():
    prometheus()
    alertmanager()
    kubernetes()
    grafana()
    if "--schema" in sys.argv:
        schema()
    for problem in problems:
        print("FAIL " + problem)
    if problems:
        return 1
    if skipped:
        print("skipped: " + ", ".join(sorted(set(skipped))) + " ")
        return 77
    print("deploy/: prometheus.yml, alertmanager.yml and its routes, kubernetes-daemonset.yaml, Grafana's provisioning")
    return 0


if __name__ == "__main__":
    sys.exit(main())
