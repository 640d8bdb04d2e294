#!/usr/bin/env python3
"""one_page.py: a real Prometheus and a real Alertmanager, with the rules and routes that we ship, and one switch that fails.

Six nodes (one process, /node/N/metrics, found over HTTP service discovery) have eight links to leaf-1 each, and one link to a
switch of its own. All 48 links to leaf-1 fall. What must arrive at the webhook: one notification, for the switch. Then
one link elsewhere gets a dirty connector: a second one, a ticket. Nothing else, and no template with an error.

Every duration of the rules and routes is divided (`for`, intervals, waits; not the windows of the queries), so that this
takes a minute. Exit code 77: prometheus or alertmanager is not installed. Everything listens on 127.0.0.1, on free ports.
"""
import http.server
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

import yaml

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RULES = ("linkhealth-recording.yaml", "linkhealth-alerts-faults.yaml", "linkhealth-alerts.yaml")
NODES, CARDS = 6, 8
# as in deploy/prometheus.yml, for the rail
PCI = [f"0000:{bus}:00.0" for bus in ("1b", "2c", "3d", "4e", "9a", "ab", "bc", "db", "e8")]
QUICKER = 30  # factor: 5 min become 10 s


def seconds(text):
    return sum(int(number) * {"s": 1, "m": 60, "h": 3600, "d": 86400}[unit] for number, unit in re.findall(r"(\d+)([smhd])", text))


def quick(text):
    return f"{max(1, seconds(text) // QUICKER)}s"


class World:
    """What the nodes serve and what the webhook got."""

    def __init__(self):
        self.switch_down, self.dirty = False, False
        self.notifications, self.lock = [], threading.Lock()

    def metrics(self, node):
        out = ['linkhealth_build_info{version="test"} 1', f"linkhealth_last_sample_timestamp_seconds {time.time():.1f}",
               "linkhealth_stuck_probes 0", "linkhealth_loop_lateness_seconds 0.01"]
        for card in range(CARDS + 1):
            at = f'device="mlx5_{card}",port="1"'
            peer = "leaf-1" if card < CARDS else f"other-{node}"
            down = self.switch_down and card < CARDS
            dirty = self.dirty and card == CARDS and node == 0
            health = "down" if down else "degraded" if dirty else "healthy"
            out.append(f'linkhealth_port_info{{{at},netdev="ens{card}",pci="{PCI[card]}",driver="mlx5_core",guid="",'
                       f'link_layer="Ethernet",function="pf",peer_system="{peer}",peer_port="Ethernet3/{node}/{card}"}} 1')
            out.append(f'linkhealth_port_health{{{at},health="{health}"}} 1')
            out.append(f"linkhealth_link_up{{{at}}} {int(not down)}")
            out.append(f"linkhealth_bandwidth_expected_bytes_per_second{{{at}}} 5e10")
            out.append(f"linkhealth_bandwidth_available_bytes_per_second{{{at}}} {0 if down else 5e10}")
            # one loss each, at the same time: not a storm of flaps
            out.append(f'linkhealth_link_downs_total{{{at},intent="involuntary"}} 0')
            out.append(f'linkhealth_link_downs_total{{{at},intent="voluntary"}} 0')
            out.append(f'linkhealth_module_info{{{at},kind="optical",type="400G-DR4",connector="MPO-12",vendor="Example",'
                       f'part_number="EX-4",serial="S{node}{card}",revision="1",firmware="1.7"}} 1')
            if down:
                out.append(f'linkhealth_fault_active{{{at},fault="far_port_down",end="far",severity="critical",state="open"}} 0.91')
            if dirty:
                out.append(f'linkhealth_fault_active{{{at},fault="dirty_connector",end="path",severity="warning",state="open"}} 0.83')
                out.append(f'linkhealth_fault_lane{{{at},fault="dirty_connector",end="path"}} 3')
        return "\n".join(out) + "\n"

    def handler(self):
        world = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def answer(self, body, kind):
                try:
                    self.send_response(200)
                    self.send_header("Content-Type", kind)
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)
                except BrokenPipeError:
                    pass  # Prometheus was stopped while it scraped

            def do_GET(self):
                if self.path == "/targets":
                    body = [{"targets": [f"gpu-{node}:9942"], "labels": {"rack": f"r{node}", "pod": "a", "node": str(node)}}
                            for node in range(NODES)]
                    return self.answer(json.dumps(body).encode(), "application/json")
                node = re.fullmatch(r"/node/(\d+)/metrics(\?.*)?", self.path)
                if not node:
                    return self.send_error(404)
                return self.answer(world.metrics(int(node[1])).encode(), "text/plain; version=0.0.4")

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with world.lock:
                    world.notifications.append((self.path, body))
                self.answer(b"", "text/plain")

            def log_message(self, *_):
                pass

        return Handler


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def write(folder, name, content):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        yaml.safe_dump(content, file)
    return path


