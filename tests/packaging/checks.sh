# Read by the scripts of this folder. `scratch`: a folder for what commands print.
failed=0
# want WHAT COMMAND...: a check; what a command that fails has printed is shown
want() {
    local what=$1
    shift
    if "$@" >"$scratch/out" 2>&1; then echo "ok   $what"; else echo "FAIL $what"; sed 's/^/     | /' "$scratch/out" | tail -n 40; failed=1; fi
}
# prints TEXT COMMAND...: whether the command prints a line that matches TEXT, whatever its exit code
prints() { local text=$1; shift; "$@" >"$scratch/said" 2>&1 || true; cat "$scratch/said"; grep -qE -e "$text" "$scratch/said"; }
# says TEXT COMMAND...: the same, and it succeeds
says() { local text=$1; shift; "$@" >"$scratch/said" 2>&1 || { cat "$scratch/said"; return 1; }; cat "$scratch/said"; grep -qE -e "$text" "$scratch/said"; }
# silent COMMAND...: whether it prints nothing
silent() { "$@" >"$scratch/said" 2>&1; cat "$scratch/said"; [ ! -s "$scratch/said" ]; }
