#!/usr/bin/env python3
"""tls_test.py LINKHEALTHD: TLS, passwords and client certificates of the web configuration, against real curl and openssl.

What exporter-toolkit's users expect of the same file: bad certificate, wrong password, cipher, missing file, min_version,
client_auth_type, renewal without a restart, a bad file that keeps the old. Exit code 77: curl or openssl is not there.
"""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from web_daemon import Daemon, until  # noqa: E402

PROGRAM = ""
ANNA = "$2b$04$4xrRZMdwNFbC5Cfj3aaTU.ycTHnzarMTn3ozTOlO9NQ8WscJG5yCG"  # correct horse
ANNA_10 = "$2b$10$8W46rnKLnd7K8TAiFfRxWeJBywkLnSwXafI5FAg1ZmwS2n4dOXqoO"  # correct horse
OTHER = "$2b$04$6G6OFuAnoCkPYfYj4BlQOO3y0Ah1zCAZ3tJDvesPUMG4GXtyQQAaK"  # other


def openssl(*arguments, text=None):
    return subprocess.run(["openssl", *arguments], input=text, capture_output=True, text=True, check=False, timeout=30)


def make(folder, name, *more, ca=None, subject=None, sans="IP:127.0.0.1,DNS:localhost"):
    """A key and a certificate NAME.key, NAME.crt; signed by `ca`, or by itself. `sans`: of a signed one; "" for none."""
    key, request, certificate = (os.path.join(folder, name + end) for end in (".key", ".csr", ".crt"))
    done = openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key, "-out", request,
                   "-subj", f"/CN={subject or name}")
    assert done.returncode == 0, done.stderr
    extensions = os.path.join(folder, name + ".ext")
    with open(extensions, "w", encoding="utf-8") as file:
        file.write((f"subjectAltName={sans}\n" if sans else "basicConstraints=CA:FALSE\n") if ca else "basicConstraints=critical,CA:TRUE\n")
    signer = ["-CA", os.path.join(folder, ca + ".crt"), "-CAkey", os.path.join(folder, ca + ".key"), "-CAcreateserial"] if ca else [
        "-signkey", key]
    done = openssl("x509", "-req", "-in", request, "-out", certificate, "-days", "2", "-extfile", extensions, *signer, *more)
    assert done.returncode == 0, done.stderr


