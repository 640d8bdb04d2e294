#!/usr/bin/env bash
# demo.sh   the demo of ./run lab: a dirty connector on a real kernel, found, explained, cleaned and verified, in about 2 min.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=${LAB_OUT:-$here/../../build/lab}
"$here/build.sh" "$out"
echo "Booting a virtual machine (qemu without KVM, a Debian kernel); nothing on this machine is changed."
exec "$here/run.sh" --timeout 420 "$out" "$here/scenarios/demo.sh"
