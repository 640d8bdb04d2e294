#!/usr/bin/env bash
# Two healthy pairs with traffic: the status shows all groups, and the report agrees with the kernel's own tools.
. "$(dirname "$0")/../lab.sh"
need_daemon
ports_up
fec_errors so0 1e-12
# mlx5's names, as in `ethtool -S`
for i in 0 1 2 3; do
    for statistic in "link_down_events_phy 3" "rx_pcs_symbol_err_phy 17" "rx_bits_phy 9000000000" "rx_discards_phy 5"; do
        echo "$statistic" >"$sim/so$i/ethtool_stats"
    done
done
want "traffic between two RDMA ports" traffic rxe0 rxe1 200
daemon_start
for port in rxe0/1 rxe1/1 rxe2/1 rxe3/1; do
    eventually 40 "$port is healthy" port_is $port "$clean"
done
status=$(lh status 2>&1)
sed 's/^/#   /' <<<"$status"
for i in 0 1 2 3; do
    want "status shows rxe$i/1 with netdev, speed, FEC, light and health" \
        grep -Eq "rxe$i/1 +so$i .*$([ $i -lt 2 ] && echo 100G || echo 400G) *RS.* -[0-9]+\.[0-9].*(healthy|●)" <<<"$status"
done
want "traffic while the daemon watches" traffic rxe2 rxe3 200
for i in 0 2; do
    eventually 20 "report agrees with ethtool, rdma and ibv_devinfo on rxe$i" \
        python3 "$lab/agree.py" "$bin/linkhealth" "$socket" rxe$i so$i
done
# State and physical state are read by one netlink request, the speed from ethtool. The three files, each a query of the port,
# are not opened.
want "no file of a verbs port's state is open" \
    test -z "$(find "/proc/$daemon/fd" -lname '*/infiniband/rxe*/ports/1/*state' -o -lname '*/infiniband/rxe*/ports/1/rate')"
want "metrics are readable" grep -q '^linkhealth_port_info{.*device="rxe0"' <<<"$(metrics)"
lh status --json >"$tmp/report"
want "no port has a gap in verbs, counters, optics or FEC" \
    jq -e '[.ports[].gaps[]? | select(.probe | test("module|optic|fec|counters|link"))] | length == 0' "$tmp/report"
finish
