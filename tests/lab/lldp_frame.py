#!/usr/bin/env python3
"""lldp_frame.py INTERFACE SYSTEM PORT: sends one LLDP frame (IEEE 802.1AB) as a switch would, valid for 120 s."""
import socket
import struct
import sys

MULTICAST = bytes.fromhex("0180c200000e")
CHASSIS = bytes.fromhex("0200000000aa")


def tlv(kind, value):
    return struct.pack("!H", kind << 9 | len(value)) + value


def main():
    interface, system, port = sys.argv[1:]
    frame = MULTICAST + CHASSIS + struct.pack("!H", 0x88CC)
    frame += tlv(1, b"\4" + CHASSIS)  # chassis: a MAC address
    frame += tlv(2, b"\5" + port.encode())  # port: an interface name
    frame += tlv(3, struct.pack("!H", 120))
    frame += tlv(5, system.encode())
    frame += tlv(0, b"")
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as wire:
        wire.bind((interface, 0))
        wire.send(frame)


if __name__ == "__main__":
    main()
