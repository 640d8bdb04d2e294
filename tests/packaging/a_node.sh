# shellcheck shell=bash
# A node for the tests of the packages: systemd as the first process of a Debian root, in namespaces of its own, without an engine.
# To be sourced. The root is made once (CHROOTS, default build/chroots) with what the .deb depends on and recommends, so that
# nothing is downloaded later; a node has no network but the one it is given.
#   node_archive FOLDER SUITE         makes $archive for the .deb of FOLDER; returns 1 with the reason in $why
#   boot ROOT NAME [ADDRESS BRIDGE]   starts it; its first process is ${node[NAME]}; with an address on the bridge that you made
#   in_node NAME COMMAND...           runs a command there
#   halt_nodes                        ends all of them
declare -A node=() starter=()

node_archive() {
    local folder=$1 suite=$2 chroots=${CHROOTS:-$PWD/build/chroots} package needs
    why=
    [ "$(id -u)" -eq 0 ] || { why="a node wants root"; return 1; }
    command -v mmdebstrap >/dev/null || { why="no mmdebstrap here (apt-get install mmdebstrap)"; return 1; }
    unshare --mount --pid --fork --uts --ipc --net --cgroup true 2>/dev/null || { why="no namespaces can be made here"; return 1; }
    package=$(ls "$folder"/linkhealth_*_amd64.deb) || { why="no .deb in $folder"; return 1; }
    needs=$( (dpkg-deb -f "$package" Depends; dpkg-deb -f "$package" Recommends) | tr ',' '\n' | awk '{print $1}' | sort -u | paste -sd,)
    mkdir -p "$chroots"
    archive=$chroots/$suite-node.tar
    [ ! -s "$archive" ] || return 0
    timeout 900 mmdebstrap --variant=minbase --include="systemd,systemd-sysv,dbus,python3,python3-apt,ansible-core,iproute2,init-system-helpers,$needs" \
        "$suite" "${archive%.tar}.new.tar" >"$archive.log" 2>&1 || { why="mmdebstrap can't make a root of $suite ($(tail -n 1 "$archive.log"))"; return 1; }
    mv "${archive%.tar}.new.tar" "$archive"
}

# what runs in the namespaces, before the first process of the node
_inside='
root=$1 name=$2
mount --make-rprivate /
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount -t sysfs sysfs "$root/sys"
if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
    mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
else
    mount -t tmpfs tmpfs "$root/sys/fs/cgroup"
    mkdir "$root"/sys/fs/cgroup/{unified,systemd}
    mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup/unified"
    mount -t cgroup -o none,name=systemd cgroup "$root/sys/fs/cgroup/systemd"
fi
mount -t tmpfs tmpfs "$root/run"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
for device in null zero full random urandom tty kmsg; do
    [ -e /dev/$device ] || continue
    touch "$root/dev/$device"
    mount --bind /dev/$device "$root/dev/$device"
done
mkdir "$root/dev/pts" "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=666 devpts "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
ip link set lo up
hostname "$name"
echo "$name" >"$root/etc/hostname"
cd "$root"
mkdir -p old
pivot_root . old
umount -l /old
exec env -i container=lxc PATH=/usr/sbin:/usr/bin:/sbin:/bin /sbin/init </dev/null'

boot() {
    local root=$1 name=$2 address=${3:-} bridge=${4:-} group
    (
        for group in /sys/fs/cgroup/{,systemd/,unified/}; do
            [ -e "${group}cgroup.procs" ] || continue
            mkdir -p "${group}linkhealth-$name-$$" && echo "$BASHPID" >"${group}linkhealth-$name-$$/cgroup.procs"
        done
        exec unshare --mount --pid --fork --uts --ipc --net --cgroup --kill-child bash -ec "$_inside" _ "$root" "$name"
    ) >"$root/../$name.log" 2>&1 &
    starter[$name]=$!
    # the starter has other children before it
    for _ in $(seq 600); do
        node[$name]=$(pgrep -P "${starter[$name]}" -x systemd || true)
        [ -z "${node[$name]}" ] || break
        sleep 0.1
    done
    [ -n "${node[$name]}" ] || { echo "$name did not start: $(tail -n 3 "$root/../$name.log")" >&2; return 1; }
    if [ -n "$address" ]; then
        ip link add "v-$name" type veth peer name eth0 netns "${node[$name]}"
        ip link set "v-$name" master "$bridge" up
        in_node "$name" ip address add "$address" dev eth0
        in_node "$name" ip link set eth0 up
    fi
    for _ in $(seq 100); do
        case $(in_node "$name" systemctl is-system-running 2>&1) in running | degraded) return 0 ;; esac
        sleep 0.3
    done
    echo "$name did not start: $(tail -n 3 "$root/../$name.log")" >&2
    return 1
}

in_node() {
    local name=$1
    shift
    nsenter -t "${node[$name]}" -a env -i LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"
}

halt_nodes() {
    local name group
    for name in "${!starter[@]}"; do
        # the first process of a PID namespace takes all others with it
        kill -KILL ${node[$name]} 2>/dev/null || true
        wait "${starter[$name]}" 2>/dev/null || true
        for group in /sys/fs/cgroup/{,systemd/,unified/}; do
            [ ! -d "${group}linkhealth-$name-$$" ] || find "${group}linkhealth-$name-$$" -depth -type d -exec rmdir {} + 2>/dev/null || true
        done
    done
    node=() starter=()
}
