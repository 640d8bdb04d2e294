#!/usr/bin/env python3
"""The layer test: which folder may include which, which library is used where, and where a clock may be read.

The rules are those of CONTRIBUTING.md. Prints each breach as FILE:LINE and exits with 1 when there is one.
`tests/layers.py --self-test` shows that each rule can fail.
"""
import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile

MIDDLE = ["probes", "diagnosis", "config", "storage", "exporters"]
MAY_INCLUDE = {"base": {"base"}, "model": {"base", "model"}}
MAY_INCLUDE.update({folder: {"base", "model", folder} for folder in MIDDLE})
MAY_INCLUDE.update({top: {"base", "model", *MIDDLE, "daemon", "cli"} for top in ("daemon", "cli")})

# Within one of these: folder -> the others that it may include.
INNER = {
    "daemon/engine": set(),
    "daemon/http": {"daemon"},
    "daemon/sampling": set(),
    "daemon/selfcheck": set(),
    "daemon/api": {"daemon", "daemon/engine", "daemon/http", "daemon/selfcheck"},
    "model": set(),
    "model/history": {"model"},
    "model/json": {"model", "model/history"},
    "probes/netlink": {"probes", "probes/module"},
    "probes/sysfs": {"probes", "probes/netlink"},
    "probes/verbs": {"probes"},
    "probes/module": {"probes", "probes/netlink", "probes/sysfs"},
    "probes/peer": {"probes", "probes/sysfs"},
    "exporters/metrics": set(),
    "exporters/json": set(),
    "exporters/text": {"exporters/json"},
    "storage/history": set(),
    "storage/recording": set(),
}

# library header -> where it may be included
LIBRARIES = [
    (r"infiniband/|netlink/|lldpctl|linux/(rtnetlink|netlink|genetlink|ethtool|if_link)|rdma/", {"probes"}),
    (r"yaml-cpp/", {"config"}),
    (r"nlohmann/", {"model/json/json", "probes/module/dump_file"}),
    (r"prometheus/", {"exporters/metrics/metric_families"}),
    (r"sqlite3", {"storage"}),
    (r"boost/", {"daemon/http/http_parser.cpp", "daemon/http/http_server.cpp"}),
    (r"openssl/", {"daemon/http"}),
    (r"crypt\.h", {"daemon/http/password_checker"}),
    (r"curl/", {"cli/http_client", "cli/prometheus"}),
    (r"CLI/", {"cli", "daemon/options"}),
    (r"systemd/", {"daemon/loop", "exporters/journal"}),
]
CLOCK = re.compile(r"_clock::now|\btime\((nullptr|NULL|0)\)|\bclock_gettime\b|\bgettimeofday\b")
CLOCK_ALLOWED = {"daemon/main.cpp", "cli/main.cpp"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def in_places(path, places):
    return any(path == place or path.startswith(place + "/") or path.startswith(place + ".") for place in places)


def check_file(path, text):
    folder = path.split("/", 1)[0]
    inner = os.path.dirname(path)
    breaches = []
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        if match and folder in MAY_INCLUDE:
            kind, header = match.groups()
            target = header.split("/", 1)[0]
            if kind == '"' and target in MAY_INCLUDE and target not in MAY_INCLUDE[folder]:
                breaches.append((number, f"{folder}/ may not include {target}/"))
            other = os.path.dirname(header)
            if (kind == '"' and inner in INNER and target == folder and other != inner
                    and other not in INNER[inner]):
                breaches.append((number, f"{inner}/ may not include {other}/"))
            for pattern, places in LIBRARIES:
                if re.match(pattern, header) and not in_places(path, places):
                    breaches.append((number, f"<{header}> belongs to {', '.join(sorted(places))} only"))
        if folder in MAY_INCLUDE and path not in CLOCK_ALLOWED and CLOCK.search(line.split("//", 1)[0]):
            breaches.append((number, "reads a clock: take a Clock (base/time.h)"))
    return breaches


def sources(root):
    listed = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard", "*.cpp", "*.h"], check=True,
                            capture_output=True, text=True).stdout
    return [path for path in listed.split() if os.path.exists(os.path.join(root, path))]


def check_tree(root):
    count = 0
    for path in sources(root):
        with open(os.path.join(root, path), encoding="utf-8") as file:
            for number, what in check_file(path, file.read()):
                print(f"{path}:{number}: {what}")
                count += 1
    return count


def self_test():
    bad = {
        "model/a.h": '#include "probes/host.h"\n',
        "diagnosis/a.cpp": '#include "storage/recording/recording.h"\n',
        "exporters/text.cpp": "#include <prometheus/collectable.h>\n",
        "probes/a.cpp": "auto t = std::chrono::steady_clock::now();\n",
        "daemon/a.cpp": "#include <yaml-cpp/yaml.h>\n",
        "daemon/http/a.cpp": '#include "daemon/api/api.h"\n',
    }
    good = {
        "daemon/main.cpp": "auto t = std::chrono::steady_clock::now();\n",
        "exporters/metrics/metric_families.cpp": "#include <prometheus/collectable.h>\n",
        "cli/status.cpp": '#include "daemon/engine/engine.h"\n',
        "probes/b.cpp": "// steady_clock::now() is for the mains\n",
    }
    for path, text in bad.items():
        assert check_file(path, text), f"{path} should be refused"
    for path, text in good.items():
        assert not check_file(path, text), f"{path} should pass: {check_file(path, text)}"
    with tempfile.TemporaryDirectory() as root:
        subprocess.run(["git", "init", "-q", root], check=True)
        os.mkdir(os.path.join(root, "base"))
        with open(os.path.join(root, "base/a.h"), "w", encoding="utf-8") as file:
            file.write('#include "model/snapshot.h"\n')
        with contextlib.redirect_stdout(io.StringIO()):
            assert check_tree(root) == 1
    print("layers: the self-test passed")


if __name__ == "__main__":
    if "--self-test" in sys.argv:
        self_test()
        sys.exit(0)
    self_test()
    sys.exit(1 if check_tree(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) else 0)
