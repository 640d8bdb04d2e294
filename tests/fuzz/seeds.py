#!/usr/bin/env python3
"""Writes first inputs of the fuzzers of texts and netlink messages: real ones from this tree, so that the fuzzers begin behind
the first "is this one at all". (module_seeds writes those of module memory.)

usage: seeds.py DIR      makes DIR/fuzz_NAME/*
"""
import pathlib
import re
import struct
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

PLAN_CSV = """node,device,port,peer_system,peer_port,role
gpu-1,mlx5_0,1,leaf-1,Ethernet1/1,compute
gpu-1,"mlx5_1",1,"leaf-2, left",Ethernet2/1,
"""
IBNETDISCOVER = """vendid=0x2c9
devid=0xd2f0
sysimgguid=0x2c90300000000
switchguid=0x2c90300000001(2c90300000001)
Switch\t36 "S-0002c90300000001"\t\t# "leaf-1" enhanced port 0 lid 2 lmc 0
[1]\t"H-0002c90300000010"[1](2c90300000011) \t\t# "gpu-1 mlx5_0" lid 5 4xNDR

vendid=0x2c9
Ca\t1 "H-0002c90300000010"\t\t# "gpu-1 mlx5_0"
[1](2c90300000011) \t"S-0002c90300000001"[1]\t\t# lid 5 lmc 0 "leaf-1" lid 2 4xNDR
"""
LLDPCTL = """{"lldp":{"interface":[{"ens1np0":{"via":"LLDP","chassis":{"leaf-1":{"id":{"type":"mac","value":"00:11:22:33:44:55"}}},
"port":{"id":{"type":"ifname","value":"Ethernet1/1"},"descr":"to gpu-1"}}}]}}
"""
PROMETHEUS = """{"status":"success","data":{"resultType":"vector","result":[
{"metric":{"__name__":"linkhealth_fault_active","instance":"gpu-1","device":"mlx5_0"},"value":[1763600000.1,"0.83"]},
{"metric":{},"value":[1763600000.1,"NaN"]}]}}
"""
HTTP = """POST /api/v1/ports/mlx5_0%2F1/acknowledge?by=ann HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r
Accept-Encoding: gzip\r\nContent-Length: 20\r\n\r\n{"text":"cleaning"}\n"""
KNOBS = "carrier_flaps:\n  losses: 4\nledger: {}\npeers:\n  mad: on\n"


def u32(value):
    return struct.pack("<I", value)


def attribute(kind, payload):
    return struct.pack("<HH", 4 + len(payload), kind) + payload + b"\0" * (-len(payload) % 4)


def netlink():
    """The first byte 1 leaves the message's length as it is."""
    for line in (ROOT / "tests/probes/netlink/netlink_capture.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            name, data = line.split()
            yield name, b"\1" + bytes.fromhex(data)
            if name == "up_stats":  # this driver has no histogram of packet sizes (ETHTOOL_A_STATS_GRP_HIST_RX)
                bucket = attribute(7, u32(64)) + attribute(8, u32(127)) + attribute(9, struct.pack("<Q", 5))
                group = attribute(2, u32(3)) + attribute(3, u32(20)) + attribute(5, bucket)
                yield "histogram", b"\0" + bytes.fromhex(data) + attribute(4, group)


def recording():
    lines = (ROOT / "tests/fixtures/recordings/every_field.jsonl").read_bytes().splitlines(keepends=True)
    yield "whole", b"".join(lines)
    yield "short", b"".join(lines[:2])
    yield "cut", b"".join(lines)[:-40]


def imported():
    for number, text in enumerate(re.findall(r"```json\n(.*?)```", (ROOT / "docs/import.md").read_text(), re.S)):
        yield f"example{number}", text.encode()


def plan():
    yield "csv", PLAN_CSV.encode()
    yield "yaml", b"gpu-1:\n  mlx5_0/1: {system: leaf-1, port: Ethernet1/1}\n"
    yield "ibnetdiscover", IBNETDISCOVER.encode()
    yield "lldpctl", LLDPCTL.encode()


def config():
    yield "defaults", (ROOT / "config/linkhealth.yaml").read_bytes()
    yield "knobs", KNOBS.encode()


SEEDS = {"netlink": netlink, "recording": recording, "import": imported, "plan": plan, "config": config,
         "prometheus": lambda: [("vector", PROMETHEUS.encode())], "http": lambda: [("post", HTTP.encode())]}


def main(out):
    for fuzzer, seeds in SEEDS.items():
        folder = pathlib.Path(out) / f"fuzz_{fuzzer}"
        folder.mkdir(parents=True, exist_ok=True)
        written = [(folder / name).write_bytes(data) for name, data in seeds()]
        assert written, fuzzer


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
