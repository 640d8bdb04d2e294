#!/usr/bin/env bash
# image.sh FOLDER [SUITE]   deploy/Containerfile, built by buildah from the .deb of FOLDER on a Debian root that is made here (bookworm),
# without a container engine; then the image's own command is run in it, and asked. Exit code 77 with the reason where that is
# not possible. CHROOTS: where the root's archive is kept (default build/chroots).
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=$(cd "$1" && pwd)
suite=${2:-bookworm}
chroots=${CHROOTS:-$PWD/build/chroots}
skip() { echo "skipped: $*"; exit 77; }
[ "$(id -u)" -eq 0 ] || skip "a root wants root"
command -v buildah >/dev/null || skip "no buildah here (packaging/install-packages deploy)"
command -v mmdebstrap >/dev/null || skip "no mmdebstrap here (apt-get install mmdebstrap)"
unshare --mount --pid --fork true 2>/dev/null || skip "no namespaces can be made here"
ls "$folder"/linkhealth_*_amd64.deb >/dev/null || skip "no .deb in $folder"

mkdir -p "$chroots"
if [ ! -s "$chroots/$suite.tar" ]; then # the same as that of deb.sh
    timeout 900 mmdebstrap --variant=minbase --include=systemd-standalone-sysusers,init-system-helpers "$suite" "$chroots/$suite.new.tar" \
        >"$chroots/$suite.log" 2>&1 || skip "mmdebstrap can't make a root of $suite ($(tail -n 1 "$chroots/$suite.log"))"
    mv "$chroots/$suite.new.tar" "$chroots/$suite.tar"
fi

work=$(mktemp -d)
# chroot: it needs no engine and no runtime, and has the network of this machine. vfs: it needs no overlay.
export BUILDAH_ISOLATION=chroot
buildah() { command buildah --root "$work/store" --runroot "$work/run" --storage-driver vfs "$@"; }
pod=
cleanup() {
    [ -z "$pod" ] || kill "$pod" 2>/dev/null || true
    buildah rm --all >/dev/null 2>&1 || true
    umount -l "$work/rootfs/sys" 2>/dev/null || true
    rm -rf --one-file-system "$work"
}
trap cleanup EXIT
scratch=$work
. tests/packaging/checks.sh

base=$(buildah from scratch)
buildah add -q "$base" "$chroots/$suite.tar" / >/dev/null
buildah commit -q "$base" debian:12-slim >/dev/null
buildah rm "$base" >/dev/null
want "it is built" buildah bud --pull-never -t linkhealth:local -f deploy/Containerfile "$folder"
[ $failed -eq 0 ] || exit 1
want "its command is that of the manifests" says '/usr/bin/linkhealthd.*--config /etc/linkhealth/linkhealth.yaml' \
    buildah inspect --type image --format '{{.OCIv1.Config.Entrypoint}} {{.OCIv1.Config.Cmd}}' linkhealth:local
echo "     $(buildah images --format '{{.Size}}' linkhealth:local), of these $(buildah images --format '{{.Size}}' debian:12-slim) Debian's root"

container=$(buildah from --pull-never linkhealth:local)
want "its program starts" says '^linkhealthd [0-9]' buildah run "$container" -- /usr/bin/linkhealthd --version
want "its configuration is good" buildah run "$container" -- /usr/bin/linkhealthd --config /etc/linkhealth/linkhealth.yaml --check-config
want "the libraries of single sources are there" buildah run "$container" -- dpkg -s libibverbs1 ibverbs-providers libibumad3 lldpd
want "no lists and packages are left in it" buildah run "$container" -- sh -c '[ -z "$(find /var/lib/apt/lists /var/cache/apt /tmp -type f)" ]'

# As the pod: root without rights but NET_ADMIN, a root that cannot be written, /sys for reading, state and socket of the node.
# Its own network: nothing of this machine is asked, and its port is free.
mounted=$(buildah mount "$container")
mkdir "$work/rootfs" "$work/state" "$work/socket"
cat >"$work/pod" <<'SH'
root=$1 state=$2 socket=$3 from=$4
mount --bind "$from" "$root"
mount -t proc proc "$root/proc"
mount -t sysfs -o ro sysfs "$root/sys"
mount --bind "$state" "$root/var/lib/linkhealth"
mount --bind "$socket" "$root/run/linkhealth"
mount -o remount,bind,ro "$root"
ip link set lo up
exec chroot "$root" setpriv --bounding-set=-all,+net_admin --inh-caps=-all --no-new-privs /usr/bin/linkhealthd --config /etc/linkhealth/linkhealth.yaml
SH
mkdir -p "$mounted/var/lib/linkhealth" "$mounted/run/linkhealth"
unshare --mount --pid --fork --net --uts --ipc --kill-child bash -e "$work/pod" "$work/rootfs" "$work/state" "$work/socket" "$mounted" >"$work/daemon.log" 2>&1 &
pod=$!
first=
for _ in $(seq 100); do
    first=$(pgrep -P "$pod" || true)
    [ -z "$first" ] || [ "$(cat "/proc/$first/comm")" != linkhealthd ] || [ ! -S "$work/socket/linkhealth.sock" ] || break
    sleep 0.1
done
[ -n "$first" ] || { cat "$work/daemon.log"; exit 1; }
in_pod() { nsenter -t "$first" -a chroot "/proc/$first/root" "$@"; }
want "the daemon answers as in a pod" in_pod /usr/bin/linkhealth status
want "the probe of the manifests is answered" nsenter -t "$first" -n curl -sf http://127.0.0.1:9942/-/healthy
want "it has one capability" says 'permissions of the daemon: CAP_NET_ADMIN$' in_pod sh -c "linkhealth doctor || true"
want "it keeps its state on the node" test -s "$work/state/linkhealth.db"
want "its root cannot be written" sh -c "! touch '/proc/$first/root/etc/probe'"
kill -TERM "$first"
want "it ends cleanly when it is asked to" wait "$pod"
pod=
exit $failed
