#!/usr/bin/env bash
# rollout.sh FOLDER [SUITE]   the steps of docs/rollout.md on three nodes of Debian (bookworm), each with a running systemd and an address
# of its own, by deploy/ansible, watched by a real Prometheus with deploy/prometheus.yml and the shipped rules at their shipped
# intervals. Prints each query with what it gave; 13 minutes. The ports are a copy of /sys, so what a step shows
# of ports is the daemon's and not a card's. Exit code 77 with the reason where no such nodes can be made.
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=$(cd "$1" && pwd)
suite=${2:-bookworm}
. tests/packaging/a_node.sh
node_archive "$folder" "$suite" || { echo "skipped: $why"; exit 77; }
command -v prometheus >/dev/null || { echo "skipped: prometheus is not installed"; exit 77; }
if [ -z "${LINKHEALTH_INSIDE:-}" ]; then exec env LINKHEALTH_INSIDE=1 unshare --net --mount "$0" "$folder" "$suite"; fi

work=$(mktemp -d)
prometheus=
cleanup() { [ -z "$prometheus" ] || kill "$prometheus" 2>/dev/null || true; halt_nodes; wait; rm -rf --one-file-system "$work"; }
trap cleanup EXIT
names=(gpu-0001 gpu-0002 gpu-0003)
ip link set lo up
ip link add nodes type bridge
ip address add 10.77.0.254/24 dev nodes
ip link set nodes up
{ echo "127.0.0.1 localhost"; for i in 1 2 3; do echo "10.77.0.$i gpu-000$i"; done; } >"$work/hosts"
mount --bind "$work/hosts" /etc/hosts

# a newer one: the same with another number, also in the program
dpkg-deb -R "$folder"/linkhealth_*_amd64.deb "$work/newer"
sed -i 's/^Version: .*/Version: 0.1.1-1/' "$work/newer/DEBIAN/control"
sed -i 's/^version=.*/version=0.1.1-1/' "$work/newer/DEBIAN/preinst"
sed -i 's/0\.1\.0/0.1.1/g' "$work/newer/usr/bin/linkhealthd"
dpkg-deb -Znone -b --root-owner-group "$work/newer" "$work/newer.deb" >/dev/null
for i in 1 2 3; do
    root=$work/${names[i - 1]}/root
    mkdir -p "$root"
    tar -x -C "$root" -f "$archive" --exclude='./dev/*'
    mkdir -p "$root/srv/deploy" "$root/etc/systemd/system/linkhealthd.service.d"
    cp -r deploy/ansible "$root/srv/deploy/"
    cp "$folder"/linkhealth_*_amd64.deb "$root/srv/linkhealth.deb"
    cp "$work/newer.deb" "$root/srv/newer.deb"
    /usr/bin/python3 - "$root/srv/sys" <<'PY'
import shutil, sys
target, sys.argv = sys.argv[1], ["", "", ""]
sys.path.insert(0, "tests/robustness")
sys.dont_write_bytecode = True
import odd_nodes
node = odd_nodes.Node(2)
shutil.copytree(node.root, target, symlinks=True)
node.close()
PY
    chmod 755 "$root/srv/sys"
    printf '[Service]\nExecStart=\nExecStart=/usr/bin/linkhealthd --config /etc/linkhealth/linkhealth.yaml --sysroot /srv/sys --state-dir /var/lib/linkhealth\n' \
        >"$root/etc/systemd/system/linkhealthd.service.d/sys.conf"
    boot "$root" "${names[i - 1]}" "10.77.0.$i/24" nodes
done

failed=0
# play NODE OPTION...: the playbook on a node, as its own control host
play() {
    local name=$1
    shift
    if in_node "$name" ansible-playbook -i "$name," -c local /srv/deploy/ansible/site.yml "$@" >"$work/play.log" 2>&1; then
        tail -n 2 "$work/play.log" | grep -E 'ok=' | sed 's/  */ /g; s/^/     /'
    else
        echo "     ansible-playbook failed: $(grep -m1 -E 'fatal|ERROR' "$work/play.log" | cut -c1-300)"
        return 1
    fi
}
answer() {
    curl -s --data-urlencode "query=$1" http://127.0.0.1:9090/api/v1/query | jq -r '.data.result | if length == 0 then "nothing" else
        map((.metric | del(.__name__, .job) | to_entries | map("\(.key)=\(.value)") | join(" ")) + " " + .value[1] | ltrimstr(" ")) | sort | join("; ") end'
}
# shows QUERY WANTED [SECONDS]: what Prometheus says, when it says what is wanted or the time is over
shows() {
    local query=$1 wanted=$2 seconds=${3:-90} beginning=$SECONDS said
    while said=$(answer "$query"); ! grep -qE -e "$wanted" <<<"$said" && [ $((SECONDS - beginning)) -lt "$seconds" ]; do sleep 1; done
    if grep -qE -e "$wanted" <<<"$said"; then echo "ok   $query  ->  $said  ($((SECONDS - beginning)) s)"; else echo "FAIL $query  ->  $said, not $wanted"; failed=1; fi
}
step() { echo "== $1 (at $SECONDS s)"; }
deb=(-e linkhealth_package=/srv/linkhealth.deb) newer=(-e linkhealth_package=/srv/newer.deb)
dry=(-e '{"linkhealth_config": {"listen": "0.0.0.0:9942", "dry_run": true}}') live=(-e '{"linkhealth_config": {"listen": "0.0.0.0:9942"}}')

