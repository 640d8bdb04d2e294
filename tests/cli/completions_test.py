#!/usr/bin/env python3
"""The three completions and the man page know every command and every option that the program has, and no others.

usage: completions_test.py PROGRAM
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def help_of(program, *command):
    return subprocess.run([program, *command, "--help"], check=True, stdout=subprocess.PIPE, text=True).stdout


def options_of(text):
    """The options that a help lists: the lines above the footer that begin with one."""
    found = set()
    for line in text.splitlines():
        if match := re.match(r"\s+(?:-\w,)?\s*(--[a-z-]+)", line):
            found.add(match.group(1))
    return found - {"--help"}


def fish_options(fish, command):
    """What linkhealth.fish offers for a command, with values and without."""
    found = set()
    for names in re.findall(rf"^__linkhealth_options {command} (.*)$", fish, re.M):
        found.update("--" + name for name in names.split())
    for commands, name in re.findall(r"^__linkhealth_values ('[^']*'|\w+) ([a-z-]+) ", fish, re.M):
        if command in commands.strip("'").split():
            found.add("--" + name)
    return found


def main():
    program = sys.argv[1]
    top = help_of(program)
    listed = top[top.index("\nSubcommands:\n") if "\nSubcommands:\n" in top else top.index("\nSUBCOMMANDS:\n"):]
    commands = re.findall(r"^  ([a-z]+)\s", listed.split("\nPORT is")[0], re.M)
    if len(commands) < 10:
        sys.exit(f"the help lists too few commands: {commands}")
    bash = (ROOT / "completions/linkhealth.bash").read_text()
    zsh = (ROOT / "completions/_linkhealth").read_text()
    fish = (ROOT / "completions/linkhealth.fish").read_text()
    fish_commands = re.findall(r"'([a-z]+):[^']*'", fish)
    man = (ROOT / "docs/man/linkhealth.1").read_text()
    bash_commands = re.search(r"''\) options\+=' --version ([a-z ]+)'", bash).group(1).split()
    zsh_commands = re.findall(r"^    '([a-z]+):", zsh, re.M)
    man_commands = set(re.findall(r"^\.It Cm ([a-z]+)", man, re.M))
    bad = []
    for name, have in (("bash", bash_commands), ("zsh", zsh_commands), ("fish", fish_commands), ("the man page", man_commands)):
        if set(have) != set(commands):
            bad.append(f"{name}: commands {sorted(set(have) ^ set(commands))}")
    arrays = dict(re.findall(r"local -a (\w+)=\((.*)\)$", zsh, re.M))
    for command in commands:
        wanted = options_of(help_of(program, command)) - {"--socket", "--version"}
        row = re.search(rf"^    (?:[a-z]+ \| )*{command}(?: \| [a-z]+)*\) options\+='([^']*)'", bash, re.M)
        in_bash = set(row.group(1).split()) if row else set()
        body = re.search(rf"^    {command}\) _arguments (.*?) ;;", zsh, re.M | re.S)
        text = body.group(1) if body else ""
        for name, value in arrays.items():
            text = text.replace("$" + name, value)
        in_zsh = set(re.findall(r"--[a-z-]+", text)) - {"--help", "--socket"}
        in_fish = fish_options(fish, command)
        if in_fish != wanted:
            bad.append(f"fish, {command}: {sorted(in_fish ^ wanted)}")
        if in_bash != wanted:
            bad.append(f"bash, {command}: {sorted(in_bash ^ wanted)}")
        if in_zsh != wanted:
            bad.append(f"zsh, {command}: {sorted(in_zsh ^ wanted)}")
        for option in wanted:
            if f"Fl -{option[2:]}" not in man.replace("\\-", "-"):
                bad.append(f"the man page does not know {option} of {command}")
        if "Examples:" not in help_of(program, command):
            bad.append(f"{command} --help has no examples")
    sys.exit("\n".join(bad) or None)


main()
