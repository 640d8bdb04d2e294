#!/usr/bin/env bash
# portable.sh OUT [RECORDINGS]   checks what `packaging/release --only portable-amd64,portable-arm64 OUT` made: which glibc and
# libraries it asks for; the .deb in chroots of Debian 11 and 13, the .rpm in a root of its own with its scripts, the tarball in a
# bare Debian 11; under qemu that arm64 says of each labelled recording what amd64 says, byte for byte.
# What is not in OUT is left out. Exit code 77 with the reason where it cannot be tried. CHROOTS: as in deb.sh.
set -euo pipefail
cd "$(dirname "$0")/../.."
out=$(cd "$1" && pwd)
recordings=${2:-../shared/recordings}
export CHROOTS=${CHROOTS:-$PWD/build/chroots}
skip() { echo "skipped: $*"; exit 77; }
[ "$(id -u)" -eq 0 ] || skip "a chroot wants root"
for tool in mmdebstrap rpm readelf; do command -v $tool >/dev/null || skip "no $tool here"; done
unshare -m true 2>/dev/null || skip "no mount namespace can be made here"
[ -n "${LINKHEALTH_PORTABLE_INSIDE:-}" ] || exec env LINKHEALTH_PORTABLE_INSIDE=1 unshare -m "$0" "$out" "$recordings"

work=$(mktemp -d)
chmod 755 "$work"
root=$work/root daemon=''
cleanup() { [ -z "$daemon" ] || kill "$daemon" 2>/dev/null || true; umount -l "$root"/{proc,sys,dev} 2>/dev/null || true; rm -rf --one-file-system "$work"; }
trap cleanup EXIT
scratch=$work
. tests/packaging/checks.sh
inside() { chroot "$root" env -u TMPDIR LC_ALL=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"; }
# fresh SUITE: $root as the chroot that deb.sh has made
fresh() {
    umount -l "$root"/{proc,sys,dev} 2>/dev/null || true
    rm -rf --one-file-system "$root"
    mkdir -p "$root"
    tar -x -C "$root" -f "$CHROOTS/$1.tar" --exclude='./dev/*'
    mount -t proc proc "$root/proc"
    mount --rbind /sys "$root/sys"
    mount --rbind /dev "$root/dev"
}
# starts USER: the daemon of the root answers, and ends when it is asked to
starts() {
    local group
    group=$(inside id -g "$1")
    install -d -o "$(inside id -u "$1")" -g "$group" "$root/run/linkhealth" "$root/var/lib/linkhealth"
    (exec chroot "$root" env -u TMPDIR PATH=/usr/bin:/bin setpriv --reuid="$1" --regid="$group" --init-groups --inh-caps=-all \
        --no-new-privs linkhealthd --config /etc/linkhealth/linkhealth.yaml --listen none </dev/null >"$work/daemon.log" 2>&1) &
    daemon=$!
    for _ in $(seq 300); do inside linkhealth status >/dev/null 2>&1 && break; sleep 0.2; done
    inside linkhealth status && kill "$daemon" && wait "$daemon" || { cat "$work/daemon.log"; return 1; }
    daemon=''
}
newest_glibc() { readelf -VW "$1" | grep -oE 'GLIBC_[0-9.]+' | sort -Vu | tail -n 1; }
libraries() { readelf -dW "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | LC_ALL=C sort | paste -sd' '; }
no_newer_than() { [ "$(printf '%s\n' "$1" "$2" | sort -V | tail -n 1)" = "$1" ]; }

# what the programs ask for
for arch in amd64 arm64; do
    tarball=$(ls "$out"/linkhealth-*-portable-$arch.tar.gz) || { echo "skipped: no tarball for $arch in $out"; continue; }
    mkdir -p "$work/$arch"
    tar -x -C "$work/$arch" --strip-components=1 -f "$tarball"
    for program in linkhealthd linkhealth; do
        file=$work/$arch/usr/bin/$program
        want "$arch $program: $(newest_glibc "$file") at most; $(libraries "$file")" no_newer_than GLIBC_2.31 "$(newest_glibc "$file")"
        others=$(libraries "$file" | tr ' ' '\n' | grep -vE '^(ld-linux.*|lib(c|m)\.so\.6|lib(dl|systemd)\.so\.[02]|lib(pthread|rt)\.so\.[01])$' || true)
        want "$arch $program: no library but glibc's and libsystemd" test -z "$others"
    done
done

# packages
for suite in bullseye trixie; do
    [ -e "$work/amd64" ] || break
    echo "the .deb in Debian $suite"
    status=0
    tests/packaging/deb.sh "$out" $suite 1~portable || status=$?
    case $status in 0 | 77) ;; *) failed=1 ;; esac
done

