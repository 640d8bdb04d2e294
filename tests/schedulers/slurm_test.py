#!/usr/bin/env python3
"""slurm_test.py LINKHEALTHD LINKHEALTH: a real Slurm of one node drains and resumes it by deploy/schedulers/linkhealth-slurm.

munged, slurmctld and slurmd run on loopback in a folder of their own; the daemon plays a recording. Slurm calls the script
itself, in the environment that it gives a HealthCheckProgram. Exit code 77: no Slurm here, or not root.
"""
import gzip
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests/web"))
from web_daemon import DEMO, Daemon, until  # noqa: E402

SCRIPT = os.path.join(ROOT, "deploy/schedulers/linkhealth-slurm")
NODE = "gpu-1"
LINKHEALTHD = LINKHEALTH = ""


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def recording(path, cut):
    """A minute's worth and more of the demo's healthy beginning; with `cut`, the first port's link goes down in it."""
    with gzip.open(DEMO, "rt") as file:
        lines = [json.loads(line) for line in file.readlines()[:40]]
    for number, line in enumerate(lines[1:]):
        port = line["ports"].get("bnxt_re0/1")
        if cut and number >= 10 and port and "link" in port:
            port["link"].update(carrier=False, state="DOWN", phys_state="Polling", speed_mbps=None, carrier_down_count=6)
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)


