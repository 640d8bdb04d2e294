#!/usr/bin/env bash
# The project's unit under a real systemd: starts, notifies, recovers from SIGKILL with its state, stops cleanly; events
# are in the journal.
. "$(dirname "$0")/../lab.sh"
need_daemon
unit=$lab/../../systemd/linkhealthd.service
[ -e "$unit" ] || { echo "SKIP $scenario: no systemd/linkhealthd.service"; exit 0; }
property() { systemctl show -P "$1" linkhealthd; }
lh() { timeout -k 2 20 /usr/bin/linkhealth "$@"; }

install -m 755 "$bin/linkhealthd" "$bin/linkhealth" /usr/bin/
# The user, and umad for its group, as the package creates them.
install -D -m 644 "$lab/../../systemd/linkhealth.sysusers" /usr/lib/sysusers.d/linkhealth.conf
install -D -m 644 "$lab/../../systemd/60-linkhealth.rules" /usr/lib/udev/rules.d/60-linkhealth.rules
want "the user is made" systemd-sysusers linkhealth.conf
install -D -m 644 "$lab/lab.yaml" /etc/linkhealth/linkhealth.yaml
install -m 644 "$unit" /etc/systemd/system/
[ ! -e "$lab/../../systemd/linkhealth.catalog" ] || install -m 644 "$lab/../../systemd/linkhealth.catalog" /usr/lib/systemd/catalog/
# A file in node_exporter's textfile directory, which the unit's sandbox forbids without the drop-in.
prom=/var/lib/prometheus/node-exporter/linkhealth.prom
install -d -g linkhealth -m 2775 "${prom%/*}"
echo "textfile: {path: $prom, period_s: 1}" >>/etc/linkhealth/linkhealth.yaml
install -D -m 644 "$lab/../../systemd/examples/linkhealthd-textfile.conf" /etc/systemd/system/linkhealthd.service.d/textfile.conf
ports_up
udevadm control --reload && udevadm trigger --action=change --subsystem-match=infiniband_mad && udevadm settle
want "umad is for the group" shows '^linkhealth 660$' stat -c '%G %a' /dev/infiniband/umad0
fec_errors so0 1e-12
# A real lldpd, and a neighbour on the other end of so0 that announces itself.
lldp=''
if command -v lldpd >/dev/null && getent group _lldpd >/dev/null; then
    lldp=1
    lldpd -d -I so0 >"$tmp/lldpd.log" 2>&1 &
    pids+=($!)
    eventually 20 "lldpd answers" lldpcli show configuration || lldp=''
    install -D -m 644 "$lab/../../systemd/examples/linkhealthd-lldp.conf" /etc/systemd/system/linkhealthd.service.d/lldp.conf
    while sleep 1; do python3 "$lab/lldp_frame.py" so1 leaf-12 Ethernet17/1; done >"$tmp/frames.log" 2>&1 &
    pids+=($!)
else
    echo "SKIP $scenario: far end by LLDP: no lldpd here (apt-get install lldpd)"
fi
# The devices that the unit may open, opened with its permissions by another program.
mkdir -p /etc/systemd/system/linkhealthd.service.d
cat >/etc/systemd/system/linkhealthd.service.d/devices.conf <<'UNIT'
[Service]
ExecStartPre=/bin/sh -c 'true <>/dev/infiniband/uverbs0 && true <>/dev/infiniband/umad0'
ExecStartPre=/bin/sh -c '! true </dev/kmsg && test ! -e /dev/cpu_dma_latency'
UNIT
systemctl daemon-reload
want "the unit has no error" systemd-analyze verify --man=no /etc/systemd/system/linkhealthd.service
start=$EPOCHREALTIME
want "systemctl start returns when the daemon has notified" timeout 60 systemctl start linkhealthd
note "started and notified in $(since "$start") ms"
want "it is active" shows '^active$' property ActiveState
want "Type=notify with a watchdog" test "$(property Type)" = notify -a "$(property WatchdogUSec)" != 0
eventually 40 "rxe0/1 is healthy" port_is rxe0/1 "$clean"
want "the state directory is there" test -d /var/lib/linkhealth
eventually 20 "the textfile is written, with the drop-in for its folder" grep -q '^linkhealth_build_info' "$prom"