class Web(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="linkhealth-tls-")
        self.addCleanup(shutil.rmtree, self.folder)
        make(self.folder, "ca")
        make(self.folder, "server", ca="ca")
        make(self.folder, "client", ca="ca", subject="scraper-1")
        make(self.folder, "strangers-ca")
        make(self.folder, "stranger", ca="strangers-ca")
        self.web = self.at("web.yml")

    def at(self, name):
        return os.path.join(self.folder, name)

    def write(self, text):
        """The whole file at once, as configuration management does it."""
        with open(self.web + ".new", "w", encoding="utf-8") as file:
            file.write(text)
        os.rename(self.web + ".new", self.web)

    def tls(self, *lines, name="server"):
        return "\n  ".join(["tls_server_config:", f"cert_file: {name}.crt", f"key_file: {name}.key", *lines]) + "\n"

    def start(self, text):
        self.write(text)
        daemon = Daemon(PROGRAM, self.folder, f"web_config_file: {self.web}\n")
        self.addCleanup(daemon.end)
        daemon.played()
        return daemon

    def refused(self, text):
        """What the daemon says when it does not start."""
        self.write(text)
        with self.assertRaises(AssertionError) as raised:
            Daemon(PROGRAM, self.folder, f"web_config_file: {self.web}\n")
        return str(raised.exception)

    def trust(self):
        return ["--cacert", self.at("ca.crt")]

    def asks(self, *arguments, text="", host=""):
        return openssl("s_client", "-connect", host, "-CAfile", self.at("ca.crt"), *arguments, text=text)

    # --- without anything -------------------------------------------------------------------------------------------
    def test_an_empty_file_is_plain_and_open(self):
        daemon = self.start("")
        self.assertEqual(daemon.scheme, "http")
        self.assertEqual(daemon.curl()[1], 200)
        status = daemon.curl("-X", "POST", "-H", "Content-Type: application/json", "-d", "{}", path="/api/v1/maintenance")[1]
        self.assertEqual(status, 403, "TCP is read only for who is not known")

    # --- TLS --------------------------------------------------------------------------------------------------------
    def test_https_with_a_certificate_that_curl_verifies(self):
        daemon = self.start(self.tls())
        self.assertEqual(daemon.scheme, "https")
        self.assertEqual(daemon.curl(*self.trust()), (0, 200, "healthy\n"))
        code, status, body = daemon.curl(*self.trust(), path="/api/v1/report")
        self.assertEqual((code, status), (0, 200))
        self.assertEqual(json.loads(body)["schema"], "linkhealth.report/1")
        plain = daemon.curl(*self.trust(), path="/metrics?collect[]=counters&collect[]=optics")[2]
        packed = daemon.curl(*self.trust(), "--compressed", path="/metrics?collect[]=counters&collect[]=optics")[2]
        self.assertEqual(plain, packed)
        self.assertNotEqual(daemon.curl()[0], 0, "a certificate that the client does not trust")
        self.assertIn(daemon.local("/-/healthy")[0], (200,), "the Unix socket stays plain")

    def test_plain_http_on_a_tls_port_gets_nothing(self):
        daemon = self.start(self.tls())
        done = subprocess.run(["curl", "-sS", "--max-time", "10", f"http://{daemon.host}/metrics"], capture_output=True, text=True,
                              check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertNotIn("linkhealth_", done.stdout)
        self.assertEqual(daemon.curl(*self.trust())[1], 200, "others are served on")

    def test_a_connection_is_kept_and_large_answers_come_whole(self):
        daemon = self.start(self.tls())
        url = daemon.base + "/api/v1/report"
        done = subprocess.run(["curl", "-sS", *self.trust(), *([url] * 20), "-w", "%{stderr}%{num_connects}\n"],
                              capture_output=True, text=True, check=True)
        self.assertEqual(done.stderr.split(), ["1"] + ["0"] * 19)
        self.assertEqual(done.stdout, daemon.local("/api/v1/report")[1] * 20)

    def test_min_version(self):
        daemon = self.start(self.tls("min_version: TLS13"))
        self.assertEqual(daemon.curl(*self.trust())[1], 200)
        self.assertNotEqual(daemon.curl(*self.trust(), "--tls-max", "1.2")[0], 0)
        old = self.start_other(self.tls("max_version: TLS12"))
        self.assertEqual(old.curl(*self.trust())[1], 200)
        self.assertNotEqual(old.curl(*self.trust(), "--tlsv1.3")[0], 0)

    def start_other(self, text):
        inner = tempfile.mkdtemp(dir=self.folder)
        self.write(text)
        daemon = Daemon(PROGRAM, inner, f"web_config_file: {self.web}\n")
        self.addCleanup(daemon.end)
        daemon.played()
        return daemon

    def test_cipher_suites(self):
        daemon = self.start(self.tls("cipher_suites: [TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384]", "max_version: TLS12"))
        agreed = self.asks(host=daemon.host)
        self.assertIn("Cipher is ECDHE-ECDSA-AES256-GCM-SHA384", agreed.stdout)
        refused = self.asks("-cipher", "ECDHE-ECDSA-AES128-GCM-SHA256", host=daemon.host)
        self.assertIn("handshake failure", refused.stderr)
        for name in ("TLS_MADE_UP", "TLS_RSA_WITH_NULL_SHA256", "TLS_RSA_WITH_RC4_128_SHA"):
            self.assertIn(f'cipher_suites: unknown cipher "{name}"',
                          self.refused_elsewhere(self.tls(f"cipher_suites: [{name}]")))

    def refused_elsewhere(self, text):
        self.write(text)
        with self.assertRaises(AssertionError) as raised:
            Daemon(PROGRAM, tempfile.mkdtemp(dir=self.folder), f"web_config_file: {self.web}\n")
        return str(raised.exception)

    def test_curves(self):
        daemon = self.start(self.tls("curve_preferences: [CurveP384]"))
        self.assertIn("secp384r1", self.asks(host=daemon.host).stdout + self.asks("-trace", host=daemon.host).stdout)
        self.assertNotEqual(self.asks("-groups", "X25519", host=daemon.host).returncode, 0)

    # --- what prevents a start --------------------------------------------------------------------------------------
    def test_what_is_wrong_is_said_and_stops_the_start(self):
        os.chmod(self.at("server.key"), 0o600)
        with open(self.at("broken.crt"), "w", encoding="utf-8") as file:
            file.write("no certificate\n")
        shutil.copy(self.at("server.key"), self.at("broken.key"))
        shutil.copy(self.at("server.crt"), self.at("mixed.crt"))
        shutil.copy(self.at("client.key"), self.at("mixed.key"))
        cases = [
            ("tls_server_config:\n  key_file: server.key\n", "missing cert_file"),
            ("tls_server_config:\n  cert_file: server.crt\n", "missing key_file"),
            (self.tls(name="absent"), "cert_file " + self.at("absent.crt") + ": No such file"),
            (self.tls(name="broken"), "broken.crt: no start line"),
            (self.tls(name="mixed"), "mixed.key: key values mismatch"),
            (self.tls("min_version: TLS14"), 'unknown min_version "TLS14": use TLS10, TLS11, TLS12, TLS13'),
            (self.tls("min_version: TLS13", "max_version: TLS12"), "min_version is above max_version"),
            (self.tls("client_auth_type: Maybe"), 'unknown client_auth_type "Maybe"'),
            (self.tls("client_auth_type: RequireAndVerifyClientCert"), "needs client_ca_file"),
            (self.tls("client_ca_file: ca.crt"), "client_auth_type requests no certificate"),
            (self.tls("cert: x"), "cert and cert_file: one of both, not both"),
            ("tls_server_config:\n  cert: no certificate\n  key_file: server.key\n", "web.yml: cert: no start line"),
            ("tls_server_config:\n  cert_file: server.crt\n  key: no key\n", "web.yml: key: "),
            (self.tls("client_auth_type: RequireAndVerifyClientCert", "client_ca: nothing"), "web.yml: client_ca: no start line"),
            (self.tls("client_allowed_sans: [a]"), "client_allowed_sans needs client_auth_type RequireAndVerifyClientCert"),
            (self.tls("client_auth_type: VerifyClientCertIfGiven", "client_ca_file: ca.crt", "client_allowed_sans: [a]"),
             "client_allowed_sans needs client_auth_type"),
            (self.tls("client_auth_type: RequireAnyClientCert", "client_allowed_sans: []"), "client_allowed_sans is empty"),
            ("rate_limit: {interval: 1s, burst: 3}\n", "rate_limit: not supported"),
            ("http_server_config: {headers: {X-Frame-Options: deny}}\n", "headers: not supported"),
            (self.tls("client_auth_type: RequireAndVerifyClientCert", "client_ca_file: absent.crt"), "client_ca_file"),
            (self.tls("curve_preferences: [P256]"), 'unknown curve "P256"'),
            (self.tls("cert_fil: x"), 'unknown key "cert_fil" (did you mean "cert_file"?)'),
            ("basic_auth_users:\n  anna: secret\n", 'the password of "anna" is not a bcrypt hash'),
            ("basic_auth_users:\n  anna: " + ANNA.replace("$04$", "$31$") + "\n", "is not a bcrypt hash of cost 4 to 14"),
            ("tls_server_config: [", "web.yml:"),
        ]
        for text, words in cases:
            with self.subTest(words):
                self.assertIn(words, self.refused_elsewhere(text))
        os.remove(self.web)
        with self.assertRaises(AssertionError) as raised:
            Daemon(PROGRAM, tempfile.mkdtemp(dir=self.folder), f"web_config_file: {self.web}\n")
        self.assertIn("web.yml: No such file or directory", str(raised.exception))

    def test_check_config_looks_at_it_too(self):
        config = self.at("linkhealth.yaml")
        with open(config, "w", encoding="utf-8") as file:
            file.write(f"web_config_file: {self.web}\n")

        def check(text):
            self.write(text)
            done = subprocess.run([PROGRAM, "--config", config, "--check-config"], capture_output=True, text=True, timeout=20, check=False)
            return done.returncode, done.stdout + done.stderr
        self.assertEqual(check(self.tls()), (0, f"{config} is good\n"))
        code, said = check(self.tls(name="absent"))
        self.assertEqual((code, said.count("\n")), (2, 1), said)
        self.assertIn("absent.crt: No such file", said)
        os.chmod(self.at("server.key"), 0o644)
        self.assertIn("server.key: every user can read this secret", check(self.tls())[1])
        os.chmod(self.at("server.key"), 0o600)
        self.assertIn("http2: not supported", check("http_server_config: {http2: true}\n")[1])

    # --- passwords --------------------------------------------------------------------------------------------------
    def test_passwords(self):
        daemon = self.start(f"basic_auth_users:\n  anna: {ANNA_10}\n  other: {OTHER}\n")
        self.assertEqual(daemon.scheme, "http", "passwords work without TLS, as in exporter-toolkit")
        code, status, body = daemon.curl("-i")
        self.assertEqual((code, status), (0, 401))
        self.assertIn("WWW-Authenticate: Basic", body)
        for user in ("anna:correct horse", "other:other"):
            self.assertEqual(daemon.curl("-u", user)[1], 200, user)
            self.assertEqual(daemon.curl("-u", user, path="/metrics")[1], 200, user)
        for user in ("anna:wrong", "anna:", ":correct horse", "nobody:correct horse", "anna:other", "anna:correct horsE"):
            self.assertEqual(daemon.curl("-u", user)[1], 401, user)
        for field in ("Bearer x", "Basic", "Basic !!!", "Basic YW5uYQ==", "basic"):
            self.assertEqual(daemon.curl("-H", f"Authorization: {field}")[1], 401, field)
        self.assertEqual(daemon.local("/-/healthy")[0], 200, "no password on the Unix socket")
        # authenticated clients may act, but not through a form of another site
        post = ["-X", "POST", "-u", "anna:correct horse", "-d", "{}"]
        path = "/api/v1/maintenance"
        self.assertNotIn(daemon.curl(*post, "-H", "Content-Type: application/json", path=path)[1], (401, 403, 415))
        self.assertEqual(daemon.curl(*post, path=path)[1], 415)
        self.assertEqual(daemon.curl(*post, "-H", "Content-Type: application/json", "-H", "Origin: https://evil.example", path=path)[1],
                         403)

    def test_wrong_passwords_hold_up_nobody(self):
        """Forty wrong passwords of a hash that takes 50 ms each: who is known is answered meanwhile."""
        daemon = self.start(f"basic_auth_users:\n  anna: {ANNA_10}\n")
        self.assertEqual(daemon.curl("-u", "anna:correct horse")[1], 200)
        flood = [subprocess.Popen(["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "-u", f"anna:wrong{i}", daemon.base + "/metrics"],
                                  stdout=subprocess.PIPE, text=True) for i in range(40)]
        answers = [daemon.curl("-u", "anna:correct horse")[1] for _ in range(10)]
        statuses = {one.communicate(timeout=60)[0] for one in flood}
        self.assertEqual(answers, [200] * 10)
        self.assertTrue(statuses <= {"401", "503"} and "401" in statuses, statuses)

    # --- client certificates ----------------------------------------------------------------------------------------
    def client(self, name):
        return ["--cert", self.at(name + ".crt"), "--key", self.at(name + ".key")]

    def test_client_certificates_required_and_verified(self):
        daemon = self.start(self.tls("client_auth_type: RequireAndVerifyClientCert", "client_ca_file: ca.crt"))
        self.assertEqual(daemon.curl(*self.trust(), *self.client("client"))[1], 200)
        self.assertNotEqual(daemon.curl(*self.trust())[0], 0, "no certificate")
        self.assertNotEqual(daemon.curl(*self.trust(), *self.client("stranger"))[0], 0, "a stranger's certificate")
        status = daemon.curl(*self.trust(), *self.client("client"), "-X", "POST", "-H", "Content-Type: application/json", "-d", "{}",
                             path="/api/v1/maintenance")[1]
        self.assertNotIn(status, (401, 403), "who is verified may act")
        kept = subprocess.run(["curl", "-sS", *self.trust(), *self.client("client"), "-o", "/dev/null", "-w", "%{http_code} ",
                               daemon.base + "/-/healthy", daemon.base + "/-/healthy"], capture_output=True, text=True, check=True)
        self.assertEqual(kept.stdout.split()[0], "200")

    def test_client_certificates_verified_if_given(self):
        daemon = self.start(self.tls("client_auth_type: VerifyClientCertIfGiven", "client_ca_file: ca.crt"))
        act = ["-X", "POST", "-H", "Content-Type: application/json", "-d", "{}"]
        self.assertEqual(daemon.curl(*self.trust())[1], 200)
        self.assertEqual(daemon.curl(*self.trust(), *act, path="/api/v1/maintenance")[1], 403)
        self.assertNotIn(daemon.curl(*self.trust(), *self.client("client"), *act, path="/api/v1/maintenance")[1], (401, 403))
        self.assertNotEqual(daemon.curl(*self.trust(), *self.client("stranger"))[0], 0)

    def test_client_certificates_that_nobody_verifies_give_no_rights(self):
        for word in ("RequestClientCert", "RequireAnyClientCert"):
            daemon = self.start_other(self.tls(f"client_auth_type: {word}"))
            self.assertEqual(daemon.curl(*self.trust(), *self.client("stranger"))[1], 200, word)
            status = daemon.curl(*self.trust(), *self.client("stranger"), "-X", "POST", "-H", "Content-Type: application/json", "-d",
                                 "{}", path="/api/v1/maintenance")[1]
            self.assertEqual(status, 403, word)
            without = daemon.curl(*self.trust())
            self.assertEqual(without[0] == 0, word == "RequestClientCert", word)

    def client_can(self, daemon, name):
        return daemon.curl(*self.trust(), *self.client(name))[1] == 200

    def test_client_allowed_sans(self):
        """Exact matches of a DNS name, an address, a mail address or a URI, of a certificate that is verified as well."""
        for name, sans in (("dns", "DNS:scraper.example"), ("ip4", "IP:192.0.2.7"), ("ip6", "IP:2001:db8::7"),
                           ("mail", "email:ops@example.org"), ("uri", "URI:spiffe://site/prometheus"), ("nameless", ""),
                           ("second", "DNS:other.example,DNS:scraper.example"), ("longer", "DNS:scraper.example.evil"),
                           ("wild", "DNS:*.example"), ("capital", "DNS:Scraper.example")):
            make(self.folder, name, ca="ca", subject="scraper.example", sans=sans)
        make(self.folder, "forged", ca="strangers-ca", sans="DNS:scraper.example")
        daemon = self.start(self.tls("client_auth_type: RequireAndVerifyClientCert", "client_ca_file: ca.crt",
                                     "client_allowed_sans:", "  - scraper.example", "  - 192.0.2.7", "  - 2001:0db8::7",
                                     "  - ops@example.org", "  - spiffe://site/prometheus"))
        for name in ("dns", "ip4", "ip6", "mail", "uri", "second"):
            self.assertTrue(self.client_can(daemon, name), name)
        for name in ("nameless", "longer", "wild", "capital", "client", "forged"):
            self.assertFalse(self.client_can(daemon, name), name)
        self.assertNotEqual(daemon.curl(*self.trust())[0], 0, "no certificate")
        self.assertIn("alert", self.asks("-cert", self.at("client.crt"), "-key", self.at("client.key"), "-tls1_2",
                                         host=daemon.host).stderr)
        self.write(self.tls("client_auth_type: RequireAnyClientCert", "client_allowed_sans: [scraper.example]"))
        until("anybody's certificate, of that name", lambda: self.client_can(daemon, "forged"))
        self.assertFalse(self.client_can(daemon, "client"))
        status = daemon.curl(*self.trust(), *self.client("forged"), "-X", "POST", "-H", "Content-Type: application/json", "-d", "{}",
                             path="/api/v1/maintenance")[1]
        self.assertEqual(status, 403, "a name that nobody signed gives no rights")

    def inline(self, key, *names):
        text = ""
        for name in names:
            with open(self.at(name), encoding="utf-8") as file:
                text += "".join("    " + line for line in file)
        return f"{key}: |\n{text.rstrip()}"

    def test_certificates_in_the_file_itself(self):
        daemon = self.start("tls_server_config:\n  " + "\n  ".join([
            self.inline("cert", "server.crt", "ca.crt"), self.inline("key", "server.key"), self.inline("client_ca", "ca.crt"),
            "client_auth_type: RequireAndVerifyClientCert"]) + "\n")
        self.assertTrue(self.client_can(daemon, "client"))
        self.assertFalse(self.client_can(daemon, "stranger"))
        self.assertIn("Acceptable client certificate CA names\nCN = ca", self.asks(host=daemon.host).stdout)
        self.assertEqual(self.asks("-showcerts", host=daemon.host).stdout.count("BEGIN CERTIFICATE"), 2, "the chain, too")
        self.assertNotIn("PRIVATE", daemon.log())
        self.write("tls_server_config:\n  " + "\n  ".join([self.inline("cert", "server.crt"), self.inline("key", "client.key")]) + "\n")
        until("it says what is wrong", lambda: daemon.curl(*self.trust(), *self.client("client")) and
              "web.yml: key: key values mismatch: the previous settings stay in force" in daemon.log())
        self.assertNotIn("PRIVATE", daemon.log())
        self.assertTrue(self.client_can(daemon, "client"))

    def test_a_client_ca_that_verifies_nobody_is_said(self):
        daemon = self.start(self.tls("client_auth_type: RequireClientCert", "client_ca_file: ca.crt"))
        self.assertIn("client_auth_type RequireAnyClientCert verifies no certificate: client_ca_file is only a hint", daemon.log())
        self.assertTrue(self.client_can(daemon, "stranger"))
        self.assertNotEqual(daemon.curl(*self.trust())[0], 0)

    # --- without a restart ------------------------------------------------------------------------------------------
    def serial(self, daemon):
        shown = self.asks(host=daemon.host).stdout
        return openssl("x509", "-noout", "-serial", text=shown).stdout

    def test_a_renewed_certificate_is_used_at_once(self):
        daemon = self.start(self.tls())
        before = self.serial(daemon)
        self.assertIn("serial=", before)
        make(self.folder, "server", ca="ca")
        until("the new certificate", lambda: self.serial(daemon) not in (before, ""))
        self.assertEqual(daemon.process.poll(), None)
        self.assertIn("web.yml: reloaded", daemon.log())

    def test_a_bad_file_keeps_the_old_and_says_so_once(self):
        daemon = self.start(f"basic_auth_users:\n  anna: {ANNA}\n")
        self.assertEqual(daemon.curl("-u", "anna:correct horse")[1], 200)
        self.write("basic_auth_users:\n  anna: [\n")

        def said():
            daemon.curl("-u", "anna:correct horse")
            return "the previous settings stay in force" in daemon.log()
        until("it says so", said)
        for _ in range(5):
            self.assertEqual(daemon.curl("-u", "anna:correct horse")[1], 200)
            time.sleep(0.3)
        self.assertEqual(daemon.curl()[1], 401)
        self.assertEqual(daemon.log().count("stay in force"), 1)
        self.write(f"basic_auth_users:\n  anna: {OTHER}\n")
        until("the new password", lambda: daemon.curl("-u", "anna:other")[1] == 200)
        self.assertEqual(daemon.curl("-u", "anna:correct horse")[1], 401, "the old password is forgotten")
        self.write(self.tls())
        until("TLS from now on", lambda: subprocess.run(["curl", "-sS", *self.trust(), f"https://{daemon.host}/-/healthy"],
                                                        capture_output=True, check=False).stdout == b"healthy\n")

    def test_sighup_reads_it_and_says_so_though_nobody_connects(self):
        daemon = self.start(self.tls())
        daemon.process.send_signal(signal.SIGHUP)
        until("it says so", lambda: "web.yml: reloaded" in daemon.log())
        self.write("tls_server_config: [\n")
        daemon.process.send_signal(signal.SIGHUP)
        until("the bad file is named", lambda: "the previous settings stay in force" in daemon.log())
        self.assertEqual(daemon.curl(*self.trust())[1], 200)
        os.remove(self.web)
        daemon.process.send_signal(signal.SIGHUP)
        until("the absent file is named", lambda: "web.yml: No such file or directory: the previous settings" in daemon.log())
        self.assertEqual(daemon.curl(*self.trust())[1], 200)

    def test_http2_is_noted(self):
        daemon = self.start("http_server_config:\n  http2: true\n")
        self.assertIn("web.yml:2: http2: not supported", daemon.log())


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    for needed in ("curl", "openssl"):
        if not shutil.which(needed):
            print(f"skipped: {needed} is not installed")
            sys.exit(77)
    unittest.main(verbosity=2)