class Slurm(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="linkhealth-slurm-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        os.chmod(self.folder, 0o755)
        self.daemons = []
        self.addCleanup(self.end_all)
        self.daemon = None
        self.make_script()
        self.start_munge()
        self.start_slurm()

    def at(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text, mode=0o644):
        with open(self.at(name), "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(self.at(name), mode)
        return self.at(name)

    def run_program(self, *argv):
        with open(self.at(os.path.basename(argv[0]) + ".out"), "w", encoding="utf-8") as log:
            process = subprocess.Popen(argv, stdout=log, stderr=log, start_new_session=True,
                                       env={**os.environ, "SLURM_CONF": self.at("slurm.conf")})
        self.daemons.append(process)
        return process

    def end_all(self):
        if self.daemon:
            self.daemon.end()
        for process in reversed(self.daemons):
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
                try:
                    process.wait(10)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()

    # --- the parts --------------------------------------------------------------------------------------------------
    def make_script(self):
        """What a site has by packages and slurm.conf: `linkhealth` on the path, and the script's own settings. Slurm's
        environment for it is kept in a file."""
        os.mkdir(self.at("bin"))
        self.write("bin/linkhealth", f'#!/bin/sh\nexec {LINKHEALTH} --socket {self.at("linkhealth.sock")} "$@"\n', 0o755)
        self.write("settings", "")
        self.health = self.write("health", "#!/bin/sh\n" f'env >{self.at("environment")}\n' f'. {self.at("settings")}\n'
                                 f'PATH={self.at("bin")}:$PATH SLURM_CONF={self.at("slurm.conf")}; export PATH SLURM_CONF\n'
                                 f'sh {SCRIPT}\ncode=$?\necho run $code >>{self.at("runs")}\nexit $code\n', 0o755)

    def start_munge(self):
        with open(self.at("munge.key"), "wb") as key:
            key.write(os.urandom(128))
        os.chmod(self.at("munge.key"), 0o600)
        munged = self.run_program("munged", "--foreground", "--force", "--socket", self.at("munge.sock"), "--key-file",
                                  self.at("munge.key"), "--pid-file", self.at("munge.pid"), "--log-file", self.at("munge.log"),
                                  "--seed-file", self.at("munge.seed"))
        until("munged is there", lambda: os.path.exists(self.at("munge.sock")) or munged.poll() is not None)

    def start_slurm(self):
        for name in ("saved", "spool"):
            os.mkdir(self.at(name))
        host = socket.gethostname().split(".")[0]
        self.write("cgroup.conf", "CgroupPlugin=cgroup/v1\nCgroupAutomount=no\n")
        self.write("slurm.conf", "\n".join([
            "ClusterName=linkhealth", f"SlurmctldHost={host}(127.0.0.1)", "SlurmUser=root", "SlurmdUser=root",
            "AuthType=auth/munge", f"AuthInfo=socket={self.at('munge.sock')}", "CredType=cred/munge", f"SlurmctldPort={free_port()}",
            f"StateSaveLocation={self.at('saved')}", f"SlurmdSpoolDir={self.at('spool')}", f"SlurmctldPidFile={self.at('ctld.pid')}",
            f"SlurmdPidFile={self.at('slurmd.pid')}", f"SlurmctldLogFile={self.at('ctld.log')}", f"SlurmdLogFile={self.at('slurmd.log')}",
            "ProctrackType=proctrack/linuxproc", "TaskPlugin=task/none", "JobAcctGatherType=jobacct_gather/none",
            "AccountingStorageType=accounting_storage/none", "SwitchType=switch/none", "MpiDefault=none", "ReturnToService=1",
            "SlurmdParameters=config_overrides", f"HealthCheckProgram={self.health}", "HealthCheckInterval=1", "HealthCheckNodeState=ANY",
            f"NodeName={NODE} NodeHostname={host} NodeAddr=127.0.0.1 Port={free_port()} CPUs=1",
            f"PartitionName=all Nodes={NODE} Default=YES"]) + "\n")
        self.run_program("slurmctld", "-D", "-f", self.at("slurm.conf"))
        until("slurmctld answers", lambda: self.scontrol("ping").stdout.count("UP"))
        self.run_program("slurmd", "-D", "-N", NODE, "-f", self.at("slurm.conf"))
        self.until_state("the node is idle", lambda node: node.get("State") == "IDLE")

    def play(self, cut):
        if self.daemon:
            self.daemon.end()
        shutil.rmtree(self.at("state"), ignore_errors=True)
        recording(self.at("play.jsonl"), cut)
        self.daemon = Daemon(LINKHEALTHD, self.folder, play=self.at("play.jsonl"))
        self.daemon.played()

    def scontrol(self, *words):
        return subprocess.run(["scontrol", *words], env={**os.environ, "SLURM_CONF": self.at("slurm.conf")}, capture_output=True,
                              text=True, timeout=60, check=False)

    def job(self):
        """Whether a job can run on the node now."""
        return subprocess.run(["srun", "--immediate=5", "-n1", "true"], env={**os.environ, "SLURM_CONF": self.at("slurm.conf")},
                              capture_output=True, text=True, timeout=60, check=False).returncode == 0

    def node(self):
        """State, Reason, … of the node as scontrol shows them."""
        shown = self.scontrol("-o", "show", "node", NODE).stdout
        pairs = dict(word.split("=", 1) for word in shown.split() if "=" in word)
        pairs["Reason"] = shown.split("Reason=", 1)[1].split(" [")[0].strip() if "Reason=" in shown else ""
        return pairs

    def until_state(self, what, good):
        try:
            return until(what, lambda: good(self.node()) and self.node(), 60)
        except AssertionError as late:
            logs = "".join(f"== {name}\n" + open(self.at(name), encoding="utf-8").read()[-3000:] for name in
                           ("ctld.log", "slurmd.log", "slurmctld.out", "slurmd.out", "munged.out", "runs")
                           if os.path.exists(self.at(name)))
            raise AssertionError(f"{late}; the node: {self.node()}\n{logs}") from late

    def after_runs(self, count=3):
        """Until Slurm has run the script `count` times more, each with exit code 0."""
        def runs():
            if not os.path.exists(self.at("runs")):
                return 0
            with open(self.at("runs"), encoding="utf-8") as file:
                lines = file.read().split("\n")[:-1]
            self.assertEqual(set(lines) - {"run 0"}, set(), "a health check of Slurm ends well whatever it finds")
            return len(lines)
        end = runs() + count
        until("Slurm runs the script", lambda: runs() >= end, 60)

    # --- what is documented -----------------------------------------------------------------------------------------
    def test_a_day_of_a_node(self):
        # without a daemon the state is unknown, which drains no node
        self.after_runs()
        self.assertEqual(self.node()["State"], "IDLE")
        self.assertTrue(self.job())
        with open(self.at("environment"), encoding="utf-8") as file:
            self.assertIn(f"SLURMD_NODENAME={NODE}\n", file.read(), "which the script relies on")

        self.play(cut=False)
        self.after_runs()
        self.assertEqual((self.node()["State"], self.node()["Reason"]), ("IDLE", ""))

        self.play(cut=True)
        node = self.until_state("the node is drained", lambda node: "DRAIN" in node.get("State", ""))
        self.assertTrue(node["Reason"].startswith("linkhealth: bnxt_re0/1 "), node["Reason"])
        self.assertLessEqual(len(node["Reason"]), 60)
        asked = subprocess.run([self.at("bin/linkhealth"), "check", "--drain-reason"], capture_output=True, text=True, check=False)
        self.assertEqual((asked.returncode, asked.stdout.strip()), (2, node["Reason"]))
        self.assertFalse(self.job(), "no job begins on a drained node")

        # repaired, but an operator returns nodes: nothing happens until that is allowed
        self.write("settings", "export LINKHEALTH_RESUME=no\n")
        self.play(cut=False)
        self.after_runs()
        self.assertIn("DRAIN", self.node()["State"])
        self.write("settings", "")
        node = self.until_state("the node is given back", lambda node: node.get("State") == "IDLE")
        self.assertEqual(node["Reason"], "")

        # a drain set by someone else must not be ended or renamed
        self.scontrol("update", f"NodeName={NODE}", "State=DRAIN", "Reason=bad disk")
        self.after_runs()
        self.play(cut=True)
        self.after_runs()
        self.assertEqual(self.node()["Reason"], "bad disk")
        self.play(cut=False)
        self.after_runs()
        self.assertIn("DRAIN", self.node()["State"])
        self.assertEqual(self.node()["Reason"], "bad disk")


if __name__ == "__main__":
    LINKHEALTHD, LINKHEALTH = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))
    for needed in ("munged", "slurmctld", "slurmd", "scontrol", "srun"):
        if not shutil.which(needed):
            print(f"skipped: {needed} is not installed (slurmctld, slurmd, slurm-client and munge have it)")
            sys.exit(77)
    if os.geteuid() != 0:
        print("skipped: slurmd wants root")
        sys.exit(77)
    unittest.main(verbosity=2)
