#!/usr/bin/env python3
"""A /sys tree of a node with mlx5 ports, for measuring: usage: fake_sysfs.py ROOT [DEVICES] [--equal]

Layout and names follow Linux (drivers/infiniband/core/sysfs.c, drivers/infiniband/hw/mlx5/counters.c,
net/core/net-sysfs.c): class entries are symbolic links into devices/. With --equal the tree holds only what
node_exporter's infiniband collector reads too: no hw_counters, no network interface. `statistics/` of a network
interface is empty: on a node both programs ask the kernel for them by netlink (RTM_GETSTATS, one dump for all ports).
"""
import os
import random
import sys

CLASSIC = ("VL15_dropped excessive_buffer_overrun_errors link_downed link_error_recovery local_link_integrity_errors "
           "port_rcv_constraint_errors port_rcv_errors port_rcv_remote_physical_errors port_rcv_switch_relay_errors "
           "port_xmit_constraint_errors port_xmit_discards port_xmit_wait symbol_error").split()
EXTENDED = ("multicast_rcv_packets multicast_xmit_packets port_rcv_data port_rcv_packets port_xmit_data "
            "port_xmit_packets unicast_rcv_packets unicast_xmit_packets").split()
HW = ("duplicate_request implied_nak_seq_err local_ack_timeout_err np_cnp_sent np_ecn_marked_roce_packets "
      "out_of_buffer out_of_sequence packet_seq_err req_cqe_error req_cqe_flush_error req_remote_access_errors "
      "req_remote_invalid_request resp_cqe_error resp_cqe_flush_error resp_local_length_error "
      "resp_remote_access_errors rnr_nak_retry_err roce_adp_retrans roce_adp_retrans_to roce_slow_restart "
      "roce_slow_restart_cnps roce_slow_restart_trans rp_cnp_handled rp_cnp_ignored rx_atomic_requests "
      "rx_dct_connect rx_icrc_encapsulated rx_read_requests rx_write_requests req_transport_retries_exceeded "
      "req_rnr_retries_exceeded resp_rnr_nak").split()
NETDEV_ATTRIBUTES = {
    "addr_assign_type": 0, "addr_len": 6, "broadcast": "ff:ff:ff:ff:ff:ff", "carrier": 1, "carrier_changes": 2,
    "carrier_up_count": 1, "carrier_down_count": 1, "dev_id": "0x0", "dev_port": 0, "dormant": 0, "duplex": "full",
    "flags": "0x1003", "gro_flush_timeout": 0, "ifalias": "", "link_mode": 0, "mtu": 9000, "name_assign_type": 4,
    "netdev_group": 0, "operstate": "up", "phys_port_name": "p0", "proto_down": 0, "speed": 400000, "testing": 0,
    "tx_queue_len": 1000, "type": 1}


def put(directory, values):
    os.makedirs(directory, exist_ok=True)
    for name, value in values.items():
        with open(os.path.join(directory, name), "w", encoding="ascii") as file:
            file.write(f"{value}\n")


def link(target, name):
    os.makedirs(os.path.dirname(name), exist_ok=True)
    os.symlink(os.path.relpath(target, os.path.dirname(name)), name)


def counters(rng, names):
    """Traffic has big numbers, most errors are zero."""
    return {n: rng.randrange(10**12, 10**13) if "data" in n or "packets" in n or "bytes" in n or "requests" in n
            else rng.choice([0, 0, 0, rng.randrange(300)]) for n in names}


def device(root, index, equal, rng):
    domain, bus = index // 8, 0x10 + (index % 8) * 0x10
    pci = f"{domain:04x}:{bus + 2:02x}:00.0"
    dev = f"{root}/devices/pci{domain:04x}:{bus:02x}/{domain:04x}:{bus:02x}:01.0/{pci}"
    speed = "32.0 GT/s PCIe"
    put(dev, {"vendor": "0x15b3", "device": "0x1021", "class": "0x020000", "current_link_speed": speed,
              "max_link_speed": speed, "current_link_width": 16, "max_link_width": 16, "numa_node": index % 2,
              "aer_dev_correctable": "RxErr 0\nBadTLP 0\nTOTAL_ERR_COR 0", "aer_dev_fatal": "TOTAL_ERR_FATAL 0",
              "aer_dev_nonfatal": "TOTAL_ERR_NONFATAL 0"})
    link(dev, f"{root}/bus/pci/devices/{pci}")
    guid = f"b83f:d203:0010:{index * 16:04x}"
    ib = f"{dev}/infiniband/mlx5_{index}"
    put(ib, {"node_type": "1: CA", "node_guid": guid, "sys_image_guid": guid, "fw_ver": "28.39.1002",
             "node_desc": f"node mlx5_{index}", "hca_type": "MT4129", "hw_rev": 0, "board_id": "MT_0000000838"})
    link(dev, f"{ib}/device")
    port = f"{ib}/ports/1"
    put(port, {"state": "4: ACTIVE", "phys_state": "5: LinkUp", "rate": "400 Gb/sec (4X NDR)",
               "link_layer": "InfiniBand" if equal else "Ethernet", "lid": "0x0", "sm_lid": "0x0", "sm_sl": 0})
    put(f"{port}/counters", counters(rng, CLASSIC + EXTENDED))
    link(ib, f"{root}/class/infiniband/mlx5_{index}")
    if equal:
        return
    put(f"{port}/hw_counters", {**counters(rng, HW), "lifespan": 10})
    put(f"{port}/gid_attrs/ndevs", {"0": f"ens{index + 1}np0"})
    net = f"{dev}/net/ens{index + 1}np0"
    put(net, {**NETDEV_ATTRIBUTES, "address": f"b8:3f:d2:10:{index:02x}:00", "ifindex": index + 2, "iflink": index + 2})
    put(f"{net}/statistics", {})
    link(dev, f"{net}/device")
    link(net, f"{root}/class/net/ens{index + 1}np0")


def make(root, devices, equal=False):
    """Makes the tree below `root`, which must not exist."""
    os.makedirs(root)
    os.makedirs(f"{root}/class/net")
    rng = random.Random(1)
    for index in range(devices):
        device(root, index, equal, rng)


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if word != "--equal"]
    if not words or words[0].startswith("-"):
        sys.exit(__doc__.strip())
    make(words[0], int(words[1]) if len(words) > 1 else 10, "--equal" in sys.argv)
