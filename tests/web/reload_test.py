#!/usr/bin/env python3
"""reload_test.py LINKHEALTHD: SIGHUP with the real daemon: what is in force, what is shown, what is sent, what waits."""
import json
import os
import re
import shutil
import signal
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from web_daemon import Daemon, until  # noqa: E402

PROGRAM = ""


class Reload(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="linkhealth-reload-")
        self.addCleanup(shutil.rmtree, self.folder)

    def start(self, config, *arguments):
        daemon = Daemon(PROGRAM, self.folder, config, arguments)
        self.addCleanup(daemon.end)
        daemon.played()
        return daemon

    def reload(self, daemon, config):
        """The line of the log that says what came of it."""
        before = len(daemon.log())
        with open(os.path.join(self.folder, "linkhealth.yaml"), "w", encoding="utf-8") as file:
            file.write(f"listen: 127.0.0.1:0\nsocket: {daemon.socket}\nstate_dir: {self.folder}/state\n{config}")
        daemon.process.send_signal(signal.SIGHUP)
        return until("the reload is told", lambda: re.search(r"reload: .*(?=\n)", daemon.log()[before:])).group()

    def note(self, daemon):
        """What `linkhealth status` shows of the last reload."""
        return json.loads(daemon.local("/api/v1/status")[1])["daemon"].get("configuration_note", "")

    def test_status_shows_what_is_in_force(self):
        daemon = self.start("")
        self.assertEqual(self.note(daemon), "")
        changed = "diagnosis: {module_warn_c: 71}\nsampling: {link_period_s: 2}\ndatabase: {max_mb: 50}\n"
        self.assertIn("diagnosis.module_warn_c 70 -> 71; database.max_mb, sampling.link_period_s need a restart",
                      self.reload(daemon, changed))
        self.assertIn("reloaded: diagnosis.module_warn_c ", self.note(daemon))
        # changes that need a restart are reported at each reload until then
        self.assertIn("nothing changed; database.max_mb, sampling.link_period_s need a restart",
                      self.reload(daemon, changed))
        self.assertTrue(self.reload(daemon, "").endswith("is in force: diagnosis.module_warn_c 71 -> 70"))

    def test_a_bad_file_changes_nothing_and_is_shown(self):
        daemon = self.start("")
        said = self.reload(daemon, "ledgr: {}\n")
        self.assertIn('linkhealth.yaml:4: unknown key "ledgr"', said)
        self.assertIn("the previous configuration stays in force", said)
        self.assertIn('unknown key "ledgr"', self.note(daemon))
        self.reload(daemon, "")
        self.assertNotIn("ledgr", self.note(daemon))

    def test_a_dry_run_begins_and_ends(self):
        daemon = self.start("dry_run: true\n")
        self.assertIn("dry_run true -> false", self.reload(daemon, ""))
        self.assertIn("dry_run false -> true", self.reload(daemon, "dry_run: true\n"))


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=2)
