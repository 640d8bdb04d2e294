#!/usr/bin/env python3
"""learn_lldp.py LINKHEALTH: `linkhealth cabling --learn` of what a real lldpctl prints of one neighbour, and of two.

lldpd of tests/probes/lldpd_live.py, in network namespaces of its own. Exit code 77 where those are not to be had.
"""
import os
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "probes"))
from lldpd_live import in_far, in_own_network, make_link, must, run, start_lldpd, tell, wait_until  # noqa: E402


def add_link(far_pid):
    must("ip", "link", "add", "near2", "type", "veth", "peer", "name", "far2")
    must("ip", "link", "set", "far2", "netns", str(far_pid))
    must("ip", "link", "set", "near2", "up")
    must(*in_far(far_pid, "ip", "link", "set", "far2", "up"))


def shown(socket, form="json"):
    return run("lldpctl", "-u", socket, "-f", form).stdout


def learn(program, folder, text, *options):
    path = os.path.join(folder, "lldpctl.json")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    done = run(program, "cabling", "--learn", "--from", path, "--node", "gpu-1", *options)
    return done.returncode, done.stdout.splitlines(), done.stderr


def scenario(program, folder):
    far_pid = make_link()
    add_link(far_pid)
    near, near_socket = start_lldpd(folder, "near", "near*")
    none = learn(program, folder, shown(near_socket))
    assert none[0] == 2 and none[2].count("\n") == 1, f"lldpctl without a neighbour: {none} of {shown(near_socket)}"
    one, far_socket = start_lldpd(folder, "far", "far", in_far(far_pid))
    tell(far_socket, "configure", "system", "hostname", "leaf-12.example")
    tell(far_socket, "configure", "lldp", "portidsubtype", "local", "Ethernet17/1")
    tell(far_socket, "update")
    wait_until("one neighbour", lambda: "Ethernet17/1" in shown(near_socket) and "leaf-12" in shown(near_socket))
    got = learn(program, folder, shown(near_socket))
    assert got[:2] == (0, ["node,port,peer_system,peer_port", "gpu-1,near,leaf-12.example,Ethernet17/1"]), got
    print("ok   one neighbour")

    other = learn(program, folder, shown(near_socket, "json0"))
    print("     -f json0:", other)
    assert other[0] == 0 and other[1] == got[1] or other[0] == 2 and other[2].count("\n") == 1, other

    os.killpg(one.pid, signal.SIGTERM)
    one.wait(timeout=20)
    _, far_socket = start_lldpd(folder, "both", "far*", in_far(far_pid))
    tell(far_socket, "configure", "system", "hostname", "leaf-12.example")
    tell(far_socket, "configure", "lldp", "portidsubtype", "ifname")
    tell(far_socket, "update")
    wait_until("two neighbours", lambda: shown(near_socket).count("leaf-12.example") >= 2)
    got = learn(program, folder, shown(near_socket))
    assert got[0] == 0 and sorted(got[1]) == ["gpu-1,near,leaf-12.example,far", "gpu-1,near2,leaf-12.example,far2",
                                              "node,port,peer_system,peer_port"], (got, shown(near_socket))
    print("ok   two neighbours")
    os.killpg(near.pid, signal.SIGKILL)


if __name__ == "__main__":
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    in_own_network(scenario, "lldpctl")
