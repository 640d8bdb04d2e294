#!/usr/bin/env python3
"""EEPROM pages for the lab's simulated modules, and single values in them.

  pages.py make PORT KIND SERIAL [PORT KIND SERIAL]...   KIND: sr4 (QSFP28 100G-SR4, SFF-8636), dr4 (QSFP-DD 400G-DR4, CMIS)
  pages.py rx PORT LANE POWER                            POWER: 0.63mW, -2.0dBm or none; LANE: from 1, or all
  pages.py temperature PORT CELSIUS

PORT is so0, so1, ... (files under /sys/kernel/debug/simoptics/PORT/module) or a folder with such files.
Layouts: SFF-8636 2.11 and OIF-CMIS 5.0; offsets are those of the specification, 128 and up are in an upper page.
"""
import os
import struct
import sys

DEBUGFS = "/sys/kernel/debug/simoptics"
LOWER = -1  # the key of bytes 0-127

# Readings of the lab's healthy modules. Powers in mW, currents in mA; quads: high alarm, low alarm, high warn, low warn.
TEMPERATURE_C, SUPPLY_V = 38.5, 3.30
TEMPERATURE_LIMITS_C = (75, -5, 70, 0)
SUPPLY_LIMITS_V = (3.63, 2.97, 3.465, 3.135)
MODULES = {
    # -2.0 dBm; low warn -7.5 dBm and low alarm -10.4 dBm: 6 dB less is below the warning, but the link still works
    "sr4": {"rx": (0.631, 0.617, 0.639, 0.625), "tx": (0.912, 0.905, 0.899, 0.920), "bias": (6.98, 7.02, 7.00, 6.94),
            "rx_limits": (2.188, 0.0912, 1.738, 0.178), "tx_limits": (2.188, 0.166, 1.738, 0.234),
            "bias_limits": (12.0, 2.0, 11.0, 3.0)},
    "dr4": {"rx": (0.794, 0.782, 0.803, 0.776), "tx": (1.122, 1.107, 1.130, 1.114), "bias": (72.1, 71.8, 72.4, 72.0),
            "rx_limits": (3.548, 0.128, 2.512, 0.257), "tx_limits": (3.548, 0.407, 2.512, 0.513),
            "bias_limits": (120.0, 30.0, 110.0, 40.0)},
}


class Module:
    """Bytes by page; spec offsets."""

    def __init__(self):
        self.pages = {}

    def put(self, page, offset, data):
        half = self.pages.setdefault(page, bytearray(128))
        start = offset if page == LOWER else offset - 128
        assert 0 <= start and start + len(data) <= 128, (page, offset, len(data))
        half[start:start + len(data)] = data

    def bytes_at(self, page, offset, *values):
        self.put(page, offset, bytes(values))

    def text(self, page, offset, width, value):
        self.put(page, offset, value.encode("ascii")[:width].ljust(width))

    def words(self, page, offset, values):
        self.put(page, offset, b"".join(struct.pack(">H", value & 0xFFFF) for value in values))

    def checksum(self, page, first, last, at):
        self.bytes_at(page, at, sum(self.pages[page][first - 128:last - 127]) & 0xFF)


def celsius(values):
    return [round(value * 256) for value in values]


def volts(values):
    return [round(value * 10000) for value in values]


def milliwatts(values):
    return [round(value * 10000) for value in values]


def milliamperes(values):
    return [round(value * 500) for value in values]


def sr4(serial):
    """QSFP28 100G-SR4: SFF-8636 lower page, 00h and thresholds in 03h."""
    spec, module = MODULES["sr4"], Module()
    module.bytes_at(LOWER, 0, 0x11, 0x08, 0x00)  # QSFP28, revision 2.8, paged and data ready
    module.bytes_at(LOWER, 6, 0x01)              # initialisation complete
    module.words(LOWER, 22, celsius([TEMPERATURE_C]))
    module.words(LOWER, 26, volts([SUPPLY_V]))
    module.words(LOWER, 34, milliwatts(spec["rx"]))
    module.words(LOWER, 42, milliamperes(spec["bias"]))
    module.words(LOWER, 50, milliwatts(spec["tx"]))
    module.bytes_at(0, 128, 0x11, 0xCC, 0x0C, 0x80)  # class 4, both CDRs; MPO 1x12; see the extended code
    module.bytes_at(0, 139, 0x05, 0xFF)              # 64B/66B; rate in byte 222
    module.bytes_at(0, 143, 35)                      # 70 m of OM3
    module.bytes_at(0, 146, 50, 0x00)                # 100 m of OM4; 850 nm VCSEL
    module.text(0, 148, 16, "LABOPTICS")
    module.bytes_at(0, 165, 0x00, 0x11, 0x22)
    module.text(0, 168, 16, "QSFP-100G-SR4")
    module.text(0, 184, 2, "A1")
    module.words(0, 186, [850 * 20, 10 * 200])
    module.bytes_at(0, 190, 70)
    module.checksum(0, 128, 190, 191)
    module.bytes_at(0, 192, 0x02, 0x00, 0x30, 0x0A)  # 100G-SR4; LOL flags; Tx fault and Tx LOS flags
    module.text(0, 196, 16, serial)
    module.text(0, 212, 8, "260101")
    module.bytes_at(0, 220, 0x3C, 0x10, 103)  # temperature, supply, average Rx, Tx power; 25.75 GBd
    module.checksum(0, 192, 222, 223)
    module.words(3, 128, celsius(TEMPERATURE_LIMITS_C))
    module.words(3, 144, volts(SUPPLY_LIMITS_V))
    module.words(3, 176, milliwatts(spec["rx_limits"]))
    module.words(3, 184, milliamperes(spec["bias_limits"]))
    module.words(3, 192, milliwatts(spec["tx_limits"]))
    return module


