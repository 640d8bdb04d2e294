#!/usr/bin/env python3
"""lldpd_live.py PROGRAM: the LLDP client against a real lldpd.

Two lldpd in two network namespaces with a veth pair between them; PROGRAM (lldp_neighbours) reads the one about the other.
Exit code 77 where namespaces or lldpd are not to be had. Every wait is bounded; nothing outside its own namespaces and
its own directory is touched.
"""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SKIP = 77
STEP_S = 0.2
PATIENCE_S = 30
CHILDREN = []


def skip(why):
    print("skipped: " + why)
    sys.exit(SKIP)


def start(command, **options):
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True, **options)
    CHILDREN.append(child)
    return child


def run(*command):
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=20)


def must(*command):
    done = run(*command)
    assert done.returncode == 0, f"{' '.join(command)}: {done.stderr.strip()}"


def wait_until(what, true):
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        found = true()
        if found:
            return found
        time.sleep(STEP_S)
    raise AssertionError(f"not within {PATIENCE_S} s: {what}")


def lines_of(program, socket, patience_ms=2000):
    """The lines of the program: "device NAME", "neighbour NAME|PROTOCOL|SYSTEM|PORT|…" or "error ERRNO …"."""
    return run(program, socket, str(patience_ms)).stdout.splitlines()


def neighbours(lines):
    return [line.split(" ", 1)[1].split("|") for line in lines if line.startswith("neighbour ")]


def in_far(pid, *command):
    return ["nsenter", "-t", str(pid), "-n", *command]


def make_link():
    """A veth pair: "near" here, "far" in the namespace of the process whose id is returned."""
    far = start(["unshare", "-n", "sleep", "300"])
    own = os.readlink("/proc/self/ns/net")
    wait_until("a second namespace", lambda: os.readlink(f"/proc/{far.pid}/ns/net") != own)
    must("ip", "link", "add", "near", "type", "veth", "peer", "name", "far")
    must("ip", "link", "set", "far", "netns", str(far.pid))
    must("ip", "link", "set", "near", "up")
    must(*in_far(far.pid, "ip", "link", "set", "far", "up"))
    return far.pid


def start_lldpd(folder, name, interface, prefix=()):
    socket = os.path.join(folder, name + ".sock")
    log = open(os.path.join(folder, name + ".log"), "w", encoding="utf-8")  # closed by the end of this program
    # -d: stay in the foreground
    child = start([*prefix, "lldpd", "-d", "-u", socket, "-I", interface], stdout=log, stderr=log)
    wait_until(f"the socket of {name}",
               lambda: run("lldpcli", "-u", socket, "show", "configuration").returncode == 0 or child.poll() is not None)
    assert child.poll() is None, f"lldpd ended: {open(log.name, encoding='utf-8').read()[-400:]}"
    return child, socket


def configure(socket, *words):
    must("lldpcli", "-u", socket, *words)


def check_rights(program, socket):
    """As the shipped unit runs: root without the capability to pass over file permissions; and another user."""
    if shutil.which("setpriv") is None:
        print("     not tried: rights (there is no setpriv)")
        return
    refused = run("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", program, socket, "2000").stdout
    assert refused.startswith("error 13 "), f"another user: {refused}"
    group = str(os.stat(socket).st_gid)
    member = run("setpriv", "--reuid", "65534", "--regid", "65534", "--groups", group, program, socket, "2000").stdout
    assert "neighbour near|" in member, f"a member of lldpd's group: {member}"
    unit = run("setpriv", "--bounding-set", "-dac_override,-dac_read_search", "--inh-caps",
               "-dac_override,-dac_read_search", program, socket, "2000").stdout
    print("ok   another user is refused, a member of lldpd's group is not; root without CAP_DAC_OVERRIDE:",
          unit.splitlines()[0])


