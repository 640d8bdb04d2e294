#!/usr/bin/env python3
"""schedulers_test.py [LINKHEALTH]: deploy/schedulers against the documented contracts, with stand-ins for linkhealth, scontrol and
nhc's die; and the example that LINKHEALTH's help gives.

The stand-in of linkhealth answers as `linkhealth check` does (tests/cli/check_test.cpp holds that to be so).
"""
import json
import os
import pathlib
import stat
import subprocess
import sys
import tempfile
import unittest

PROGRAM = sys.argv.pop(1) if len(sys.argv) > 1 and not sys.argv[1].startswith("-") else ""
DEPLOY = pathlib.Path(__file__).resolve().parents[2] / "deploy" / "schedulers"
REASON = "linkhealth: mlx5_7/1 far port down (91%) +2"
LINES = {0: "LINKHEALTH OK - 10 ports", 1: "LINKHEALTH WARNING - mlx5_3/1 dirty connector (83%)",
         2: "LINKHEALTH CRITICAL - mlx5_7/1 far port down (91%)", 3: "LINKHEALTH UNKNOWN - the daemon is not running"}


class Schedulers(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def program(self, name, text):
        path = self.path / name
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def linkhealth(self, level):
        reason = REASON if level in (1, 2) else ""
        self.program("linkhealth", f"""case "$*" in
            *--drain-reason*) [ -z '{reason}' ] || echo '{reason}' ;;
            *) echo '{LINES[level]}' ;;
            esac
            exit {level}\n""")

    def run_it(self, argv, **environment):
        # The scripts put the system's folders first, like a daemon's environment: the stand-ins must precede them.
        env = {"PATH": f"{self.path}:/usr/bin:/bin", "SLURMD_NODENAME": "gpu-1", **environment}
        return subprocess.run(argv, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)

    def slurm(self, level, node="NodeName=gpu-1 State=IDLE", **environment):
        self.linkhealth(level)
        log = self.path / "scontrol.log"
        log.write_text("")
        self.program("scontrol", f"""[ "$2" = show ] || [ "$1" = show ] && {{ echo '{node}'; exit 0; }}
            for word in "$@"; do printf '%s|' "$word"; done >>{log}\n""")
        done = self.run_it(["sh", str(DEPLOY / "linkhealth-slurm")], **environment)
        self.assertEqual((done.returncode, done.stderr), (0, ""), "a health check of Slurm ends well whatever it finds")
        return log.read_text()

    def test_slurm_drains_on_critical_with_the_reason(self):
        self.assertEqual(self.slurm(2), f"update|NodeName=gpu-1|State=DRAIN|Reason={REASON}|")

    def test_slurm_leaves_warnings_and_the_unknown_alone(self):
        for level in (0, 1, 3):
            self.assertEqual(self.slurm(level), "", level)
        self.assertIn("State=DRAIN", self.slurm(1, LINKHEALTH_DRAIN_ON="1"))

    def test_slurm_resumes_only_what_it_drained(self):
        ours = "NodeName=gpu-1 State=IDLE+DRAIN Reason=linkhealth: mlx5_7/1 far port down [root@now]"
        self.assertEqual(self.slurm(0, ours), "update|NodeName=gpu-1|State=RESUME|")
        self.assertEqual(self.slurm(0, ours, LINKHEALTH_RESUME="no"), "")
        self.assertEqual(self.slurm(2, ours), "", "drained already")
        for level in (1, 3):
            self.assertEqual(self.slurm(level, ours), "", "not well yet")

    def test_slurm_never_touches_the_drains_of_others(self):
        theirs = "NodeName=gpu-1 State=IDLE+DRAIN Reason=bad disk [ann@now]"
        for level in LINES:
            self.assertEqual(self.slurm(level, theirs), "", level)

    @unittest.skipIf(not PROGRAM, "no program was given")
    def test_the_example_of_the_help_drains_on_critical_only(self):
        text = subprocess.run([PROGRAM, "check", "--help"], check=True, capture_output=True, text=True).stdout
        example = text[text.index("  reason=$("):text.index("\nExit codes")]
        log = self.path / "scontrol.log"
        self.program("scontrol", f"""for word in "$@"; do printf '%s|' "$word"; done >>{log}\n""")
        self.program("hostname", "echo gpu-1\n")
        for level in LINES:
            log.write_text("")
            self.linkhealth(level)
            self.assertEqual(self.run_it(["sh", "-c", example]).stderr, "")
            wanted = f"update|NodeName=gpu-1|State=DRAIN|Reason={REASON}|" if level == 2 else ""
            self.assertEqual(log.read_text(), wanted, level)

    def nhc(self, level, argument=""):
        self.linkhealth(level)
        script = f"""die() {{ echo "die $1 $2"; return "$1"; }}
            source {DEPLOY / 'linkhealth.nhc'}
            check_linkhealth {argument}"""
        done = self.run_it(["bash", "-c", script])
        self.assertEqual(done.stderr, "")
        return done.returncode, done.stdout

    def test_nhc(self):
        self.assertEqual(self.nhc(2), (1, f"die 1 check_linkhealth:  {REASON}\n"))
        for level in (0, 1, 3):
            self.assertEqual(self.nhc(level), (0, ""), level)
        self.assertEqual(self.nhc(1, "1")[0], 1)

    def test_npd_exit_codes_and_message(self):
        for level, code in {0: 0, 1: 1, 2: 1, 3: 2}.items():
            self.linkhealth(level)
            done = self.run_it(["sh", str(DEPLOY / "linkhealth-npd")])
            self.assertEqual(done.returncode, code, level)
            self.assertEqual(done.stdout, LINES[level].removeprefix("LINKHEALTH ") + "\n")

    def test_npd_configuration(self):
        config = json.loads((DEPLOY / "linkhealth-npd.json").read_text())
        self.assertEqual(config["plugin"], "custom")
        conditions = {condition["type"] for condition in config["conditions"]}
        for rule in config["rules"]:
            self.assertIn(rule["type"], ("temporary", "permanent"))
            self.assertIn(rule["condition"], conditions)
            self.assertLessEqual(int(rule["timeout"].rstrip("s")), int(config["pluginConfig"]["timeout"].rstrip("s")))

    def test_they_can_be_run(self):
        for name in ("linkhealth-slurm", "linkhealth-npd"):
            self.assertTrue(os.access(DEPLOY / name, os.X_OK), name)


if __name__ == "__main__":
    unittest.main()
