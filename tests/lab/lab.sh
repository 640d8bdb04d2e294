# Helpers for the scripts that run inside the lab's machine; sourced. Prints "ok NAME" and "FAIL NAME" lines.
# shellcheck shell=bash
lab=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
bin=${LINKHEALTH_BIN:-$lab/../../build/release/bin}
sim=/sys/kernel/debug/simoptics
tmp=/tmp/lab
http=127.0.0.1:9960
prometheus=127.0.0.1:9961
socket=/run/linkhealth-lab.sock
scenario=$(basename "$0" .sh)
passed=0 failed=0 daemon='' pids=()
mkdir -p "$tmp"

note() { echo "#   $*"; }
ok() { echo "ok   $scenario: $*"; passed=$((passed + 1)); }
bad() {
    echo "FAIL $scenario: $1"
    failed=$((failed + 1))
    [ -z "${2:-}" ] || head -n 25 <<<"${2:0:2500}" | sed 's/^/     | /'
}
# want NAME COMMAND...: the command succeeds
want() {
    local name=$1 output
    shift
    if output=$("$@" 2>&1); then ok "$name"; else bad "$name" "$output"; return 1; fi
}
# eventually SECONDS NAME COMMAND...: the command succeeds before the deadline; retried until then
eventually() {
    local seconds=$1 name=$2 start=$EPOCHREALTIME output
    shift 2
    while :; do
        output=$("$@" 2>&1) && break
        if (($(since "$start") > seconds * 1000)); then bad "$name (not in $seconds s)" "$output"; return 1; fi
        sleep 0.1
    done
    ok "$name ($(since "$start") ms)"
}
# since START: milliseconds since an EPOCHREALTIME
since() { local now=$EPOCHREALTIME; echo $(((${now/./} - ${1/./}) / 1000)); }
# shows REGEX COMMAND...: the command's output (stdout and stderr) matches; prints it
shows() {
    local regex=$1 output
    shift
    output=$("$@" 2>&1)
    printf '%s\n' "$output"
    grep -Eq -- "$regex" <<<"$output"
}
finish() {
    local pid
    [ -z "$daemon" ] || daemon_stop
    for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null; done
    wait 2>/dev/null
    ports_down
    echo "$scenario: $passed passed, $failed failed"
    [ "$failed" -eq 0 ]
    exit
}
need_daemon() {
    [ -x "$bin/linkhealthd" ] && [ -x "$bin/linkhealth" ] && return
    echo "SKIP $scenario: no linkhealthd and linkhealth in $bin (cmake --build --preset release)"
    exit 0
}

# --- ports: so0-so1 (100G-SR4, 100 Gb/s) and so2-so3 (400G-DR4, 400 Gb/s), with rxe0 to rxe3 on top
pages() { python3 "$lab/pages.py" "$@"; }
set_sim() { echo "$2" >"$sim/$1"; }
ports_up() {
    insmod "$LAB/simoptics/simoptics.ko" pairs=2 || { bad "simoptics loads"; finish; }
    pages make so0 sr4 LAB0000 so1 sr4 LAB0001 so2 dr4 LAB0002 so3 dr4 LAB0003 || { bad "modules have pages"; finish; }
    local i
    for i in 2 3; do set_sim so$i/speed 400000; set_sim so$i/lanes 8; done
    for i in 0 1 2 3; do
        ip link set so$i up
        rdma link add rxe$i type rxe netdev so$i || bad "rxe$i on so$i"
    done
    for i in {1..50}; do [ -n "$(ip -6 -o addr show tentative)" ] || break; sleep 0.1; done   # RoCE needs the addresses
}
ports_down() {
    local i
    [ -d "$sim" ] || return 0
    for i in 0 1 2 3; do rdma link delete rxe$i 2>/dev/null; done
    rmmod simoptics
}
# light_of PORT POWER: all lanes of a port's module
light() { pages rx "$1" all "$2"; }
# pull A B / plug A B: the fibre between two ports
pull() { set_sim "$1/carrier" 0; light "$1" none; light "$2" none; }
plug() { light "$1" -2.0dBm; light "$2" -2.0dBm; set_sim "$1/carrier" 1; }
# fec_errors PORT BER: from now on the receiver corrects bits at this ratio, and counts blocks accordingly. Bits per second are
# BER times the line rate (103.125 Gb/s); nearly every wrong bit is in a separate block.
fec_errors() {
    echo "$2" >"$tmp/fec.$1"
    [ ! -e "$tmp/fec.$1.running" ] || return 0
    : >"$tmp/fec.$1.running"
    (
        trap 'rm -f "$tmp/fec.$1.running"' EXIT
        last=$EPOCHREALTIME
        while sleep 0.2 && [ -d "$sim/$1" ]; do
            now=$EPOCHREALTIME
            bits=$(awk -v ber="$(cat "$tmp/fec.$1")" -v us=$((${now/./} - ${last/./})) 'BEGIN{printf "%d", ber * 103125 * us}')
            last=$now
            echo "+$bits" >"$sim/$1/fec/corrected_bits/total"
            echo "+$((bits * 93 / 100))" >"$sim/$1/fec/corrected_blocks/total"
        done
    ) 2>/dev/null &
    pids+=($!)
}
# traffic FROM TO [COUNT]: round trips over the wire between two RDMA devices
traffic() {
    local server status
    timeout 40 ibv_rc_pingpong -d "$2" -g 0 -n "${3:-200}" >"$tmp/server" 2>&1 &
    server=$!
    for _ in {1..50}; do ss -ltn | grep -q ':18515 ' && break; sleep 0.1; done
    timeout 30 ibv_rc_pingpong -d "$1" -g 0 -n "${3:-200}" localhost 2>&1
    status=$?
    kill "$server" 2>/dev/null
    wait "$server" 2>/dev/null
    return $status
}