want "it runs as its user, with one capability" shows '^linkhealth 0000000000001000$' \
    sh -c "echo \$(stat -c %U /proc/$(property MainPID)) \$(sed -n 's/^CapEff:.//p' /proc/$(property MainPID)/status)"
want "its files are not for every user" test -z "$(find /var/lib/linkhealth /run/linkhealth -mindepth 1 -perm /007 ! -path '*/import*')"
want "a member of the group reads" runuser -u nobody -g linkhealth -- linkhealth status
want "others do not" sh -c '! runuser -u nobody -- linkhealth status'
# The daemon can read the same inside the unit's sandbox as outside.
doctor() { lh doctor --json >"$tmp/doctor.json"; jq -c '[.sources[], (.ports[] | select(.port == "rxe0/1") | .sources[])] | map({(.probe): .state}) | add' "$tmp/doctor.json"; }
# sees PROBE...: all of these are readable (for rxe0/1 or the node)
sees() {
    local all probe
    all=$(doctor)
    for probe in "$@"; do jq -e --arg probe "$probe" '.[$probe] == "seen"' <<<"$all" >/dev/null || { echo "$probe: $all"; return 1; }; done
}
eventually 60 "doctor: sources that this kernel has are seen" sees inventory link_events device_events kernel_log link \
    hw_counters verbs_events netdev_stats link_modes fec ethtool_stats module
if [ -n "$lldp" ]; then
    eventually 90 "doctor: peer_lldp is seen, with the drop-in for lldpd's group" sees peer_lldp
    want "explain names the far end" shows 'leaf-12' lh explain rxe0/1
fi
lh doctor >"$tmp/doctor" 2>&1
sed 's/^/#   /' "$tmp/doctor"
refused() { jq -c '[.sources[], .ports[].sources[]][] | select((.why // "") | test("not permitted|denied"; "i"))' "$tmp/doctor.json"; }
want "nothing is hidden for want of rights" test -z "$(refused)"
noise() { journalctl -q -u linkhealthd -o cat --no-pager -p warning | grep -v "peer_lldp\|the far end's name" || true; }
want "the journal has no warning of it" test -z "$(noise)"
eventually 120 "the daemon knows what is normal for rxe0/1" port_is rxe0/1 "$knows_normal"

pages rx so0 2 -8.0dBm
fec_errors so0 3e-5
eventually 90 "a dirty connector is found" port_is rxe0/1 "$(has_fault dirty_connector)"
entry() { journalctl -q -o json --no-pager LINKHEALTH_FAULT=dirty_connector; }
in_journal() { entry; entry | jq -es 'any(.[]; .LINKHEALTH_EVENT == "opened" and .LINKHEALTH_PORT == "rxe0/1" and (.MESSAGE | test("lane 2")))' >/dev/null; }
eventually 15 "the journal has the event with its fields" in_journal
note "$(journalctl -q -o cat --no-pager LINKHEALTH_FAULT=dirty_connector | head -n 1)"
id=$(lh status --json | jq -r '.ports[] | select(.port == "rxe0/1") | .faults[] | select(.fault == "dirty_connector") | .id')

pid=$(property MainPID)
systemctl kill -s KILL linkhealthd
revived() { property MainPID; [ "$(property ActiveState)" = active ] && [ "$(property MainPID)" != "$pid" ] && [ "$(property MainPID)" != 0 ]; }
eventually 30 "killed with SIGKILL, it comes back" revived
want "systemd counted one restart" test "$(property NRestarts)" = 1
eventually 30 "it remembers the open fault, with the same id" port_is rxe0/1 "any(.faults[]; .id == \"$id\")"

start=$EPOCHREALTIME
want "systemctl stop" timeout 30 systemctl stop linkhealthd
note "stopped in $(since "$start") ms"
want "the stop is clean" test "$(property Result)" = success -a "$(property ActiveState)" = inactive
want "the socket is gone" test ! -S /run/linkhealth/linkhealth.sock
want "so is the textfile" test ! -e "$prom"
want "no watchdog, no crash in the journal" shows '^0$' \
    sh -c 'journalctl -q -u linkhealthd -o cat --no-pager | grep -c -E "Watchdog timeout|core-dump|SIGABRT|SIGSEGV"'
[ "$failed" -eq 0 ] || journalctl -q -u linkhealthd -o cat --no-pager | tail -n 20 | sed 's/^/     | /'
finish
