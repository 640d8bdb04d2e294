#!/usr/bin/env bash
# Tests the lab itself: module pages, EEPROM faults, FEC, statistics, carrier, RDMA on top. Needs none of our programs; the
# probes' own tests of a live kernel run here when they are built.
. "$(dirname "$0")/../lab.sh"
is() { local name=$1; shift; want "$name" shows "$@"; }
now_ms() { local now=$EPOCHREALTIME; echo $((${now/./} / 1000)); }

ports_up
is "two-way link" 'state UP' ip link show so0
is "driver" 'driver: simoptics' ethtool -i so0
is "SFF-8636 identity" 'Vendor name +: LABOPTICS' ethtool -m so0
is "SFF-8636 temperature" '38\.50 degrees C' ethtool -m so0
is "SFF-8636 received power" 'Channel 1\) +: 0\.6310 mW / -2\.00 dBm' ethtool -m so0
is "SFF-8636 thresholds" 'warning threshold +: 70\.00 degrees' ethtool -m so0
is "SFF-8636 raw page" '4c 41 42 4f 50 54 49 43 53' ethtool -m so0 page 0 offset 128 length 128
is "CMIS identity" 'Vendor name +: LABCMIS' ethtool -m so2
is "CMIS temperature" '38\.50 degrees' ethtool -m so2
is "CMIS received power" 'Channel 1\) +: 0\.7940 mW / -1\.00 dBm' ethtool -m so2
is "CMIS thresholds" 'warning threshold +: 70\.00 degrees' ethtool -m so2
pages rx so0 3 -8.0dBm
is "a lane's power changes" 'Channel 3\) +: 0\.1585 mW / -8\.00 dBm' ethtool -m so0

set_sim so0/module/errno "0x03 5"
is "a page that fails" 'Input/output error' ethtool -m so0 page 3 offset 128 length 128
is "the others don't" '0x0080' ethtool -m so0 page 0 offset 128 length 128
set_sim so0/module/errno "all 16"
is "a busy module" 'busy' ethtool -m so0 page 0 offset 0 length 1
set_sim so0/module/errno "all 0"
set_sim so0/module/present 0
is "an absent module" 'No such device' ethtool -m so0
set_sim so0/module/present 1
set_sim so0/module/delay_ms 400
start=$(now_ms)
ethtool -m so0 page 0 offset 0 length 1 >"$tmp/slow"
took=$(($(now_ms) - start))
set_sim so0/module/delay_ms 0
want "a slow module ($took ms)" test $took -ge 400

is "speed" '100000Mb/s' ethtool so0
is "speed of the other pair" '400000Mb/s' ethtool so2
is "FEC mode" 'Active FEC encoding: RS' ethtool -I --show-fec so0
set_sim so0/fec/corrected_bits/total 5000
is "FEC counter" 'corrected_bits: 5000' ethtool -I --show-fec so0
for lane in 0 1 2 3; do set_sim so0/fec/corrected_blocks/lane$lane $((100 + lane)); done
set_sim so0/fec/corrected_blocks/lane0 +7
is "FEC counter by lanes" 'corrected_blocks: 413' ethtool -I --show-fec so0
set_sim so0/stats/eth-phy/SymbolErrorDuringCarrier 42
is "symbol errors" 'SymbolErrorDuringCarrier: 42' ethtool -S so0 --groups eth-phy
set_sim so0/stats/eth-mac/FrameCheckSequenceErrors 43
is "FCS errors" 'FrameCheckSequenceErrors: 43' ethtool -S so0 --groups eth-mac
set_sim so0/ethtool_stats "rx_symbol_err_phy 46"
is "driver statistics" 'rx_symbol_err_phy: 46' ethtool -S so0
set_sim so0/health "An unsupported module was detected."
is "a health reporter in error" 'state error error 1' devlink health show platform/simoptics.0 reporter port
is "what it says" 'Description: An unsupported module was detected' devlink health diagnose platform/simoptics.0 reporter port
live_tests=$lab/../../build/dev/bin/test_probes_netlink
live() { "$live_tests" --gtest_filter='NetlinkLive.*' >"$tmp/live" 2>&1 && ! grep SKIPPED "$tmp/live"; }
if [ -x "$live_tests" ]; then
    want "the probes' tests of a live kernel, none skipped" live
else
    echo "SKIP $scenario: the probes' tests of a live kernel are not built (cmake --build --preset dev)"
fi

set_sim so0/ext_substate 4
set_sim so0/ext_state 3
down0=$(cat /sys/class/net/so0/carrier_down_count)
set_sim so0/carrier 0
is "reason of a link that is down" 'Bad signal integrity' ethtool so0
is "the other end follows" 'NO-CARRIER' ip link show so1
is "the RDMA port follows" 'rxe0/1 state DOWN' rdma link
set_sim so0/carrier 1
eventually 5 "the RDMA port comes back" shows 'rxe0/1 state ACTIVE' rdma link
is "carrier losses are counted" "^$((down0 + 1))$" cat /sys/class/net/so0/carrier_down_count

before=$(cat /sys/class/net/so0/statistics/tx_packets)
want "RDMA traffic" traffic rxe0 rxe1 200
crossed=$(($(cat /sys/class/net/so0/statistics/tx_packets) - before))
want "it crossed the wire ($crossed packets)" test $crossed -ge 400
is "RDMA counters" 'sent_pkts [1-9]' rdma statistic show link rxe0/1
set_sim so0/loss_ppm 100000
want "RDMA traffic with 10 % loss" traffic rxe0 rxe1 30
set_sim so0/loss_ppm 0
ports_down
want "simoptics unloads" test ! -d $sim
shows 'BUG|WARNING|Oops|Call Trace' dmesg >"$tmp/oops" && bad "a clean kernel log" "$(cat "$tmp/oops")" || ok "a clean kernel log"
finish
