"""A node: ports with their drivers, the event queue, the room, the jobs, and the recording that comes out."""
import gzip
import heapq
import json
import math
import random
import time

from link import DARK_DBM, MEDIA, Link, poisson, p_lost

IB = ("port_xmit_data port_rcv_data port_xmit_packets port_rcv_packets symbol_error link_error_recovery link_downed "
      "port_rcv_errors port_rcv_remote_physical_errors port_xmit_discards local_link_integrity_errors "
      "excessive_buffer_overrun_errors VL15_dropped port_xmit_wait").split()
ROCE = "np_cnp_sent np_ecn_marked_roce_packets rp_cnp_handled".split()
RETRY = "out_of_sequence packet_seq_err local_ack_timeout_err out_of_buffer duplicate_request".split()
MLX5 = ("implied_nak_seq_err rnr_nak_retry_err req_transport_retries_exceeded roce_adp_retrans rx_icrc_encapsulated "
        "rx_discards_phy link_down_events_phy outbound_pci_stalled_wr_events").split()
ETH = ("phy_SymbolErrorDuringCarrier mac_FrameCheckSequenceErrors pause_rx_pause_frames pause_tx_pause_frames "
       "netdev_rx_errors netdev_rx_bytes netdev_tx_bytes netdev_rx_packets netdev_tx_packets").split()
SATURATES = {"symbol_error": 65535, "link_error_recovery": 255, "link_downed": 255, "port_rcv_errors": 65535,
             "port_rcv_remote_physical_errors": 65535, "port_xmit_discards": 65535, "local_link_integrity_errors": 15,
             "excessive_buffer_overrun_errors": 15, "VL15_dropped": 65535}

REASONS = {     # ethtool's reasons for a link that is down
    "nocable": [("No cable", "")],
    "dark": [("Autoneg", "No partner detected"), ("Bad signal integrity", "Serdes ALOS")],
    "unsupported": [("Cable issue", "Unsupported cable")],
    "signal": [("Bad signal integrity", ""), ("Bad signal integrity", "Large number of physical errors"),
               ("Logical mismatch", "PCS did not get align_status")],
    "copper_signal": [("Bad signal integrity", ""), ("Link training failure", "KR link inhibit timeout"),
                      ("Link training failure", "KR frame lock not acquired")],
    "far_signal": [("Link training failure", "Remote side is not ready yet")],
    "overheat": [("Overheat", "")],
    "idle_far": [("Autoneg", "No partner detected")],
}


