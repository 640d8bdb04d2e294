#!/usr/bin/env bash
# run-all.sh [SCENARIO...]
# Builds the lab if needed and runs the named scenarios; without names all of them: one plain boot, one with systemd as PID 1 for
# each of `systemd` and `package`, and one for a link's whole bad day with a browser at the daemon's page. Prints a line for each
# check and ends with "N passed, N failed, N skipped".
# LAB_OUT: where the lab is built (default build/lab). The plain boot uses the programs with sanitizers (build/dev/bin) if they
# are built, because no other test sends a kernel's answers through all of them; the others use the shipped ones.
# LINKHEALTH_BIN: the same for all.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=${LAB_OUT:-$here/../../build/lab}
plain=(smoke healthy dirty pull admin names events)
booted=(systemd package) # each in a machine of its own: both install the programs
log=$(mktemp)
trap 'rm -f "$log"' EXIT
close() {
    local passed failed skipped
    passed=$(grep -c '^ok ' "$log") failed=$(grep -c '^FAIL ' "$log") skipped=$(grep -c '^SKIP ' "$log")
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" -eq 0 ]
    exit
}
skip() { echo "SKIP lab: $*" | tee -a "$log"; close; }

[ "$(uname -m)" = x86_64 ] || skip "the lab's machine is an x86_64 one; this is $(uname -m)"
command -v qemu-system-x86_64 >/dev/null || skip "no qemu-system-x86_64 (apt-get install qemu-system-x86)"
timeout 20 qemu-system-x86_64 -accel tcg -machine none -nodefaults -display none -monitor stdio <<<quit >/dev/null 2>&1 ||
    skip "qemu-system-x86_64 does not run here"
if ! "$here/build.sh" "$out"; then echo "FAIL lab: it does not build" | tee -a "$log"; close; fi

# boot SECONDS OPTIONS... -- SCENARIO...: one machine; if it crashes, that is a separate failure
boot() {
    local seconds=$1 options=()
    shift
    while [ "$1" != -- ]; do options+=("$1"); shift; done
    shift
    run "$*" "$here/run.sh" --timeout "$seconds" "${options[@]}" "$out" "$here/scenarios/all.sh" "$@"
}
# run WHAT COMMAND...
run() {
    local what=$1 before status
    shift
    before=$(grep -c '^FAIL ' "$log")
    "$@" 2>&1 | tee -a "$log"
    status=${PIPESTATUS[0]}
    if [ "$status" -ne 0 ] && [ "$(grep -c '^FAIL ' "$log")" -eq "$before" ]; then
        echo "FAIL lab: the machine for $what ended with $status" | tee -a "$log"
    fi
}
programs=${LINKHEALTH_BIN:-}
[ -n "$programs" ] || [ ! -x "$here/../../build/dev/bin/linkhealthd" ] || programs=$(cd "$here/../../build/dev/bin" && pwd)
# with_systemd SCENARIO: in a machine of its own
with_systemd() { LAB_SCENARIO_SECONDS=800 boot 900 --systemd -- "$1"; }
if [ $# -gt 0 ]; then
    named=()
    for scenario in "$@"; do
        if [[ " ${booted[*]} " = *" $scenario "* ]]; then with_systemd "$scenario"; else named+=("$scenario"); fi
    done
    [ ${#named[@]} -eq 0 ] || LINKHEALTH_BIN=$programs boot 900 -- "${named[@]}"
    close
fi
LINKHEALTH_BIN=$programs boot 2000 -- "${plain[@]}"
for scenario in "${booted[@]}"; do with_systemd "$scenario"; done
run day_in_the_life "$here/day.py" "$out"
close
