#!/usr/bin/env python3
"""mstlink_test.py SOURCE_DIR IMPORT_CHECK: the example importer on made-up output (tests/fixtures/mstlink)."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv[1])
CHECK = sys.argv[2]
SCRIPT = SOURCE / "systemd/examples/linkhealth-import-mstlink"
FIXTURES = SOURCE / "tests/fixtures/mstlink"


def convert(name):
    return subprocess.run([sys.executable, SCRIPT, "--convert", FIXTURES / name], capture_output=True, text=True,
                          timeout=60, check=False)


class Convert(unittest.TestCase):
    def test_an_optical_module(self):
        module = json.loads(convert("osfp_dr4.json").stdout)
        self.assertEqual(module["kind"], "optical")
        self.assertEqual(module["serial"], "EX2504000001")
        self.assertEqual(module["supply_v"], 3.2612)
        self.assertEqual(len(module["lanes"]), 4)
        self.assertAlmostEqual(module["lanes"][0]["rx_power_mw"], 1.5438, 3)
        self.assertEqual(module["lanes"][2]["rx_power_mw"], 0, "-40 dBm is no light")
        self.assertNotIn("length_m", module, "the distance of a separable module is its reach")

    def test_powers_in_whole_dbm_and_no_currents(self):
        module = json.loads(convert("osfp_whole_dbm.json").stdout)
        self.assertEqual({key: module[key] for key in ("kind", "type", "part_number", "serial", "firmware",
                                                       "temperature_c", "supply_v")},
                         {"kind": "optical", "type": "400GBASE-DR4", "part_number": "OSFP-2X400G-DR4",
                          "serial": "EX2504000002", "firmware": "12.3.0", "temperature_c": 48, "supply_v": 3.2736})
        self.assertEqual(module["lanes"], [{"rx_power_mw": rx, "tx_power_mw": 1.584893}
                                           for rx in (1.0, 1.584893, 0.125893, 1.0)])

    def test_a_copper_cable_has_no_readings(self):
        module = json.loads(convert("dac.json").stdout)
        self.assertEqual(module["kind"], "dac")
        self.assertEqual(module["length_m"], 1)
        for key in ("temperature_c", "supply_v", "lanes"):
            self.assertNotIn(key, module, "0 [0..0] is no reading")

    def test_hostile_values_end_soon(self):
        with open(FIXTURES / "osfp_dr4.json", encoding="utf-8") as file:
            output = json.load(file)
        info = output["result"]["output"]["Module Info"]
        for value in ("1" + " " * 50_000 + "x[", " " * 50_000 + "[", "[" * 50_000, "1 [" + "." * 50_000 + "]", "1 [0..0] [1..2]"):
            info["Rx Power Current [dBm]"] = info["Temperature [C]"] = value
            with tempfile.NamedTemporaryFile("w", suffix=".json") as hostile:
                json.dump(output, hostile)
                hostile.flush()
                module = json.loads(convert(hostile.name).stdout)
            self.assertNotIn("temperature_c", module, value[:20])

    def test_no_module(self):
        self.assertEqual(json.loads(convert("unplugged.json").stdout), {"present": False})

    def test_a_failure_is_one_line(self):
        done = convert("failed.json")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr, "linkhealth-import-mstlink: mstlink: FW does not support the module query\n")


class Run(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="lh-importer-")
        self.root = pathlib.Path(self.folder.name)
        self.out = self.root / "import"
        self.out.mkdir()
        for device, pci, layer in (("mlx5_0", "0000:1b:00.0", "InfiniBand"), ("mlx5_1", "0000:2c:00.0", "InfiniBand"),
                                   ("mlx5_2", "0000:3d:00.0", "Ethernet"), ("mlx5_3", "0000:1b:00.1", "InfiniBand")):
            target = self.root / "sys/devices/pci" / pci
            target.mkdir(parents=True)
            if device == "mlx5_3":
                (target / "physfn").mkdir()
            port = self.root / "sys/class/infiniband" / device / "ports/1"
            port.mkdir(parents=True)
            (port / "link_layer").write_text(layer + "\n")
            (self.root / "sys/class/infiniband" / device / "device").symlink_to(target)

    def tearDown(self):
        self.folder.cleanup()

    def run_with(self, mstlink):
        program = self.root / "mstlink"
        program.write_text("#!/bin/sh\n" + mstlink)
        program.chmod(0o755)
        return subprocess.run([sys.executable, SCRIPT, "--output-dir", self.out, "--mstlink", program, "--sysfs",
                               self.root / "sys", "--timeout", "20"], capture_output=True, text=True, timeout=60,
                              check=False)

    def test_writes_a_file_for_each_infiniband_port(self):
        done = self.run_with(f'echo "$@" >>{self.root}/calls\ncat {FIXTURES}/osfp_dr4.json\n')
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual((self.root / "calls").read_text().splitlines(),
                         ["-d 0000:1b:00.0 -m --json", "-d 0000:2c:00.0 -m --json"])
        names = sorted(os.listdir(self.out))
        self.assertEqual(names, ["mlx5_0_1.mstlink.json", "mlx5_1_1.mstlink.json"])
        for name in names:
            checked = subprocess.run([CHECK, self.out / name], capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(checked.stdout, "good 1 ports\n")
            self.assertEqual((self.out / name).stat().st_mode & 0o777, 0o644)
        self.check_schema(json.loads((self.out / names[0]).read_text()))

    def test_each_port_of_a_function_with_two_is_asked_by_its_number(self):
        port = self.root / "sys/class/infiniband/mlx5_0/ports/2"
        port.mkdir()
        (port / "link_layer").write_text("InfiniBand\n")
        done = self.run_with(f'echo "$@" >>{self.root}/calls\ncat {FIXTURES}/osfp_dr4.json\n')
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual((self.root / "calls").read_text().splitlines(),
                         ["-d 0000:1b:00.0 -p 1 -m --json", "-d 0000:1b:00.0 -p 2 -m --json", "-d 0000:2c:00.0 -m --json"])

    def check_schema(self, document):
        try:
            import jsonschema
        except ImportError:
            print("not checked against docs/schema: python3-jsonschema is not installed")
            return
        schemas = {name: json.loads((SOURCE / "docs/schema" / name).read_text())
                   for name in ("import.json", "recording.json")}
        resolver = jsonschema.RefResolver("import.json", schemas["import.json"], store=schemas)
        validator = jsonschema.Draft202012Validator(schemas["import.json"], resolver=resolver)
        validator.validate(document)
        for wrong in ({**document, "valid_for_s": 0}, {key: document[key] for key in document if key != "at"}):
            self.assertFalse(validator.is_valid(wrong), "the schema accepts anything")

    def test_a_port_that_fails_hides_no_other(self):
        done = self.run_with(f'case $2 in *1b*) echo "-E- Cannot open device" >&2; exit 1;; esac\n'
                             f'cat {FIXTURES}/dac.json\n')
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr, "linkhealth-import-mstlink: mlx5_0/1 (0000:1b:00.0): mstlink ended with 1: "
                                      "-E- Cannot open device\n")
        self.assertEqual(os.listdir(self.out), ["mlx5_1_1.mstlink.json"])

    def test_an_error_in_colour_is_expected_without_it(self):
        # A published answer of a ConnectX-8: the colour is reset on a separate line.
        done = self.run_with(r"""case $2 in *1b*) printf '\033[31m\n-E- Checking valid firmware raised the following """
                             r"""exception: ICMD error 0x4\n\n\033[0m\n'; exit 1;; esac""" + "\n"
                             f"cat {FIXTURES}/dac.json\n")
        self.assertEqual(done.stderr, "linkhealth-import-mstlink: mlx5_0/1 (0000:1b:00.0): mstlink ended with 1: "
                                      "-E- Checking valid firmware raised the following exception: ICMD error 0x4\n")
        self.assertEqual(os.listdir(self.out), ["mlx5_1_1.mstlink.json"])

    def test_garbage_writes_nothing(self):
        for garbage in ("echo", "echo '[]'", "echo '{}'", "echo '{\"result\":{\"output\":{\"Module Info\":{}}}}'"):
            self.assertEqual(self.run_with(garbage + "\n").returncode, 1, garbage)
            self.assertEqual(os.listdir(self.out), [], garbage)

    def test_an_output_of_another_form_hides_no_other_port(self):
        status = '"status":{"code":0}'
        for odd in ('{"result":null}', '{"result":{"output":null}}', '{"result":[],"status":7}', '{"status":null}',
                    '{"result":{"output":{"Module Info":{"Temperature [C]":{"values":null}}}},%s}' % status,
                    '{"result":{"output":{"Module Info":{"Temperature [C]":{"values":7}}}},%s}' % status,
                    '{"result":{"output":{"Module Info":{"Cable Type":[],"Rev":{},"Bias Current [mA]":null}}}}',
                    '{"result":{"output":{"Module Info":[]}}}', "[" * 5000):
            (self.root / "odd").write_text(odd)
            done = self.run_with(f"case $2 in *1b*) cat {self.root}/odd;; *) cat {FIXTURES}/dac.json;; esac\n")
            self.assertEqual(done.returncode, 1, odd)
            self.assertRegex(done.stderr, r"\Alinkhealth-import-mstlink: mlx5_0/1 \(0000:1b:00.0\): [^\n]+\n\Z", odd)
            self.assertEqual(os.listdir(self.out), ["mlx5_1_1.mstlink.json"], odd)

    def test_a_name_that_is_no_text_loses_no_readings(self):
        fixture = (FIXTURES / "osfp_dr4.json").read_bytes()
        serial = b"EX2504000001"
        self.assertEqual(fixture.count(serial), 1)
        for odd, expected in ((serial + b"\xff\xff", "EX2504000001"), (b"EX25\xe4\x010\x07", "EX25??0?"),
                          (b"EX25\\u0001\\u00e4001", "EX25??001"), (b"\\u0000\xff", None), (b"X" * 300, "X" * 256)):
            (self.root / "odd").write_bytes(fixture.replace(serial, odd))
            done = self.run_with(f"cat {self.root}/odd\n")
            self.assertEqual((done.returncode, done.stderr), (0, ""), odd)
            path = self.out / "mlx5_0_1.mstlink.json"
            module = json.loads(path.read_text())["ports"]["mlx5_0/1"]["module"]
            self.assertEqual(module.get("serial"), expected)
            self.assertEqual(len(module["lanes"]), 4)
            checked = subprocess.run([CHECK, path], capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(checked.stdout, "good 1 ports\n")

    def test_an_output_that_breaks_off_is_said_to_be_none(self):
        done = self.run_with(f"head -c 200 {FIXTURES}/dac.json\n")
        self.assertEqual(done.returncode, 1)
        self.assertIn("mlx5_0/1 (0000:1b:00.0): the output is no JSON: ", done.stderr)
        done = self.run_with("echo '-E- No such device'\n")
        self.assertIn("mlx5_0/1 (0000:1b:00.0): mstlink ended with 0: -E- No such device\n", done.stderr)

    def test_the_file_of_a_port_that_went_is_removed(self):
        mstlink = f"cat {FIXTURES}/dac.json\n"
        (self.out / "switch.json").write_text("{}")
        self.assertEqual(self.run_with(mstlink).returncode, 0)
        device = self.root / "sys/class/infiniband/mlx5_0"
        (device / "device").unlink()
        shutil.rmtree(device)
        done = self.run_with(mstlink)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(sorted(os.listdir(self.out)), ["mlx5_1_1.mstlink.json", "switch.json"], "another's file stays")

    def test_the_files_stay_where_no_device_can_be_seen(self):
        # A /sys that is not mounted, or belongs to another network namespace, looks like a node without ports.
        mstlink = f"cat {FIXTURES}/dac.json\n"
        self.assertEqual(self.run_with(mstlink).returncode, 0)
        devices = self.root / "sys/class/infiniband"
        for empty in (True, False):
            shutil.rmtree(devices)
            if empty:
                devices.mkdir()
            done = self.run_with(mstlink)
            self.assertEqual(done.returncode, 1)
            self.assertEqual(done.stderr, f"linkhealth-import-mstlink: {devices}: no device can be seen there, though there "
                                          "are files of 2 ports: they are left until their time is over\n")
            self.assertEqual(len(os.listdir(self.out)), 2)

    def test_a_node_without_devices_and_files_has_nothing_to_do(self):
        shutil.rmtree(self.root / "sys/class/infiniband")
        (self.out / "switch.json").write_text("{}")
        done = self.run_with("exit 1\n")
        self.assertEqual((done.returncode, done.stderr), (0, ""), "another's file is none of ours")
        shutil.rmtree(self.out)
        self.assertEqual(self.run_with("exit 1\n").returncode, 0, "no port and no directory is nothing to do")

    def test_the_files_of_ports_that_changed_to_ethernet_are_removed(self):
        self.assertEqual(self.run_with(f"cat {FIXTURES}/dac.json\n").returncode, 0)
        for device in ("mlx5_0", "mlx5_1"):
            (self.root / "sys/class/infiniband" / device / "ports/1/link_layer").write_text("Ethernet\n")
        self.assertEqual(self.run_with("exit 1\n").returncode, 0)
        self.assertEqual(os.listdir(self.out), [])

    def test_the_file_of_a_port_that_fails_stays_until_it_is_over(self):
        self.assertEqual(self.run_with(f"cat {FIXTURES}/dac.json\n").returncode, 0)
        self.assertEqual(self.run_with("exit 1\n").returncode, 1)
        self.assertEqual(len(os.listdir(self.out)), 2)

    def test_without_a_directory_it_says_so(self):
        self.out.rmdir()
        done = self.run_with(f"cat {FIXTURES}/dac.json\n")
        self.assertEqual(done.returncode, 1)
        self.assertIn("No such file or directory", done.stderr)


class Unit(unittest.TestCase):
    def test_its_sys_is_the_nodes(self):
        unit = (SOURCE / "systemd/examples/linkhealth-import-mstlink.service").read_text().splitlines()
        settings = [line.partition("=")[0] for line in unit if not line.startswith("#")]
        self.assertNotIn("PrivateNetwork", settings, "systemd.exec(5): with it /sys is mounted again, of that namespace")
        self.assertIn("IPAddressDeny", settings)


unittest.main(argv=sys.argv[:1])