def quick_rules(folder, name):
    content = yaml.safe_load(open(os.path.join(ROOT, "dashboards/rules", name), encoding="utf-8"))
    for group in content["groups"]:
        group["interval"] = "1s"
        for rule in group["rules"]:
            for key in ("for", "keep_firing_for"):
                if key in rule:
                    rule[key] = quick(rule[key])
    return write(folder, name, content)


def quick_prometheus(folder, world_port, alertmanager_port):
    content = yaml.safe_load(open(os.path.join(ROOT, "deploy/prometheus.yml"), encoding="utf-8"))
    content["global"] = {"scrape_interval": "1s", "evaluation_interval": "1s"}
    content["rule_files"] = [quick_rules(folder, name) for name in RULES]
    content["alerting"]["alertmanagers"] = [{"static_configs": [{"targets": [f"127.0.0.1:{alertmanager_port}"]}]}]
    scrape = content["scrape_configs"][0]
    del scrape["file_sd_configs"]
    scrape["http_sd_configs"] = [{"url": f"http://127.0.0.1:{world_port}/targets", "refresh_interval": "5s"}]
    # after the shipped relabelling has set `instance` to the node's name, the scrape goes to our single process
    scrape["relabel_configs"] += [
        {"source_labels": ["node"], "regex": "(.+)", "target_label": "__metrics_path__", "replacement": "/node/$1/metrics"},
        {"target_label": "__address__", "replacement": f"127.0.0.1:{world_port}"},
        {"regex": "node", "action": "labeldrop"}]
    return write(folder, "prometheus.yml", content)


def quick_alertmanager(folder, world_port):
    content = yaml.safe_load(open(os.path.join(ROOT, "deploy/alertmanager.yml"), encoding="utf-8"))

    def quicken(route):
        for key in ("group_wait", "group_interval"):
            if key in route:
                route[key] = quick(route[key])
        for inner in route.get("routes", []):
            quicken(inner)
    quicken(content["route"])
    for receiver in content["receivers"]:
        for hook in receiver.get("webhook_configs", []):
            hook["url"] = hook["url"].replace("127.0.0.1:9099", f"127.0.0.1:{world_port}")
    return write(folder, "alertmanager.yml", content)


def ask(url, **params):
    with urllib.request.urlopen(f"{url}?{urllib.parse.urlencode(params)}", timeout=10) as answer:
        return json.load(answer)


def until(what, check, limit_s):
    end = time.monotonic() + limit_s
    while time.monotonic() < end:
        try:
            if check():
                return
        except OSError:
            pass
        time.sleep(0.3)
    raise AssertionError(f"not within {limit_s} s: {what}")


def value_of(prometheus, query):
    result = ask(prometheus + "/api/v1/query", query=query)["data"]["result"]
    return float(result[0]["value"][1]) if result else None


def words(notification):
    path, body = notification
    return (path, body["status"], sorted({alert["labels"]["alertname"] for alert in body["alerts"]}), len(body["alerts"]))


def held_off(alertmanager):
    with urllib.request.urlopen(alertmanager + "/api/v2/alerts", timeout=10) as answer:
        return sum(1 for alert in json.load(answer) if alert["status"]["inhibitedBy"])


