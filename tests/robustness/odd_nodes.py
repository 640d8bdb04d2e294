#!/usr/bin/env python3
"""The real daemon on odd nodes: /sys trees made here, read as --sysroot. Every wait is for a thing to happen.

usage: odd_nodes.py LINKHEALTHD LINKHEALTH [TEST...]
       one line a test; exit code 1 when one failed, 77 when one could not be tried, with the reason in the last line
"""
import contextlib
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from fuse_hang import HangingDirectory, Unusable  # noqa: E402

DAEMON, PROGRAM = sys.argv[1:3]
ALL = os.environ.get("LINKHEALTH_ALL") is not None  # as often as docs/reliability.md states
ONLY = sys.argv[3:]  # none: all
FLOOD = 25_000 if ALL else 2_000  # times down and up; two events each, at both ends
COUNTERS = ["symbol_error", "link_downed", "port_rcv_errors", "VL15_dropped", "port_xmit_data", "port_rcv_data"]
CONFIG = """site: {rack: r12, u: "14"}

sampling:
  link_period_s: 0.1
  counters_period_s: 1
  rescan_period_s: 1
  read_patience_s: 0.5
"""


def put(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text + "\n")


def link(target, path):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    os.symlink(os.path.relpath(target, os.path.dirname(path)), path)


class Node:
    """A /sys tree, laid out as Linux does it."""

    def __init__(self, ports=0):
        self.root = tempfile.mkdtemp(prefix="odd_node.")
        os.makedirs(self.root + "/class/net")
        for index in range(ports):
            self.add(index)

    one_card = False  # its ports are functions of one card

    def pci(self, index):
        return f"0000:10:00.{index}" if self.one_card else f"0000:{index + 0x10:02x}:00.0"

    def function(self, index):
        return f"{self.root}/devices/pci0000:00/{self.pci(index)}"

    def port(self, index, name=None):
        return f"{self.function(index)}/infiniband/{name or f'mlx5_{index}'}/ports/1"

    def add(self, index, name=None, netdev=None):
        name, netdev = name or f"mlx5_{index}", netdev or f"ens{index}"
        function = self.function(index)
        for which in ("current", "max"):
            put(f"{function}/{which}_link_speed", "32.0 GT/s PCIe")
            put(f"{function}/{which}_link_width", "16")
        verbs, port = f"{function}/infiniband/{name}", self.port(index, name)
        put(f"{verbs}/node_guid", f"b83f:d203:0012:{index:04x}")
        put(f"{verbs}/fw_ver", "28.39.1002")
        link(function, f"{verbs}/device")
        for file, text in (("link_layer", "Ethernet"), ("state", "4: ACTIVE"), ("phys_state", "5: LinkUp"),
                           ("rate", "400 Gb/sec (4X NDR)"), ("gid_attrs/ndevs/0", netdev)):
            put(f"{port}/{file}", text)
        for counter in COUNTERS:
            put(f"{port}/counters/{counter}", "5")
        for counter in ("out_of_sequence", "lifespan"):
            put(f"{port}/hw_counters/{counter}", "9")
        net = f"{function}/net/{netdev}"
        for file, text in (("type", "1"), ("ifindex", str(index + 2)), ("flags", "0x1003"), ("carrier", "1"),
                           ("operstate", "up"), ("speed", "400000"), ("mtu", "9000"), ("carrier_up_count", "3"), ("carrier_down_count", "2"),
                           ("dev_port", "0"), ("phys_port_name", "p0"), ("statistics/rx_crc_errors", "7")):
            put(f"{net}/{file}", text)
        link(function, f"{net}/device")
        link(verbs, f"{self.root}/class/infiniband/{name}")
        link(net, f"{self.root}/class/net/{netdev}")

    def remove(self, index, name=None, netdev=None):
        os.unlink(f"{self.root}/class/infiniband/{name or f'mlx5_{index}'}")
        os.unlink(f"{self.root}/class/net/{netdev or f'ens{index}'}")
        shutil.rmtree(self.function(index))

    def rename_netdev(self, index, name):
        """`ip link set ens0 name eth9`: the interface goes on, with its number and its counts."""
        old, new = f"{self.function(index)}/net/ens{index}", f"{self.function(index)}/net/{name}"
        os.rename(old, new)
        os.unlink(f"{self.root}/class/net/ens{index}")
        link(new, f"{self.root}/class/net/{name}")
        if os.path.isdir(self.port(index)):
            put(f"{self.port(index)}/gid_attrs/ndevs/0", name)

    def close(self):
        shutil.rmtree(self.root, ignore_errors=True)


# A container with the host's /sys but without the host's network: two interfaces have the same numbers as
# ports of the host.
OWN_NETWORK = """set -e
ip link add v0 type veth peer name v1
ip link set v0 up
ip link set v1 up
mount --rbind "$0" /sys
exec "$@\""""

# A container in which the first port's interface exists, so that the kernel itself answers.
OWN_INTERFACE = """set -e
ip link add v0 type veth peer name v1
ip link set v0 up
ip link set v1 up
ip -o link show v0 | cut -d: -f1 >"$0/class/net/v0/ifindex"
ip -o link show v0 | grep -Eo 'link/ether [0-9a-f:]+' | cut -c12- >"$0/class/net/v0/address"
mount --rbind "$0" /sys
exec "$@\""""


class UnixHttp(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=20)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(20)
        self.sock.connect(self.path)


