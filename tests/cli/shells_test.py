#!/usr/bin/env python3
"""shells_test.py LINKHEALTHD LINKHEALTH zsh|bash: completion in a real shell, by the Tab key, with the ports of a real daemon.

Exit code 77: that shell is not installed.
"""
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests/web"))
from web_daemon import Daemon  # noqa: E402

DAEMON = PROGRAM = SHELL = ""
PATIENCE_S = 30
PORTS = {"bnxt_re0/1", "bnxt_re1/1"}
COMMANDS = set("status explain history watch demo doctor record replay rules module ack maintenance check ticket verify qualify cabling "
               "fleet".split())
# Tab completes; Ctrl-T prints the line between marks and empties it.
ZSH = """
PS1='$ '; unset zle_bracketed_paste; setopt no_beep
fpath=({completions} $fpath)
autoload -Uz compinit; compinit -u -D
{spy}
show() {{ print -r -- "<<$BUFFER>>"; BUFFER= }}
zle -N show; bindkey -e; bindkey '^T' show; bindkey '^I' complete-word
print READY
"""
# Logs every candidate passed to zsh. Logged candidates are not inserted: that needs another shell.
SPY = """compadd() {{ local -a hits; builtin compadd -O hits "$@"; print -rl -- $hits >>{hits}; builtin compadd "$@" }}"""
BASH = """
PS1='$ '; bind 'set enable-bracketed-paste off'; bind 'set bell-style none'
source {completions}/linkhealth.bash
show() {{ echo "<<$READLINE_LINE>>"; READLINE_LINE=; READLINE_POINT=0; }}
bind -x '"\\C-t": show'
echo READY
"""


class Terminal:
    """A shell behind a pseudo terminal."""

    def __init__(self, folder, hits=None):
        text = (ZSH if SHELL == "zsh" else BASH).format(completions=os.path.join(ROOT, "completions"),
                                                        spy=SPY.format(hits=hits) if hits else "")
        own = tempfile.mkdtemp(dir=folder)  # a shell reads its file while it runs
        rc = os.path.join(own, ".zshrc" if SHELL == "zsh" else "bashrc")
        with open(rc, "w", encoding="utf-8") as file:
            file.write(text)
        command = ["zsh", "-d", "-i"] if SHELL == "zsh" else ["bash", "--noprofile", "--rcfile", rc, "-i"]
        self.seen = self.all = ""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execvpe(command[0], command, {"PATH": f"{folder}:{os.environ['PATH']}", "ZDOTDIR": own, "HOME": folder, "TERM": "dumb",
                                             "LANG": "C.UTF-8", "COLUMNS": "200"})
        self.until("READY")

    def until(self, pattern):
        """The match, and what is read up to it is forgotten."""
        end = time.monotonic() + PATIENCE_S
        while True:
            if found := re.search(pattern, self.seen):
                self.seen = self.seen[found.end():]
                return found
            if time.monotonic() > end:
                raise AssertionError(f"{SHELL} never showed {pattern!r}: {self.seen!r}")
            if select.select([self.fd], [], [], 0.2)[0]:
                more = os.read(self.fd, 65536).decode(errors="replace")
                self.seen += more
                self.all += more

    def line_after(self, typed):
        """What stands in the line after these keys."""
        os.write(self.fd, (typed + "\x14").encode())
        return self.until("<<(.*?)>>").group(1)

    def end(self):
        os.kill(self.pid, 9)
        os.waitpid(self.pid, 0)
        os.close(self.fd)


