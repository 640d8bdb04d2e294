#!/usr/bin/env bash
# The project's unit under a real systemd: starts, notifies, comes back from SIGKILL with its memory, stops cleanly; events
# are in the journal.
. "$(dirname "$0")/../lab.sh"
need_daemon
unit=$lab/../../systemd/linkhealthd.service
[ -e "$unit" ] || { echo "SKIP $scenario: no systemd/linkhealthd.service"; exit 0; }
property() { systemctl show -P "$1" linkhealthd; }
lh() { timeout -k 2 20 /usr/bin/linkhealth "$@"; }

install -m 755 "$bin/linkhealthd" "$bin/linkhealth" /usr/bin/
install -D -m 644 "$lab/lab.yaml" /etc/linkhealth/linkhealth.yaml
install -m 644 "$unit" /etc/systemd/system/
[ ! -e "$lab/../../systemd/linkhealth.catalog" ] || install -m 644 "$lab/../../systemd/linkhealth.catalog" /usr/lib/systemd/catalog/
ports_up
fec_errors so0 1e-12
systemctl daemon-reload
want "the unit has no error" systemd-analyze verify --man=no /etc/systemd/system/linkhealthd.service
start=$EPOCHREALTIME
want "systemctl start returns when the daemon has notified" timeout 60 systemctl start linkhealthd
note "started and notified in $(since "$start") ms"
want "it is active" shows '^active$' property ActiveState
want "Type=notify with a watchdog" test "$(property Type)" = notify -a "$(property WatchdogUSec)" != 0
eventually 40 "rxe0/1 is healthy" port_is rxe0/1 "$clean"
want "the state directory is there" test -d /var/lib/linkhealth
sleep 12   # a past to compare with

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
want "no watchdog, no crash in the journal" shows '^0$' \
    sh -c 'journalctl -q -u linkhealthd -o cat --no-pager | grep -c -E "Watchdog timeout|core-dump|SIGABRT|SIGSEGV"'
[ "$failed" -eq 0 ] || journalctl -q -u linkhealthd -o cat --no-pager | tail -n 20 | sed 's/^/     | /'
finish
