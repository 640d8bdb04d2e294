#!/usr/bin/env bash
# run.sh [--systemd] [--timeout S] [--mem MIB] [--out DIR] [--run DIR] [--forward HOST:GUEST] OUT GUEST_SCRIPT [ARGS]
# Boots the machine that build.sh made in OUT, runs GUEST_SCRIPT in it as root, streams its output and returns its exit
# code. 124: out of time; 125: the machine ended without an exit code (the console is then on stderr).
# Inside: / is this machine's / (read-only) under a tmpfs; the working directory is the caller's; $LAB is OUT; /run/lab/out
# comes back as DIR (with the console's log; default: discarded). --run: an empty folder that is /run/lab inside, to talk
# with the script while it runs; --forward: 127.0.0.1:HOST reaches the machine's 10.0.2.15:GUEST (lab.sh: network_up).
set -uo pipefail
systemd='' seconds=300 memory=1536 keep='' run='' forward='' nic=(-nic none)
while [ $# -gt 0 ]; do
    case $1 in
    --systemd) systemd=1; shift ;;
    --timeout) seconds=$2; shift 2 ;;
    --mem) memory=$2; shift 2 ;;
    --out) keep=$2; shift 2 ;;
    --run) run=$(cd "$2" && pwd) || exit 2; shift 2 ;;
    --forward) forward=$2; shift 2 ;;
    --) shift; break ;;
    -*) echo "run.sh: unknown option $1" >&2; exit 2 ;;
    *) break ;;
    esac
done
[ $# -ge 2 ] || { sed -n '2,7s/^# //p' "$0" >&2; exit 2; }
out=$(cd "$1" && pwd) && script=$(realpath -e "$2") || exit 2
shift 2
{ [ -e "$out/vmlinuz" ] && [ -e "$out/initramfs.gz" ]; } || { echo "run.sh: no build in $out (build.sh first)" >&2; exit 2; }
[ -z "$forward" ] || nic=(-netdev "user,id=n,restrict=on,hostfwd=tcp:127.0.0.1:${forward%:*}-:${forward#*:}" -device virtio-net-pci,netdev=n,romfile=)
[ -n "$run" ] || run=$(mktemp -d "$out/run.XXXXXX")
mkdir -p "$run/out"
machine='' reader=''
cleanup() {
    [ -z "$machine" ] || kill "$machine" 2>/dev/null
    [ -z "$reader" ] || kill "$reader" 2>/dev/null
    if [ -n "$keep" ]; then
        mkdir -p "$keep"
        cp -r "$run/out/." "$keep/"
        cp "$run/console" "$keep/console.log" 2>/dev/null
    fi
    rm -rf "$run"
}
trap cleanup EXIT
trap 'exit 130' INT TERM HUP
printf 'KMOD=%q\nSYSTEMD=%q\n' "$out/root/lib/modules/$(cat "$out/kernel")" "$systemd" >"$run/env"
# Output goes to a virtio port (clean: no kernel messages, no CR), the exit code to a file. The port's number follows the
# probe order, so it is found by its name: a wrong name under /dev would silently create a plain file.
cat >"$run/wrap" <<WRAP
#!/bin/bash
export LAB=$(printf %q "$out") LAB_FORWARD=$forward LAB_SCENARIO_SECONDS=${LAB_SCENARIO_SECONDS:-}
export LINKHEALTH_BIN=$(printf %q "${LINKHEALTH_BIN:-}") HOME=/root LANG=C.UTF-8 TERM=dumb
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
port=\$(dirname "\$(grep -lx lab.out /sys/class/virtio-ports/*/name)")
exec </dev/null >"/dev/\${port##*/}" 2>&1
cd $(printf %q "$PWD") 2>/dev/null || cd /
( $(printf '%q ' "$script" "$@") )
echo \$? >/run/lab/rc.new; mv /run/lab/rc.new /run/lab/rc
exec >/dev/null 2>&1
sleep 0.05
echo o >/proc/sysrq-trigger
sleep 10
WRAP
chmod 755 "$run/wrap"
mkfifo "$run/fifo"
cat "$run/fifo" &
reader=$!
timeout -k 5 "$seconds" qemu-system-x86_64 -accel tcg,thread=multi -cpu max -m "$memory" -smp 2 \
    -display none -monitor none -no-reboot "${nic[@]}" -nodefaults -serial file:"$run/console" \
    -kernel "$out/vmlinuz" -initrd "$out/initramfs.gz" \
    -append "console=ttyS0 quiet panic=-1 rdinit=/init ${LAB_APPEND:-}" \
    -fsdev local,id=h,path=/,security_model=none,readonly=on,multidevs=remap \
    -device virtio-9p-pci,fsdev=h,mount_tag=host \
    -fsdev local,id=r,path="$run",security_model=none \
    -device virtio-9p-pci,fsdev=r,mount_tag=run \
    -device virtio-serial-pci,id=vs -chardev file,id=out,path="$run/fifo" \
    -device virtserialport,bus=vs.0,nr=1,chardev=out,name=lab.out \
    </dev/null 2>"$run/qemu.err" &
machine=$!
wait "$machine"
status=$?
machine=''
# the reader ends when qemu closes the fifo; if qemu never opened it, end the reader
for _ in {1..20}; do kill -0 "$reader" 2>/dev/null || break; sleep 0.05; done
kill "$reader" 2>/dev/null
wait "$reader" 2>/dev/null
reader=''
grep -v 'does not support' "$run/qemu.err" >&2
[ ! -e "$run/rc" ] || exit "$(cat "$run/rc")"
if [ $status -eq 124 ] || [ $status -eq 137 ]; then
    echo "run.sh: out of time after $seconds s" >&2
    tail -n 20 "$run/console" >&2
    exit 124
fi
echo "run.sh: the machine ended without an exit code (qemu $status); its console:" >&2
tail -n 40 "$run/console" >&2
exit 125
