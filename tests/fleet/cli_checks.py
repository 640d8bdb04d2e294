"""`linkhealth fleet` against the real Prometheus: what it prints is what Prometheus has."""
import json
import os
import re
import shutil
import subprocess

from world import free_port


def call(world, linkhealth, *arguments, url=None):
    environment = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "COLUMNS": "140", "LINKHEALTH_PROMETHEUS": url or world.url}
    done = subprocess.run([linkhealth, "fleet", *arguments], env=environment, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout, done.stderr


def good(world, linkhealth, *arguments):
    code, out, err = call(world, linkhealth, *arguments)
    assert code == 0, f"linkhealth fleet {' '.join(arguments)}: {code}: {err}"
    return out


def number(text):
    return [int(part) for part in re.findall(r"\d+", text)]


def place(fault):
    return [number(fault.get(part, "")) for part in ("pod", "row", "rack", "u")]


def worst(world, linkhealth):
    answer = json.loads(good(world, linkhealth, "--json", "--limit", "100"))
    assert answer["nodes"] == world.fleet["nodes"], answer["nodes"]
    assert sum(answer["links"].values()) == world.value("sum(fleet:linkhealth_links:count)")
    faults = answer["faults"]
    assert len(faults) == answer["faults_total"] >= 5, f"{len(faults)} of {answer['faults_total']} faults"
    assert len({fault["fault"] for fault in faults}) >= 3, "fewer than three kinds of faults"
    costs = [fault["bandwidth_lost_bytes_per_second"] for fault in faults]
    assert costs == sorted(costs, reverse=True) and costs[0] > 0, costs
    assert [fault["rank"] for fault in faults] == list(range(1, len(faults) + 1))
    assert all("opened_at" in fault and fault["pod"] and fault["rack"] for fault in faults), "a fault without its time or place"
    table = good(world, linkhealth)
    assert faults[0]["instance"] in table and "SINCE" in table, table


def by_every_level(world, linkhealth):
    for level in ("switch", "part", "rack", "rail", "vendor"):
        answer = json.loads(good(world, linkhealth, "--by", level, "--json", "--limit", "1000"))
        groups = {group["name"]: sum(group["links"].values()) for group in answer["groups"]}
        assert len(groups) >= 2, f"--by {level}: {groups}"
        assert sum(groups.values()) == world.value(f"sum({level}:linkhealth_links:count)"), f"--by {level}: {groups}"
        assert next(iter(groups)) in good(world, linkhealth, "--by", level)


def work_list(world, linkhealth):
    faults = json.loads(good(world, linkhealth, "--work-list", "--json", "--limit", "100"))["faults"]
    places = [place(fault) for fault in faults]
    assert places == sorted(places) and len(places) >= 3, places
    text = good(world, linkhealth, "--work-list", "--limit", "100")
    assert text.startswith("# Work list, ") and text.count("- [ ] ") == len(faults), text
    assert text.count("\n## ") == len({str(one[:3]) for one in places}), text


def without_data(world, linkhealth):
    code, _, err = call(world, linkhealth, url="http://127.0.0.1:1")
    assert code == 3 and "does not answer" in err and err.count("\n") == 1, (code, err)
    code, _, err = call(world, linkhealth, url=f"http://127.0.0.1:{world.fleet['port']}")  # a web server, but not a Prometheus
    assert code == 4 and "no answer of Prometheus" in err, (code, err)


# bcrypt of "secret", 16 rounds
SECRET = "$2b$04$ATRr4bakAcTWAkHhb2lisuOWEtRiuSyrnrj8C.yR/TNJ50wTqtU6O"


def behind_tls(world, linkhealth):
    """A Prometheus of its own with TLS and a password, as its own --web.config.file makes it; it scrapes nothing."""
    if not shutil.which("openssl"):
        return print("not checked without openssl: TLS and passwords")
    key, certificate = (os.path.join(world.folder, name) for name in ("key.pem", "certificate.pem"))
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext",
                    "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate], check=True, capture_output=True, timeout=60)
    web = world.write("web.yml", {"tls_server_config": {"cert_file": certificate, "key_file": key}, "basic_auth_users": {"me": SECRET}})
    port = free_port()
    server = subprocess.Popen(
        ["prometheus", f"--config.file={world.write('empty.yml', {})}", f"--storage.tsdb.path={world.folder}/empty",
         f"--web.listen-address=127.0.0.1:{port}", f"--web.config.file={web}", "--log.level=warn"], stdout=world.log, stderr=world.log)
    world.started.append(server)

    def ask(login, *arguments):
        return call(world, linkhealth, *arguments, url=f"https://{login}localhost:{port}")
    world.until("the Prometheus with TLS answers", lambda: ask("me:secret@", "--ca-file", certificate)[0] == 4, 30)
    assert "has no linkhealth data" in ask("me:secret@", "--ca-file", certificate)[2], "with the right password"
    code, _, err = ask("me:wrong@", "--ca-file", certificate)
    assert code == 4 and "refuses (401)" in err and "wrong" not in err, (code, err)
    code, _, err = ask("me:secret@")
    assert code == 3 and "does not answer" in err and "SSL" in err, f"an unknown authority was trusted: {code} {err}"
    return None


def run(world, linkhealth):
    for check in (worst, by_every_level, work_list, without_data, behind_tls):
        check(world, linkhealth)
    print("linkhealth fleet: worst links, five levels, the work list, no data, TLS")
