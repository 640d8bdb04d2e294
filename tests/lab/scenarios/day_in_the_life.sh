#!/usr/bin/env bash
# A link's bad day, from end to end, under systemd: dust on a connector, one journal entry, explain, ack, ticket, SIGKILL, the
# technician cleans, verify passes, the fault closes, and the history has it all.
# With a browser at the daemon's page (tests/lab/day.py) each stage waits until it has been looked at.
. "$(dirname "$0")/../lab.sh"
need_daemon
root=$lab/../..
port=rxe0/1
http=127.0.0.1:9942
day=/run/lab/out/day.txt   # commands and their output, as a transcript
: >"$day"
property() { systemctl show -P "$1" linkhealthd; }
lh() { timeout -k 2 "${patience:-20}" /usr/bin/linkhealth "$@"; }

# --- the people: what they type and what they read
# types WORDS...: runs linkhealth; its output is in $tmp/said and its exit code in $tmp/code
types() {
    printf '\n$ linkhealth' >>"$day"
    printf ' %s' "${@@Q}" | sed -E "s/'([A-Za-z0-9_.,:\/=+-]+)'/\1/g" >>"$day"
    echo >>"$day"
    lh "$@" >"$tmp/said" 2>&1
    echo $? >"$tmp/code"
    cat "$tmp/said" >>"$day"
}
said() { cat "$tmp/said"; grep -Eq -- "$1" "$tmp/said"; }
ended() { echo "exit code $(cat "$tmp/code")"; cat "$tmp/said"; [ "$(cat "$tmp/code")" = "$1" ]; }
# stage NAME: waits for the browser, if there is one, to look at the page
stage() {
    [ -e /run/lab/out/watched ] || return 0
    : >"/run/lab/out/stage.$1"
    eventually 300 "the browser has seen: $1" test -e "/run/lab/out/seen.$1"
}

# --- the journal
# journal_has KIND COUNT: this number of entries of that kind, about the port
journal_has() {
    [ "$(journalctl -q -o json --no-pager LINKHEALTH_PORT="$port" | jq -r .LINKHEALTH_EVENT | grep -cx "$1")" = "$2" ]
}
# events_are EXPRESSION: jq on the events of the port by the HTTP API, oldest first
events_are() {
    curl -fsS --max-time 5 "http://$http/api/v1/events?limit=1000" |
        jq -c --arg port "$port" '[.events[] | select(.port == $port)] | sort_by(.at)' >"$tmp/events"
    jq -c '.[] | [.event, .fault.fault, .at, .fault.id, .fault.state]' "$tmp/events"
    jq -e "$1" "$tmp/events" >/dev/null
}

