#!/usr/bin/env python3
"""compare.py ASK_FAR_END: the MAD probe against ibsim with opensm, and against what infiniband-diags print there.

Every value of the probe is compared with smpquery, perfquery and ibqueryerrors on the same simulated fabric; counters
are set in the simulator's console, links are unplugged, MADs are lost. Exit code 77: something needed is not installed.
Everything runs with a time limit: clients of a simulator that is gone can hang for ever.
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

NEEDED = ["ibsim", "opensm", "smpquery", "perfquery", "ibqueryerrors"]
os.environ["PATH"] += ":/usr/sbin:/sbin"
DEVICE = ["ibsim0", "1"]
PATIENCE_S = 40

TWO_SWITCHES = """Switch 8 "Switch1"
[1] "Hca1"[1]
[2] "Hca3"[1]
[3] "Switch2"[3]

Switch 8 "Switch2"
[5] "Hca2"[1]
[3] "Switch1"[3]

Hca 1 "Hca1"
[1] "Switch1"[1]

Hca 1 "Hca2"
[1] "Switch2"[5]

Hca 1 "Hca3"
[1] "Switch1"[2]
"""
BACK_TO_BACK = """Hca 2 "HcaA"
[1] "HcaB"[2]

Hca 2 "HcaB"
[2] "HcaA"[1]
"""
# the probe's name -> the name in perfquery's output
ERRORS = {
    "symbol_error": "SymbolErrorCounter", "link_error_recovery": "LinkErrorRecoveryCounter",
    "link_downed": "LinkDownedCounter", "port_rcv_errors": "PortRcvErrors",
    "port_rcv_remote_physical_errors": "PortRcvRemotePhysicalErrors",
    "port_rcv_switch_relay_errors": "PortRcvSwitchRelayErrors", "port_xmit_discards": "PortXmitDiscards",
    "port_xmit_constraint_errors": "PortXmitConstraintErrors",
    "port_rcv_constraint_errors": "PortRcvConstraintErrors",
    "local_link_integrity_errors": "LocalLinkIntegrityErrors",
    "excessive_buffer_overrun_errors": "ExcessiveBufferOverrunErrors", "VL15_dropped": "VL15Dropped",
    "port_xmit_wait": "PortXmitWait",
}
TRAFFIC = {
    "port_xmit_data": "PortXmitData", "port_rcv_data": "PortRcvData", "port_xmit_packets": "PortXmitPkts",
    "port_rcv_packets": "PortRcvPkts", "unicast_xmit_packets": "PortUnicastXmitPkts",
    "unicast_rcv_packets": "PortUnicastRcvPkts", "multicast_xmit_packets": "PortMulticastXmitPkts",
    "multicast_rcv_packets": "PortMulticastRcvPkts",
}
# The far port's counter values, near the end of each counter's width.
SET = {
    "symbol_error": 65534, "link_error_recovery": 254, "link_downed": 3, "port_rcv_errors": 5,
    "port_rcv_remote_physical_errors": 6, "port_rcv_switch_relay_errors": 7, "port_xmit_discards": 8,
    "port_xmit_constraint_errors": 9, "port_rcv_constraint_errors": 10, "local_link_integrity_errors": 11,
    "excessive_buffer_overrun_errors": 12, "VL15_dropped": 13, "port_xmit_wait": 4000000000,
}
SET_WIDE = {"port_xmit_data": 1 << 40, "port_rcv_data": 1 << 41, "port_xmit_packets": 1 << 33,
            "port_rcv_packets": (1 << 33) + 1}

checks = 0


def check(what, got, expected):
    global checks
    checks += 1
    if got != expected:
        sys.exit(f"FAILED: {what}: {got!r}, expected {expected!r}")


class Fabric:
    """ibsim on a net, its console, and clients at one of its nodes."""

    def __init__(self, library, ask, net):
        self.library, self.ask_far_end = library, ask
        # If our program has a sanitizer, its runtime must come before any other library.
        linked = subprocess.run(["ldd", ask], capture_output=True, text=True, check=True).stdout
        self.first = re.findall(r"=> (\S*/lib[atu]san\S*)", linked)
        self.dir = tempfile.mkdtemp(prefix="ibsim")
        with open(f"{self.dir}/net", "w", encoding="utf-8") as file:
            file.write(net)
        # Its sockets have abstract names: another simulator on the machine has its own.
        self.env = dict(os.environ, IBSIM_SOCKNAME=f"linkhealth{os.getpid()}", OSM_TMP_DIR=self.dir, OSM_CACHE_DIR=self.dir)
        self.log = open(f"{self.dir}/log", "w+b")
        self.sim = subprocess.Popen(["ibsim", "-s", f"{self.dir}/net"], stdin=subprocess.PIPE, stdout=self.log,
                                    stderr=subprocess.STDOUT, env=self.env)
        self.manager = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in (self.manager, self.sim):
            if process:
                process.kill()
                process.wait()
        self.sim.stdin.close()
        self.log.close()
        shutil.rmtree(self.dir)

    def console(self, command):
        self.sim.stdin.write(command.encode() + b"\n")
        self.sim.stdin.flush()

    def preloaded(self, node):
        return dict(self.env, SIM_HOST=node, LD_PRELOAD=self.library)

    def manage(self, node):
        self.manager = subprocess.Popen(["opensm", "-s", "1", "-f", f"{self.dir}/opensm.log"], cwd=self.dir, env=self.preloaded(node),
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def run(self, node, *command):
        env = self.preloaded(node)
        if command[0] == self.ask_far_end:
            env["LD_PRELOAD"] = " ".join(self.first + [self.library])
            # The preload library's own read() copies from beyond the end of its buffer, and it frees nothing.
            env["ASAN_OPTIONS"] = "replace_intrin=0:detect_leaks=0"
        done = subprocess.run(command, cwd=self.dir, env=env, capture_output=True, text=True, timeout=20,
                              stdin=subprocess.DEVNULL, check=False)
        return done.stdout + done.stderr

    def diag(self, node, *command):
        """The "Name:....value" lines of smpquery and perfquery."""
        return dict(re.findall(r"^(\w[\w ]*):\.*(.*)$", self.run(node, *command), re.M))

    def read(self, node, device=None):
        values, counters, gaps = {}, {}, []
        for line in self.run(node, self.ask_far_end, *(device or DEVICE)).splitlines():
            name, _, value = line.partition(" ")
            if name == "counter":
                counters[value.split()[0]] = int(value.split()[1])
            elif name == "gap":
                gaps.append(value)
            else:
                values[name] = value
        return values, counters, gaps

    def wait(self, what, condition):
        """A subnet manager takes its time."""
        last = None
        for _ in range(PATIENCE_S * 5):
            try:
                last = condition()
                if last:
                    return last
            except (subprocess.TimeoutExpired, KeyError):
                pass
            time.sleep(0.2)
        sys.exit(f"FAILED: waited {PATIENCE_S} s for: {what}")


def guid(text):
    return ":".join(text.removeprefix("0x")[i:i + 4] for i in range(0, 16, 4))


def compare_with_diags(fabric, node, lid):
    """Every value of one round against the tools."""
    info = fabric.diag(node, "smpquery", "-D", "nodeinfo", "0,1")
    port = info["LocalPort"]
    before = fabric.diag(node, "perfquery", "-x", lid, port)
    values, counters, gaps = fabric.read(node)
    after = fabric.diag(node, "perfquery", "-x", lid, port)
    plain = fabric.diag(node, "perfquery", lid, port)
    check("gaps", gaps, [])
    check("source", values["source"], "mad")
    check("port", values["port"], port)
    check("guid", values["guid"], guid(info["Guid"]))
    check("name", values["system"], fabric.diag(node, "smpquery", "-D", "nodedesc", "0,1")["Node Description"])
    state = fabric.diag(node, "smpquery", "-D", "portinfo", "0,1", port)
    check("state", values["state"], state["LinkState"].upper())
    check("phys_state", values["phys_state"], state["PhysLinkState"])
    lanes = int(state["LinkWidthActive"].rstrip("X"))
    check("lanes", int(values["lanes"]), lanes)
    check("speed", int(values["speed_mbps"]), round(float(state["LinkSpeedActive"].split()[0]) * 1000) * lanes)
    check("mtu", values["mtu_bytes"], state["NeighborMTU"])
    check("names of counters", set(counters), set(ERRORS) | set(TRAFFIC))
    for ours, theirs in ERRORS.items():
        check(ours, counters[ours], int(plain[theirs]))
    for ours, theirs in TRAFFIC.items():
        check(f"{ours} {before[theirs]} <= {counters[ours]} <= {after[theirs]}",
              int(before[theirs]) <= counters[ours] <= int(after[theirs]), True)
    return values, counters


def set_counters(fabric, node, port):
    for ours, value in SET.items():
        fabric.console(f'PerformanceSet "{node}"[{port}] PortCounters.{ERRORS[ours]}={value}')
    for ours, value in SET_WIDE.items():
        fabric.console(f'PerformanceSet "{node}"[{port}] PortCountersExtended.{TRAFFIC[ours]}={value}')


def switched(fabric):
    node = "Hca2"
    fabric.wait("the simulator", lambda: fabric.read(node)[0])
    values, counters, gaps = fabric.read(node)
    check("name without a subnet manager", values["system"], "Switch2")
    check("counters without a subnet manager", counters, {})
    check("gap without a subnet manager", "no subnet manager" in gaps[0], True)

    fabric.manage("Hca1")
    fabric.wait("an active link", lambda: fabric.read(node)[0].get("state") == "ACTIVE" and not fabric.read(node)[2])
    lid = fabric.diag(node, "smpquery", "-D", "portinfo", "0,1", "0")["Lid"]
    values, _ = compare_with_diags(fabric, node, lid)
    check("the far end", (values["system"], values["port"]), ("Switch2", "5"))

    set_counters(fabric, "Switch2", 5)
    fabric.wait("the counters that were set", lambda: fabric.read(node)[1].get("VL15_dropped") == SET["VL15_dropped"])
    for _ in range(2):  # twice: reading must not clear anything
        _, counters = compare_with_diags(fabric, node, lid)
        for name, value in SET.items():
            check(name, counters[name], value)
        for name, value in SET_WIDE.items():
            check(f"{name} from {value}", value <= counters[name] < value + 1_000_000, True)
    errors = fabric.run(node, "ibqueryerrors")
    line = next(line for line in errors.splitlines() if re.search(r"port 5:", line))
    printed = dict(re.findall(r"\[(\w+) == (\d+)", line))
    check("ibqueryerrors prints something", len(printed) > 8, True)
    ours = {theirs: str(SET[name]) for name, theirs in ERRORS.items() if theirs in printed}
    check("what ibqueryerrors prints", printed, ours)

    fabric.console('Unlink "Hca2"[1]')
    fabric.wait("an unplugged link", lambda: not fabric.read(node)[0])
    check("gap of an unplugged link", fabric.read(node)[2], ["the link is down: the far end cannot be reached"])
    fabric.console('ReLink "Hca2"[1]')
    fabric.wait("the link again", lambda: fabric.read(node)[0].get("state") == "ACTIVE" and not fabric.read(node)[2])
    compare_with_diags(fabric, node, lid)

    # Lost on the way to this node's own port, and lost at the far end.
    for port, side in (('"Hca2"[1]', "this node's own port"), ('"Switch2"[5]', "the far end")):
        fabric.console(f"Error {port} 100")
        fabric.wait(f"lost requests of {port}", lambda: not fabric.read(node)[0])
        check("one gap for lost requests", fabric.read(node)[2], [f"{side}: no answer: Connection timed out"])
        fabric.console(f"Error {port} 0")
        fabric.wait("answers again", lambda: fabric.read(node)[0] and not fabric.read(node)[2])
        compare_with_diags(fabric, node, lid)


def back_to_back(fabric):
    fabric.wait("the simulator", lambda: fabric.read("HcaA")[0])
    fabric.manage("HcaA")
    fabric.wait("an active link", lambda: fabric.read("HcaA")[0].get("state") == "ACTIVE" and not fabric.read("HcaA")[2])
    lid = fabric.diag("HcaA", "smpquery", "-D", "portinfo", "0,1", "2")["Lid"]
    set_counters(fabric, "HcaB", 2)
    fabric.wait("the counters that were set", lambda: fabric.read("HcaA")[1].get("VL15_dropped") == SET["VL15_dropped"])
    values, _ = compare_with_diags(fabric, "HcaA", lid)
    check("the far end", (values["system"], values["port"]), ("HcaB", "2"))


def without_interface(ask):
    """This machine itself; only where it has no InfiniBand."""
    if os.path.exists("/sys/class/infiniband_mad"):
        return
    done = subprocess.run([ask, *DEVICE], capture_output=True, text=True, timeout=20, check=False)
    check("no management interface", done.stdout,
          "gap the kernel offers no management interface for ibsim0 port 1: load ib_umad\n")


def main():
    libraries = glob.glob("/usr/lib/*/umad2sim/libumad2sim.so")
    missing = [name for name in NEEDED if not shutil.which(name)] + ([] if libraries else ["libumad2sim.so"])
    if missing:
        print(f"skipped: not installed: {' '.join(missing)}")
        sys.exit(77)
    ask = os.path.abspath(sys.argv[1])
    without_interface(ask)
    for net, steps in ((TWO_SWITCHES, switched), (BACK_TO_BACK, back_to_back)):
        with Fabric(libraries[0], ask, net) as fabric:
            steps(fabric)
    print(f"ibsim: {checks} values as the tools print them")


if __name__ == "__main__":
    main()
