#!/usr/bin/env python3
"""learn.py LINKHEALTH ASK_FAR_END: `linkhealth cabling --learn` of what a real ibnetdiscover prints of an ibsim fabric.

Exit code 77: ibsim, opensm or ibnetdiscover is not installed.
"""
import glob
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from compare import BACK_TO_BACK, Fabric, check  # noqa: E402

NEEDED = ["ibsim", "opensm", "ibnetdiscover", "smpquery"]
# Nodes named as their drivers name them; a switch with blanks and semicolons; a port of a two-port adapter.
CLUSTER = """Switch 8 "MF0;leaf-1:MQM8700/U1"
[1] "gpu-1 mlx5_0"[1]
[2] "gpu-2 mlx5_0"[1]
[4] "Adapter"[1]
[3] "spine-1"[3]

Switch 8 "spine-1"
[3] "MF0;leaf-1:MQM8700/U1"[3]
[5] "gpu-1 mlx5_1"[2]

Hca 1 "gpu-1 mlx5_0"
[1] "MF0;leaf-1:MQM8700/U1"[1]

Hca 2 "gpu-1 mlx5_1"
[2] "spine-1"[5]

Hca 1 "gpu-2 mlx5_0"
[1] "MF0;leaf-1:MQM8700/U1"[2]

Hca 1 "Adapter"
[1] "MF0;leaf-1:MQM8700/U1"[4]
"""


def discover(fabric, node, *options):
    # 'LID 0' and an empty net stand there until the subnet manager is done.
    fabric.wait("the whole fabric", lambda: "lid 0 " not in fabric.run(node, "ibnetdiscover") and
                "Ca" in fabric.run(node, "ibnetdiscover"))
    path = os.path.join(fabric.dir, "discovered")
    with open(path, "w", encoding="utf-8") as file:
        file.write(fabric.run(node, "ibnetdiscover", *options))
    return path


def learn(program, path, *options):
    done = subprocess.run([program, "cabling", "--learn", "--from", path, *options], capture_output=True, text=True, timeout=20,
                          check=False)
    return done.returncode, done.stdout, done.stderr


def cluster(fabric, program):
    node = "gpu-1 mlx5_0"
    fabric.wait("the simulator", lambda: "LocalPort" in fabric.run(node, "smpquery", "-D", "nodeinfo", "0"))
    fabric.manage(node)
    code, out, err = learn(program, discover(fabric, node))
    check("exit code", (code, err), (0, "linkhealth: 4 links learned: compare them with what was meant before you call it a plan\n"))
    check("the plan", sorted(out.splitlines()), sorted([
        "node,port,peer_system,peer_port", "gpu-1,mlx5_0/1,MF0;leaf-1:MQM8700/U1,1", "gpu-1,mlx5_1/2,spine-1,5",
        "gpu-2,mlx5_0/1,MF0;leaf-1:MQM8700/U1,2", "Adapter,Adapter/1,MF0;leaf-1:MQM8700/U1,4"]))
    # Other forms of the same program: none is taken for a fabric without links without a word.
    for option in ("-p", "-l", "-H"):
        code, out, err = learn(program, discover(fabric, node, option))
        check(f"ibnetdiscover {option}", (code, out, err.count("\n")), (2, "", 1))
    fabric.console('Unlink "gpu-2 mlx5_0"[1]')
    fabric.wait("an unplugged link", lambda: "gpu-2" not in fabric.run(node, "ibnetdiscover"))
    code, out, _ = learn(program, discover(fabric, node), "--yaml")
    check("without the unplugged one", (code, out.count("peer_system"), "gpu-2" in out), (0, 3, False))


def back_to_back(fabric, program):
    fabric.wait("the simulator", lambda: "LocalPort" in fabric.run("HcaA", "smpquery", "-D", "nodeinfo", "0"))
    fabric.manage("HcaA")
    code, out, _ = learn(program, discover(fabric, "HcaA"))
    check("two adapters", (code, sorted(out.splitlines()[1:])), (0, ["HcaA,HcaA/1,HcaB,2", "HcaB,HcaB/2,HcaA,1"]))


def main():
    libraries = glob.glob("/usr/lib/*/umad2sim/libumad2sim.so")
    missing = [name for name in NEEDED if not shutil.which(name)] + ([] if libraries else ["libumad2sim.so"])
    if missing:
        print(f"skipped: {', '.join(missing)} not installed")
        sys.exit(77)
    program, ask = (os.path.abspath(path) for path in sys.argv[1:3])
    for net, scenario in ((CLUSTER, cluster), (BACK_TO_BACK, back_to_back)):
        with Fabric(libraries[0], ask, net) as fabric:
            scenario(fabric, program)
    print("passed")


if __name__ == "__main__":
    main()
