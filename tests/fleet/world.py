"""A fleet in one process (fleet_nodes) and a real Prometheus with the rules and the configuration that we ship."""
import json
import os
import re
import resource
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

import yaml

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RULES = ("linkhealth-recording.yaml", "linkhealth-alerts-faults.yaml", "linkhealth-alerts.yaml")
PORTS = 8


class Missing(Exception):
    """Something that is not installed."""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def shipped_configuration():
    """deploy/prometheus.yml with its commented parts in use: the job of the optics."""
    text = open(os.path.join(ROOT, "deploy/prometheus.yml"), encoding="utf-8").read()
    return yaml.safe_load(re.sub(r"(?m)^( *)# ( *(?:- )?[a-z_]+:(?: .*)?| *- \{.*)$", r"\1\2", text))


def relabelled(scrape, nodes_port):
    """The shipped relabeling, then: all nodes are one process; the rails and line cards of the simulated platform."""
    rules = [rule for rule in scrape.get("metric_relabel_configs", []) if rule.get("target_label") not in ("rail", "peer_card")]
    if len(rules) != len(scrape.get("metric_relabel_configs", [])):
        rules += [{"source_labels": ["__name__", "pci"], "regex": f"linkhealth_port_info;0000:{0x18 + 0x10 * rail:02x}:00.0",
                   "target_label": "rail", "replacement": str(rail)} for rail in range(PORTS)]
        rules.append({"source_labels": ["__name__", "peer_port"], "regex": "linkhealth_port_info;[A-Za-z-]+([0-9]+)/[0-9]+",
                      "target_label": "peer_card"})
    return {**{key: value for key, value in scrape.items() if key not in ("file_sd_configs", "http_sd_configs")},
            "http_sd_configs": [{"url": f"http://127.0.0.1:{nodes_port}/targets", "refresh_interval": "1m"}],
            "relabel_configs": scrape["relabel_configs"] + [
                {"source_labels": ["number"], "regex": "(.+)", "target_label": "__metrics_path__",
                 "replacement": "/node/$1/metrics"},
                {"target_label": "__address__", "replacement": f"127.0.0.1:{nodes_port}"},
                {"regex": "number", "action": "labeldrop"}],
            "metric_relabel_configs": rules}


class World:
    """`scrape_s`: the interval of scrapes. `rules_s`: of the rules, None for the shipped ones. `optics`: the slow job too."""

    def __init__(self, program, nodes_arguments, scrape_s, rules_s=None, optics=False, with_rules=True, site=True):
        if not shutil.which("prometheus"):
            raise Missing("prometheus is not installed (package prometheus)")
        if not os.access(program, os.X_OK):
            raise Missing(f"{program} is not built")
        self.program, self.arguments = program, nodes_arguments
        self.scrape_s, self.rules_s, self.optics, self.with_rules = scrape_s, rules_s, optics, with_rules
        self.site = site  # a site's own rule: the switches' ports
        self.started = []

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix="linkhealth-fleet-")
        self.log = open(os.path.join(self.folder, "log"), "w+", encoding="utf-8")
        try:
            return self.start()
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *_):
        for process in reversed(self.started):
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(65536, hard), hard))
        self.nodes = subprocess.Popen([self.program, *map(str, self.arguments)], stdout=subprocess.PIPE, stderr=self.log, text=True)
        self.started.append(self.nodes)
        line = self.nodes.stdout.readline()
        if not line:
            raise AssertionError("fleet_nodes ended: " + self.tail())
        self.fleet = json.loads(line)
        self.serve()
        return self

    def serve(self):
        """What stores, evaluates and answers: one Prometheus."""
        self.url = f"http://127.0.0.1:{free_port()}"
        self.data = os.path.join(self.folder, "data")
        self.prometheus = subprocess.Popen(
            ["prometheus", f"--config.file={self.configuration()}", f"--storage.tsdb.path={self.data}",
             f"--web.listen-address={self.url[7:]}", "--log.level=warn", "--web.enable-admin-api"], stdout=self.log, stderr=self.log)
        self.started.append(self.prometheus)
        self.until("Prometheus is ready", self.ready, 60)

    def ready(self):
        try:
            return urllib.request.urlopen(self.url + "/-/ready", timeout=5).status == 200
        except OSError:
            return False

    def configuration(self):
        content = shipped_configuration()
        content["global"] = {"scrape_interval": f"{self.scrape_s}s", "evaluation_interval": f"{self.rules_s or 30}s"}
        content.pop("alerting")
        jobs = content["scrape_configs"]
        assert len(jobs) == 2, "deploy/prometheus.yml: the job of the optics was not found"
        content["scrape_configs"] = [relabelled(job, self.fleet["port"]) for job in (jobs if self.optics else jobs[:1])]
        if self.optics:
            content["scrape_configs"][1]["scrape_interval"] = f"{self.scrape_s}s"
        content["rule_files"] = [self.rules(name) for name in RULES] if self.with_rules else []
        if self.with_rules and self.site:
            content["rule_files"].append(self.switches())
        return self.write("prometheus.yml", content)

    def rules(self, name):
        content = yaml.safe_load(open(os.path.join(ROOT, "dashboards/rules", name), encoding="utf-8"))
        for group in content["groups"]:
            if self.rules_s:
                group["interval"] = f"{self.rules_s}s"
        return self.write(name, content)

    def switches(self):
        """What a site's SNMP exporter would say: the ports of rail 0 are down, of which the nodes say that they are up."""
        return self.write("site.yaml", {"groups": [{"name": "site", "interval": f"{self.rules_s or 60}s", "rules": [{
            "record": "site:switch_port_up",
            "expr": '0 * count by (peer_system, peer_port) (linkhealth_port_info{peer_system!="", rail="0"})'}]}]})

    def write(self, name, content):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            yaml.safe_dump(content, file)
        return path

    def tail(self):
        self.log.flush()
        return open(self.log.name, encoding="utf-8", errors="replace").read()[-3000:]

    def until(self, what, check, limit_s):
        end = time.monotonic() + limit_s
        while time.monotonic() < end:
            for process in self.started:
                if process.poll() is not None:
                    raise AssertionError(f"{process.args[0]} ended: {self.tail()}")
            if check():
                return
            time.sleep(0.5)
        raise AssertionError(f"not within {limit_s} s: {what}: {self.tail()}")

    def get(self, path, **params):
        with urllib.request.urlopen(f"{self.url}{path}?{urllib.parse.urlencode(params)}", timeout=120) as answer:
            return json.load(answer)["data"]

    def query(self, expr):
        """[(labels, value)]; AssertionError with Prometheus' own words for a query that it refuses."""
        try:
            return [(row["metric"], float(row["value"][1])) for row in self.get("/api/v1/query", query=expr)["result"]]
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{expr}: {error.read().decode()}") from error

    def value(self, expr, default=None):
        rows = self.query(expr)
        return rows[0][1] if rows else default

    def cost(self):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.fleet['port']}/cost", timeout=60) as answer:
            return json.load(answer)