# --- the site: one node with the shipped unit, a plan with both ends, a switch that reports its side
install -m 755 "$bin/linkhealthd" "$bin/linkhealth" /usr/bin/
install -D -m 644 "$root/systemd/linkhealth.sysusers" /usr/lib/sysusers.d/linkhealth.conf
want "the user is made" systemd-sysusers linkhealth.conf
install -m 644 "$root/systemd/linkhealthd.service" /etc/systemd/system/
mkdir -p /etc/linkhealth
listen=127.0.0.1:9942
if network_up; then listen=0.0.0.0:9942; fi
{
    # The error ratio is a median of intervals of some ten seconds: a repair shows in it after half a minute or more. A new
    # daemon needs the same time until it has read everything.
    sed -e '/^diagnosis:/a\  ber_window_s: 20' -e '/^  proof_s:/s/:.*/: 60/' -e '/^  rival_hold_s:/s/:.*/: 60/' -e '/^  quiet_s:/s/:.*/: 20/' "$lab/lab.yaml"
    cat <<YAML
peers: {lldp: 0}
listen: $listen
node: gpu-0417
site: {pod: a, row: "4", rack: r12, u: "23"}
ports:
  rxe0/1: {speed_mbps: 100000, peer: {system: leaf-12, port: Ethernet17/1, rack: r40, u: "38"}}
  rxe1/1: {exempt: plays the switch's end}
YAML
} >/etc/linkhealth/linkhealth.yaml
ports_up
fec_errors so0 1e-12
# The switch's telemetry about the module at the other end: it sends and receives normally.
switch_tells() {
    mkdir -p /run/linkhealth/import
    jq -nc --arg at "$(date -u +%Y-%m-%dT%H:%M:%SZ)" '{schema: "linkhealth.import/1", at: $at, valid_for_s: 60, ports: {"rxe0/1":
        {peer: {source: "telemetry", system: "leaf-12", port: "Ethernet17/1", module: {kind: "optical", vendor: "LABOPTICS",
            part_number: "QSFP-100G-SR4", serial: "LAB0001", lanes: [range(4) | {rx_power_mw: 0.63, tx_power_mw: 0.91}]}}}}}' \
        >/run/linkhealth/import/.new && mv /run/linkhealth/import/.new /run/linkhealth/import/leaf-12.json
}
while sleep 2; do [ ! -d /run/linkhealth ] || switch_tells; done >"$tmp/switch.log" 2>&1 &
pids+=($!)
systemctl daemon-reload
want "systemctl start" timeout 60 systemctl start linkhealthd
eventually 90 "$port is healthy" port_is "$port" "$clean"
eventually 60 "the switch's side is known" port_is "$port" '.now.peer.module.serial == "LAB0001"'
want "no event is in the journal" journal_has opened 0
stage healthy
eventually 240 "the daemon knows what is normal for $port, at both ends" port_is "$port" "$knows_normal and $knows_far_normal"
want "an orderly restart, as of an upgrade" timeout 90 systemctl restart linkhealthd
eventually 90 "$port is healthy again, and its normal values are known as before" port_is "$port" "$clean and $knows_normal and $knows_far_normal and .now.module.serial == \"LAB0000\" and .now.peer.module.serial == \"LAB0001\""

# --- the link goes bad
pages rx so0 2 -8.0dBm
fec_errors so0 3e-5
eventually 180 "a dirty connector is found" port_is "$port" "$(has_fault dirty_connector)"
id=$(lh status --json | jq -r --arg port "$port" '.ports[] | select(.port == $port) | .faults[0].id')
eventually 30 "the journal has its opening" journal_has opened 1
stage faulty

# --- the on-call engineer
types status --problems
want "status --problems: this port, and only it" said 'rxe0/1.*dirty connector'
want "status --problems: no healthy port among them" sh -c "! grep -q 'rxe2/1' '$tmp/said'"
types explain "$port"
want "explain: the verdict" said 'Dirty connector.*lane 2'
want "explain: what it is compared with" said '-8\.0 dBm, [56]\.[0-9] dB below'
want "explain: the first step" said '1 .*clean'
want "explain: the far end" said 'leaf-12 Ethernet17/1'
types verify "$port" --least 2s
want "verify says that it is not repaired" ended 1
want "and why" said 'FAIL.*dirty connector still shows'
types ack "$port" --by ann --reason 'ticket 4711' --for 2h
want "ack is taken" ended 0
is_acknowledged="any(.faults[]; .id == \"$id\" and .state == \"acknowledged\" and .acknowledged.by == \"ann (as root)\" and
    .acknowledged.reason == \"ticket 4711\")"
eventually 40 "the fault is acknowledged" port_is "$port" "$is_acknowledged"
types ack "$port" --by bob
want "a second ack is told who has it" ended 2
want "by name" said 'ann'
types explain "$port"
want "explain: acknowledged, by whom and why" said 'ann.*ticket 4711'
types ticket "$port" --json
jq . "$tmp/said" >"$tmp/ticket" 2>&1
want "ticket: both ends, with serial numbers and places" jq -e '.node == "gpu-0417" and .near.serial == "LAB0000" and
    .far.serial == "LAB0001" and .far.system == "leaf-12" and .far.port == "Ethernet17/1" and (.near.place | test("r12")) and
    (.far.place | test("r40"))' "$tmp/ticket"