step "1 Prometheus knows the targets, and nothing is installed"
mkdir "$work/targets"
echo '- targets: ["gpu-0001:9942", "gpu-0002:9942", "gpu-0003:9942"]' >"$work/targets/nodes.yml"
sed "s#\.\./dashboards#$PWD/dashboards#" deploy/prometheus.yml >"$work/prometheus.yml"
promtool check config "$work/prometheus.yml" >/dev/null || exit 1
command prometheus --config.file="$work/prometheus.yml" --storage.tsdb.path="$work/data" --web.listen-address=127.0.0.1:9090 >"$work/prometheus.log" 2>&1 &
prometheus=$!
shows 'count(up{job="linkhealth"})' '^3$'
shows 'sum(up{job="linkhealth"})' '^0$'

step "2 one node, dry"
play gpu-0001 --check "${deb[@]}" "${dry[@]}"
play gpu-0001 "${deb[@]}" "${dry[@]}"
shows 'up{job="linkhealth"}' 'instance=gpu-0001 1;'
in_node gpu-0001 linkhealth doctor >"$work/doctor" 2>&1 || true

step "3 canary, dry"
play gpu-0002 "${deb[@]}" "${dry[@]}"
shows 'sum(up{job="linkhealth"})' '^2$'
shows 'count by (health) (link:linkhealth_port_health:info)' '4' 200
shows 'count by (fault) (linkhealth_fault_active)' '^nothing$'
shows 'linkhealth_store_up == 0' '^nothing$'

step "4 canary, live; a port is disabled"
play gpu-0001 "${live[@]}" "${deb[@]}"
play gpu-0002 "${live[@]}" "${deb[@]}"
port=$(echo "$work"/gpu-0001/root/srv/sys/devices/pci0000:00/0000:10:00.0)
# state STATE PHYS OPERSTATE FLAGS CARRIER UPS DOWNS
state() {
    echo "$1" >"$port/infiniband/mlx5_0/ports/1/state"
    echo "$2" >"$port/infiniband/mlx5_0/ports/1/phys_state"
    echo "$3" >"$port/net/ens0/operstate"
    echo "$4" >"$port/net/ens0/flags"
    echo "$5" >"$port/net/ens0/carrier"
    echo "$6" >"$port/net/ens0/carrier_up_count"
    echo "$7" >"$port/net/ens0/carrier_down_count"
}
state '1: DOWN' '3: Disabled' down 0x1002 0 3 3
shows 'count by (instance, device, fault, severity) (linkhealth_fault_active)' 'device=mlx5_0' 300

step "5 all; on one node listen was forgotten"
play gpu-0003 "${deb[@]}"
shows 'ALERTS{alertname="LinkHealthAbsent", instance="gpu-0003"}' 'alertstate=(pending|firing)' 120
shows 'up{job="linkhealth"} == 0' 'instance=gpu-0003 0'
play gpu-0003 "${deb[@]}" "${live[@]}"
shows 'count(up{job="linkhealth"} == 1)' '^3$'
shows 'ALERTS{alertname="LinkHealthAbsent"}' '^nothing$' 120
shows 'count by (version) (linkhealth_build_info)' '^version=0.1.0 3$'

step "a configuration that the daemon refuses"
play gpu-0003 "${deb[@]}" -e '{"linkhealth_config": {"listen": "0.0.0.0:9942", "lissten": 1}}' || true
shows 'count(up{job="linkhealth"} == 1)' '^3$'

step "6 upgrade: the canary, then all"
play gpu-0001 "${newer[@]}" "${live[@]}"
shows 'count by (version) (linkhealth_build_info)' '^version=0.1.0 2; version=0.1.1 1$'
shows 'count by (instance, device, fault) (linkhealth_fault_active)' 'device=mlx5_0'
play gpu-0002 "${newer[@]}" "${live[@]}"
play gpu-0003 "${newer[@]}" "${live[@]}"
shows 'count by (version) (linkhealth_build_info)' '^version=0.1.1 3$'
shows 'max_over_time(up{job="linkhealth"}[1m])' 'instance=gpu-0001 1; instance=gpu-0002 1; instance=gpu-0003 1'

step "7 rollback of the canary"
play gpu-0001 "${deb[@]}" "${live[@]}" || true
play gpu-0001 -e linkhealth_state=absent
shows 'up{instance="gpu-0001"}' ' 0$'
play gpu-0001 "${deb[@]}" "${live[@]}"
shows 'count by (version) (linkhealth_build_info)' '^version=0.1.0 1; version=0.1.1 2$'
shows 'linkhealth_store_up' 'instance=gpu-0001 1'
shows 'count by (instance, device, fault) (linkhealth_fault_active)' 'device=mlx5_0'

step "the port is enabled again"
state '4: ACTIVE' '5: LinkUp' up 0x1003 1 4 3
shows 'linkhealth_fault_active' '^nothing$' 600

step "8 removal: the targets first"
echo '[]' >"$work/targets/nodes.yml"
shows 'up{job="linkhealth"}' '^nothing$' 150
for name in "${names[@]}"; do play "$name" -e linkhealth_state=absent -e linkhealth_purge=true; done
shows 'ALERTS{alertname="LinkHealthAbsent"}' '^nothing$'
shows 'ALERTS{alertname="LinkHealthAllAbsent"}' 'alertstate=pending' 120
exit $failed
