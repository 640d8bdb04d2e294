#!/usr/bin/env python3
"""helm_test.py [LINKHEALTHD] [--schema]: deploy/helm/linkhealth, rendered by tests/rules/helm/render.go (Debian has no Helm).
With its own values the chart is deploy/kubernetes-daemonset.yaml, with lldpd and a Secret the manifest with its commented parts in use.
Rules and dashboards are those of dashboards/. values.schema.json refuses wrong values. promtool: what the ServiceMonitor's relabelings
leave of a target. LINKHEALTHD: takes the configuration of the ConfigMap. --schema: each object by the schemas of Kubernetes and of
the Prometheus operator (npm). Exit code 77 without Go and its libraries.
"""
import glob
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
CHART = os.path.join(ROOT, "deploy/helm/linkhealth")
RENDER = os.path.join(ROOT, "build/helm/render")
problems = []


def expect(right, what):
    if not right:
        problems.append(what)


def build():
    """"" or why not."""
    libraries = "/usr/share/gocode"
    if not shutil.which("go") or not os.path.isdir(os.path.join(libraries, "src/github.com/Masterminds/sprig")):
        return "no Go with sprig here (packaging/install-packages deploy)"
    os.makedirs(os.path.dirname(RENDER), exist_ok=True)
    done = subprocess.run(["go", "build", "-o", RENDER, os.path.join(ROOT, "tests/rules/helm/render.go")], capture_output=True, text=True,
                          env=dict(os.environ, GO111MODULE="off", GOPATH=libraries, GOFLAGS="", GOCACHE=os.path.join(ROOT, "build/helm/cache")),
                          timeout=300, check=False)
    expect(done.returncode == 0, f"render.go: {done.stderr}")
    return ""


