#!/usr/bin/env bash
# corpus.sh unpack SEEDS      unpacks the kept inputs (corpus/FUZZER.tar.gz) beside the seeds that the seed programs write
# corpus.sh keep BIN FOUND    keeps the fewest inputs of FOUND/FUZZER/, of at most 1 kB each, that cover the same code;
#                             BIN: the fuzzers; FOUND: for example build/fuzz/corpus after ./test --all
set -euo pipefail
kept=$(cd "$(dirname "$0")" && pwd)/corpus
case ${1:-}/$# in
unpack/2)
    for file in "$kept"/*.tar.gz; do
        name=$(basename "$file" .tar.gz)
        seeds=$2/${name#fuzz_module_} # as module_seeds calls them
        mkdir -p "$seeds"
        tar -xzf "$file" -C "$seeds"
    done
    ;;
keep/3)
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    mkdir -p "$kept"
    for found in "$3"/*/; do
        name=$(basename "$found")
        mkdir "$work/$name"
        [ ! -e "$kept/$name.tar.gz" ] || tar -xzf "$kept/$name.tar.gz" -C "$found"
        "$2/$name" -set_cover_merge=1 -use_counters=0 -max_len=1024 -timeout=10 "$work/$name" "$found" 2>"$work/log" || { tail "$work/log" >&2; exit 1; }
        tar -c -C "$work/$name" --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner . | gzip -9n >"$kept/$name.tar.gz"
        echo "$name: $(ls "$work/$name" | wc -l) of $(ls "$found" | wc -l)"
    done
    ;;
*)
    sed -n '2,5s/^# //p' "$0" >&2
    exit 2
    ;;
esac