def scenario(program, folder):
    lines = lines_of(program, os.path.join(folder, "none.sock"))
    assert lines[0].startswith("error 2 "), f"without lldpd: {lines}"

    far_pid = make_link()
    near, near_socket = start_lldpd(folder, "near", "near")
    _, far_socket = start_lldpd(folder, "far", "far", in_far(far_pid))
    configure(far_socket, "configure", "system", "hostname", "leaf-12.example")
    configure(far_socket, "configure", "lldp", "tx-hold", "2")
    configure(far_socket, "configure", "lldp", "tx-interval", "1")
    configure(far_socket, "configure", "lldp", "portidsubtype", "local", "Ethernet17/1")
    configure(far_socket, "configure", "lldp", "portdescription", "to gpu-0417")
    configure(far_socket, "update")

    def named():
        lines = lines_of(program, near_socket)
        seen = neighbours(lines)
        return seen if seen and seen[0][3] == "Ethernet17/1" and seen[0][4] == "to gpu-0417" else None

    seen = wait_until("the neighbour by its name", named)
    assert len(seen) == 1, seen
    netdev, protocol, system, port, description, address, chassis = seen[0]
    assert (netdev, protocol, system, port) == ("near", "LLDP", "leaf-12.example", "Ethernet17/1"), seen
    assert description == "to gpu-0417", seen
    assert chassis.count(":") == 5, seen
    shown = run("lldpcli", "-u", near_socket, "-f", "keyvalue", "show", "neighbors").stdout
    for key, value in (("chassis.name", system), ("chassis.mac", chassis), ("port.local", port), ("port.descr", description)):
        assert f"lldp.near.{key}={value}\n" in shown, f"lldpcli differs for {key}: {shown}"
    if address:
        assert f"lldp.near.chassis.mgmt-ip={address}\n" in shown, shown
    print("ok   the neighbour, as lldpcli shows it:", seen[0])

    check_rights(program, near_socket)

    # A stopped lldpd: the wait is bounded. The socket is served by its unprivileged child.
    os.killpg(near.pid, signal.SIGSTOP)
    begun = time.monotonic()
    lines = lines_of(program, near_socket, 300)
    took = time.monotonic() - begun
    os.killpg(near.pid, signal.SIGCONT)
    assert lines[0].startswith("error 110 "), f"a stopped lldpd: {lines}"
    assert took < 10, took
    print(f"ok   a stopped lldpd is given up after {took:.1f} s")
    wait_until("the neighbour once lldpd goes on", named)

    # A far end that stops sending: lldpd drops it when its time to live (2 s here) ends.
    far_lldpd = CHILDREN[-1]
    os.killpg(far_lldpd.pid, signal.SIGKILL)
    wait_until("the end of a silent neighbour", lambda: not neighbours(lines_of(program, near_socket)))
    assert "device near" in lines_of(program, near_socket)
    print("ok   a neighbour whose time to live ended is gone, the device is still watched")

    os.killpg(near.pid, signal.SIGKILL)
    near.wait(timeout=20)
    wait_until("no listener at the socket", lambda: lines_of(program, near_socket)[0].startswith(("error 111 ", "error 2 ")))
    print("ok   an lldpd that was killed:", lines_of(program, near_socket)[0])


def in_own_network(scenario, *tools):
    """Runs scenario(PROGRAM, folder) in a network namespace of its own, and ends what it started."""
    for tool in ("lldpd", "lldpcli", "ip", "unshare", "nsenter", *tools):
        if shutil.which(tool) is None and not os.path.exists("/usr/sbin/" + tool):
            skip(f"there is no {tool}")
    if len(sys.argv) == 2:
        if os.geteuid() != 0 or run("unshare", "-n", "true").returncode != 0:
            skip("no right to make a network namespace")
        os.execvp("unshare", ["unshare", "-n", sys.executable, os.path.abspath(sys.argv[0]),
                              os.path.abspath(sys.argv[1]), "inside"])
    if run("ip", "link", "add", "probe0", "type", "veth", "peer", "name", "probe1").returncode != 0:
        skip("no veth devices here")
    must("ip", "link", "delete", "probe0")
    with tempfile.TemporaryDirectory(prefix="lldpd-live-") as folder:
        os.chmod(folder, 0o755)
        try:
            scenario(sys.argv[1], folder)
        finally:
            for child in CHILDREN:
                try:
                    os.killpg(child.pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
                child.wait(timeout=20)
    print("passed")


if __name__ == "__main__":
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    in_own_network(scenario)
