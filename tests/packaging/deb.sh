#!/usr/bin/env bash
# deb.sh FOLDER [SUITE [RELEASE]]   installs the .deb of FOLDER (of that RELEASE, as 1~portable) in a chroot of Debian (bookworm),
# starts the daemon as its user, upgrades, refuses a downgrade, removes and purges. Exit code 77 with the reason where no chroot can
# be made. CHROOTS: where the chroots' archives are kept (default build/chroots).
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=$(cd "$1" && pwd)
suite=${2:-bookworm} release=${3:-}
chroots=${CHROOTS:-$PWD/build/chroots}
skip() { echo "skipped: $*"; exit 77; }
[ "$(id -u)" -eq 0 ] || skip "a chroot wants root"
command -v mmdebstrap >/dev/null || skip "no mmdebstrap here (apt-get install mmdebstrap)"
command -v lintian >/dev/null || skip "no lintian here (apt-get install lintian)"
unshare -m true 2>/dev/null || skip "no mount namespace can be made here"
package=$(ls "$folder"/linkhealth_*"$release"_amd64.deb) || skip "no .deb in $folder"
dashboards=$(ls "$folder"/linkhealth-dashboards_*"$release"_all.deb)
version=$(dpkg-deb -f "$package" Version)
sysusers=systemd-standalone-sysusers
[ "$suite" != bullseye ] || sysusers=systemd

mkdir -p "$chroots"
if [ ! -s "$chroots/$suite.tar" ]; then
    timeout 900 mmdebstrap --variant=minbase --include=$sysusers,init-system-helpers "$suite" "$chroots/$suite.new.tar" \
        >"$chroots/$suite.log" 2>&1 || skip "mmdebstrap can't make a chroot of $suite ($(tail -n 1 "$chroots/$suite.log"))"
    mv "$chroots/$suite.new.tar" "$chroots/$suite.tar"
fi
if [ -z "${LINKHEALTH_INSIDE:-}" ]; then
    exec env LINKHEALTH_INSIDE=1 unshare -m "$0" "$folder" "$suite" "$release"
fi