def rendered(values):
    """(documents, stderr); no documents where it is refused."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml", encoding="utf-8") as file:
        json.dump(values, file)
        file.flush()
        done = subprocess.run([RENDER, CHART, "linkhealth", file.name], capture_output=True, text=True, timeout=60, check=False)
    return [d for d in yaml.safe_load_all(done.stdout) if d] if done.returncode == 0 else [], done.stderr


def by_kind(documents, kind):
    found = [d for d in documents if d["kind"] == kind]
    return found[0] if len(found) == 1 else found


def plain(document):
    """Without what only Helm says: its labels, the checksum, when to pull the image."""
    document = json.loads(json.dumps(document))
    labels = document["metadata"].get("labels", {})
    for key in [k for k in labels if k != "app.kubernetes.io/name"]:
        del labels[key]
    if document["kind"] == "ConfigMap":
        document["metadata"].pop("labels", None)
        document["data"]["linkhealth.yaml"] = yaml.safe_load(document["data"]["linkhealth.yaml"])
    if document["kind"] == "DaemonSet":
        template = document["spec"]["template"]
        template["metadata"].pop("annotations", None)
        for container in template["spec"]["containers"]:
            container.pop("imagePullPolicy", None)
    return document


def manifest(in_use=False):
    """deploy/kubernetes-daemonset.yaml, also with the commented parts for lldpd and a Secret."""
    text = open(os.path.join(ROOT, "deploy/kubernetes-daemonset.yaml"), encoding="utf-8").read()
    if in_use:
        text = re.sub(r'(?m)^    # +(listen: "0\.0\.0\.0|web_config_file:)', r"    \1", text.replace('    listen: "127.0.0.1:9942"\n', ""))
        text = re.sub(r"(?m)^( *)# (securityContext: .*|- (?:\{)?name: (?:lldpd|web).*|  (?:hostPath|secret): .*)$", r"\1\2", text)
    return {d["kind"]: plain(d) for d in yaml.safe_load_all(text)}


def same(kind, chart, other, what):
    if plain(by_kind(chart, kind)) != other[kind]:
        chart, other = (json.dumps(d, indent=1, sort_keys=True) for d in (plain(by_kind(chart, kind)), other[kind]))
        import difflib
        problems.append(f"{what}: the {kind} of the chart is not the manifest's:\n" +
                        "\n".join(difflib.unified_diff(other.split("\n"), chart.split("\n"), "manifest", "chart", lineterm="")))


ALL = {
    "listen": "0.0.0.0:9942", "web": {"secretName": "linkhealth-web", "probeHeaders": [{"name": "Authorization", "value": "Basic bGlu"}]},
    "sockets": {"lldpd": {"enabled": True}}, "config": {"sampling": {"module_period_s": 60}, "site": {"row": "3"}},
    "plan": "system,port,peer_system,peer_port\n", "imagePullSecrets": [{"name": "registry"}], "priorityClassName": "system-node-critical",
    "nodeSelector": {"node.example/gpu": "yes"}, "resources": {"limits": {"rdma/hca": 1}},
    "tolerations": [{"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}],
    "serviceMonitor": {"enabled": True, "labels": {"release": "kube-prometheus-stack"}, "endpoint": {"tlsConfig": {"insecureSkipVerify": True}},
                       "relabelings": [{"sourceLabels": ["__meta_kubernetes_node_label_rack"], "targetLabel": "rack"},
                                       {"sourceLabels": ["__meta_kubernetes_node_label_pod"], "targetLabel": "pod"}]},
    "prometheusRule": {"enabled": True, "labels": {"release": "kube-prometheus-stack"}}, "dashboards": {"enabled": True},
}


def documents_of_all(documents):
    pod = by_kind(documents, "DaemonSet")["spec"]["template"]["spec"]
    expect(pod["nodeSelector"] == ALL["nodeSelector"] and pod["tolerations"] == ALL["tolerations"], "nodeSelector, tolerations")
    expect(pod["containers"][0]["resources"]["limits"] == {"memory": "256Mi", "rdma/hca": 1}, "resources")
    probe = pod["containers"][0]["livenessProbe"]["httpGet"]
    expect(probe["scheme"] == "HTTPS" and probe["httpHeaders"] == ALL["web"]["probeHeaders"], "the liveness probe with a Secret")
    config = [d for d in documents if d["kind"] == "ConfigMap" and d["metadata"]["name"] == "linkhealth"][0]["data"]
    expect(config["plan.csv"] == ALL["plan"] and yaml.safe_load(config["linkhealth.yaml"])["plan"] == "/etc/linkhealth/plan.csv", "the plan")
    expect(yaml.safe_load(config["linkhealth.yaml"])["sampling"] == ALL["config"]["sampling"], "config")

    rules = {d["metadata"]["name"] + ".yaml": d for d in documents if d["kind"] == "PrometheusRule"}
    for path in glob.glob(os.path.join(ROOT, "dashboards/rules/*.yaml")):
        name = os.path.basename(path)
        expect(name in rules and rules[name]["spec"] == yaml.safe_load(open(path, encoding="utf-8")), f"{name} is another one in the chart")
    expect(all(d["metadata"]["labels"]["release"] == "kube-prometheus-stack" for d in rules.values()), "labels of the PrometheusRules")
    boards = {}
    for d in documents:
        if d["kind"] == "ConfigMap" and d["metadata"]["labels"].get("grafana_dashboard") == "1":
            boards.update(d["data"])
    files = glob.glob(os.path.join(ROOT, "dashboards/grafana/*.json"))
    for path in files:
        name = "linkhealth-" + os.path.basename(path)
        expect(name in boards and json.loads(boards[name]) == json.load(open(path, encoding="utf-8")), f"{name} is another one in the chart")
    expect(len(rules) == 3 and len(boards) == len(files) == 5, f"{len(rules)} files of rules, {len(boards)} dashboards")


def target(documents):
    """What is left of a target of the operator: the node is the instance, the job is the one that the rules read."""
    monitor, service = by_kind(documents, "ServiceMonitor"), by_kind(documents, "Service")
    expect(monitor["spec"]["selector"]["matchLabels"].items() <= service["metadata"]["labels"].items(), "the ServiceMonitor finds no Service")
    expect(monitor["spec"]["jobLabel"] in service["metadata"]["labels"], "jobLabel")
    endpoint = monitor["spec"]["endpoints"][0]
    expect(endpoint["port"] == service["spec"]["ports"][0]["name"] and endpoint["scheme"] == "https", "the port of the ServiceMonitor")
    if not shutil.which("promtool"):
        return
    own = {"instance": "gpu-0001", "job": "linkhealth", "namespace": "linkhealth"}
    more = len(ALL["serviceMonitor"]["relabelings"])
    for relabelings, want in ((endpoint["relabelings"][:-more], own), (endpoint["relabelings"], {**own, "rack": "r12", "pod": "a"})):
        left = labels_left(service["metadata"]["labels"][monitor["spec"]["jobLabel"]], relabelings)
        expect(left == want, f"the labels of a target: {left}, wanted: {want}")


def labels_left(job_label, relabelings):
    names = {"sourceLabels": "source_labels", "targetLabel": "target_label"}
    # the labels that the operator makes before the relabelings of a ServiceMonitor
    labels = {"job": job_label, "namespace": "linkhealth", "service": "linkhealthd",
              "pod": "linkhealthd-x7f2p", "container": "linkhealthd", "endpoint": "metrics",
              "__meta_kubernetes_pod_node_name": "gpu-0001", "__meta_kubernetes_node_label_rack": "r12", "__meta_kubernetes_node_label_pod": "a"}
    job = {"job_name": "linkhealth/linkhealthd/0", "static_configs": [{"targets": ["10.0.0.1:9942"], "labels": labels}],
           "relabel_configs": [{names.get(k, k): v for k, v in r.items()} for r in relabelings]}
    with tempfile.NamedTemporaryFile("w", suffix=".yml", encoding="utf-8") as file:
        json.dump({"scrape_configs": [job]}, file)
        file.flush()
        done = subprocess.run(["promtool", "check", "service-discovery", "--timeout=2s", file.name, job["job_name"]],
                              capture_output=True, text=True, timeout=60, check=False)
    try:
        return {k: v for k, v in json.loads(done.stdout)[0]["labels"].items() if not k.startswith("__")}
    except (ValueError, KeyError, IndexError):
        return done.stdout + done.stderr


# what is refused, and the word that the refusal has
REFUSED = (
    ({"listen": "9942"}, "listen"), ({"listen": "none"}, "listen"), ({"listen": "10.0.0.1:9942"}, "listen"), ({"listen": None}, "listen"),
    ({"lissten": "0.0.0.0:9942"}, "lissten"), ({"image": {"tag": 1.5}}, "image.tag"), ({"image": {"pullPolicy": "Sometimes"}}, "pullPolicy"),
    ({"config": {"listen": "0.0.0.0:1"}}, "config"), ({"config": "a: b"}, "config"), ({"plan": ["a"]}, "plan"), ({"planFormat": "xls"}, "planFormat"),
    ({"sockets": {"lldpd": {"group": "_lldpd"}}}, "group"), ({"sockets": {"run": "run/linkhealth"}}, "run"), ({"sockets": {"umad": 1}}, "umad"),
    ({"tolerations": {"operator": "Exists"}}, "tolerations"), ({"nodeSelector": {"a": True}}, "nodeSelector"),
    ({"maxUnavailable": "many"}, "maxUnavailable"), ({"maxUnavailable": 0}, "maxUnavailable"), ({"web": {"scheme": "https"}}, "scheme"),
    ({"serviceMonitor": {"interval": "often"}}, "interval"), ({"dashboards": {"enabled": "yes"}}, "enabled"), ({"privileged": True}, "privileged"),
    ({"serviceMonitor": {"enabled": True}}, "loopback"),
)


def schemas(cases):
    work, why = npm_packages.install()
    if not work:
        return why
    for what, documents in cases.items():
        path = os.path.join(work, "chart.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(documents, file)
        done = subprocess.run(["node", os.path.join(work, "manifests.mjs"), path], cwd=work, capture_output=True, text=True, timeout=60, check=False)
        expect(done.returncode == 0 and done.stdout.count(": valid") == len(documents), f"{what}: {done.stdout}{done.stderr}")
    return ""


def main():
    why = build()
    if why:
        print("skipped: " + why)
        return 77
    default, said = rendered({})
    expect([d["kind"] for d in default] == ["ConfigMap", "DaemonSet"], f"with its own values: {[d['kind'] for d in default]} {said}")
    everything, said = rendered(ALL)
    expect(len(everything) == 12, f"with every value: {len(everything)} objects {said}")
    if problems:
        print("FAIL " + "\nFAIL ".join(problems))
        return 1
    same("ConfigMap", default, manifest(), "its own values")
    same("DaemonSet", default, manifest(), "its own values")
    in_use, _ = rendered({"listen": ALL["listen"], "web": {"secretName": "linkhealth-web", "scheme": "HTTP"}, "sockets": ALL["sockets"]})
    # the manifest's comment says to change the scheme; its HTTP is the default of Kubernetes
    by_kind(in_use, "DaemonSet")["spec"]["template"]["spec"]["containers"][0]["livenessProbe"]["httpGet"].pop("scheme")
    same("ConfigMap", in_use, manifest(True), "lldpd and a Secret")
    same("DaemonSet", in_use, manifest(True), "lldpd and a Secret")
    checksums = [by_kind(d, "DaemonSet")["spec"]["template"]["metadata"]["annotations"]["checksum/config"] for d in (default, in_use, everything)]
    expect(len(set(checksums)) == 3, "a changed configuration makes no new pods")
    documents_of_all(everything)
    target(everything)
    for values, word in REFUSED:
        documents, said = rendered(values)
        expect(not documents and word in said, f"{values} is not refused with the word {word}: {said}")
    arguments = [a for a in sys.argv[1:] if a != "--schema"]
    if arguments:
        config = yaml.safe_load([d for d in everything if d["metadata"]["name"] == "linkhealth"][0]["data"]["linkhealth.yaml"])
        with tempfile.TemporaryDirectory() as folder:  # the files of a pod, here
            for key, text in (("plan", "node,port,peer_system,peer_port\n"), ("web_config_file", "{}\n")):
                config[key] = os.path.join(folder, os.path.basename(config[key]))
                with open(config[key], "w", encoding="utf-8") as file:
                    file.write(text)
            path = os.path.join(folder, "linkhealth.yaml")
            with open(path, "w", encoding="utf-8") as file:
                yaml.safe_dump(config, file)
            done = subprocess.run([arguments[0], "--config", path, "--check-config"], capture_output=True, text=True, timeout=60, check=False)
        expect(done.returncode == 0, f"linkhealthd does not take the chart's configuration: {done.stdout}{done.stderr}")
    skipped = schemas({"its own values": default, "every value": everything}) if "--schema" in sys.argv else ""
    if problems:
        print("FAIL " + "\nFAIL ".join(problems))
        return 1
    if skipped:
        print("skipped: " + skipped)
        return 77
    print(f"deploy/helm: {len(default)} and {len(everything)} objects, {len(REFUSED)} wrong values refused")
    return 0


if __name__ == "__main__":
    sys.exit(main())