# network_up: configures the network to the host, if run.sh --forward created one; false without it
network_up() {
    [ -n "${LAB_FORWARD:-}" ] || return 1
    modprobe virtio_net || return 1
    udevadm settle --timeout=10 2>/dev/null   # wait for interface names
    wire=$(for net in /sys/class/net/*; do [[ $(readlink "$net/device/driver") != */virtio_net ]] || basename "$net"; done)
    ip addr add 10.0.2.15/24 dev "$wire" && ip link set "$wire" up
}

# --- the programs
# past_boot: for four minutes after a boot a link that is down may still be coming up, and the daemon waits for it (kBootS).
past_boot() {
    local left=$((245 - $(cut -d. -f1 /proc/uptime)))
    ((left <= 0)) || { note "waits $left s for the end of the boot"; sleep "$left"; }
}
lh() { timeout -k 2 20 "$bin/linkhealth" --socket "$socket" "$@"; }
# daemon_start OPTIONS...: with further options of linkhealthd
daemon_start() {
    rm -rf "$tmp/state"
    mkdir -p "$tmp/state"
    "$bin/linkhealthd" --config "$lab/lab.yaml" --listen "$http" --socket "$socket" --state-dir "$tmp/state" \
        --log-level info "$@" >"$tmp/linkhealthd.log" 2>&1 &
    daemon=$!
    eventually 30 "the daemon answers" lh status || { tail -n 20 "$tmp/linkhealthd.log"; finish; }
}
# The daemon's sanitizer reports, or the end of its log.
last_words() {
    grep -m 1 -A 40 'ERROR: [A-Za-z]*Sanitizer\|WARNING: ThreadSanitizer\|runtime error:' "$tmp/linkhealthd.log" || tail -n 20 "$tmp/linkhealthd.log"
}
daemon_stop() {
    local pid=$daemon status
    daemon=''
    kill -TERM "$pid"
    for _ in {1..100}; do kill -0 "$pid" 2>/dev/null || break; sleep 0.1; done
    kill -KILL "$pid" 2>/dev/null
    wait "$pid"
    status=$?
    if [ "$status" -eq 0 ]; then ok "the daemon ends cleanly"; else bad "the daemon ends cleanly (exit $status)" "$(last_words)"; fi
}
# port_is PORT EXPRESSION: jq on the port's part of the report; prints a summary of that part
port_is() {
    local report
    report=$(lh status --json) || { echo "$report"; return 1; }
    jq -c --arg port "$1" '.ports[] | select(.port == $port) | {port, health, faults}' <<<"$report"
    jq -e --arg port "$1" ".ports[] | select(.port == \$port) | $2" <<<"$report" >/dev/null
}
# has_fault FAULT [EXPRESSION]: a jq expression for port_is: this fault is open
has_fault() { echo "(.faults | any(.fault == \"$1\" and .state != \"closed\" and (${2:-true})))"; }
quiet='(.faults | all(.state == "closed" or .severity == "notice"))'
# faults are judged against the baseline: a port that the daemon has just found has none
knows_normal='(.figures.pre_fec_ber_normal != null and .figures.rx_power_lost_db != null)'
knows_far_normal=".figures.far_rx_power_lost_db != null and .figures.far_tx_power_lost_db != null"
clean='((.faults | all(.state == "closed")) and .health == "healthy")'
metrics() { curl -fsS --max-time 5 "http://$http/metrics${1:-}"; }
# metric REGEX: value of the first series that matches
metric() { metrics "${2:-}" | sed -nE "s/^$1 ([^ ]+).*/\1/p" | head -n 1; }
watch_metrics() { python3 "$lab/metrics.py" "$@" --url "http://$http/metrics"; }

# --- a real Prometheus that scrapes the daemon each second
prometheus_start() {
    cat >"$tmp/prometheus.yml" <<YAML
global: {scrape_interval: 1s, scrape_timeout: 1s}
scrape_configs:
  - job_name: linkhealth
    static_configs: [{targets: ["$http"]}]
YAML
    prometheus --config.file="$tmp/prometheus.yml" --storage.tsdb.path="$tmp/tsdb" --storage.tsdb.retention.time=1h \
        --web.listen-address="$prometheus" --log.level=warn >"$tmp/prometheus.log" 2>&1 &
    pids+=($!)
}
# prometheus_has QUERY: the query's answer is not empty; prints it
prometheus_has() {
    local answer
    answer=$(curl -fsS --max-time 5 --get --data-urlencode "query=$1" "http://$prometheus/api/v1/query") || return 1
    echo "$answer"
    jq -e '.status == "success" and (.data.result | length > 0)' <<<"$answer" >/dev/null
}
