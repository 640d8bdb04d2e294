#!/usr/bin/env bash
# The fibre is pulled and put back; then ten flaps that are too short to be seen by reading the state.
. "$(dirname "$0")/../lab.sh"
need_daemon
ports_up
past_boot
daemon_start
eventually 40 "rxe0/1 is healthy first" port_is rxe0/1 "$clean"
downs() { metrics | awk '/^linkhealth_link_downs_total\{.*device="rxe0"/ {sum += $2} END {printf "%d\n", sum}'; }
before=$(downs)

took=$(watch_metrics react '^linkhealth_link_up\{[^}]*device="rxe0"[^}]*\} 0$' $sim/so0/carrier 0 10)
light so0 none; light so1 none
note "carrier off to link_up 0 in /metrics: ${took:-never} ms"
want "the loss is in /metrics within a second (${took:-never} ms)" test "${took:-9999}" -le 1000
want "it is counted once" test "$(downs)" -eq $((before + 1))
eventually 60 "a fault opens" port_is rxe0/1 '(.health == "down" and any(.faults[]; .state == "open" and .severity != "notice"))'
note "its name: $(lh status --json | jq -r '.ports[] | select(.port == "rxe0/1") | .faults[0] | "\(.fault) (\(.end), \(.confidence))"')"
want "status says that it is down" shows 'rxe0/1.*down' lh status
want "the other pair stays healthy" port_is rxe2/1 "$clean"
plug so0 so1
eventually 60 "put back: the repair is being proved" port_is rxe0/1 'any(.faults[]; .state == "proving")'
eventually 120 "and the fault closes" port_is rxe0/1 "$clean"
eventually 120 "at the other end too" port_is rxe1/1 "$clean"

before=$(downs)
kernel=$(cat /sys/class/net/so0/carrier_down_count)
saw_down=0
start=$EPOCHREALTIME
for _ in {1..10}; do
    set_sim so0/carrier 0
    sleep 0.02
    set_sim so0/carrier 1
    sleep 1
    [ "$(metric 'linkhealth_link_up\{[^}]*device="rxe0"[^}]*\}')" = 1 ] || saw_down=$((saw_down + 1))
done
note "ten flaps in $(since "$start") ms; $saw_down of 10 readings of the state saw the port down"
want "the kernel counted ten" test $(($(cat /sys/class/net/so0/carrier_down_count) - kernel)) -eq 10
counted() { echo "$(($(downs) - before)) counted"; [ $(($(downs) - before)) -eq 10 ]; }
eventually 10 "ten flaps are counted as ten" counted
want "every reading of the state saw it up" test $saw_down -eq 0
finish