class Port:
    def __init__(self, node, index, medium, driver, ib, level, switch, rng):
        self.node, self.index, self.medium, self.driver, self.ib = node, index, medium, driver, ib
        self.level, self.switch, self.rng = level, switch, rng
        self.link = Link(rng, medium)
        device = {"mlx5_core": "mlx5_", "bnxt_en": "bnxt_re", "ice": "irdma", "efa": "efa_"}[driver] + str(index)
        self.key = f"{device}/1"
        self.id = {"device": device, "port": 1, "pci": f"0000:{0x1b + 0x10 * index:02x}:00.0", "driver": driver,
                   "guid": "%04x:%04x:%04x:%04x" % tuple(rng.randrange(65536) for _ in range(4)),
                   "link_layer": "InfiniBand" if ib else "Ethernet", "function": "pf"}
        self.id["netdev"] = f"ib{index}" if ib else f"ens{index + 1}np0"
        self.far_port = str(rng.randrange(1, 65)) if ib else f"Ethernet{rng.randrange(64)}/1"
        self.seen_far = (switch, self.far_port)
        self.names = list(IB)
        if driver == "ice":
            self.names = list(ETH) + RETRY + ROCE if not node.hard else \
                list(ETH) + ["RetransSegs", "InOptErrors", "cnpHandled", "cnpSent", "RxECNMrkd"]
        elif driver == "efa":
            self.names = "tx_bytes rx_bytes tx_pkts rx_pkts rx_drops retrans_pkts keep_alive_rcvd".split()
        else:
            self.names += RETRY + ([] if ib else ROCE + ETH) + (MLX5 if driver == "mlx5_core" else [])
        mlx = driver == "mlx5_core"
        lacks = 0.35 if node.hard else 0.15
        self.caps = {"bits": mlx or (driver == "bnxt_en" and rng.random() < 0.5),
                     "lanes": mlx and rng.random() > lacks, "reason": mlx and rng.random() > lacks,
                     "flags": rng.random() > lacks, "limits": rng.random() > lacks,
                     "vdm": medium.optical and medium.pam4 and rng.random() > 0.5,
                     "powers": medium.optical or (medium.kind == "aoc" and rng.random() < 0.6),
                     "pcie": rng.random() > lacks / 2, "module": driver != "efa"}
        self.base_pcie = {"speed_gtps": 32.0 if medium.speed_mbps > 200000 else 16.0, "width": 16}
        self.pcie = dict(self.base_pcie)
        self.aer = 0.0
        self.admin_up = self.far_admin_up = True
        self.up = True
        self.blocks = {}            # causes that keep the link down, by name
        self.ups, self.downs = rng.randrange(1, 7), 0
        self.downs = self.ups - 1
        self.down_since = None
        self.up_seq = 0
        self.load_scale = rng.uniform(0.6, 1.0)
        self.room_c = 0.0
        self.extra = {}             # counter -> events per second (times load)
        self.loss_out_share = 0.0   # share of packets lost elsewhere on the path
        self.loss_in_share = 0.0
        self.throttle = 1.0
        self.frozen = False
        self.unread = {}            # probe -> errno, or (errno, share)
        self.gone = False
        self.tolerate = []
        self.flapped = self.moved = False
        self.exempt = ""            # "unused": nothing plugged in, nothing planned
        self.truth = None
        self.ecn_rate = 10 ** rng.uniform(0.3, 1.5)
        self.wait_rate = rng.uniform(0.002, 0.02)
        self.ar_share = 10 ** rng.uniform(-9.5, -7.5)
        self.settle_t = 0.0
        self.cage = []              # all ports of this one's module, if it has several
        self.telemetry_s = 0        # period in which a collector reads the far end; it repeats the values in between
        self.told = None            # its values, and when it read them
        self.last_far = {}
        self.reason = None
        self.reset_counters()

    def card_mates(self):
        card = self.id["pci"].rsplit(".", 1)[0]
        return [q for q in self.node.ports if q is not self and q.id["pci"].startswith(card) and not q.truth
                and not q.exempt]

    # -- the truth ---------------------------------------------------------------------------------------------------
    def near_temp(self, t):
        return self.link.near.temp_c(self.node.room(t) + self.room_c, self.load(t))

    def load(self, t):
        return self.node.load(t) * self.load_scale * self.throttle if self.up else 0.0

    def why_down(self, t):
        """The first thing that keeps the link from coming up, or None."""
        if not self.admin_up:
            return "admin"
        for cause in self.blocks.values():
            return cause
        link = self.link
        if not link.near.present:
            return "nocable"
        if not link.far.present or not self.far_admin_up:
            return "idle_far" if not self.medium.fibre else "dark"
        temp = self.near_temp(t)
        rx, tx = link.bers(True, temp), link.bers(False, temp)
        if all(b >= 0.5 for b in rx):
            return "dark"
        if self.rng.random() > math.exp(-min(50.0, link.hazard(rx))):
            return "signal"
        if self.rng.random() > math.exp(-min(50.0, link.hazard(tx))):
            return "far_signal"
        return None

    # -- transitions -------------------------------------------------------------------------------------------------
    def fall(self, t, seconds=None):
        if not self.up:
            return
        self.up, self.down_since = False, t
        self.downs += 1
        self.reason = None
        self.up_seq += 1
        for name in ("link_downed", "link_down_events_phy"):
            self.add(name, 1)
        self.add("fec_uncorrectable_blocks", poisson(self.rng, 25))
        self.far_counters["link_downed"] += 1
        self.node.event(t + 0.01, self.key, "carrier_down")
        if self.ib:
            self.node.event(t + 0.012, self.key, "port_error")
        self.retry(t + (seconds if seconds is not None else self.retrain_s()))

    def retrain_s(self):
        median = 1.2 if not self.medium.pam4 and not self.medium.fibre else (9.0 if self.medium.pam4 else 3.0)
        return median * math.exp(self.rng.gauss(0, 0.4))

    def retry(self, t):
        seq = self.up_seq
        self.node.at(t, lambda now: self.try_up(now, seq))

    def try_up(self, t, seq):
        if self.up or seq != self.up_seq or self.gone:
            return
        cause = self.why_down(t)
        if cause:
            self.note_reason(cause)
            return self.retry(t + self.rng.uniform(8, 16))
        self.up = True
        self.up_seq += 1
        self.ups += 1
        self.reason = None
        self.add("fec_uncorrectable_blocks", poisson(self.rng, 12))
        self.add("fec_corrected_bits", poisson(self.rng, 40000))
        self.add("fec_corrected_blocks", poisson(self.rng, 9000))
        self.node.event(t, self.key, "carrier_up")
        if self.ib:
            self.node.event(t + 0.9, self.key, "port_active")

    def recheck(self, t):
        """Something changed: a link that cannot live falls now."""
        if self.up:
            cause = self.why_down(t)
            if cause:
                self.fall(t + 0.02)
                self.note_reason(cause)
        else:
            self.up_seq += 1
            self.retry(t + self.retrain_s())

    def note_reason(self, cause):
        if isinstance(cause, tuple):
            self.reason, self._cause = cause, cause
            return
        copper = "copper_" if cause == "signal" and not self.medium.fibre else ""
        if self.reason is None or cause != getattr(self, "_cause", None):
            choices = REASONS.get(copper + cause)
            self.reason = self.rng.choice(choices) if choices else None
        self._cause = cause

    # -- counters ----------------------------------------------------------------------------------------------------
    def add(self, name, count):
        if name in self.counters:
            self.counters[name] += count

    def reset_counters(self, fresh=False):
        rng = self.rng
        fec = [] if self.driver == "efa" or self.medium.fec == "none" else \
            ["fec_corrected_blocks", "fec_uncorrectable_blocks"] + (["fec_corrected_bits"] if self.caps["bits"] else [])
        self.counters = {n: 0.0 for n in self.names + fec}
        self.lane_bits = [0.0] * self.medium.lanes
        if not fresh:
            past = rng.uniform(1e14, 9e14)
            for n, scale in (("port_xmit_data", 1), ("port_rcv_data", .97), ("port_xmit_packets", 1 / 1100),
                             ("port_rcv_packets", 1 / 1090), ("tx_bytes", 1), ("rx_bytes", 1)):
                self.add(n, int(past * scale * rng.uniform(0.9, 1.1)))
            for n in RETRY + ROCE + ["pause_rx_pause_frames", "pause_tx_pause_frames", "port_rcv_errors"]:
                if rng.random() < 0.4:
                    self.add(n, rng.choice([1, 7, 120, 950, 41000]))
            self.add("link_downed", min(255, self.downs))
            self.add("link_down_events_phy", self.downs)
        self.far_counters = {"symbol_error": 0, "link_downed": self.downs, "port_rcv_errors": 0}
        if self.ib:
            self.far_counters.update(link_error_recovery=0, port_rcv_remote_physical_errors=0, port_xmit_discards=0)

    def advance(self, t0, t1):
        dt, rng, medium = t1 - t0, self.rng, self.medium
        if self.driver == "efa" or self.gone or self.frozen:
            if self.driver == "efa" and self.up:
                for n in ("tx_bytes", "rx_bytes"):
                    self.add(n, self.load(t0) * 1e11 / 8 * dt)
                self.add("keep_alive_rcvd", dt)
            return
        if not self.up:
            if self.admin_up and self.node.load(t0) > 0.05:
                self.add("local_ack_timeout_err", poisson(rng, 2.0 * dt * self.node.load(t0)))
            return
        load, temp, link = self.load(t0), self.near_temp(t0), self.link
        add = self.add
        words = load * link.speed_mbps * 1e6 / 32 * dt
        packets = words * 4 / 4096
        for n, f in (("port_xmit_data", 1.0), ("port_rcv_data", .98)):
            add(n, words * f)
        add("port_xmit_packets", packets)
        add("port_rcv_packets", packets * 0.99)
        share = 1.0 if self.driver == "ice" else 0.001      # mlx5: RDMA bypasses the netdev
        for n, v in (("netdev_tx_bytes", words * 4), ("netdev_rx_bytes", words * 3.9),
                     ("netdev_tx_packets", packets), ("netdev_rx_packets", packets)):
            add(n, v * share)
        lost = [0.0, 0.0]
        for inward in (True, False):
            bers = link.bers(inward, temp)
            mean = sum(bers) / len(bers)
            burst = link.burst_in if inward else link.burst_out
            if medium.fec == "none":
                errors = poisson(rng, mean * medium.line_bps * dt) + sum(
                    rng.randrange(1, 30) for _ in range(poisson(rng, burst * dt)))
                bad = errors * load
            else:
                words_s = link.speed_mbps / medium.speed_mbps * medium.line_bps / 5440
                bad = poisson(rng, words_s * dt * p_lost(mean, medium.fec))
                for _ in range(min(50, poisson(rng, burst * dt))):
                    bad += int(math.exp(rng.gauss(1.5, 1.2)))
                errors = bad * 17
            lost[0 if inward else 1] = min(bad * load * 1.3, packets)
            if inward:
                if medium.fec != "none":
                    width = link.speed_mbps / medium.speed_mbps * medium.line_bps * dt / len(bers)
                    bits = [poisson(rng, b * width) for b in bers]
                    for i, b in enumerate(bits):
                        self.lane_bits[i] += b
                    add("fec_corrected_bits", sum(bits))
                    hit = -math.expm1(-mean * 5440) * words_s * dt
                    add("fec_corrected_blocks", min(poisson(rng, hit), sum(bits)) + 0.0)
                    add("fec_uncorrectable_blocks", bad)
                add("symbol_error" if self.ib else "phy_SymbolErrorDuringCarrier", errors)
                seen = poisson(rng, lost[0])
                add("port_rcv_errors", seen)
                add("mac_FrameCheckSequenceErrors", seen)
                add("netdev_rx_errors", seen)
            else:
                self.far_counters["symbol_error"] += errors
                self.far_counters["port_rcv_errors"] += poisson(rng, lost[1])
            hazard = link.hazard(bers)
            if hazard > 1e-9 and rng.random() < -math.expm1(-min(50.0, hazard * dt)):
                seq = self.up_seq
                self.node.at(t1 + rng.random() * (dt if hazard * dt < 3 else min(dt, 1 / hazard)),
                             lambda now, s=seq: self.up_seq == s and self.fall(now))
        in_lost = poisson(rng, lost[0] * 0.5 + packets * self.loss_in_share)
        out_lost = poisson(rng, lost[1] * 0.5 + packets * self.loss_out_share)
        add("out_of_sequence", in_lost + poisson(rng, packets * self.ar_share))
        add("duplicate_request", poisson(rng, in_lost * 0.2))
        add("packet_seq_err", poisson(rng, out_lost * 0.7))
        add("RetransSegs", out_lost)
        add("local_ack_timeout_err", poisson(rng, out_lost * 0.15 + in_lost * 0.05))
        add("implied_nak_seq_err", poisson(rng, out_lost * 0.05))
        add("roce_adp_retrans", poisson(rng, out_lost * 0.1))
        add("port_xmit_wait", words * self.wait_rate * rng.uniform(0.7, 1.3))
        ecn = self.ecn_rate         # DCQCN working normally is not congestion
        for n, rate in (("np_cnp_sent", ecn), ("np_ecn_marked_roce_packets", ecn * 1.5), ("rp_cnp_handled", ecn),
                        ("cnpHandled", ecn), ("cnpSent", ecn), ("RxECNMrkd", ecn * 1.5),
                        ("pause_rx_pause_frames", 0.05), ("pause_tx_pause_frames", 0.02)):
            add(n, poisson(rng, rate * load * dt))
        for n, rate in self.extra.items():
            add(n, poisson(rng, rate * load * dt * rng.uniform(0.7, 1.3)))
        self.aer += poisson(rng, self.extra.get("aer", 0.0) * dt)

    # -- readings ----------------------------------------------------------------------------------------------------
    def group(self, name, t):
        return getattr(self, "read_" + name)(t)

    def read_link(self, t):
        up = self.up
        out = {"admin_up": self.admin_up, "carrier": up, "state": "ACTIVE" if up else "DOWN", "phys_state":
               "LinkUp" if up else ("Disabled" if not self.admin_up or not self.ib else
                                    ("PortConfigurationTraining" if getattr(self, "_cause", "") == "signal" or
                                     isinstance(getattr(self, "_cause", ""), tuple) else "Polling")),
               "mtu_bytes": 4096 if self.ib else 4200, "autoneg": not self.medium.fibre,
               "carrier_up_count": self.ups, "carrier_down_count": self.downs}
        if self.medium.fec != "none" and self.driver != "efa":
            out["fec"] = self.medium.fec
        if up:
            out["speed_mbps"], out["lanes"] = self.link.speed_mbps, self.link.lanes_used
        elif self.caps["reason"] and self.admin_up and self.reason and t > self.down_since + 4:
            out["down_reason"] = {"state": self.reason[0]}
            if self.reason[1]:
                out["down_reason"]["substate"] = self.reason[1]
        return out

    def read_counters(self, t):
        return {n: min(int(v), SATURATES.get(n, 1 << 62)) if self.ib else int(v) for n, v in self.counters.items()}

    def read_module(self, t):
        if not self.cage:
            return self.own_module(t)
        out, *others = [q.own_module(t) for q in self.cage]
        for more in others if out["present"] else ():
            out.setdefault("lanes", []).extend(more.get("lanes", []))
            if "ModuleFault" in (out.get("state"), more.get("state")):
                out["state"] = "ModuleFault"
            if "vdm" in out and "vdm" in more:      # the worst of both data paths
                out["vdm"]["media_esnr_db"] += more["vdm"]["media_esnr_db"]
                out["vdm"]["media_pre_fec_ber"] = max(out["vdm"]["media_pre_fec_ber"], more["vdm"]["media_pre_fec_ber"],
                                                      key=lambda v: v["avg"])
        return out

    def own_module(self, t):
        side, m, rng = self.link.near, self.medium, self.rng
        if not side.present:
            return {"present": False}
        out = {"present": True, "kind": m.kind, "type": m.name, "connector": m.connector, **side.ident}
        if m.kind == "dac":
            return out
        temp = self.near_temp(t) + side.temp_cal + rng.gauss(0, 0.2)
        out.update(firmware=side.firmware, state=getattr(self, "module_state", "ModuleReady"), fault_cause="",
                   temperature_c=round(temp) if side.whole_degrees else round(temp, 2),
                   supply_v=round(side.supply_v + rng.gauss(0, 0.004), 4))
        if not self.caps["powers"]:
            return out
        if not self.cage and rng.random() < self.node.glitch:      # occasionally a page of zeros
            out.update(temperature_c=0.0, supply_v=0.0, lanes=[
                {"rx_power_mw": 0.0, "tx_power_mw": 0.0, "tx_bias_ma": 0.0}] * m.lanes)
            return out
        out["lanes"] = []
        for i in range(m.lanes):
            light, sent = self.link.light(True, i), side.sends(i)
            lane = {"rx_power_mw": 0.0 if side.mute[i] else side.meter_mw(light, side.rx_cal[i]),
                    "tx_power_mw": side.meter_mw(sent, side.tx_cal[i]) if sent > -35 else 0.0,
                    "tx_bias_ma": 0.0 if not side.laser_on or side.dead[i] else
                    math.floor(500 * side.bias[i] * side.bias_mult[i] * (1 + rng.gauss(0, 0.003))) / 500}
            if self.caps["flags"]:
                dark = light < m.sens - 9
                lane.update(rx_los=dark, rx_lol=dark or (not self.up and getattr(self, "_cause", "") == "signal"),
                            tx_los=False, tx_lol=False, tx_fault=side.dead[i] and side.laser_on)
            out["lanes"].append(lane)
        if self.caps["limits"]:
            mw = lambda d: round(10 ** (d / 10), 4)
            band = lambda la, lw, hw, ha: {"low_alarm": la, "low_warn": lw, "high_warn": hw, "high_alarm": ha}
            out["thresholds"] = {
                "temperature_c": band(-5, 0, 70, 75), "supply_v": band(3.0, 3.135, 3.465, 3.6),
                "rx_power_mw": band(mw(m.sens - 4), mw(m.sens - 2), mw(4.0), mw(5.0)),
                "tx_power_mw": band(mw(m.tx - 6.5), mw(m.tx - 5), mw(4.5), mw(5.5)),
                "tx_bias_ma": band(m.bias * .3, m.bias * .4, m.bias * 1.4, m.bias * 1.6)}
        if self.caps["vdm"] and self.up:
            bers = self.link.bers(True, self.near_temp(t))
            mean = sum(bers) / len(bers)
            out["vdm"] = {"media_esnr_db": [round(15.6 + 1.05 * max(0.0, -math.log10(b) - 3.6) + rng.gauss(0, .1), 1)
                                            for b in bers],
                          "media_pre_fec_ber": {k: float("%.2e" % (mean * f)) for k, f in
                                                (("min", .7), ("max", 1.4), ("avg", 1.0), ("current", 1.02))}}
        return out

    def read_peer(self, t):
        """Telemetry is told again, older each time, until the collector has read the switch once more."""
        if not self.telemetry_s or self.level < 2 or (self.ib and self.level == 2):
            return self.ask_peer(t)
        if self.told is None or t - self.told[0] >= self.telemetry_s:
            got = self.ask_peer(t)
            if got is None:
                return None
            self.told = t - min(got["age_s"], t - (self.down_since or -1e9) if not self.up else 1e9), got
        read_at, got = self.told
        return {**got, "age_s": round(t - read_at, 1)}

    def ask_peer(self, t):
        """The far end, by LLDP, MAD or telemetry; None when it does not answer now."""
        system, port = self.seen_far
        rng = self.rng
        source = {0: "", 1: "lldp", 2: "mad" if self.ib else "telemetry", 3: "telemetry"}[self.level]
        if not source or self.node.silent.get(self.switch, 0) > t:
            return None
        if source in ("mad", "lldp") and not self.up:
            return None
        out = {"source": source, "age_s": round(rng.uniform(0.2, 28), 1), "system": system, "port": port}
        if self.level == 1:
            return out
        far_state = "LinkUp" if self.up else ("Polling" if self.far_admin_up else "Disabled")
        out["link"] = {"state": "ACTIVE" if self.up else "DOWN", "phys_state": far_state,
                       "admin_up": self.far_admin_up, "speed_mbps": self.link.speed_mbps}
        out["counters"] = {k: min(int(v), SATURATES[k]) for k, v in self.far_counters.items()}
        far = self.link.far
        if self.level == 3 and self.medium.kind != "dac":
            if not far.present:
                out["module"] = {"present": False}
            else:
                out["module"] = {"present": True, "temperature_c": round(23 + far.rise_c + rng.gauss(0, .3), 1)}
                if self.caps["powers"]:
                    out["module"]["lanes"] = [
                        {"rx_power_mw": far.meter_mw(self.link.light(False, i), far.rx_cal[i]),
                         "tx_power_mw": far.meter_mw(far.sends(i), far.tx_cal[i]) if far.sends(i) > -35 else 0.0}
                        for i in range(self.medium.lanes)]
        return out

    def read_pcie(self, t):
        return {**self.pcie, "max_speed_gtps": self.base_pcie["speed_gtps"], "max_width": self.base_pcie["width"],
                "aer_correctable": int(self.aer), "aer_nonfatal": 0, "aer_fatal": 0}


