#!/usr/bin/env bash
# One lane of so0 receives 6 dB less and FEC corrects 3e-5 of the bits: a dirty connector, reported in every output.
. "$(dirname "$0")/../lab.sh"
need_daemon
ports_up
fec_errors so0 1e-12
daemon_start
prometheus_start
eventually 40 "rxe0/1 is healthy first" port_is rxe0/1 "$clean"
eventually 120 "the daemon knows what is normal for rxe0/1" port_is rxe0/1 "$knows_normal"
eventually 60 "Prometheus scrapes the daemon" prometheus_has 'up{job="linkhealth"} == 1'
want "no fault is active in Prometheus" shows '"result":\[\]' \
    curl -fsS --get --data-urlencode 'query=linkhealth_fault_active{device="rxe0"}' "http://$prometheus/api/v1/query"

pages rx so0 2 -8.0dBm
fec_errors so0 3e-5
eventually 90 "report: dirty_connector on rxe0/1" port_is rxe0/1 "$(has_fault dirty_connector)"
fault_is() {
    lh status --json | jq -c '.ports[] | select(.port == "rxe0/1") | .faults[0]' >"$tmp/fault"
    cat "$tmp/fault"
    jq -e "$1" "$tmp/fault" >/dev/null
}
want "report: dirty_connector leads the differential" fault_is '.differential[0].fault == "dirty_connector"'
want "report: on the path, a warning or worse" fault_is '.end == "path" and (.severity == "warning" or .severity == "critical")'
want "report: names lane 2" fault_is '(.summary | test("lane 2")) or any(.evidence[]; .where == "lane 2")'
want "report: evidence from the light, -8 dBm or 6 dB" \
    fault_is 'any(.evidence[]; .observed != null and (((.observed + 8) | fabs) < 0.3 or ((.observed | fabs) - 6 | fabs) < 0.6))'
eventually 40 "report: evidence from FEC, about 3e-5" fault_is 'any(.evidence[]; .observed != null and .observed > 1e-5 and .observed < 1e-4)'
want "report: the first step is to clean" fault_is '.repair[0] | test("clean"; "i")'
want "report: says what would tell a failing far transmitter apart" fault_is '.missing | length > 0'
lh explain rxe0/1 >"$tmp/explain" 2>&1
sed 's/^/#   /' "$tmp/explain"
want "explain: verdict and lane" shows '[Dd]irty connector.*lane 2|lane 2' cat "$tmp/explain"
want "explain: first step" shows '1 +.*[Cc]lean' cat "$tmp/explain"
want "explain: received power" shows '-8\.0' cat "$tmp/explain"
want "explain by the netdev's name" shows '[Dd]irty' lh explain so0
want "the other ports stay healthy" port_is rxe2/1 "$clean"
eventually 15 "Prometheus has the fault" \
    prometheus_has 'linkhealth_fault_active{device="rxe0",port="1",fault="dirty_connector",end="path"} > 0'
eventually 100 "Prometheus has the event" prometheus_has 'linkhealth_fault_events_total{fault="dirty_connector",event="opened"} >= 1'
want "Prometheus has no second fault" shows '"result":\[\]' \
    curl -fsS --get --data-urlencode 'query=linkhealth_fault_active{fault!="dirty_connector"} > 0' "http://$prometheus/api/v1/query"

pages rx so0 2 -2.0dBm
fec_errors so0 1e-12
eventually 90 "cleaned: the fault is being proved or closed" port_is rxe0/1 '(.faults | all(.state == "proving" or .state == "closed"))'
eventually 90 "cleaned: it closes" port_is rxe0/1 "$clean"
eventually 100 "Prometheus has the closing" prometheus_has 'linkhealth_fault_events_total{fault="dirty_connector",event="closed"} >= 1'
finish