def play(world, prometheus, alertmanager):
    def got():
        with world.lock:
            return [one for one in world.notifications if one[1]["status"] == "firing"]
    until("6 nodes answer", lambda: value_of(prometheus, 'sum(up{job="linkhealth"})') == NODES, 40)
    until("54 healthy links", lambda: value_of(prometheus, 'fleet:linkhealth_links:count{health="healthy"}') == 54, 20)
    assert not got(), "healthy nodes made a notification"
    world.switch_down = True
    until("a notification", got, 40)
    # all 48 alerts of single links are firing in Prometheus, but inhibited
    until("48 links' alerts fire", lambda: value_of(prometheus, 'count(ALERTS{alertname="LinkFarPortDown",alertstate="firing"})') == 48, 30)
    until("Alertmanager holds off 48 alerts", lambda: held_off(alertmanager) == 48, 20)
    time.sleep(5)  # alerts that are not inhibited are sent after group_wait, 1 s here
    seen = [words(one) for one in got()]
    assert seen == [("/page", "firing", ["LinkSwitchManyBadLinks"], 1)], f"48 links of one switch made {seen}"
    first = got()[0][1]["alerts"][0]
    assert first["labels"]["peer_system"] == "leaf-1" and "leaf-1: 48 links" in first["annotations"]["summary"], first
    print(f"48 links of one switch: one notification, 48 alerts held off: {first['annotations']['summary']}")
    world.dirty = True
    until("the ticket of the one link elsewhere", lambda: len(got()) == 2, 60)
    path, body = got()[1]
    one = body["alerts"][0]
    assert (path, one["labels"]["alertname"], one["labels"]["instance"], one["labels"]["rack"]) == (
        "/ticket", "LinkDirtyConnector", "gpu-0", "r0"), body
    assert one["labels"]["peer_system"] == "other-0" and "inspect and clean" in one["annotations"]["first_step"], one
    said, port = one["annotations"], f"{one['labels']['device']}%2F{one['labels']['port']}"
    assert said["lane"] == "lane 3" and re.fullmatch(r"Example \S+ SN \S+", said["module"]) and said["place"].startswith("rack r0"), said
    assert said["page_url"] == f"http://gpu-0:9942/#/port/{port}" and said["runbook_url"] == "http://gpu-0:9942/#/runbook/dirty_connector", said
    assert said["dashboard_url"].startswith("/d/linkhealth-link?var-node=gpu-0&var-device="), said
    elsewhere = first["annotations"]["runbook_url"]
    assert re.fullmatch(r"http://gpu-\d:9942/#/runbook/switch_many_bad_links", elsewhere), elsewhere
    print(f"one link elsewhere: its ticket: {said['summary']}; {said['lane']}, {said['module']}, {said['page_url']}")
    rules = [rule for group in ask(prometheus + "/api/v1/rules")["data"]["groups"] for rule in group["rules"]]
    broken = [f"{rule['name']}: {rule['lastError']}" for rule in rules if rule["health"] != "ok"]
    assert not broken, broken
    texts = [text for rule in rules for alert in rule.get("alerts", []) for text in alert["annotations"].values()]
    assert texts and not [text for text in texts if "error expanding" in text or "<no value>" in text], texts
    print(f"{len(rules)} rules evaluated without an error, {len(texts)} texts written")


def main():
    programs = {"prometheus": shutil.which("prometheus"),
                "alertmanager": shutil.which("prometheus-alertmanager") or shutil.which("alertmanager")}
    for name, path in programs.items():
        if not path:
            print(f"skipped: {name} is not installed (packages prometheus and prometheus-alertmanager)")
            return 77
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended from outside"))  # the finally below stops what was started
    world = World()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), world.handler())
    threading.Thread(target=server.serve_forever, daemon=True).start()
    world_port, started = server.server_address[1], []
    with tempfile.TemporaryDirectory() as folder:
        alertmanager_port, prometheus_port = free_port(), free_port()
        log = open(os.path.join(folder, "log"), "w+", encoding="utf-8")
        try:
            started.append(subprocess.Popen(
                [programs["alertmanager"], f"--config.file={quick_alertmanager(folder, world_port)}",
                 f"--storage.path={folder}/alertmanager", f"--web.listen-address=127.0.0.1:{alertmanager_port}",
                 "--cluster.listen-address="], stdout=log, stderr=log))
            until("Alertmanager is ready", lambda: urllib.request.urlopen(
                f"http://127.0.0.1:{alertmanager_port}/-/ready", timeout=5), 20)
            started.append(subprocess.Popen(
                [programs["prometheus"], f"--config.file={quick_prometheus(folder, world_port, alertmanager_port)}",
                 f"--storage.tsdb.path={folder}/prometheus", f"--web.listen-address=127.0.0.1:{prometheus_port}",
                 "--rules.alert.resend-delay=2s"], stdout=log, stderr=log))
            play(world, f"http://127.0.0.1:{prometheus_port}", f"http://127.0.0.1:{alertmanager_port}")
            return 0
        except AssertionError as error:
            log.seek(0)
            print("".join(log.readlines()[-15:]))
            print(f"FAIL {error}; notifications: {[words(one) for one in world.notifications]}")
            return 1
        finally:
            for process in started:
                process.terminate()
                try:
                    process.wait(10)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
            server.shutdown()


if __name__ == "__main__":
    sys.exit(main())