want "ticket: steps, what to bring, how to verify" jq -e --arg id "$id" '.fault_id == $id and (.steps[0].text | test("clean")) and
    (.bring | length > 0) and (.verify | test("linkhealth verify rxe0/1")) and (.verified_when | length > 0)' "$tmp/ticket"
types ticket "$port"
for words in '^# .*[Dd]irty connector' 'LAB0000' 'LAB0001' '^1\. .*clean' 'linkhealth verify rxe0/1'; do
    want "ticket in Markdown: $words" said "$words"
done
stage acknowledged

# --- the daemon dies in the middle
event_ids() { curl -fsS --max-time 5 "http://$http/api/v1/events?limit=1000" | jq -r '.events[].id' | sort; }
event_ids >"$tmp/events.before"
pid=$(property MainPID)
killed=$(date -u +%Y-%m-%dT%H:%M:%S)
systemctl kill -s KILL linkhealthd
revived() { [ "$(property ActiveState)" = active ] && [ "$(property MainPID)" != "$pid" ] && [ "$(property MainPID)" != 0 ]; }
eventually 90 "killed with SIGKILL, it comes back" revived
want "systemd counted one restart of its own" test "$(property NRestarts)" = 1
eventually 90 "the same fault, still acknowledged" port_is "$port" "$is_acknowledged"
eventually 60 "the module is read again" port_is "$port" '(.now.module.lanes[1].rx_power_mw < 0.2)'
sleep 15   # all holds of the lab's configuration: a repeated event would have arrived by now
types status --problems
want "status: the problem, and who has it" said "acknowledged by ann"
event_ids >"$tmp/events.after"
want "no event came or went" diff "$tmp/events.before" "$tmp/events.after"
want "the journal has the opening once" journal_has opened 1
want "and no closing" journal_has closed 0

# --- the technician, at the rack
types maintenance start "$port" --for 30m --by tom --reason 'cleaning, ticket 4711'
want "maintenance is taken" ended 0
pull so0 so1
eventually 60 "the fibre is out" port_is "$port" '(.now.link.carrier == false)'
types status --problems
want "status: no port needs attention" said 'No port needs attention'
sleep 5    # cleaning
plug so0 so1
fec_errors so0 1e-12
eventually 60 "the fibre is back" port_is "$port" '(.now.link.carrier == true)'
types maintenance end "$port" --by tom
want "maintenance ends" ended 0
eventually 60 "the light is back" port_is "$port" '(.now.module.lanes[1].rx_power_mw > 0.6)'
patience=400 types verify "$port" --ber 1e-12 --least 1m
want "verify passes" ended 0
want "and says so, with what was gained" said "[+]6[.]0 dB"
eventually 240 "the fault closes" port_is "$port" "$clean"
eventually 30 "the journal has the closing once" journal_has closed 1
want "and the opening once" journal_has opened 1
stage closed

# --- the morning after
types history "$port" --since 1h
for words in 'opened.*[Dd]irty connector' 'acknowledged' 'repair .*cleaned or replugged|repair .*fibre' '-8\.0.*-2\.0' 'closed'; do
    want "history: $words" said "$words"
done
types history "$port" --since 1h --json
want "history as JSON: the repair, with light before and after" jq -e --arg id "$id" 'any(.repairs[]; .fault_id == $id and
    .action == "fibre_reseated" and .outcome == "held" and .rx_lane == 2 and (.rx_power_before_dbm + 8 | fabs) < 0.2 and
    (.rx_power_after_dbm + 2 | fabs) < 0.2)' "$tmp/said"
want "the events of that one fault, each once and in order" events_are \
    "[.[] | select(.fault.id == \"$id\") | .event] == [\"opened\", \"acknowledged\", \"proving\", \"closed\"]"
want "and of no other" events_are "all(.[]; .fault.id == \"$id\")"
want "no other restart was" test "$(property NRestarts)" = 1
systemctl stop linkhealthd
want "the stop is clean" test "$(property Result)" = success
[ "$failed" -eq 0 ] || journalctl -q -u linkhealthd -o cat --no-pager | tail -n 30 | sed 's/^/     | /'
finish