def dr4(serial):
    """QSFP-DD 400G-DR4: CMIS lower memory, 00h, 01h, 02h and bank 0 of 10h and 11h; media lanes 1-4 of 8."""
    spec, module = MODULES["dr4"], Module()
    module.bytes_at(LOWER, 0, 0x18, 0x50, 0x00, 0x07)  # QSFP-DD, CMIS 5.0, paged, ModuleReady
    module.words(LOWER, 14, celsius([TEMPERATURE_C]) + volts([SUPPLY_V]))
    module.bytes_at(LOWER, 39, 1, 7)                         # firmware 1.7
    module.bytes_at(LOWER, 85, 0x02, 0x11, 0x1C, 0x84, 0x01, 0xFF)  # SMF: 400GAUI-8 on 400G-DR4, 8 host and 4 media lanes
    module.bytes_at(0, 128, 0x18)
    module.text(0, 129, 16, "LABCMIS")
    module.bytes_at(0, 145, 0x00, 0x11, 0x22)
    module.text(0, 148, 16, "QDD-400G-DR4")
    module.text(0, 164, 2, "A2")
    module.text(0, 166, 16, serial)
    module.text(0, 182, 8, "260302")
    module.text(0, 190, 10, "")
    module.bytes_at(0, 200, 0xA0, 40, 0x00, 0x0C)  # class 6, 10 W, separable, MPO 1x12
    module.bytes_at(0, 210, 0xF0, 0x00, 0x06)      # media lanes 5-8 do not exist; 1310 nm EML
    module.checksum(0, 128, 221, 222)
    module.bytes_at(1, 130, 1, 0, 0x05)            # hardware 1.0; 500 m of SMF
    module.words(1, 138, [1310 * 20])
    module.bytes_at(1, 146, 70, 0)
    module.bytes_at(1, 151, 0x10)                  # Rx power is an average
    module.bytes_at(1, 157, 0x07, 0x06, 0x03, 0x07)  # flags; monitors: temperature, supply; bias x1, Tx and Rx power
    module.checksum(1, 130, 254, 255)
    module.words(2, 128, celsius(TEMPERATURE_LIMITS_C))
    module.words(2, 136, volts(SUPPLY_LIMITS_V))
    module.words(2, 176, milliwatts(spec["tx_limits"]))
    module.words(2, 184, milliamperes(spec["bias_limits"]))
    module.words(2, 192, milliwatts(spec["rx_limits"]))
    module.checksum(2, 128, 254, 255)
    module.bytes_at(0x10, 145, *[0x10] * 8)        # every host lane selects application 1
    module.bytes_at(0x11, 128, 0x44, 0x44, 0x44, 0x44, 0xFF, 0x0F)  # all lanes activated, outputs valid
    module.words(0x11, 154, milliwatts(spec["tx"]))
    module.words(0x11, 170, milliamperes(spec["bias"]))
    module.words(0x11, 186, milliwatts(spec["rx"]))
    module.bytes_at(0x11, 202, 0x11, 0x11, 0x11, 0x11, *[0x10] * 8)
    return module


def folder_of(port):
    return port if "/" in port else f"{DEBUGFS}/{port}/module"


def write_at(port, page, start, data):
    """Writes bytes of one page; `start` counts from the page's first byte. One write: a reader sees all or nothing."""
    name = "lower" if page == LOWER else f"page{page:02x}"
    file = os.open(os.path.join(folder_of(port), name), os.O_WRONLY | (os.O_CREAT if "/" in port else 0), 0o600)
    try:
        if os.pwrite(file, data, start) != len(data):
            raise OSError(f"short write to {port} {name}")
    finally:
        os.close(file)


def identifier(port):
    with open(os.path.join(folder_of(port), "lower"), "rb", buffering=0) as file:
        return file.read(1)[0]


def make(port, kind, serial):
    for page, data in {"sr4": sr4, "dr4": dr4}[kind](serial).pages.items():
        write_at(port, page, 0, bytes(data))


def parse_power_mw(text):
    if text == "none":
        return 0.0
    if text.endswith("dBm"):
        return 10 ** (float(text[:-3]) / 10)
    if text.endswith("mW"):
        return float(text[:-2])
    raise ValueError(f'power "{text}": 0.63mW, -2.0dBm or none')


def set_rx(port, lane, power):
    """Received power of one lane or of all four, and the module's loss-of-signal flags that go with it."""
    power_mw = parse_power_mw(power)
    lanes = range(4) if lane == "all" else [int(lane) - 1]
    if not all(0 <= index < 4 for index in lanes):
        raise ValueError(f'lane "{lane}": 1 to 4, or all')
    cmis = identifier(port) == 0x18
    for index in lanes:
        data = struct.pack(">H", min(round(power_mw * 10000), 0xFFFF))
        write_at(port, 0x11 if cmis else LOWER, (186 - 128 if cmis else 34) + 2 * index, data)
    if lane == "all":
        write_at(port, 0x11 if cmis else LOWER, 147 - 128 if cmis else 3, bytes([0x0F if power_mw == 0 else 0]))


def main(arguments):
    try:
        if arguments[0] == "make" and len(arguments) > 1 and len(arguments) % 3 == 1:
            for index in range(1, len(arguments), 3):
                make(*arguments[index:index + 3])
        elif arguments[0] == "rx" and len(arguments) == 4:
            set_rx(*arguments[1:])
        elif arguments[0] == "temperature" and len(arguments) == 3:
            cmis = identifier(arguments[1]) == 0x18
            write_at(arguments[1], LOWER, 14 if cmis else 22, struct.pack(">h", round(float(arguments[2]) * 256)))
        else:
            raise IndexError
    except IndexError:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    except (OSError, ValueError, KeyError) as error:
        print(f"pages.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
