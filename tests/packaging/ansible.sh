#!/usr/bin/env bash
# ansible.sh FOLDER [SUITE]   deploy/ansible with the .deb of FOLDER on a node of Debian (bookworm) with a running systemd: a dry
# run, the installation, the same again, a configuration that changes and one that the daemon refuses, an upgrade, an older
# package, removal, purge. Exit code 77 with the reason where no such node can be made.
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=$(cd "$1" && pwd)
suite=${2:-bookworm}
. tests/packaging/a_node.sh
node_archive "$folder" "$suite" || { echo "skipped: $why"; exit 77; }

work=$(mktemp -d)
root=$work/root
trap 'halt_nodes; rm -rf --one-file-system "$work"' EXIT
mkdir "$root"
tar -x -C "$root" -f "$archive" --exclude='./dev/*'
mkdir -p "$root/srv/deploy"
cp -r deploy/ansible "$root/srv/deploy/"
cp "$folder"/linkhealth_*_amd64.deb "$root/srv/linkhealth.deb"
version=$(dpkg-deb -f "$root/srv/linkhealth.deb" Version)
# the same with another number
tests/packaging/renumbered "$root/srv/linkhealth.deb" 9.0-1 "$root/srv/linkhealth_9.deb"
boot "$root" gpu-0001

scratch=$work
. tests/packaging/checks.sh
inside() { in_node gpu-0001 "$@"; }
# play OPTION...: the playbook on this node, as its own control host
play() { inside ansible-playbook -i gpu-0001, -c local /srv/deploy/ansible/site.yml "$@" 2>&1; }
# refuses TEXT COMMAND...: it fails, and prints the text
refuses() { local text=$1; shift; if "$@" >"$work/said" 2>&1; then cat "$work/said"; return 1; fi; cat "$work/said"; grep -qE -e "$text" "$work/said"; }
gone() { local file; for file in "$@"; do [ ! -e "$root$file" ] || { echo "$file is there"; return 1; }; done; }
pid() { inside systemctl show -P MainPID linkhealthd; }
deb=(-e linkhealth_package=/srv/linkhealth.deb)

want "a dry run on a node that has nothing ends well" play --check "${deb[@]}"
want "and installs nothing" gone /usr/bin/linkhealthd /etc/linkhealth
want "it is installed" play "${deb[@]}"
want "it runs" says '^active$' inside systemctl is-active linkhealthd
want "and is started at boot" says '^enabled$' inside systemctl is-enabled linkhealthd
want "with its configuration" grep -q '127.0.0.1:9942' "$root/etc/linkhealth/linkhealth.yaml"
want "the libraries of single sources are there" inside dpkg -s libibverbs1 ibverbs-providers libibumad3
before=$(pid)
want "the same again changes nothing" says 'changed=0 .*failed=0' play "${deb[@]}"
want "and restarts nothing" test "$before" = "$(pid)"

changed=("${deb[@]}" -e '{"linkhealth_config": {"listen": "127.0.0.1:9943", "dry_run": true}}')
want "a dry run shows what would change" says '^\+listen: 127.0.0.1:9943' play --check --diff "${changed[@]}"
want "and changes nothing" grep -q '127.0.0.1:9942' "$root/etc/linkhealth/linkhealth.yaml"
want "a changed configuration is put in place" says 'Restart linkhealthd' play "${changed[@]}"
want "and in force" inside /usr/bin/python3 -c 'import urllib.request as u; u.urlopen("http://127.0.0.1:9943/-/healthy", timeout=5)'
tls='{"linkhealth_config": {"listen": "127.0.0.1:9943", "dry_run": true, "web_config_file": "/etc/linkhealth/web.yml"},
      "linkhealth_web_config": "/srv/web.yml", "linkhealth_web_files": ["/srv/node.crt", "/srv/node.key"]}'
printf 'tls_server_config:\n  cert_file: node.crt\n  key_file: node.key\n' >"$root/srv/web.yml"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=gpu-0001 -addext subjectAltName=DNS:localhost \
    -keyout "$root/srv/node.key" -out "$root/srv/node.crt" 2>/dev/null
want "certificates are put in place" play "${deb[@]}" -e "$tls"
want "for the daemon, and not for every user" says '^640 linkhealth$' inside stat -c '%a %G' /etc/linkhealth/node.key
want "and in force" inside /usr/bin/python3 -c 'import ssl, urllib.request as u; u.urlopen("https://localhost:9943/-/healthy", timeout=5, context=ssl.create_default_context(cafile="/srv/node.crt"))'
want "without them it is as before" play "${changed[@]}"
before=$(pid)
want "a configuration that the daemon refuses is not put in place" refuses 'lissten' play "${deb[@]}" -e '{"linkhealth_config": {"lissten": "0.0.0.0:9942"}}'
want "the old one stays" grep -q '127.0.0.1:9943' "$root/etc/linkhealth/linkhealth.yaml"
want "and the daemon was not touched" test "$before" = "$(pid)"

want "an upgrade, dry, ends well" play --check -e linkhealth_package=/srv/linkhealth_9.deb
want "and upgrades nothing" says "^$version\$" inside dpkg-query -W -f='${Version}\n' linkhealth
want "an upgrade" play -e linkhealth_package=/srv/linkhealth_9.deb -e '{"linkhealth_config": {"listen": "127.0.0.1:9943", "dry_run": true}}'
want "is installed" says '^9.0-1$' inside dpkg-query -W -f='${Version}\n' linkhealth
want "and runs" test "$before" != "$(pid)" -a "$(pid)" != 0
want "an older package is refused" refuses 'later version' play "${changed[@]}"
want "and the newer one runs on" says '^active$' inside systemctl is-active linkhealthd

want "a removal, dry" play --check -e linkhealth_state=absent
want "removes nothing" test -x "$root/usr/bin/linkhealthd"
want "removed" play -e linkhealth_state=absent
want "the program is gone" gone /usr/bin/linkhealthd
want "state and configuration stay" test -e "$root/var/lib/linkhealth/linkhealth.db" -a -e "$root/etc/linkhealth/linkhealth.yaml"
want "then the older one is welcome" play "${changed[@]}"
want "and answers" says "^$version\$" inside dpkg-query -W -f='${Version}\n' linkhealth
want "removed with all of it" play -e linkhealth_state=absent -e linkhealth_purge=true
want "nothing is left" gone /usr/bin/linkhealthd /etc/linkhealth /var/lib/linkhealth /run/linkhealth
want "a second removal changes nothing" says 'changed=0 .*failed=0' play -e linkhealth_state=absent -e linkhealth_purge=true
exit $failed
