#!/usr/bin/env bash
# An administrator, a missing module, a busy and a hanging EEPROM: notices and unreadable sources, never a wrong alarm.
. "$(dirname "$0")/../lab.sh"
need_daemon
ports_up
past_boot
daemon_start
for i in 0 1 2 3; do eventually 40 "rxe$i/1 is healthy first" port_is rxe$i/1 "$clean"; done

ip link set so1 down
eventually 30 "so1 down: admin_down, a notice" port_is rxe1/1 "$(has_fault admin_down '.severity == "notice"')"
sleep 5   # time for a wrong alarm
want "so1 has no alarm" port_is rxe1/1 "$quiet"
want "its far end is down and not called admin_down" \
    port_is rxe0/1 '(.health != "healthy" and (.faults | all(.fault != "admin_down")))'
ip link set so1 up
eventually 60 "so1 up: healthy again" port_is rxe1/1 "$clean"

set_sim so3/module/present 0
set_sim so3/carrier 0
light so2 none
eventually 60 "module pulled: module_missing" port_is rxe3/1 "$(has_fault module_missing '.severity != "notice"')"
want "it leads" port_is rxe3/1 '.faults[0].fault == "module_missing"'
want "the other port of the pair is not called module_missing" port_is rxe2/1 '(.faults | all(.fault != "module_missing"))'
set_sim so3/module/present 1
light so2 -1.0dBm
set_sim so3/carrier 1
eventually 120 "module back: it closes" port_is rxe3/1 "$clean"
eventually 120 "and at the far end" port_is rxe2/1 "$clean"

# For an empty cage, mlx5 before 6.19 returns EIO and logs a line for each read.
looks() { cat $sim/so3/module/reads; }
looked() { local now; now=$(looks); echo "$before looks before, $now now"; [ "$now" -gt "$before" ]; }
no_reason=$(cat $sim/so3/ext_state)
set_sim so3/module/absent_errno 5
set_sim so3/ext_state 4   # ETHTOOL_LINK_EXT_STATE_NO_CABLE
set_sim so3/module/present 0
set_sim so3/carrier 0
light so2 none
eventually 60 "EIO and the driver's word for it: module_missing" port_is rxe3/1 "$(has_fault module_missing '.severity != "notice"')"
before=$(looks)
sleep 15
want "the empty cage is left alone ($before looks before, $(looks) now)" test "$(looks)" -eq "$before"
set_sim so3/module/present 1
set_sim so3/ext_state 0   # ETHTOOL_LINK_EXT_STATE_AUTONEG
eventually 20 "the driver says something else: it is looked at" looked
set_sim so3/ext_state "$no_reason"
set_sim so3/module/absent_errno 19
light so2 -1.0dBm
set_sim so3/carrier 1
eventually 120 "module back once more: it closes" port_is rxe3/1 "$clean"
eventually 120 "and at the far end" port_is rxe2/1 "$clean"

blind_only() { echo "($(has_fault monitor_blind) and (.faults | all(.fault == \"monitor_blind\")))"; }
set_sim so3/module/errno "all 16"
eventually 90 "EEPROM busy: monitor_blind and nothing else" port_is rxe3/1 "$(blind_only)"
want "its evidence names the module's reading" shows 'module|EEPROM|optic' lh explain rxe3/1
set_sim so3/module/errno "all 0"
eventually 120 "EEPROM readable: it closes" port_is rxe3/1 "$clean"

# The kernel reads the module with its network lock (RTNL) held, as with real drivers: everything that needs that lock waits.
set_sim so2/module/delay_ms 8000
lateness=$(watch_metrics highest '^linkhealth_loop_lateness_seconds ([0-9.e+-]+)$' 20)
note "largest linkhealth_loop_lateness_seconds in 20 s of hanging reads: ${lateness:-none}"
want "EEPROM hangs: the loop is never late (${lateness:-none} s)" awk -v late="${lateness:-99}" 'BEGIN {exit !(late < 0.5)}'
# A hung source is named while it is not read; the text contains read_patience_s of lab.yaml.
hung_is_named() {
    local page
    page=$(metrics) || return 1
    grep -E '^linkhealth_(gap|stuck_probes)' <<<"$page"
    grep -Eq '^linkhealth_stuck_probes [1-9]' <<<"$page" &&
        grep -Fxq 'linkhealth_gap{device="rxe2",port="1",probe="module",reason="no answer within 2 s"} 1' <<<"$page"
}
eventually 60 "EEPROM hangs: the metrics name the module's read" hung_is_named
eventually 60 "EEPROM hangs: linkhealth status names it" shows '[?] module: no answer within 2 s \(rxe2/1\)' lh status
stamp() { metric linkhealth_last_sample_timestamp_seconds; }
first=$(stamp)
sleep 3
want "samples go on" awk -v a="$first" -v b="$(stamp)" 'BEGIN {exit !(b > a)}'
sent() { metric 'linkhealth_raw_total\{[^}]*device="rxe0"[^}]*counter="sent_pkts"[^}]*\}' '?collect%5B%5D=counters'; }
first=$(sent)
want "traffic on another port" traffic rxe0 rxe1 100
grew() { local now; now=$(sent); echo "from $first to $now"; awk -v a="$first" -v b="$now" 'BEGIN {exit !(b > a)}'; }
eventually 10 "the counters of another port go on" grew
eventually 90 "EEPROM hangs: monitor_blind and nothing else" port_is rxe2/1 "$(blind_only)"
want "the other ports are not blind" port_is rxe0/1 "$clean"
set_sim so2/module/delay_ms 0
eventually 120 "EEPROM answers: it closes" port_is rxe2/1 "$clean"
finish
