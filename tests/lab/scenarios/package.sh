#!/usr/bin/env bash
# The life of the .deb on a real kernel with a real systemd: installed, started by the package, an upgrade that keeps the
# configuration and an open fault, a downgrade refused, removed, purged. LINKHEALTH_BIN/../packages has the .deb.
. "$(dirname "$0")/../lab.sh"
need_daemon
package=$(compgen -G "$bin/../packages/linkhealth_*_amd64.deb" | head -n 1)
[ -n "$package" ] || { echo "SKIP $scenario: no .deb in $bin/../packages (packaging/package build/release)"; exit 0; }
version=$(dpkg-deb -f "$package" Version)
property() { systemctl show -P "$1" linkhealthd; }
lh() { timeout -k 2 20 linkhealth "$@"; }
config=/etc/linkhealth/linkhealth.yaml
db=/var/lib/linkhealth/linkhealth.db
install_deb() { timeout 400 dpkg -i --force-confold "$@"; }
running() { [ "$(property ActiveState)" = active ] && lh status; }

# The machine's / is that of the host, which may be a container that starts no services, or have the programs of an earlier scenario.
# man-db's index of all pages of the host takes minutes here.
rm -rf /var/lib/man-db/auto-update
rm -rf /usr/sbin/policy-rc.d /usr/bin/linkhealth /usr/bin/linkhealthd /etc/linkhealth /etc/systemd/system/linkhealthd.*
unmet() { dpkg-deb -f "$package" Depends | tr ',' '\n' | sed 's/(.*//; s/|.*//' | while read -r name; do
    dpkg-query -W -f='${Status}' "$name" 2>/dev/null | grep -q ' installed$' || echo "$name"; done; }
[ -z "$(unmet)" ] || { echo "SKIP $scenario: not installed on the host: $(unmet | paste -sd' ')"; exit 0; }
ports_up

want "dpkg -i" install_deb "$package"
want "dpkg finds every file as it was packed" test -z "$(dpkg --verify linkhealth)"
eventually 30 "the package started it" running
want "it runs as its user, with one capability" shows '^linkhealth 0000000000001000$' \
    sh -c "echo \$(stat -c %U /proc/$(property MainPID)) \$(sed -n 's/^CapEff:.//p' /proc/$(property MainPID)/status)"
want "it will start at the next boot" shows '^enabled$' systemctl is-enabled linkhealthd
want "umad is for its group" shows '^linkhealth 660$' stat -c '%G %a' /dev/infiniband/umad0
want "man finds its pages" shows linkhealthd man -w linkhealthd linkhealth
eventually 90 "rxe0/1 is healthy, with the configuration of the package" port_is rxe0/1 '.health == "healthy"'

# An administrator's change: the lab's short times.
install -m 640 -g linkhealth "$lab/lab.yaml" "$config"
want "systemctl restart" timeout 60 systemctl restart linkhealthd
eventually 120 "the daemon knows what is normal for rxe0/1" port_is rxe0/1 '(.figures.rx_power_lost_db != null)'
pages rx so0 2 -8.0dBm
fec_errors so0 3e-5
eventually 120 "a dirty connector is found" port_is rxe0/1 "$(has_fault dirty_connector)"
id=$(lh status --json | jq -r '.ports[] | select(.port == "rxe0/1") | .faults[] | select(.fault == "dirty_connector") | .id')
want "the fault is acknowledged" lh ack rxe0/1 --by ann --reason INC-1
ours='.id == "'$id'" and .state == "acknowledged" and (.acknowledged.by | startswith("ann"))'

want "another version as .deb" "$lab/../packaging/renumbered" "$package" 9.0-1 "$tmp/newer.deb"
pid=$(property MainPID)
want "upgraded" install_deb "$tmp/newer.deb"
want "the configuration is still the administrator's" cmp "$lab/lab.yaml" "$config"
restarted() { running && [ "$(property MainPID)" != "$pid" ]; }
eventually 30 "the upgrade restarted it" restarted
eventually 30 "it remembers the open fault and who acknowledged it" port_is rxe0/1 "any(.faults[]; $ours)"

want "a downgrade is refused in one sentence" shows "^linkhealth: 9.0-1 is installed, and the older $version may not read its state" \
    sh -c "! dpkg -i '$package'"
want "and the newer one still runs" running
want "its version is still there" shows '^9.0-1$' dpkg-query -W -f='${Version}\n' linkhealth

want "removed" timeout 400 dpkg -r linkhealth
gone() { [ "$(property ActiveState)" != active ] && ! pgrep -x linkhealthd && [ ! -e /usr/bin/linkhealthd ]; }
want "it was stopped, and the program is gone" gone
want "state and configuration stay" test -s "$db" -a -s "$config"
want "the older version is welcome now" install_deb "$package"
eventually 30 "and runs" running
eventually 30 "with the fault of before" port_is rxe0/1 "any(.faults[]; $ours)"
want "purged" timeout 400 dpkg -P linkhealth
want "nothing is left" test ! -e /var/lib/linkhealth -a ! -e /etc/linkhealth -a ! -e /usr/bin/linkhealth
want "no process either" sh -c '! pgrep -x linkhealthd'
finish
