#!/usr/bin/env python3
"""what_is_shipped.py LINKHEALTHD LINKHEALTH [--release]: the unit's exposure, the libraries that the programs need to start, the
modes of the files that they make; with --release also how they are hardened.
"""
import glob
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
UNIT = ROOT / "systemd/linkhealthd.service"
PROGRAMS = []
RELEASE = False
# Libraries that only one source needs are loaded when that source is read.
OPTIONAL = ("libibverbs", "libibumad", "libibmad", "liblldpctl")
MOST_EXPOSURE = 1.5


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def modes(*paths):
    return {path: stat.S_IMODE(os.lstat(path).st_mode) for pattern in paths for path in glob.glob(pattern)}


class Unit(unittest.TestCase):
    def test_exposure(self):
        if "--offline" not in output_of("systemd-analyze", "--help"):
            self.skipTest("systemd-analyze is older than 250")
        said = output_of("systemd-analyze", "security", "--no-pager", "--offline=true", str(UNIT))
        found = re.search(r"Overall exposure level for linkhealthd.service: ([0-9.]+)", said)
        self.assertLessEqual(float(found.group(1)), MOST_EXPOSURE, said)

    def test_rights(self):
        text = UNIT.read_text()
        for line in ("User=linkhealth", "AmbientCapabilities=CAP_NET_ADMIN", "CapabilityBoundingSet=CAP_NET_ADMIN", "NoNewPrivileges=yes"):
            self.assertIn(f"\n{line}\n", text)


class Libraries(unittest.TestCase):
    def test_the_programs_start_without_those_of_single_sources(self):
        for program in PROGRAMS:
            needed = re.findall(r"\(NEEDED\).*\[(.*)\]", output_of("readelf", "-d", program))
            self.assertIn("libc.so.6", needed)
            self.assertEqual([one for one in needed if one.startswith(OPTIONAL)], [])


class Files(unittest.TestCase):
    def test_no_file_is_for_every_user_whatever_the_umask(self):
        with tempfile.TemporaryDirectory() as folder:
            socket = f"{folder}/run/linkhealth.sock"
            config = f"{folder}/c.yaml"
            pathlib.Path(config).write_text(f"record: {folder}/state/record.jsonl.gz\nlisten: none\n")
            os.makedirs(f"{folder}/sys/class/net")
            daemon = subprocess.Popen([PROGRAMS[0], "--config", config, "--state-dir", f"{folder}/state", "--socket", socket, "--sysroot", folder],
                                      stderr=subprocess.PIPE, text=True, umask=0)
            try:
                until = time.monotonic() + 60
                while not (os.path.exists(socket) and glob.glob(f"{folder}/state/linkhealth.db*") and
                           glob.glob(f"{folder}/state/record*")) and time.monotonic() < until and daemon.poll() is None:
                    time.sleep(0.05)
                found = modes(f"{folder}/state", f"{folder}/run", f"{folder}/state/*", socket)
            finally:
                daemon.terminate()
                said = daemon.communicate(timeout=30)[1]
            self.assertGreaterEqual(len(found), 5, said)
            for path, mode in found.items():
                self.assertEqual(mode & 0o007, 0, f"{path} is {mode:o}\n{said}")


class Hardening(unittest.TestCase):
    """Of a release only: the compiler's and the linker's marks in the programs."""

    def setUp(self):
        if not RELEASE:
            self.skipTest("of the release build only")

    def test_flags(self):
        for program in PROGRAMS:
            header, dynamic = output_of("readelf", "-hW", program), output_of("readelf", "-dW", program)
            segments, symbols = output_of("readelf", "-lW", program), output_of("readelf", "--dyn-syms", "-W", program)
            with self.subTest(program):
                self.assertRegex(header, r"Type:\s+DYN", "PIE")
                self.assertIn("GNU_RELRO", segments)
                self.assertRegex(dynamic, r"BIND_NOW|FLAGS.*NOW", "full RELRO")
                self.assertRegex(segments, r"GNU_STACK.* RW ", "no stack that can be executed")
                self.assertIn("__stack_chk_fail", symbols, "-fstack-protector-strong")
                self.assertRegex(symbols, r"__\w+_chk@", "_FORTIFY_SOURCE")
                with open(program, "rb") as file:
                    text = file.read()
                self.assertTrue(b"__n < this->size()" in text or b"libc++" in text or b"hardening" in text, "_GLIBCXX_ASSERTIONS")


if __name__ == "__main__":
    RELEASE = "--release" in sys.argv
    arguments = [one for one in sys.argv[1:] if one != "--release"]
    PROGRAMS = [os.path.abspath(one) for one in arguments[:2]]
    for tool in ("readelf", "systemd-analyze"):
        if not shutil.which(tool):
            print(f"no {tool} here")
            sys.exit(77)
    unittest.main(argv=sys.argv[:1] + arguments[2:], verbosity=2)
