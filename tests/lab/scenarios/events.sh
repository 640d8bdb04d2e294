#!/usr/bin/env bash
# Events: lines of the kernel log, verbs events, devices that are added and removed. Other lines of the log are not kept,
# removing a device never waits for the daemon, and a flood costs only a few wake-ups.
. "$(dirname "$0")/../lab.sh"
need_daemon
ports_up
seen=$tmp/events.jsonl
say() { echo "$*" >/dev/kmsg; }
# happened KIND PORT [TEXT-REGEX] [FROM-LINE]: the recording has such an event
happened() {
    tail -n +"${4:-1}" "$seen" | jq -c --arg kind "$1" --arg port "$2" --arg text "${3:-}" \
        '.events[]? | select(.kind == $kind and .port == $port and ((.text // "") | test($text)))' | head -n 3 | grep .
}
lines() { wc -l <"$seen"; }
contexts() { echo "$(open_contexts) open"; [ "$(open_contexts)" -ge "$1" ]; }
open_contexts() { find /proc/$daemon/fd -lname '/dev/infiniband/uverbs*' | wc -l; }

# --- before the start
say "4:mlx5_core 0000:1b:00.0 so1: TX timeout detected"
say "lab-secret-before of nobody"
sleep 1
rm -f "$seen"
daemon_start --record "$seen"
eventually 20 "a fatal line from before the start is found" happened kernel_log rxe1/1 'TX timeout'
at=$(happened kernel_log rxe1/1 'TX timeout' | head -n 1 | jq .t)
up=$(cut -d' ' -f1 /proc/uptime)
want "with the kernel's own time ($at s, now $up s)" awk -v at="$at" -v up="$up" 'BEGIN {exit !(at > 0 && at < up - 0.5)}'
eventually 40 "and the port is not healthy for it" port_is rxe1/1 '(.health != "healthy")'
eventually 40 "while its neighbour is" port_is rxe0/1 "$clean"

# --- the kernel log
say "6:mlx5_core 0000:1b:00.0 so0: Port module event: module 0, Cable plugged"
say "lab-secret-after so0 something else"
say "mlx5_core 0000:1b:00.0 so0: mlx5_cmd_out_err: ACCESS_REG(0x805) failed lab-secret-noise"
eventually 10 "a line about so0 is an event of rxe0/1" happened kernel_log rxe0/1 'Cable plugged'
sleep 2
want "no other line is kept" sh -c "! grep -q lab-secret '$seen'"
for i in {1..2000}; do echo "mlx5_core 0000:1b:00.0 so0: Port module event[error]: module 0, Cable error, High Temperature"; done |
    while read -r line; do echo "$line" >/dev/kmsg; done
eventually 20 "a line that came 2000 times" happened kernel_log rxe0/1 'High Temperature'
sleep 3
want "is one event" test "$(grep -o 'High Temperature"' "$seen" | wc -l)" = 1
woken() { awk '/voluntary_ctxt/ {sum += $2} END {print sum}' /proc/$daemon/task/*/status; }

# --- verbs events
eventually 20 "a verbs context is held on each device" contexts 4
from=$(lines)
set_sim so2/carrier 0
eventually 20 "a port that goes down: a verbs port_error" happened port_error rxe2/1 '' "$from"
want "and the carrier's own event" happened carrier_down rxe2/1 '' "$from"
set_sim so2/carrier 1
eventually 20 "a port that comes up: a verbs port_active" happened port_active rxe2/1 '' "$from"

# --- devices that are removed and added
from=$(lines)
start=$EPOCHREALTIME
want "rdma link delete does not wait for the daemon" timeout 20 rdma link delete rxe3
took=$(since "$start")
want "(took $took ms)" test "$took" -lt 10000
eventually 10 "device_gone at once" happened device_gone rxe3/1 '' "$from"
eventually 10 "its metrics end" sh -c "! curl -fsS http://$http/metrics | grep -q 'linkhealth_link_up{[^}]*device=\"rxe3\"'"
want "an unloaded device is not called fatal" sh -c "! tail -n +$from '$seen' | grep -q device_fatal"
want "rdma link add" rdma link add rxe3 type rxe netdev so3
eventually 10 "device_added at once" happened device_added rxe3/1 '' "$from"
eventually 10 "its metrics are back" metric 'linkhealth_link_up\{[^}]*device="rxe3"[^}]*\}'
eventually 10 "a context is held on it again" contexts 4
from=$(($(lines) + 1))
rdma link delete rxe3
rdma link add rxe3 type rxe netdev so3
eventually 10 "gone and back within a moment is told, too" happened device_added rxe3/1 '' "$from"
# Without its RDMA device so3 is a plain Ethernet port for a moment, with events of its own.
told() { tail -n +"$from" "$seen" | jq -r --arg kind "$1" '.events[]? | select(.port == "rxe3/1" and .kind == $kind) | .t' | tee "$tmp/told" | wc -l; }
want "each once ($(told device_gone) gone, $(told device_added) added)" test "$(told device_gone) $(told device_added)" = "1 1"

# --- cost
sleep 5
before=$(woken)
sleep 10
after=$(woken)
note "context switches of all threads in 10 idle seconds (the lab's periods are short): $((after - before))"
daemon_stop

# --- a restart
say "4:mlx5_core 0000:1b:00.0 so1: TX timeout detected"   # again: 2000 lines have overwritten the first one
daemon_start --record "$tmp/again.jsonl"
seen=$tmp/again.jsonl
eventually 20 "after a restart a fatal line from before it is found" happened kernel_log rxe1/1 'TX timeout'
daemon_stop
for i in 0 1 2 3; do want "rxe$i goes" timeout 20 rdma link delete rxe$i; done
finish
