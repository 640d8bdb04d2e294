#!/usr/bin/env bash
# The guest's part of ./run lab. Each step prints one line.
. "$(dirname "$0")/../lab.sh"
need_daemon
say() { printf '\n▶ %s\n' "$*"; }
show() { echo "\$ linkhealth $*"; lh "$@" || true; }
# until SECONDS COMMAND...: waits for success; reports a timeout
until_true() {
    local start=$EPOCHREALTIME seconds=$1
    shift
    until "$@" >/dev/null 2>&1; do
        (($(since "$start") < seconds * 1000)) || { echo "(not within $seconds s)"; failed=1; return; }
        sleep 0.2
    done
    echo "(after $(($(since "$start") / 1000)) s)"
}
say "Kernel $(uname -r): two pairs of ports on simulated optics, an RDMA device (rdma_rxe) on each"
ports_up
fec_errors so0 1e-12
rdma link
say "RDMA traffic between rxe0 and rxe1, over the simulated fibre"
traffic rxe0 rxe1 200 | tail -n 2
say "The daemon starts, with the lab's short times"
"$bin/linkhealthd" --config "$lab/lab.yaml" --listen "$http" --socket "$socket" --state-dir "$tmp/state" >"$tmp/linkhealthd.log" 2>&1 &
daemon=$!
until_true 40 port_is rxe0/1 "$clean"
show status
say "It learns what is normal for this link"
until_true 120 port_is rxe0/1 "$knows_normal"
say "Dust on the connector of so0: lane 2 now receives 6 dB less, and FEC corrects 3e-5 of the bits"
pages rx so0 2 -8.0dBm
fec_errors so0 3e-5
until_true 180 port_is rxe0/1 "$(has_fault dirty_connector)"
show status
show explain rxe0/1
say "The connector is cleaned: light and errors are as before"
pages rx so0 2 -2.0dBm
fec_errors so0 1e-12
until_true 180 port_is rxe0/1 '(.faults | all(.state == "proving" or .state == "closed"))'
show status
say "The repair is proved"
until_true 180 port_is rxe0/1 "$clean"
show status
kill "$daemon"
wait "$daemon"
daemon=''
for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null; done
wait 2>/dev/null
ports_down
[ "$failed" -eq 0 ]
