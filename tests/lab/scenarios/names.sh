#!/usr/bin/env bash
# The first name stands: a lane whose light goes with its errors is never called a bad module, and a reason that the driver
# states opens with the hold of a link that is down.
. "$(dirname "$0")/../lab.sh"
need_daemon
ports_up
past_boot
fec_errors so0 1e-12
seen=$tmp/names.jsonl
rm -f "$seen"
daemon_start --record "$seen"
for i in 0 2 3; do eventually 40 "rxe$i/1 is healthy first" port_is rxe$i/1 "$clean"; done
eventually 120 "the daemon knows what is normal for rxe0/1" port_is rxe0/1 "$knows_normal"

# names PORT SECONDS: every name that leads the port's report in that time, once each
names() {
    local end=$((SECONDS + $2))
    while [ $SECONDS -lt $end ]; do
        lh status --json | jq -r --arg port "$1" '.ports[] | select(.port == $port) | .faults[0] // empty | select(.state != "closed") | .fault'
        sleep 0.5
    done | sort -u
}
# The errors are counted at once, the light of the lane is read with the module: the light before the onset is no evidence.
fec_errors so0 3e-5
sleep 2
pages rx so0 1 -8.0dBm
seen_names=$(names rxe0/1 90)
note "names in 90 s: ${seen_names//$'\n'/ }"
want "errors, then 6 dB less on lane 1: dirty_connector is the only name" test "$seen_names" = dirty_connector
pages rx so0 1 -2.0dBm
fec_errors so0 1e-12
eventually 120 "cleaned: it closes" port_is rxe0/1 "$clean"

# ETHTOOL_LINK_EXT_STATE_AUTONEG, ETHTOOL_LINK_EXT_SUBSTATE_AN_FEC_MISMATCH_DURING_OVERRIDE
no_reason=$(cat $sim/so2/ext_state)
start=$EPOCHREALTIME
set_sim so2/ext_state 0
set_sim so2/ext_substate 5
set_sim so2/carrier 0
eventually 60 "FEC mismatch during override: settings_mismatch opens" \
    port_is rxe2/1 '(.faults | any(.state == "open" and .fault == "settings_mismatch"))'
note "after $(since "$start") ms; its name: $(lh status --json | jq -r '.ports[] | select(.port == "rxe2/1") | .faults[0] | "\(.fault) (\(.end), \(.confidence))"')"
want "explain has the driver's words" shows 'FEC mismatch during override' lh explain rxe2/1
want "and nothing else is named" port_is rxe2/1 '(.faults | all(.fault == "settings_mismatch" or .state == "closed"))'
set_sim so2/ext_state "$no_reason"
set_sim so2/ext_substate -1
set_sim so2/carrier 1
eventually 120 "settings mended: it closes" port_is rxe2/1 "$clean"
finish