if [ -s "$CHROOTS/bullseye.tar" ] && [ -e "$work/amd64" ]; then
    echo "the tarball in a bare Debian bullseye"
    fresh bullseye
    cp -a "$work/amd64/." "$root/"
    want "it says its version" prints '^linkhealth ' inside linkhealth --version
    inside linkhealth demo </dev/null >"$work/demo" 2>&1 || true
    want "the demo finds its fault, and proves the repair" sh -c "grep -q 'Dirty connector on the fibre of lane 4' '$work/demo' && grep -q PASS '$work/demo' || { cat '$work/demo'; false; }"
    want "the daemon answers, and ends" starts nobody

    echo "the .rpm in a root of its own"
    fresh bullseye
    package=$(ls "$out"/linkhealth-[0-9]*portable.x86_64.rpm)
    wants=$(rpm -qpR "$package" 2>/dev/null | grep -oE 'GLIBC_[0-9.]+' | sort -Vu | tail -n 1)
    want "it asks for $wants at most" no_newer_than GLIBC_2.31 "$wants"
    # That root has no rpm database, so the package's requirements cannot be met there: --nodeps.
    want "it is installed, and its scripts have nothing to say" sh -c "rpm --root '$root' --dbpath /var/lib/rpm --nodeps -i '$package' 2>'$work/scripts'; status=\$?; cat '$work/scripts'; [ \$status -eq 0 ] && ! grep -vE '^(rpm:|Creating) ' '$work/scripts'"
    want "every file is as it was packed" rpm --root "$root" --dbpath /var/lib/rpm --nodeps -V linkhealth
    want "the user is made" inside getent passwd linkhealth
    want "the configuration is one" prints '^/etc/linkhealth/linkhealth.yaml$' rpm --root "$root" --dbpath /var/lib/rpm -qc linkhealth
    want "the daemon answers, and ends" starts linkhealth
    echo 'log_level: debug' >>"$root/etc/linkhealth/linkhealth.yaml"
    want "installed again, the changed configuration stays" sh -c "rpm --root '$root' --dbpath /var/lib/rpm --nodeps -U --replacepkgs '$package' && grep -q 'log_level: debug' '$root/etc/linkhealth/linkhealth.yaml'"
    want "removed" rpm --root "$root" --dbpath /var/lib/rpm --nodeps -e linkhealth
    want "the program is gone, the changed configuration and the state stay" test ! -e "$root/usr/bin/linkhealthd" -a -e "$root/etc/linkhealth/linkhealth.yaml.rpmsave" -a -e "$root/var/lib/linkhealth/linkhealth.db"
    [ ! -e "$work/arm64" ] || want "the .rpm for arm64 says so" test "$(rpm -qp --qf '%{arch}' "$out"/linkhealth-[0-9]*portable.aarch64.rpm 2>/dev/null)" = aarch64
fi

# arm64 on this machine's processor
qemu=$(command -v qemu-aarch64-static || true)
if [ ! -e "$work/amd64" ] || [ ! -e "$work/arm64" ]; then
    echo "skipped: not both processors' programs"
elif [ -z "$qemu" ]; then
    echo "skipped: no qemu-aarch64-static here (apt-get install qemu-user-static)"
else
    echo "arm64 under qemu"
    libraries=$CHROOTS/arm64-libraries.tar
    if [ ! -s "$libraries" ]; then
        # Without bullseye-security, whose arm64 files are not all there any more.
        mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 2>/dev/null | sed 's,/*$,,' | grep -m 1 '/debian$' || true)
        [ -n "$mirror" ] || skip "apt has no Debian archive on this machine"
        mmdebstrap --variant=extract --architectures=arm64 --include=libc6,libsystemd0 bullseye "$libraries.new.tar" \
            "deb $mirror bullseye main" >"$CHROOTS/arm64-libraries.log" 2>&1 ||
            { tail -n 3 "$CHROOTS/arm64-libraries.log"; skip "no libraries of Debian 11 for arm64"; }
        mv "$libraries.new.tar" "$libraries"
    fi
    mkdir "$work/libraries"
    tar -x -C "$work/libraries" -f "$libraries" --exclude='./dev/*'
    arm64() { "$qemu" -L "$work/libraries" "$work/arm64/usr/bin/$1" "${@:2}"; }
    amd64() { "$work/amd64/usr/bin/$1" "${@:2}"; }
    want "it says its version" prints '^linkhealth ' arm64 linkhealth --version
    count=0 differ=()
    for recording in "$recordings"/*.jsonl.gz; do
        [ -e "$recording" ] || continue
        count=$((count + 1))
        for format in text json jsonl; do
            for arch in amd64 arm64; do
                status=0
                $arch linkhealth replay "$recording" --format $format >"$work/$arch.out" 2>&1 || status=$?
                echo "exit code $status" >>"$work/$arch.out"
            done
            cmp -s "$work/amd64.out" "$work/arm64.out" || differ+=("$(basename "$recording") $format")
        done
    done
    if [ $count -eq 0 ]; then
        echo "skipped: no recordings in $recordings"
    else
        want "$count recordings are replayed to the same bytes as by amd64" sh -c 'printf "differs: %s\n" "$@"; [ $# -eq 0 ]' sh "${differ[@]}"
    fi
fi
exit $failed