class Node:
    def __init__(self, rng, hard, hours, cadence_s, module_s, peer_s):
        self.rng, self.hard, self.end_t = rng, hard, hours * 3600
        self.cadence_s, self.module_s, self.peer_s = cadence_s, module_s, peer_s
        self.ports, self.queue, self.seq, self.events, self.lines = [], [], 0, [], []
        self.uptime0 = rng.randrange(50000, 5000000)
        self.phase = rng.uniform(0, 6.28)
        self.room_step = []         # (t0, t1, degrees): ramps of the room
        self.jobs = []
        t, busy = 0.0, rng.random() < 0.7
        while t < self.end_t:
            length = rng.uniform(1800, 5 * 3600)
            self.jobs.append((t, t + length, rng.uniform(0.15, 0.75) if busy else rng.uniform(0.0, 0.02)))
            t, busy = t + length, not busy
        self.now_job = 0
        self.silent = {}            # switch -> until when it does not answer
        self.blackout_t = -1.0      # no snapshot before (the daemon is not running)
        self.link_only = rng.random() < 0.3     # a snapshot for an event reads only the links
        self.glitch = rng.choice([0.0, 0.0, 0.002])
        self.swing_c = rng.uniform(0.5, 3.5)
        self.eager = rng.random() < 0.7
        self.last_due = {}
        self.extra_at = set()

    def room(self, t):
        return 22 + self.swing_c * math.sin(6.2832 * t / 86400 + self.phase) + sum(
            d * min(1.0, (t - a) / 600) for a, b, d in self.room_step if a <= t < b)

    def load(self, t):
        while self.now_job + 1 < len(self.jobs) and t >= self.jobs[self.now_job][1]:
            self.now_job += 1
        return self.jobs[self.now_job][2]

    def at(self, t, fn):
        if t <= self.end_t:
            self.seq += 1
            heapq.heappush(self.queue, (t, self.seq, fn))

    def event(self, t, port, kind, text=None):
        out = {"t": round(t, 3), "kind": kind}
        if port:
            out["port"] = port
        if text:
            out["text"] = text
        self.events.append(out)
        if self.eager and kind in ("carrier_down", "carrier_up", "module_removed"):
            for later in ((5,) if kind != "carrier_down" else (1, 20, 40, 60, 80)):
                due = round(t + later)
                if due not in self.extra_at:
                    self.extra_at.add(due)
                    self.at(t + later, lambda now: self.snapshot(now, False))

    def wall(self, t):
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.start_s + t))

    def snapshot(self, t, regular=True):
        if regular:
            self.at(t - t % self.cadence_s + self.cadence_s + self.rng.uniform(0, 0.15), self.snapshot)
        if t < self.blackout_t:
            return
        line = {"t": round(t, 3), "at": self.wall(t), "uptime_s": int(self.uptime0 + t), "ports": {}}
        gaps = []
        for p in self.ports:
            if p.gone:
                continue
            groups = {"id": p.id}
            due = ["link"] + ["counters"] * (regular or not self.link_only) + (["module"] if p.caps["module"] and self.due(p, "module", t, self.module_s)
                                          else [])
            if regular and self.due(p, "peer", t, self.peer_s):
                due += ["peer"] * (p.level > 0) + ["pcie"] * p.caps["pcie"]
            for name in due:
                errno = p.unread.get(name)
                if name == "module" and not errno and self.rng.random() < 0.008:
                    errno = "EIO"
                if isinstance(errno, tuple):
                    errno = errno[0] if self.rng.random() < errno[1] else None
                if errno:
                    gaps.append({"port": p.key, "probe": name, "reason": errno})
                    continue
                got = p.group(name, t)
                if got is None:
                    if p.level > 1:
                        gaps.append({"port": p.key, "probe": name, "reason": "ETIMEDOUT"})
                    continue
                groups[name] = got
                if name == "counters" and p.caps["lanes"] and p.medium.fec != "none":
                    groups["fec_lanes"] = [{"corrected_bits": int(b)} for b in p.lane_bits]
            line["ports"][p.key] = groups
        self.events.sort(key=lambda e: e["t"])
        ready = [e for e in self.events if e["t"] <= t]
        if ready:
            line["events"] = ready
            self.events = [e for e in self.events if e["t"] > t]
        if gaps:
            line["gaps"] = gaps
        self.lines.append(json.dumps(line, separators=(",", ":")))

    def due(self, port, name, t, every):
        key = (port.key, name)
        if t - self.last_due.get(key, -1e9) >= every - 1:
            self.last_due[key] = t
            return True
        return False

    def run(self):
        self.start_s = 1767225600 + self.rng.randrange(0, 300 * 86400)
        self.at(self.rng.uniform(0, 0.2), self.snapshot)
        last = 0.0
        while self.queue:
            t, _, fn = heapq.heappop(self.queue)
            if t > last:
                for p in self.ports:
                    p.advance(last, t)
                last = t
            fn(t)

    def write(self, path):
        expected = {}
        for p in self.ports:
            plan = getattr(p, "plan", None)
            if plan:
                expected[p.key] = plan
        head = {"schema": "linkhealth.recording/1", "node": f"host-{self.rng.randrange(9999):04d}",
                "boot_id": "%032x" % self.rng.getrandbits(128), "at": self.wall(0), "version": "0.1.0",
                "expected": expected}
        with gzip.GzipFile(path, "wb", compresslevel=1, mtime=0) as f:
            f.write(("\n".join([json.dumps(head)] + self.lines) + "\n").encode())
