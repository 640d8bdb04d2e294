#!/usr/bin/env python3
"""victoria_test.py FLEET_NODES: what docs/scale.md promises for fleets that outgrow one server, with Debian's programs: the
simulated fleet, a Prometheus in agent mode that writes remotely to VictoriaMetrics, the shipped rules evaluated there by vmalert.
Every rule evaluates, every query of the dashboards has an answer. Exit code 77: a program is not installed.
"""
import os
import shutil
import subprocess
import sys

import yaml

import fleet_test
from world import RULES, Missing, World, free_port

PROGRAMS = ("prometheus", "victoria-metrics", "vmalert")


class VictoriaWorld(World):
    """`url` is VictoriaMetrics, `rules_url` vmalert."""

    def launch(self, *command):
        process = subprocess.Popen(command, stdout=self.log, stderr=self.log)
        self.started.append(process)
        return process

    def start(self):
        missing = [name for name in PROGRAMS if not shutil.which(name)]
        if missing:
            raise Missing(f"not installed: {', '.join(missing)} (packages prometheus and victoria-metrics)")
        super().start()
        return self

    def serve(self):
        self.url, self.rules_url = (f"http://127.0.0.1:{free_port()}" for _ in range(2))
        # Answers include the latest writes: by default the last 30 s are held back, longer than this test's rules run.
        self.launch("victoria-metrics", f"-storageDataPath={self.folder}/victoria", f"-httpListenAddr={self.url[7:]}",
                    "-retentionPeriod=1", "-search.latencyOffset=1s", "-loggerLevel=WARN")
        self.until("VictoriaMetrics answers", self.answers, 60)
        content = yaml.safe_load(open(self.configuration(), encoding="utf-8"))
        for key in ("rule_files", "alerting"):
            content.pop(key, None)
        content["remote_write"] = [{"url": f"{self.url}/api/v1/write", "send_exemplars": False}]
        self.launch("prometheus", "--enable-feature=agent", f"--config.file={self.write('agent.yml', content)}",
                    f"--storage.agent.path={self.folder}/agent", f"--web.listen-address=127.0.0.1:{free_port()}", "--log.level=warn")
        rules = [f"-rule={self.for_vmalert(os.path.join(self.folder, name))}" for name in (*RULES, "site.yaml")]
        self.launch("vmalert", *rules, f"-datasource.url={self.url}", f"-remoteWrite.url={self.url}", f"-remoteRead.url={self.url}",
                    f"-notifier.url={self.url}", f"-httpListenAddr={self.rules_url[7:]}", "-loggerLevel=WARN")

    def for_vmalert(self, path):
        """Debian's vmalert (1.79) refuses keep_firing_for, which newer ones have; nothing else is taken out."""
        content = yaml.safe_load(open(path, encoding="utf-8"))
        for group in content["groups"]:
            for rule in group["rules"]:
                rule.pop("keep_firing_for", None)
        return self.write("vmalert-" + os.path.basename(path), content)

    def answers(self):
        try:
            self.query("vector(1)")
            return True
        except OSError:
            return False

    def groups(self):
        data, self.url = self.url, self.rules_url
        try:
            return self.get("/api/v1/rules")["groups"]
        finally:
            self.url = data


def every_rule(world):
    groups = world.groups()
    rules = [rule for group in groups for rule in group["rules"]]
    assert len(rules) > 60, f"vmalert has only {len(rules)} rules"

    def evaluated():
        return all(rule.get("lastSamples") is not None or rule.get("lastEvaluation") for group in world.groups() for rule in group["rules"])
    world.until("vmalert evaluates every rule", evaluated, 60)
    broken = [f"{rule['name']}: {rule['lastError']}" for group in world.groups() for rule in group["rules"] if rule.get("lastError")]
    assert not broken, broken
    recording = [rule["name"] for rule in rules if rule["type"] == "recording" and rule["name"] not in fleet_test.MAY_BE_EMPTY]

    def recorded():
        return not [name for name in recording if not world.query(name)]
    try:
        world.until("every recording rule has a result", recorded, 60)
    except AssertionError as error:
        raise AssertionError(f"recorded nothing: {[name for name in recording if not world.query(name)]}; {error}") from None
    print(f"{len(rules)} rules evaluated by vmalert without an error, each of {len(recording)} recording rules with a result")


def main():
    return fleet_test.play(VictoriaWorld, sys.argv[1], [lambda world: fleet_test.every_panel(world, 150), every_rule])


if __name__ == "__main__":
    sys.exit(main())