class Shells(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="linkhealth-shells-")
        cls.daemon = Daemon(DAEMON, cls.folder)
        cls.daemon.played()
        with open(os.path.join(cls.folder, "linkhealth"), "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\n[ "$1" = --socket ] || set -- --socket {cls.daemon.socket} "$@"\nexec {PROGRAM} "$@"\n')
        os.chmod(os.path.join(cls.folder, "linkhealth"), 0o755)
        cls.hits = os.path.join(cls.folder, "hits")
        cls.terminal = Terminal(cls.folder)
        cls.spied = Terminal(cls.folder, cls.hits) if SHELL == "zsh" else None

    @classmethod
    def tearDownClass(cls):
        for terminal in (cls.terminal, cls.spied):
            if terminal:
                terminal.end()
        cls.daemon.end()
        shutil.rmtree(cls.folder)

    def candidates(self, line):
        """All that could stand at the end of the line."""
        if SHELL == "zsh":
            open(self.hits, "w", encoding="utf-8").close()
            self.spied.line_after(line + "\t")
            with open(self.hits, encoding="utf-8") as file:
                return set(file.read().split())
        words = line.split(" ")
        script = (f"source {ROOT}/completions/linkhealth.bash; COMP_WORDS=({' '.join(repr(word) for word in words)}); "
                  f"COMP_CWORD={len(words) - 1}; _linkhealth; printf '%s\\n' \"${{COMPREPLY[@]}}\"")
        done = subprocess.run(["bash", "-u", "-c", script], env={"PATH": f"{self.folder}:{os.environ['PATH']}"}, cwd=self.folder,
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.stderr, "", line)
        return set(done.stdout.split())

    def test_commands(self):
        self.assertLessEqual(COMMANDS, self.candidates("linkhealth "))
        self.assertEqual(self.terminal.line_after("linkhealth expl\t"), "linkhealth explain ")
        self.assertEqual(self.terminal.line_after("linkhealth qua\t"), "linkhealth qualify ")

    def test_ports_of_the_running_daemon(self):
        for command in ("explain", "history", "watch", "module", "ack", "check", "ticket", "verify"):
            self.assertLessEqual(PORTS, self.candidates(f"linkhealth {command} "), command)
        self.assertEqual(self.terminal.line_after("linkhealth explain bnxt_re1\t"), "linkhealth explain bnxt_re1/1 ")

    def test_options(self):
        self.assertEqual({word for word in self.candidates("linkhealth explain --") if word.startswith("--")} - {"--help", "--socket"},
                         {"--evidence", "--physics", "--json"})
        self.assertEqual(self.terminal.line_after("linkhealth status --prob\t"), "linkhealth status --problems ")
        self.assertEqual(self.terminal.line_after("linkhealth watch --js\t"), "linkhealth watch --json ")

    def test_values(self):
        self.assertEqual(self.candidates("linkhealth fleet --by "), {"switch", "part", "rack", "rail", "vendor"})
        self.assertEqual(self.candidates("linkhealth ack bnxt_re1/1 --for "), {"30m", "1h", "2h", "1d"})
        self.assertLessEqual({"start", "end"}, self.candidates("linkhealth maintenance "))
        self.assertLessEqual(PORTS | {"all"}, self.candidates("linkhealth maintenance start "))
        self.assertEqual(self.terminal.line_after("linkhealth verify bnxt_re0/1 --ber 1e-13\t"),
                         "linkhealth verify bnxt_re0/1 --ber 1e-13 ")

    def test_the_daemon_that_the_line_names(self):
        self.assertFalse(PORTS & self.candidates("linkhealth --socket /nowhere explain "))
        self.assertLessEqual(PORTS, self.candidates(f"linkhealth --socket {self.daemon.socket} explain "))

    def test_without_a_daemon_it_is_silent(self):
        self.assertEqual(self.candidates("linkhealth --socket /nowhere explain --evi"), {"--evidence"})

    def test_nothing_went_wrong_on_the_screen(self):
        self.terminal.line_after("linkhealth maintenance start \t")
        self.terminal.line_after("linkhealth --socket /nowhere explain \t")
        self.assertNotRegex(self.terminal.all, r"not found|_\w+:\d*:? |bad |rror")


if __name__ == "__main__":
    DAEMON, PROGRAM = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))
    SHELL = sys.argv.pop(1)
    if not shutil.which(SHELL):
        print(f"skipped: {SHELL} is not installed")
        sys.exit(77)
    unittest.main(verbosity=2)
