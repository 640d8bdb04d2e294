#!/usr/bin/env bash
# build.sh [OUT]   unpacks a Debian kernel, builds the simoptics module and an initramfs into OUT (default build/lab).
# Nothing is installed. Each step is skipped if its result is newer than its input, so that a second call costs nothing.
# Fetched packages are kept in LAB_CACHE (default $XDG_CACHE_HOME/linkhealth-lab, else ~/.cache/linkhealth-lab).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "${1:-$here/../../build/lab}"
out=$(cd "${1:-$here/../../build/lab}" && pwd)
cache=${LAB_CACHE:-${XDG_CACHE_HOME:-${HOME:-$out}/.cache}/linkhealth-lab}
say() { echo "lab build: $*" >&2; }
die() { say "$*"; exit 1; }
case $out in *[[:space:]]*) die "the path \"$out\" has a space in it: make and the kernel's build cannot work there" ;; esac

# 0. requirements on the host
declare -A package=([qemu-system-x86_64]=qemu-system-x86 [/bin/busybox]=busybox-static [depmod]=kmod [cpio]=cpio
    [make]=make [gcc-12]=gcc-12 [flock]=util-linux [apt-get]=apt [ethtool]=ethtool [rdma]=iproute2
    [ibv_rc_pingpong]=ibverbs-utils [jq]=jq [curl]=curl [python3]=python3 [prometheus]=prometheus
    [/lib/systemd/systemd]=systemd [udevadm]=udev)
missing=()
PATH=$PATH:/usr/sbin:/sbin
for command in "${!package[@]}"; do command -v "$command" >/dev/null || missing+=("${package[$command]}"); done
compgen -G '/usr/lib/*/libibverbs/librxe-rdmav*.so' >/dev/null || missing+=(ibverbs-providers)
[ ${#missing[@]} -eq 0 ] || die "Debian packages are missing: apt-get install $(printf '%s\n' "${missing[@]}" | sort | paste -sd' ')"
exec 9>"$out/.lock"
timeout 600 flock 9 || die "another build in $out does not end"

# 1. the newest kernel in the archive that also has headers: the number changes with every security update, and old
#    ones disappear. Without package lists: the newest one fetched before.
abis() { sed -n 's/^linux-image-\(6\.1\.0-[0-9]*\)-amd64$/\1/p' | sort -rV; }
parts() { echo "linux-image-$1-amd64 linux-headers-$1-amd64 linux-headers-$1-common linux-kbuild-6.1"; }
fetched() { compgen -G "$cache/$1_*.deb" >/dev/null; }
# choose OFFERED: the newest ABI (on stdin, newest first) with every part fetched or in the list OFFERED
choose() {
    local offered=$1 candidate part ready
    while read -r candidate; do
        ready=1
        for part in $(parts "$candidate"); do fetched "$part" || grep -qx "$part" <<<"$offered" || ready=''; done
        [ -z "$ready" ] || { echo "$candidate"; return; }
    done
}
names=$( (apt-cache pkgnames linux-image-6.1.0- 2>/dev/null || true) | abis)
offered=$( (for name in $names; do parts "$name"; done | xargs -r apt-cache madison 2>/dev/null || true) | awk '{print $1}')
abi=$(choose "$offered" <<<"$names")
[ -n "$abi" ] || abi=$( (compgen -G "$cache/linux-image-6.1.0-*.deb" || true) | sed 's#.*/##; s/_.*//' | abis | choose '')
[ -n "$abi" ] || die "the package lists name no linux-image-6.1.0-N-amd64 with headers: apt-get update (Debian 12) first"
kernel=$abi-amd64
root=$out/root

# 2. fetch and unpack; only the kernel modules that a machine without a screen can use
if [ "$(cat "$out/.unpacked" 2>/dev/null)" != "$kernel $root" ]; then
    rm -rf "$root" "$out/simoptics" "$out/initramfs.gz" "$out/.unpacked"
    mkdir -p "$cache" "$root"
    for part in $(parts "$abi"); do
        if ! fetched "$part"; then
            say "fetching $part"
            fetch=$(mktemp -d "$cache/fetch.XXXXXX")
            (cd "$fetch" && timeout 300 apt-get download -q -o APT::Sandbox::User=root -o Acquire::Retries=2 \
                -o Acquire::http::Timeout=30 "$part" >apt.log 2>&1 && mv ./*.deb "$cache/") ||
                { tail -n 3 "$fetch/apt.log" >&2; rm -rf "$fetch"; die "cannot fetch $part (old package lists? apt-get update)"; }
            rm -rf "$fetch"
        fi
        file=$(compgen -G "$cache/${part}_*.deb" | sort -V | tail -n 1)
        dpkg --fsys-tarfile "$file" | tar -x -C "$root" --exclude='*/drivers/gpu' --exclude='*/drivers/media' \
            --exclude='*/drivers/staging' --exclude='*/drivers/iio' --exclude='*/kernel/sound' --exclude='*/share/doc' ||
            { rm -f "$file"; die "$file was broken; it is removed, try again"; }
    done
    # the header tree names /usr/src absolutely: make it point into the unpacked tree
    sed -i "s#/usr/src/#$root/usr/src/#" "$root/usr/src/linux-headers-$kernel/Makefile"
    depmod -b "$root" "$kernel"
    echo "$kernel $root" >"$out/.unpacked"
fi

# 3. the simulated optics
module=$out/simoptics
if [ ! -e "$module/simoptics.ko" ] || [ -n "$(find "$here/simoptics" -newer "$module/simoptics.ko" -print -quit)" ]; then
    say "building simoptics.ko"
    rm -rf "$module"   # objects of deleted sources
    mkdir -p "$module"
    cp "$here"/simoptics/*.[ch] "$here/simoptics/Makefile" "$module/"
    timeout 300 make -s -C "$root/usr/src/linux-headers-$kernel" M="$module" CC=gcc-12 modules >"$module/log" 2>&1 ||
        { cat "$module/log" >&2; die "simoptics.ko does not build against $kernel"; }
fi

# 4. the initramfs. crc32_generic: rdma_rxe needs it, although no symbol shows that.
image=$out/initramfs.gz
if [ ! "$image" -nt "$here/build.sh" ] || [ ! "$image" -nt "$here/init" ] || [ ! "$image" -nt "$out/.unpacked" ]; then
    say "building the initramfs"
    tree=$out/initramfs
    rm -rf "$tree"
    mkdir -p "$tree"/{bin,m,dev,proc,sys,h,o,n}
    cp /bin/busybox "$tree/bin/busybox"
    ln -s busybox "$tree/bin/sh"
    install -m 755 "$here/init" "$tree/init"
    for name in virtio_pci virtio_console 9pnet_virtio 9p overlay crc32_generic ib_uverbs ib_umad rdma_ucm rdma_rxe; do
        modprobe -d "$root" -S "$kernel" --show-depends "$name"
    done | awk '$1 == "insmod" && !seen[$2]++ {print $2}' | while read -r file; do
        cp "$file" "$tree/m/"
        basename "$file" >>"$tree/m/list"   # in the order of their dependencies
    done
    (cd "$tree" && find . | cpio -o -H newc --quiet | gzip -1) >"$image.new"
    mv "$image.new" "$image"
fi
cp -u "$root/boot/vmlinuz-$kernel" "$out/vmlinuz"
echo "$kernel" >"$out/kernel"
say "ready: $kernel in $out"