root=$(mktemp -d)
daemon='' lldpd=''
cleanup() { [ -z "$daemon$lldpd" ] || kill $daemon $lldpd 2>/dev/null || true; umount -l "$root"/{proc,sys,dev} 2>/dev/null || true; rm -rf --one-file-system "$root"; }
trap cleanup EXIT
scratch=$root/tmp
. tests/packaging/checks.sh
inside() { chroot "$root" env LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"; }
as_daemon() { inside setpriv --reuid=linkhealth --regid=linkhealth --init-groups "$@"; }
tar -x -C "$root" -f "$chroots/$suite.tar" --exclude='./dev/*'
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount --rbind /dev "$root/dev"
mkdir "$root/packages"
cp "$package" "$dashboards" "$root/packages/"

# installed
want "lintian has nothing to say" lintian --fail-on error,warning "$package" "$dashboards"
inside apt-get update -q >"$root/tmp/out" 2>&1 || skip "no package lists for $suite"
want "it is installed with what it depends on, and nothing else" inside sh -c "apt-get install -q -y --no-install-recommends /packages/linkhealth_${version}_amd64.deb /packages/linkhealth-dashboards_*.deb"
want "dpkg finds every file as it was packed" silent inside dpkg --verify linkhealth
want "the configuration is a conffile" prints '/etc/linkhealth/linkhealth.yaml' inside dpkg-query -W -f='${Conffiles}' linkhealth
want "the user is made" inside getent passwd linkhealth
for file in usr/bin/linkhealthd usr/bin/linkhealth usr/lib/systemd/system/linkhealthd.service usr/lib/udev/rules.d/60-linkhealth.rules \
    usr/lib/sysusers.d/linkhealth.conf usr/lib/tmpfiles.d/linkhealth.conf usr/lib/systemd/catalog/linkhealth.catalog \
    usr/share/man/man8/linkhealthd.8.gz usr/share/man/man1/linkhealth.1.gz usr/share/bash-completion/completions/linkhealth \
    usr/share/zsh/vendor-completions/_linkhealth usr/share/fish/vendor_completions.d/linkhealth.fish \
    usr/share/linkhealth-dashboards/rules/linkhealth-alerts.yaml usr/share/linkhealth-dashboards/grafana/fleet.json \
    usr/share/linkhealth-dashboards/alertmanager.yml usr/share/doc/linkhealth/operations.md etc/linkhealth/maintenance; do
    want "/$file is there" sh -c "chroot '$root' dpkg -L linkhealth linkhealth-dashboards | grep -qx '/$file'"
done
want "the unit is enabled" test -L "$root/etc/systemd/system/multi-user.target.wants/linkhealthd.service"

# started, as its user and without the recommended libraries
install -d -o "$(inside id -u linkhealth)" -g "$(inside id -g linkhealth)" "$root/run/linkhealth" "$root/var/lib/linkhealth"
want "the installed configuration is good" as_daemon linkhealthd --config /etc/linkhealth/linkhealth.yaml --check-config
/usr/bin/python3 - "$root/run/lldpd.socket" <<'PY' &
import os, socket, sys, time
server = socket.socket(socket.AF_UNIX)
server.bind(sys.argv[1])
os.chmod(sys.argv[1], 0o666)
server.listen(8)
time.sleep(600)
PY
lldpd=$!
# With the permissions that the unit grants: one capability, and the kernel log opened by root as its input.
log=/dev/null
[ ! -r /dev/kmsg ] || log=/dev/kmsg
chroot "$root" setpriv --reuid=linkhealth --regid=linkhealth --init-groups --inh-caps=-all,+net_admin --ambient-caps=-all,+net_admin \
    --bounding-set=-all,+net_admin --no-new-privs linkhealthd --config /etc/linkhealth/linkhealth.yaml --listen none \
    <$log >"$root/tmp/daemon.log" 2>&1 &
daemon=$!
for _ in $(seq 300); do inside linkhealth status >/dev/null 2>&1 && break; sleep 0.2; done
want "the daemon answers" inside linkhealth status
want "it has one capability" prints 'permissions of the daemon: CAP_NET_ADMIN$' inside linkhealth doctor
[ $log = /dev/null ] || want "it reads the kernel log without a right of its own" prints 'kernel_log +ok' inside linkhealth doctor
want "its files are not for every user" silent find "$root/var/lib/linkhealth" "$root/run/linkhealth" -mindepth 1 ! -name import -perm /007
# A machine whose only ports are virtual NICs does not need lldpd.
if inside linkhealth doctor | grep -q peer_lldp; then
    for _ in $(seq 100); do inside linkhealth doctor | grep -q 'cannot load' && break; sleep 0.2; done
    want "the doctor names the library that is missing" prints 'cannot load liblldpctl.so.4' inside linkhealth doctor
fi
kill "$lldpd" "$daemon"
want "it ends cleanly when it is asked to" wait "$daemon"
want "it remembers in its state directory" test -s "$root/var/lib/linkhealth/linkhealth.db"

# lldpd may be installed later, or after linkhealth in the same run of apt: a package that makes lldpd's group as lldpd does
mkdir -p "$root/late/DEBIAN" "$root/late/usr/sbin"
printf '#!/bin/sh\n' >"$root/late/usr/sbin/lldpd"
printf '#!/bin/sh\ngetent group _lldpd >/dev/null || groupadd --system _lldpd\n' >"$root/late/DEBIAN/postinst"
chmod 755 "$root/late/DEBIAN/postinst" "$root/late/usr/sbin/lldpd"
printf 'Package: lldpd\nVersion: 0\nArchitecture: all\nMaintainer: test <test@linkhealth.invalid>\nDescription: for a test\n' >"$root/late/DEBIAN/control"
dpkg-deb -b --root-owner-group "$root/late" "$root/packages/late.deb" >/dev/null
want "the daemon's user joins the group of an lldpd that comes later" inside sh -c 'dpkg -i /packages/late.deb && id -nG linkhealth | grep -qw _lldpd'
inside dpkg -P lldpd >/dev/null 2>&1

# upgraded: the same package with another number
tests/packaging/renumbered "$package" 9.0-1 "$root/packages/linkhealth_9.0-1.deb"
echo 'log_level: debug' >>"$root/etc/linkhealth/linkhealth.yaml"
before=$(sha256sum <"$root/var/lib/linkhealth/linkhealth.db")
want "an upgrade keeps the changed configuration" inside sh -c "dpkg -i --force-confold /packages/linkhealth_9.0-1.deb && grep -q 'log_level: debug' /etc/linkhealth/linkhealth.yaml"
want "and the state" test "$before" = "$(sha256sum <"$root/var/lib/linkhealth/linkhealth.db")"
want "a downgrade is refused in one sentence" prints '^linkhealth: 9.0-1 is installed, and the older .* may not read its state' \
    inside dpkg -i "/packages/linkhealth_${version}_amd64.deb"
want "and leaves what was there" prints '^9.0-1$' inside dpkg-query -W -f='${Version}\n' linkhealth

# removed, purged
want "removed" inside dpkg -r linkhealth
want "the program is gone, the state and the configuration stay" test ! -e "$root/usr/bin/linkhealthd" -a -e "$root/var/lib/linkhealth/linkhealth.db" -a -e "$root/etc/linkhealth/linkhealth.yaml"
want "after a removal an older one is welcome" inside dpkg -i --force-confold "/packages/linkhealth_${version}_amd64.deb"
want "purged" inside dpkg -P linkhealth
want "nothing is left" test ! -e "$root/var/lib/linkhealth" -a ! -e "$root/etc/linkhealth" -a ! -e "$root/usr/bin/linkhealth"
exit $failed