class Daemon:
    def __init__(self, node, state=None, limit_files=None, own_network=None, without=None, config=CONFIG, play=None):
        self.directory = state or tempfile.mkdtemp(prefix="odd_state.")
        self.socket = self.directory + "/s.sock"
        put(self.directory + "/config.yaml", config)
        source = ["--play", play[0], "--play-speed", str(play[1])] if play else [] if own_network else ["--sysroot", node.root]
        command = [DAEMON, *source, "--config", self.directory + "/config.yaml", "--socket", self.socket,
                   "--state-dir", self.directory, "--listen", "127.0.0.1:0", "--dry-run"]
        if limit_files:
            command = ["prlimit", f"--nofile={limit_files}", *command]
        if without:
            command = ["setpriv", f"--bounding-set=-{without}", f"--inh-caps=-{without}", *command]
        if own_network:
            command = ["unshare", "-r", "-m", "-n", "sh", "-c", own_network, node.root, *command]
        self.log = open(self.directory + "/log", "w", encoding="utf-8")
        self.process = subprocess.Popen(command, stdout=self.log, stderr=self.log)
        self.until(lambda: self.get("/-/ready") is not None, "the daemon is ready")

    def get(self, path):
        try:
            connection = UnixHttp(self.socket)
            connection.request("GET", path)
            reply = connection.getresponse()
            body = reply.read().decode()
            return body if reply.status == 200 else None
        except OSError:
            return None

    def report(self):
        return json.loads(self.get("/api/v1/report"))

    def status(self):
        """What `linkhealth status` shows."""
        return subprocess.run([PROGRAM, "--socket", self.socket, "status"], capture_output=True, text=True, check=False,
                              env={**os.environ, "COLUMNS": "200", "LANG": "C.UTF-8"}).stdout

    def ports(self):
        return {port["port"]: port for port in self.report()["ports"]}

    def metrics(self):
        return self.get("/metrics?collect[]=counters")

    def until(self, condition, what):
        end = time.monotonic() + 60
        while time.monotonic() < end:
            if self.process.poll() is not None:
                break
            with contextlib.suppress(TypeError, KeyError):
                if condition():
                    return
            time.sleep(0.05)
        self.log.flush()
        raise AssertionError(f"never came: {what}\n{open(self.log.name, encoding='utf-8').read()}")

    def status_number(self, key):
        text = open(f"/proc/{self.process.pid}/status", encoding="utf-8").read()
        return int(re.search(rf"^{key}:\s*(\d+)", text, re.M).group(1))

    def files(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def settled_files(self):
        """Their number when a second of the node's time has opened no more."""
        files, seen_at = -1, self.report()["t"]
        for _ in range(20):
            self.until(lambda: self.report()["t"] > seen_at + 1, "a second of cycles")
            before, files, seen_at = files, self.files(), self.report()["t"]
            if files <= before:
                return files
        raise AssertionError(f"more and more descriptors: {files}")

    @contextlib.contextmanager
    def standing_still(self):
        """What is one step for the kernel is many here: it sees all of them or none."""
        self.process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self.process.send_signal(signal.SIGCONT)

    def log_text(self):
        return open(self.directory + "/log", encoding="utf-8").read()

    def reload(self, config):
        put(self.directory + "/config.yaml", config)
        self.process.send_signal(signal.SIGHUP)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(20) == 0, "it ends well"
        self.log.close()

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(2)  # hung reads end with the file system
        shutil.rmtree(self.directory, ignore_errors=True)


@contextlib.contextmanager
def running(node, **options):
    daemon = Daemon(node, **options)
    try:
        yield daemon
    finally:
        daemon.close()


def has_counters(daemon, device):
    return f'linkhealth_raw_total{{device="{device}",port="1",counter="symbol_error"}} 5' in daemon.metrics()


def no_device_at_all(node):
    with running(node) as daemon:
        assert daemon.report()["ports"] == []
        assert "linkhealth_stuck_probes 0" in daemon.metrics()
        daemon.stop()
        assert "no RDMA port and no physical Ethernet port on this node" in open(daemon.directory + "/log", encoding="utf-8").read()


def doctor_of(root):
    out = subprocess.run([PROGRAM, "doctor", "--sysroot", root, "--json"], capture_output=True, text=True)
    inventory = [source for source in json.loads(out.stdout)["sources"] if source["probe"] == "inventory"]
    return out.returncode, inventory[0]


def a_sys_that_is_not_there(node):
    os.rmdir(node.root + "/class/net")
    code, inventory = doctor_of(node.root)
    assert code == 1 and inventory["state"] == "hidden", inventory
    assert "/sys/class/net: ENOENT" in inventory["why"] and "mount" in inventory["hint"], inventory
    with running(node) as daemon:
        daemon.until(lambda: any(gap["reason"] == "/sys/class/net: ENOENT" for gap in daemon.report()["gaps"]), "the gap")
        daemon.until(lambda: "self-test:" in daemon.log_text(), "the self-test")
        daemon.stop()
        assert "list of ports unavailable: /sys/class/net: ENOENT" in daemon.log_text(), daemon.log_text()
        assert "no RDMA port on this node" not in daemon.log_text(), daemon.log_text()


def healthy_with_gap(port, probe):
    return port["health"] == "healthy" and any(gap["probe"] == probe for gap in port.get("gaps", []))


def switch_mode_and_garbage(node):
    node.add(0), node.add(1)
    for counter in COUNTERS:  # a directory instead of a file: reading it fails like EINVAL
        os.unlink(node.port(0) + "/counters/" + counter)
        os.mkdir(node.port(0) + "/counters/" + counter)
    shutil.rmtree(node.port(0) + "/hw_counters")
    put(node.port(0) + "/hw_counters/vport_packet_seq_err", "0")  # always 0 for the port with the cable
    put(node.port(0) + "/../../hw_counters/packet_seq_err", "12")
    put(node.port(1) + "/counters/link_downed", "N/A (no PMA)")
    put(node.port(1) + "/counters/VL15_dropped", "\x1b[31mgarbage\x07")
    with running(node) as daemon:
        daemon.until(lambda: has_counters(daemon, "mlx5_1"), "the neighbour's counters")
        daemon.until(lambda: 'device="mlx5_1",port="1",probe="counters",reason="unexpected text"' in daemon.metrics(),
                     "the gap of the odd texts")
        assert 'device="mlx5_0",port="1",probe="counters"' in daemon.metrics()
        daemon.until(lambda: 'device="mlx5_0",port="1",counter="packet_seq_err"} 12' in daemon.metrics(),
                     "what is counted for the device")
        daemon.until(lambda: healthy_with_gap(daemon.ports()["mlx5_1/1"], "counters"),
                     "two files that fail are said and hide not the rest")
        assert "\x1b" not in daemon.status() + daemon.metrics()


def missing_directories(node):
    node.add(0), node.add(1), node.add(2)
    shutil.rmtree(node.port(0) + "/counters")
    shutil.rmtree(node.port(1) + "/hw_counters")
    with running(node) as daemon:
        daemon.until(lambda: has_counters(daemon, "mlx5_2") and has_counters(daemon, "mlx5_1"), "the others' counters")
        assert all(not port.get("gaps") for port in daemon.ports().values()), "what is not offered is no gap"
        begun = daemon.report()["t"]
        daemon.until(lambda: daemon.report()["t"] > begun + 3, "more cycles")
        said = [line for line in daemon.log_text().splitlines()
                if "verbs port counters" in line or "RDMA counters" in line]
        assert not said, f"what is not offered is no line of the log, in no cycle: {said}"
    # A partial /sys: mlx5 has the directory for every port.
    on_the_bus(node, 0, "mlx5_core")
    with running(node) as daemon:
        daemon.until(lambda: daemon.ports()["mlx5_0/1"].get("gaps"), "the gap of a driver that always has them")
        port = daemon.ports()["mlx5_0/1"]
        assert {(gap["probe"], gap["reason"]) for gap in port["gaps"]} == {("counters", "counters: ENOENT")}, port["gaps"]
        assert port["health"] == "unknown", f'{port["health"]}: nothing that counts errors is seen'
        sources = {source["probe"]: source for source in json.loads(daemon.get("/api/v1/doctor"))["ports"][0]["sources"]}
        assert sources["counters"]["state"] == "hidden" and "mount the host's /sys" in sources["counters"]["hint"], sources


def missing_files(node):
    """Omni-Path, Broadcom and soft RoCE have some of the usual files: what is not there is absent, what is there is read."""
    node.add(0), node.add(1)
    for file in ("counters/symbol_error", "counters/VL15_dropped", "hw_counters/out_of_sequence"):
        os.unlink(f"{node.port(0)}/{file}")
    os.unlink(f"{node.function(0)}/infiniband/mlx5_0/fw_ver")
    with running(node) as daemon:
        daemon.until(lambda: all(f'{{device="mlx5_{index}",port="1",counter="link_downed"}}' in daemon.metrics()
                                 for index in (0, 1)), "both ports' counters")
        begun = daemon.report()["t"]
        daemon.until(lambda: daemon.report()["t"] > begun + 3, "more cycles")
        port, metrics = daemon.ports()["mlx5_0/1"], daemon.metrics()
        for counter in ("link_downed", "port_rcv_errors", "port_xmit_data", "port_rcv_data"):
            assert f'{{device="mlx5_0",port="1",counter="{counter}"}} 5' in metrics, counter
        for counter in ("symbol_error", "VL15_dropped", "out_of_sequence"):
            assert f'{{device="mlx5_0",port="1",counter="{counter}"}}' not in metrics, f"{counter} is not there: no 0"
            assert f'{{device="mlx5_1",port="1",counter="{counter}"}}' in metrics, f"{counter} of the other port"
        assert not port.get("gaps"), f"what is not offered is no gap: {port['gaps']}"
        assert port["health"] == "healthy", port["health"]


def without_carrier_counts(node):
    """A kernel before 4.16: the gap stands for as long as the files are missing, whatever else is read of the link."""
    node.add(0), node.add(1)
    for file in ("carrier_up_count", "carrier_down_count"):
        os.unlink(f"{node.function(0)}/net/ens0/{file}")

    def link_gaps(daemon):
        return [gap["reason"] for gap in daemon.ports()["mlx5_0/1"].get("gaps", []) if gap["probe"] == "link"]

    with running(node) as daemon:
        daemon.until(lambda: link_gaps(daemon), "the gap")
        begun = daemon.report()["t"]
        while daemon.report()["t"] < begun + 5:
            reasons = link_gaps(daemon)
            assert len(reasons) == 1 and "carrier_down_count: ENOENT" in reasons[0], reasons
            time.sleep(0.02)
        doctor = json.loads(daemon.get("/api/v1/doctor"))
        sources = {source["probe"]: source for source in doctor["ports"][0]["sources"]}
        assert sources["link"]["state"] == "partly", sources["link"]
        assert daemon.ports()["mlx5_0/1"]["health"] == "healthy", "the carrier itself is read"
        assert not daemon.ports()["mlx5_1/1"].get("gaps")


def a_split_port(node):
    """Two halves of one cage, and a rate that is no power of two: each is what its own files say, none has lost lanes."""
    halves, odd = ("200 Gb/sec (2X NDR)", 200000, 2), ("56 Gb/sec (4X FDR)", 56000, 4)
    for index, (rate, speed, _) in enumerate([halves, halves, odd]):
        node.add(index)
        put(node.port(index) + "/link_layer", "InfiniBand")
        put(node.port(index) + "/rate", rate)
        put(f"{node.function(index)}/net/ens{index}/speed", str(speed))
        put(f"{node.function(index)}/net/ens{index}/phys_port_name", f"p0s{index}")
    with running(node) as daemon:
        daemon.until(lambda: all(has_counters(daemon, f"mlx5_{index}") for index in range(3)), "counters of all")
        for index, (_, speed, lanes) in enumerate([halves, halves, odd]):
            port = daemon.ports()[f"mlx5_{index}/1"]
            link = port["now"]["link"]
            assert (link["speed_mbps"], link.get("lanes")) == (speed, lanes), link
            assert port["health"] == "healthy" and not port["faults"] and not port.get("gaps"), port
            line = next(line for line in daemon.metrics().splitlines() if line.startswith(
                f'linkhealth_bandwidth_available_bytes_per_second{{device="mlx5_{index}",port="1"}}'))
            assert float(line.split()[-1]) == speed * 125000, line


def a_device_that_cant_be_looked_into(node):
    """A /sys in part: the class is there, one device behind it is not. Its ports are not known, so the node says it."""
    node.add(0), node.add(1)
    shutil.rmtree(node.function(1))
    with running(node) as daemon:
        daemon.until(lambda: has_counters(daemon, "mlx5_0"), "the other device")
        assert "mlx5_1: device: " in daemon.status(), daemon.status()
        assert 'probe="inventory"' in daemon.metrics()


def no_infiniband_class(node):
    """A /sys in part: the ports are Ethernet ones then, and each says whose RDMA device is not listed."""
    for index in range(3):
        node.add(index)
    shutil.rmtree(node.root + "/class/infiniband")
    with running(node) as daemon:
        daemon.until(lambda: {"ens0", "ens1", "ens2"} <= daemon.ports().keys(), "the Ethernet ports")
        for index in range(3):
            assert any(gap["probe"] == "inventory" and gap["reason"].startswith(f"mlx5_{index} is its RDMA device")
                       for gap in daemon.ports()[f"ens{index}"]["gaps"]), daemon.ports()[f"ens{index}"]["gaps"]
        inventory = next(source for source in json.loads(daemon.get("/api/v1/doctor"))["sources"] if source["probe"] == "inventory")
        assert inventory["state"] == "hidden" and "mount the host's /sys" in inventory["hint"], inventory
        assert inventory["why"].startswith("ens0: mlx5_0 is") and inventory["why"].endswith("(and 2 more)"), inventory


def virtual_functions_only(node):
    for index in range(3):
        node.add(index)
        put(node.function(index) + "/vendor", "0x15b3")
        put(node.function(index) + "/device", "0x101e")
    with running(node) as daemon:
        daemon.until(lambda: has_counters(daemon, "mlx5_0"), "what a function counts")
        for port in daemon.ports().values():
            assert port["health"] == "healthy" and "only its link is judged" in port["note"], port


def unplug_and_replug(node):
    node.add(0), node.add(1)
    with running(node) as daemon:
        for _ in range(3):
            daemon.until(lambda: has_counters(daemon, "mlx5_1"), "both ports")
            node.remove(1)
            daemon.until(lambda: daemon.ports()["mlx5_1/1"]["health"] == "unknown", "the port is unknown")
            assert has_counters(daemon, "mlx5_0")
            node.add(1)
            daemon.until(lambda: daemon.ports()["mlx5_1/1"]["health"] != "unknown", "the port is back")


def downs(port):
    return port["figures"]["involuntary_downs_total"] + port["figures"]["voluntary_downs_total"]


def flap(node, index, netdev, falls):
    """Its link fell and came back between two looks; so many times since the beginning."""
    for file, text in (("carrier_down_count", 2 + falls), ("carrier_up_count", 3 + falls)):
        put(f"{node.function(index)}/net/{netdev}/{file}", str(text))


def renamed_netdev(node):
    """The interface alone has another name, of an RDMA port and of a plain one: both are the ports that they were."""
    for index in (0, 1):
        node.add(index), put(node.function(index) + "/current_link_width", "4")
    shutil.rmtree(node.function(1) + "/infiniband"), os.unlink(node.root + "/class/infiniband/mlx5_1")
    before, after = ("mlx5_0/1", "ens1"), ("mlx5_0/1", "eth1")
    with running(node) as daemon:
        daemon.until(lambda: all(daemon.ports()[name]["faults"] for name in before), "the PCIe faults")
        for index, name in enumerate(("ens0", "ens1")):
            flap(node, index, name, 1)
        daemon.until(lambda: all(downs(daemon.ports()[name]) == 1 for name in before), "one fall each")
        faults = [daemon.ports()[name]["faults"][0]["id"] for name in before]
        with daemon.standing_still():
            for index, name in enumerate(("eth0", "eth1")):
                node.rename_netdev(index, name), flap(node, index, name, 2)
        daemon.until(lambda: set(daemon.ports()) == set(after), "the new names")
        daemon.until(lambda: all(downs(daemon.ports()[name]) == 2 for name in after), "the fall meanwhile is one more")
        for index, name in enumerate(("eth0", "eth1")):
            flap(node, index, name, 3)
        daemon.until(lambda: all(downs(daemon.ports()[name]) == 3 for name in after), "falls under the new name")
        seen = daemon.report()["t"]
        daemon.until(lambda: daemon.report()["t"] > seen + 3, "several searches")
        ports = daemon.ports()
        assert set(ports) == set(after), set(ports)
        assert [ports[name]["now"]["id"]["netdev"] for name in after] == ["eth0", "eth1"]
        assert [[fault["id"] for fault in ports[name]["faults"]] for name in after] == [[fault] for fault in faults], ports
        events = json.loads(daemon.get("/api/v1/events?limit=1000"))["events"]
        opened = [event["id"] for event in events if event["event"] == "opened"]
        assert len(opened) == 2, opened


def a_bond_is_made(node):
    """mlx5's LAG: one verbs device is left, at the first member; the second member's port, of the same card, is a plain one."""
    node.one_card = True
    node.add(0), node.add(1)
    with running(node) as daemon:
        daemon.until(lambda: has_counters(daemon, "mlx5_0") and has_counters(daemon, "mlx5_1"), "both ports")
        for index in (0, 1):
            os.unlink(f"{node.root}/class/infiniband/mlx5_{index}")
        shutil.rmtree(node.function(1) + "/infiniband")
        os.rename(node.function(0) + "/infiniband/mlx5_0", node.function(0) + "/infiniband/mlx5_bond_0")
        link(node.function(0) + "/infiniband/mlx5_bond_0", node.root + "/class/infiniband/mlx5_bond_0")
        daemon.until(lambda: set(daemon.ports()) == {"mlx5_bond_0/1", "ens1"}, "both links, each once")
        daemon.until(lambda: has_counters(daemon, "mlx5_bond_0"), "what the LAG counts")
        daemon.until(lambda: all(port["health"] == "healthy" for port in daemon.ports().values()), "both are healthy")
        assert not any(port["faults"] for port in daemon.ports().values())
        put(node.function(1) + "/net/ens1/carrier", "0")
        put(node.function(1) + "/net/ens1/carrier_down_count", "3")
        daemon.until(lambda: daemon.ports()["ens1"]["health"] == "down", "the second link is down")
        assert daemon.ports()["mlx5_bond_0/1"]["health"] == "healthy"


def idle_ipoib(node):
    """InfiniBand rails: their IPoIB interfaces are set down, or lose their carrier when a partition changes."""
    for index in range(3):
        node.add(index, netdev=f"ib{index}")
        put(node.port(index) + "/link_layer", "InfiniBand")
        put(f"{node.function(index)}/net/ib{index}/type", "32")
    put(node.function(1) + "/net/ib1/flags", "0x1002")
    put(node.function(1) + "/net/ib1/carrier_up_count", "0")
    os.unlink(node.function(1) + "/net/ib1/carrier"), os.mkdir(node.function(1) + "/net/ib1/carrier")  # EINVAL
    with running(node) as daemon:
        daemon.until(lambda: all(port["health"] == "healthy" for port in daemon.ports().values()), "all rails are healthy")
        for count in range(4, 10):
            put(node.function(2) + "/net/ib2/carrier_down_count", str(count))
            put(node.function(2) + "/net/ib2/carrier", str(count % 2))
            first = daemon.report()["t"]
            daemon.until(lambda t=first: daemon.report()["t"] > t + 1, "a second of cycles")
        ports = daemon.ports()
        assert [port["health"] for port in ports.values()] == ["healthy"] * 3, ports
        assert not any(port["faults"] for port in ports.values())
        put(node.port(1) + "/phys_state", "2: Polling"), put(node.port(1) + "/state", "1: DOWN")
        put(node.port(1) + "/counters/link_downed", "6")
        daemon.until(lambda: daemon.ports()["mlx5_1/1"]["health"] == "down", "a rail that is down is down")


def nvswitch_managers(node):
    """An HGX B200: the cards that manage its NVSwitches look like rails, and those nobody uses are down for ever."""
    for index in range(3):
        node.add(index, netdev=f"ib{index}")
        put(node.port(index) + "/link_layer", "InfiniBand"), put(node.function(index) + "/vendor", "0x15b3")
        put(f"{node.function(index)}/net/ib{index}/type", "32")
        put(node.function(index) + "/vpd", "VAMLX:MODL=CX71" + ("" if index == 0 else ":SMDL=SW_MNG"))
    put(node.port(1) + "/phys_state", "2: Polling"), put(node.port(1) + "/state", "1: DOWN")
    with running(node) as daemon:
        daemon.until(lambda: daemon.ports()["mlx5_0/1"]["health"] == "healthy", "the rail")
        for name in ("mlx5_1/1", "mlx5_2/1"):
            port = daemon.ports()[name]
            assert port["health"] == "exempt" and "NVSwitches" in port["exempt"], port


def shut_down_with_a_fault(node, daemon):
    """The node of two cards goes down once the second one's fault is open; that fault."""
    daemon.until(lambda: daemon.ports()["mlx5_1/1"]["faults"], "the PCIe fault of mlx5_1")
    fault = daemon.ports()["mlx5_1/1"]["faults"][0]
    daemon.stop()
    node.remove(0), node.remove(1)
    return fault


def swapped_names_after_a_reboot(node):
    """An open fault is in the ledger file; the node boots, and the kernel gives the names the other way round."""
    node.add(0), node.add(1)
    put(node.function(1) + "/current_link_width", "4")
    with running(node) as daemon:
        fault = shut_down_with_a_fault(node, daemon)
        node.add(0, name="mlx5_1", netdev="ens1")
        node.add(1, name="mlx5_0", netdev="ens0")
        put(node.function(1) + "/current_link_width", "4")
        with running(node, state=daemon.directory) as after:
            ports = after.ports()
            assert [each["id"] for each in ports["mlx5_0/1"]["faults"]] == [fault["id"]], ports["mlx5_0/1"]["faults"]
            assert ports["mlx5_1/1"]["faults"] == []


def renumbered_after_a_reboot(node):
    """A card was put in: the two others have other addresses after the boot, the first one that of the second."""
    node.add(0), node.add(1)
    put(node.function(1) + "/current_link_width", "4")
    with running(node) as daemon:
        fault = shut_down_with_a_fault(node, daemon)
        node.add(1, name="mlx5_0", netdev="ens0"), node.add(2, name="mlx5_1", netdev="ens1")
        for index, name in ((1, "mlx5_0"), (2, "mlx5_1")):
            put(f"{node.function(index)}/infiniband/{name}/node_guid", f"b83f:d203:0012:{index - 1:04x}")
        put(node.function(2) + "/current_link_width", "4")
        with running(node, state=daemon.directory) as after:
            ports = after.ports()
            assert [each["id"] for each in ports["mlx5_1/1"]["faults"]] == [fault["id"]], ports["mlx5_1/1"]["faults"]
            assert ports["mlx5_0/1"]["faults"] == []

            def events(port):
                return [each["event"] for each in json.loads(after.get(f"/api/v1/ports/{port}/history"))["events"]]

            after.until(lambda: "opened" in events("mlx5_1/1"), "what happened to the card, under its new address")
            assert events("mlx5_0/1") == []


def on_the_bus(node, index, driver):
    put(node.function(index) + "/class", "0x020700")
    device, target = f"{node.root}/bus/pci/devices/{node.pci(index)}", f"{node.root}/bus/pci/drivers/{driver}"
    os.makedirs(target, exist_ok=True)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(node.function(index) + "/driver")
    link(target, node.function(index) + "/driver")
    if not os.path.islink(device):
        link(node.function(index), device)


def a_card_is_missing_after_a_reboot(node):
    """Three cards had links; one does not come back, one comes back dark, and one is lent to a virtual machine."""
    config = CONFIG + "diagnosis: {device_gone_s: 10}\n"
    for index in range(4):
        node.add(index), on_the_bus(node, index, "mlx5_core")
    with running(node, config=config) as daemon:
        daemon.until(lambda: all(port["health"] == "healthy" for port in daemon.ports().values()), "four healthy ports")
        daemon.stop()
        node.remove(1)
        os.unlink(f"{node.root}/bus/pci/devices/{node.pci(1)}")
        for file, text in (("carrier", "0"), ("carrier_up_count", "0"), ("carrier_down_count", "1")):
            put(f"{node.function(2)}/net/ens2/{file}", text)
        put(node.port(2) + "/state", "1: DOWN"), put(node.port(2) + "/phys_state", "3: Disabled")
        with running(node, state=daemon.directory, config=config) as after:
            after.until(lambda: after.ports()["mlx5_1/1"]["faults"], "a fault of the missing card")
            assert after.ports()["mlx5_1/1"]["faults"][0]["fault"] == "nic_fault"
            assert "not on the PCI bus" in after.ports()["mlx5_1/1"]["faults"][0]["summary"]
            after.until(lambda: after.ports()["mlx5_2/1"]["health"] == "down", "the link that did not come back")
            for path in ("class/infiniband/mlx5_3", "class/net/ens3"):
                os.unlink(f"{node.root}/{path}")
            shutil.rmtree(node.function(3) + "/infiniband"), shutil.rmtree(node.function(3) + "/net")
            on_the_bus(node, 3, "vfio-pci")
            after.until(lambda: after.ports()["mlx5_3/1"]["exempt"].startswith("lent by vfio-pci"), "the lent card")
            seen = after.report()["t"]
            after.until(lambda: after.report()["t"] > seen + 12, "longer than a driver may take")
            assert not after.ports()["mlx5_3/1"]["faults"]
            after.reload(config + f'ports: {{"{node.pci(1)}": {{exempt: "moved to another machine"}}}}\n')
            after.until(lambda: not after.ports()["mlx5_1/1"]["faults"], "what was taken out on purpose is no fault")
            assert after.ports()["mlx5_1/1"]["exempt"] == "moved to another machine", after.ports()["mlx5_1/1"]


def all_ports_vanish(node):
    for index in range(4):
        node.add(index)
    with running(node) as daemon:
        daemon.until(lambda: has_counters(daemon, "mlx5_3"), "the ports")
        for index in range(4):  # as when a driver is unloaded, with searches in between
            node.remove(index)
            time.sleep(0.7)
        daemon.until(lambda: "no port left of 4" in daemon.status(), "it is said")
        assert all(port["health"] == "unknown" and not port["faults"] for port in daemon.ports().values())
        doctor = json.loads(daemon.get("/api/v1/doctor"))
        assert doctor["sources"][0]["state"] == "hidden", doctor["sources"][0]


def sixty_four_ports(node):
    for index in range(64):
        node.add(index)
    with running(node, limit_files=4096) as daemon:
        daemon.until(lambda: has_counters(daemon, "mlx5_63"), "the last port")
        files = daemon.settled_files()  # the slower groups open theirs later
        memory = daemon.status_number("VmRSS")
        assert files < 64 * 40, files
        assert memory < 64 * 1024, f"{memory} kB"
        first = daemon.report()["t"]
        daemon.until(lambda: daemon.report()["t"] > first + 5, "dozens of cycles")
        assert daemon.files() <= files + 8, "descriptors stay"
        assert daemon.status_number("VmRSS") < memory + 8 * 1024, "memory stays"
        print(f"     64 ports: {files} files, {memory} kB, {daemon.status_number('Threads')} threads")


def too_few_descriptors(node):
    for index in range(64):
        node.add(index)
    with running(node, limit_files=64) as daemon:  # fewer than one per port
        daemon.until(lambda: all(has_counters(daemon, f"mlx5_{index}") for index in range(64)), "all are read")
        assert daemon.files() < 64
        assert "Too many open files" not in daemon.metrics()


def descriptors_run_out(node):
    """What can't be opened is unknown and never the device's answer; when there are some again, all is read."""
    for index in range(9):
        node.add(index)
    with running(node, limit_files=256) as daemon:
        daemon.until(lambda: has_counters(daemon, "mlx5_8"), "all ports")
        daemon.settled_files()
        kept = UnixHttp(daemon.socket)  # a new connection would need a descriptor

        def ask(path):
            kept.request("GET", path)
            return json.loads(kept.getresponse().read())

        ask("/api/v1/report")
        subprocess.run(["prlimit", f"--pid={daemon.process.pid}", "--nofile=8:256"], check=True)
        daemon.until(lambda: all(port["health"] == "unknown" for port in ask("/api/v1/report")["ports"]), "nothing is known")
        reasons = {gap["reason"] for port in ask("/api/v1/report")["ports"] for gap in port["gaps"]}
        assert any("EMFILE" in reason for reason in reasons) and not any("EBADF" in reason for reason in reasons), reasons
        doctor = json.dumps(ask("/api/v1/doctor"))
        assert "descriptors" in doctor, doctor
        assert not any(port["faults"] for port in ask("/api/v1/report")["ports"]), "no cable is blamed"
        subprocess.run(["prlimit", f"--pid={daemon.process.pid}", "--nofile=256:256"], check=True)
        daemon.until(lambda: all(port["health"] == "healthy" for port in daemon.ports().values()), "all is read again")


def a_flood_of_link_events(node):
    """An interface falls and rises as fast as the kernel can tell it; the daemon stays cheap and ends with what is true."""
    namespaces_or_skip()
    node.add(0, netdev="v0")
    with running(node, own_network=OWN_INTERFACE) as daemon:
        inside = ["nsenter", "-t", str(daemon.process.pid), "-U", "--preserve-credentials", "-n"]
        ip = inside + ["ip", "-batch", "-"]
        daemon.until(lambda: daemon.ports()["mlx5_0/1"]["now"]["link"].get("carrier") is True, "the link")
        before, memory, begun = cpu_s(daemon), daemon.status_number("VmRSS"), time.monotonic()
        done = subprocess.run(ip, input="link set v1 down\nlink set v1 up\n" * FLOOD, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        took, used = time.monotonic() - begun, cpu_s(daemon) - before
        net = f"{node.function(0)}/net/v0"  # an event only prompts a read of the files
        put(f"{net}/carrier", "0"), put(f"{net}/operstate", "down"), put(f"{net}/carrier_down_count", "3")
        put(f"{node.port(0)}/state", "1: DOWN"), put(f"{node.port(0)}/phys_state", "3: Disabled")
        subprocess.run(ip, input="link set v1 down\n", text=True, check=True)
        daemon.until(lambda: daemon.ports()["mlx5_0/1"]["now"]["link"].get("carrier") is False, "what is true after the last event")
        grown = daemon.status_number("VmRSS") - memory
        print(f"     {FLOOD * 4} link events in {took:.1f} s ({FLOOD * 4 / took:.0f} a second): {used:.2f} s of CPU, {grown} kB more memory")
        assert used < max(2, took / 2) and grown < 8 * 1024, (used, took, grown)


def cpu_s(daemon):
    fields = open(f"/proc/{daemon.process.pid}/stat", encoding="utf-8").read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def hung_read(node):
    """A FUSE file that never answers, in the place of one port's counters."""
    for index in range(8):
        node.add(index)
    hang = HangingDirectory(node.port(3) + "/counters", COUNTERS)
    try:
        with running(node) as daemon:
            daemon.until(lambda: 'linkhealth_gap{device="mlx5_3",port="1",probe="counters",reason="no answer within 0.5 s"'
                         in daemon.metrics(), "the stuck probe's name in the metrics")
            assert "counters: no answer within 0.5 s (mlx5_3/1)" in daemon.status()
            assert re.search(r"^linkhealth_stuck_probes 1$", daemon.metrics(), re.M)
            doctor = subprocess.run([PROGRAM, "--socket", daemon.socket, "doctor"], capture_output=True, text=True)
            assert doctor.returncode == 1 and "the device hangs" in doctor.stdout, doctor.stdout + doctor.stderr
            files, threads = daemon.files(), daemon.status_number("Threads")
            memory = daemon.status_number("VmRSS")
            for index in (0, 7):  # the others continue to be read
                put(f"{node.port(index)}/counters/symbol_error", "6")
                daemon.until(lambda i=index: f'device="mlx5_{i}",port="1",counter="symbol_error"}} 6' in daemon.metrics(),
                             f"a new value of mlx5_{index}")
            first = daemon.report()["t"]
            daemon.until(lambda: daemon.report()["t"] > first + 5, "dozens of cycles")
            assert daemon.files() <= files + 4 and daemon.status_number("Threads") <= threads, "nothing grows"
            assert daemon.status_number("VmRSS") < memory + 8 * 1024
            assert hang.reads <= 2, f"{hang.reads} reads hang: a port that hangs is not asked again"
            print(f"     hung: {files} files, {threads} threads, {hang.reads} reads lost")
            hang.close()  # a read in uninterruptible sleep outlives even SIGKILL
            daemon.until(lambda: "linkhealth_stuck_probes 0" in daemon.metrics(), "it answers again, with an error")
            daemon.stop()
    finally:
        hang.close()


def a_look_without_a_daemon_ends(node):
    """A thread that hangs keeps its process and all that it has open: the command's own end and its pipes are another's."""
    for index in range(2):
        node.add(index)
    hang = HangingDirectory(node.port(1) + "/counters", COUNTERS)
    try:
        for command, words in ((["doctor"], "the device hangs"), (["status", "--once", "--wide"], "no answer within 5 s")):
            begun = time.monotonic()
            # Not run(): that waits for the process it has killed.
            process = subprocess.Popen([PROGRAM, *command, "--sysroot", node.root], stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, text=True)
            out, errors = process.communicate(timeout=40)
            assert words in out and not errors, f"{command}: {out}{errors}"
            assert process.returncode == (1 if command == ["doctor"] else 0), f"{command}: {process.returncode}"
            print(f"     {command[0]}: {time.monotonic() - begun:.1f} s, {hang.reads} reads hang")
    finally:
        hang.close()


def hung_search_at_the_start(node):
    """A file that the search for ports reads never answers, from before the start on."""
    for index in range(8):
        node.add(index)
    hang = HangingDirectory(node.port(3), ["link_layer"])
    try:
        with running(node) as daemon:
            daemon.until(lambda: len(daemon.ports()) == 7, "the other seven are watched")
            daemon.until(lambda: 'reason="no answer within 0.5 s of mlx5_3"' in daemon.metrics(),
                         "the device at which the search stands, in the metrics")
            assert "inventory: no answer within 0.5 s of mlx5_3" in daemon.status()
            put(f"{node.port(7)}/counters/symbol_error", "6")
            daemon.until(lambda: 'device="mlx5_7",port="1",counter="symbol_error"} 6' in daemon.metrics(), "a new value")
            first = daemon.report()["t"]
            daemon.until(lambda: daemon.report()["t"] > first + 3, "several searches")
            assert hang.reads <= 2, f"{hang.reads} reads hang: a device that hangs is not searched again"
            assert len(daemon.ports()) == 7 and "ens3" not in daemon.ports()
            hang.close()  # what it covered is visible again
            daemon.until(lambda: len(daemon.ports()) == 8, "it is watched once it answers")
            daemon.until(lambda: "linkhealth_stuck_probes 0" in daemon.metrics(), "nothing is left of it")
            daemon.stop()
    finally:
        hang.close()


def all_reads_hang(node):
    """More devices hang than there may be threads."""
    hangs = []
    try:
        for index in range(24):
            node.add(index)
        for index in range(20):
            hangs.append(HangingDirectory(node.port(index) + "/counters", COUNTERS))
        with running(node) as daemon:
            daemon.until(lambda: "too many other reads hang" in daemon.metrics(), "what waits is named")
            threads = daemon.status_number("Threads")
            assert threads < 32, threads
            assert daemon.status(), "it answers"
    finally:
        for hang in hangs:
            hang.close()


def at_the_limit_of_tasks(node):
    """No thread can be started, as where a unit's TasksMax is used up: the start says so and ends."""
    if os.geteuid() != 0:
        raise Unusable("only root can be somebody who has no other tasks")
    node.add(0), os.chmod(node.root, 0o755)
    work = tempfile.mkdtemp(prefix="odd_state.")
    os.chmod(work, 0o777), put(work + "/config.yaml", CONFIG)
    command = ["setpriv", "--reuid=64321", "--regid=64321", "--clear-groups", "prlimit", "--nproc=1", DAEMON, "--sysroot", node.root,
               "--config", work + "/config.yaml", "--socket", work + "/s.sock", "--state-dir", work, "--listen", "none", "--dry-run"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 1 and "TasksMax" in ended.stderr, ended
    shutil.rmtree(work)


def maintenance_files_hang(node):
    """A maintenance directory on a file system that does not answer, from the start on: judging goes on."""
    for index in range(2):
        node.add(index)
    directory = tempfile.mkdtemp(prefix="odd_maintenance.")
    hang = HangingDirectory(directory, ["mlx5_0"])
    try:
        with running(node, config=CONFIG + f"maintenance_dir: {directory}\n") as daemon:
            daemon.until(lambda: hang.reads == 1, "the file is read")
            first = daemon.report()["t"]
            daemon.until(lambda: daemon.report()["t"] > first + 2, "dozens of cycles")
            put(f"{node.port(1)}/counters/symbol_error", "6")
            daemon.until(lambda: 'device="mlx5_1",port="1",counter="symbol_error"} 6' in daemon.metrics(), "a new value")
            daemon.until(lambda: "has not answered for 15 s" in daemon.log_text(), "it is named")
            assert hang.reads == 1, f"{hang.reads} reads hang: it is not asked again"
            hang.close()
            daemon.until(lambda: "answers again" in daemon.log_text(), "it answers, with an error")
            daemon.stop()
    finally:
        hang.close()
        os.rmdir(directory)


def namespaces_or_skip():
    if subprocess.run(["unshare", "-r", "-m", "-n", "ip", "link"], capture_output=True).returncode != 0:
        raise Unusable("no namespaces may be made here")


def missing_capability_and_no_umad(node):
    """One gap and one hint for each, in the report, in doctor and in the start's log; the rest goes on."""
    namespaces_or_skip()
    node.add(0, netdev="v0")
    node.add(1, netdev="ib0")
    put(f"{node.port(1)}/link_layer", "InfiniBand")
    put(f"{node.function(1)}/net/ib0/type", "32")

    def module_gaps(daemon):
        return [gap["reason"] for gap in daemon.ports()["mlx5_0/1"]["gaps"] if gap["probe"] == "module"]

    with running(node, own_network=OWN_INTERFACE, without="net_admin") as daemon:
        daemon.until(lambda: module_gaps(daemon) == ["EPERM: reading modules needs CAP_NET_ADMIN"], "the module's gap")
        daemon.until(lambda: "self-test:" in daemon.log_text(), "the self-test")
        daemon.until(lambda: has_counters(daemon, "mlx5_0") and has_counters(daemon, "mlx5_1"), "the counters")
        assert daemon.ports()["mlx5_0/1"]["health"] == "healthy", "what can't be seen is no fault"
        sources = {port["port"]: {source["probe"]: source for source in port["sources"]}
                   for port in json.loads(daemon.get("/api/v1/doctor"))["ports"]}
        module, mads = sources["mlx5_0/1"]["module"], sources["mlx5_1/1"]["peer_mad"]
        assert module["state"] == "hidden" and "--cap-add=NET_ADMIN" in module["hint"], module
        assert mads["state"] == "hidden" and "/sys/class/infiniband_mad" in mads["why"] and "load ib_umad" in mads["hint"], mads
        for probe in ("link", "counters", "hw_counters", "pcie"):
            assert sources["mlx5_0/1"][probe]["state"] == "seen", sources["mlx5_0/1"][probe]
        told = subprocess.run([PROGRAM, "--socket", daemon.socket, "doctor"], capture_output=True, text=True)
        assert told.returncode == 1, told.stderr
        rights = re.search(r"permissions of the daemon:[^\n]*(\n {4}[^\n]*)*", told.stdout)
        assert rights and "CAP_NET_ADMIN" not in rights[0], told.stdout
        for text, what in ((told.stdout, "doctor"), (daemon.log_text(), "the start's log")):
            for words in ("give the daemon CAP_NET_ADMIN", "load ib_umad", "load ib_uverbs", "give the daemon /dev/kmsg"):
                count = text.count(words)
                expected = 2 if words == "load ib_uverbs" and what == "doctor" else 1  # one per port
                assert count == expected or (count == 0 and "kmsg" in words), f"{count} times {words} in {what}:\n{text}"
        daemon.stop()
    with running(node, own_network=OWN_INTERFACE) as daemon:
        daemon.until(lambda: module_gaps(daemon) == ["EOPNOTSUPP: the driver has no module interface"], "what the kernel says to one who may")


def make_infiniband(node, index, netdev):
    """What add() made, on an InfiniBand fabric; netdev "": without IPoIB."""
    put(f"{node.port(index)}/link_layer", "InfiniBand")
    if netdev:
        put(f"{node.function(index)}/net/{netdev}/type", "32")
        return
    shutil.rmtree(f"{node.function(index)}/net")
    os.unlink(f"{node.root}/class/net/ens{index}")
    os.unlink(f"{node.port(index)}/gid_attrs/ndevs/0")


def why_no_module(daemon, port):
    out = subprocess.run([PROGRAM, "--socket", daemon.socket, "module", port], capture_output=True, text=True)
    assert out.returncode != 0 and not out.stdout, out.stdout
    return out.stderr


def the_hosts_sys_in_a_network_of_its_own(node):
    node.add(0)
    node.add(1)
    node.add(2, netdev="ib2")
    node.add(3)
    make_infiniband(node, 2, "ib2")
    make_infiniband(node, 3, "")
    node.add(4)
    for file, text in (("vendor", "0x15b3"), ("device", "0x101e")):  # a virtual function
        put(f"{node.function(4)}/{file}", text)
    namespaces_or_skip()
    with running(node, own_network=OWN_NETWORK) as daemon:
        daemon.until(lambda: has_counters(daemon, "mlx5_1"), "the counters of /sys")
        daemon.until(lambda: daemon.ports()["mlx5_0/1"]["now"]["link"]["speed_mbps"] == 400000, "the port's own speed")
        for key, name in (("mlx5_0/1", "ens0"), ("mlx5_1/1", "ens1")):
            port = daemon.ports()[key]
            assert port["health"] == "healthy", port
            assert {gap["reason"] for gap in port["gaps"] if gap["probe"] == "link_modes"} == {
                f"{name} is in another network namespace than the monitor"}, port["gaps"]
            assert port["now"]["counters"]["netdev_rx_crc_errors"] == 7
            assert "netdev_rx_bytes" not in port["now"]["counters"], "another interface's"
        sights = {port["port"]: {source["probe"]: source for source in port["sources"]} for port in json.loads(daemon.get("/api/v1/doctor"))["ports"]}
        for probe in ("down_reason", "fec", "ethtool_stats", "driver_stats", "module"):
            sight = sights["mlx5_1/1"][probe]
            assert sight["state"] == "hidden" and sight["why"] == "ens1 is in another network namespace than the monitor", sight
        assert "ens1 is in another network namespace" in why_no_module(daemon, "mlx5_1")
        for port in ("mlx5_2", "mlx5_3"):  # the module of an InfiniBand port is unreadable in any namespace
            sight, words = sights[port + "/1"]["module"], why_no_module(daemon, port)
            for said in (f"{sight['why']}: {sight['hint']}", words):
                assert "the kernel provides no access to the module of an InfiniBand port" in said, said
                assert "docs/import.md" in said and "namespace" not in said, said
        for probe in ("down_reason", "fec", "ethtool_stats", "pause"):
            assert sights["mlx5_2/1"][probe]["state"] == "not_offered", f"IPoIB has none: {sights['mlx5_2/1'][probe]}"
        for probe in ("link_modes", "driver_stats"):
            assert "host's network namespace" in sights["mlx5_2/1"][probe]["hint"], sights["mlx5_2/1"][probe]
        assert "virtual function" in why_no_module(daemon, "mlx5_4"), why_no_module(daemon, "mlx5_4")


def doctor_of_a_copy(node):
    node.add(0)
    out = subprocess.run([PROGRAM, "doctor", "--sysroot", node.root, "--json"], capture_output=True, text=True)
    assert out.returncode == 1, out.stderr
    sources = {source["probe"]: source for source in json.loads(out.stdout)["ports"][0]["sources"]}
    assert sources["counters"]["state"] == "seen" and sources["module"]["state"] == "hidden"
    assert subprocess.run([PROGRAM, "doctor", "--sysroot", "/nowhere"], capture_output=True).returncode == 2
    assert subprocess.run([PROGRAM, "doctor", "--nonsense"], capture_output=True).returncode == 2


def a_copy_leaves_this_nodes_state_alone(node):
    """Without --state-dir on the command line; the configuration's is that of the node's own daemon."""
    node.add(0)
    work = tempfile.mkdtemp(prefix="odd_state.")
    put(work + "/config.yaml", CONFIG + f"state_dir: {work}/of_the_node\n")
    command = [DAEMON, "--sysroot", node.root, "--config", work + "/config.yaml", "--socket", work + "/s.sock", "--listen", "none"]
    with open(work + "/log", "w", encoding="utf-8") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    until = time.monotonic() + 60
    try:
        while "self-test" not in open(work + "/log", encoding="utf-8").read():
            assert process.poll() is None and time.monotonic() < until, open(work + "/log", encoding="utf-8").read()
            time.sleep(0.1)
    finally:
        process.terminate()
        process.wait()
    assert "no state is kept and nothing is sent" in open(work + "/log", encoding="utf-8").read()
    assert not os.path.exists(work + "/of_the_node")
    empty = subprocess.run([DAEMON, "--sysroot", work, *command[3:]], capture_output=True, text=True)
    assert empty.returncode == 1 and "not a copy of /sys" in empty.stderr, empty.stderr
    shutil.rmtree(work)


def watch_as_json(node):
    node.add(0)
    with running(node) as daemon:
        out = subprocess.run([PROGRAM, "--socket", daemon.socket, "watch", "--json", "--frames", "2"],
                             capture_output=True, text=True, check=True)
        assert [json.loads(line)["schema"] for line in out.stdout.splitlines()] == ["linkhealth.report/1"] * 2
        port = subprocess.run([PROGRAM, "--socket", daemon.socket, "watch", "mlx5_0", "--json", "--frames", "1"],
                              capture_output=True, text=True, check=True)
        assert json.loads(port.stdout)["port"] == "mlx5_0/1"


# What node_exporter's infiniband collector exports for a port (prometheus/procfs, sysfs/class_infiniband.go): 21 files of
# counters/, 29 of hw_counters/, and fw_ver, board_id, hca_type, state, phys_state, rate.
COLLECTOR_COUNTERS = """VL15_dropped excessive_buffer_overrun_errors link_downed link_error_recovery
    local_link_integrity_errors multicast_rcv_packets multicast_xmit_packets port_rcv_constraint_errors port_rcv_data
    port_rcv_errors port_rcv_packets port_rcv_remote_physical_errors port_rcv_switch_relay_errors
    port_xmit_constraint_errors port_xmit_data port_xmit_discards port_xmit_packets port_xmit_wait symbol_error
    unicast_rcv_packets unicast_xmit_packets""".split()
COLLECTOR_HW_COUNTERS = """duplicate_request implied_nak_seq_err local_ack_timeout_err np_cnp_sent
    np_ecn_marked_roce_packets out_of_buffer out_of_sequence packet_seq_err req_cqe_error req_cqe_flush_error
    req_remote_access_errors req_remote_invalid_request resp_cqe_error resp_cqe_flush_error resp_local_length_error
    resp_remote_access_errors rnr_nak_retry_err roce_adp_retrans roce_adp_retrans_to roce_slow_restart
    roce_slow_restart_cnps roce_slow_restart_trans rp_cnp_handled rp_cnp_ignored rx_atomic_requests rx_dct_connect
    rx_icrc_encapsulated rx_read_requests rx_write_requests""".split()


def covers_the_infiniband_collector(node):
    node.add(0)
    expected = {}
    for folder, names in (("counters", COLLECTOR_COUNTERS), ("hw_counters", COLLECTOR_HW_COUNTERS)):
        for index, counter in enumerate(names):
            expected[counter] = (1000 if folder == "counters" else 2000) + index
            put(f"{node.port(0)}/{folder}/{counter}", str(expected[counter]))
    assert len(COLLECTOR_COUNTERS) == 21 and len(expected) == 50
    verbs = f"{node.function(0)}/infiniband/mlx5_0"
    put(f"{verbs}/board_id", "MT_0000000838"), put(f"{verbs}/hca_type", "MT4129")
    at = 'device="mlx5_0",port="1"'
    lines = [f'linkhealth_raw_total{{{at},counter="{counter}"}} {value}' for counter, value in expected.items()]
    lines += [f'linkhealth_port_state_info{{{at},state="ACTIVE",phys_state="LinkUp"}} 1',
              f"linkhealth_bandwidth_available_bytes_per_second{{{at}}} 50000000000"]
    with running(node) as daemon:
        daemon.until(lambda: has_counters_line(daemon, lines[0]), "the first counters")
        daemon.until(lambda: all(has_counters_line(daemon, line) for line in lines[-2:]), "the attributes")
        assert 'nic_firmware="28.39.1002",board_id="MT_0000000838",hca_type="MT4129"' in daemon.metrics()
        assert 'rack="r12",u="14",rail=""} 1' in daemon.metrics(), "the labels of the site"
        missing = set(lines) - set(daemon.metrics().splitlines())
        assert not missing, sorted(missing)


def has_counters_line(daemon, line):
    return line in daemon.metrics().splitlines()


TESTS = [covers_the_infiniband_collector, no_device_at_all, a_sys_that_is_not_there, switch_mode_and_garbage, missing_directories, missing_files, without_carrier_counts, a_split_port,
         a_device_that_cant_be_looked_into, no_infiniband_class, virtual_functions_only,
         unplug_and_replug, renamed_netdev, a_bond_is_made, idle_ipoib, nvswitch_managers,
         swapped_names_after_a_reboot, renumbered_after_a_reboot, a_card_is_missing_after_a_reboot, all_ports_vanish, sixty_four_ports,
         too_few_descriptors, descriptors_run_out, a_flood_of_link_events, hung_read, a_look_without_a_daemon_ends, hung_search_at_the_start, all_reads_hang, at_the_limit_of_tasks, maintenance_files_hang,
         missing_capability_and_no_umad, the_hosts_sys_in_a_network_of_its_own, doctor_of_a_copy,
         a_copy_leaves_this_nodes_state_alone, watch_as_json]


def main():
    failed, skipped = 0, []
    for test in (test for test in TESTS if not ONLY or test.__name__ in ONLY):
        node = Node()
        try:
            test(node)
            print(f"ok   {test.__name__}")
        except Unusable as why:
            skipped.append(f"{test.__name__}: {why}")
            print(f"SKIPPED {skipped[-1]}")
        except Exception:  # noqa: BLE001
            failed += 1
            print(f"FAIL {test.__name__}")
            traceback.print_exc(file=sys.stdout)
        finally:
            node.close()
        sys.stdout.flush()
    if skipped:
        print("not tried here: " + "; ".join(skipped))
    return 1 if failed else 77 if skipped else 0


if __name__ == "__main__":
    sys.exit(main())
