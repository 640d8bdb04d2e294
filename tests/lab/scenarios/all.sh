#!/usr/bin/env bash
# all.sh SCENARIO...: one scenario after the other in one machine, each with a time limit; a failed one does not stop the rest.
here=$(cd "$(dirname "$0")" && pwd)
failed=0
for scenario in "$@"; do
    echo "== $scenario ($(cut -d' ' -f1 /proc/uptime) s)"
    timeout -k 5 "${LAB_SCENARIO_SECONDS:-480}" "$here/$scenario.sh"
    status=$?
    [ $status -ne 124 ] && [ $status -ne 137 ] || echo "FAIL $scenario: out of time"
    [ $status -eq 0 ] || failed=1
    rmmod simoptics 2>/dev/null   # left by a killed scenario
done
echo "== end ($(cut -d' ' -f1 /proc/uptime) s)"
exit $failed
