"""One link: two modules, the fibres between them, FEC, and the counters of the near port.

Physics only: nothing here knows the name of a fault. Powers in dBm, losses in dB, times in seconds.
"""
import functools
import math

DARK_DBM = -60.0


class Medium:
    def __init__(self, name, kind, lanes, speed_mbps, pam4, fec, tx, loss, sens, bias, duplex, smf, temp, connector):
        self.name, self.kind, self.lanes, self.speed_mbps = name, kind, lanes, speed_mbps
        self.pam4, self.fec, self.tx, self.loss, self.sens = pam4, fec, tx, loss, sens
        self.bias, self.duplex, self.smf, self.temp, self.connector = bias, duplex, smf, temp, connector
        self.optical = kind == "optical"
        self.fibre = kind in ("optical", "aoc")
        self.limit = 2.4e-4 if fec == "RS544" else (5e-5 if fec == "RS528" else 1e-12)
        self.line_bps = speed_mbps * 1e6 * (1.0625 if fec == "RS544" else 1.03125)


_ROWS = """
100G-SR4    optical 4 100000 0 RS528 -0.4 1.0  -9.3  6.6 0 0 40 MPO-12
100G-CWDM4  optical 4 100000 0 RS528  0.6 2.0  -9.8 42.0 1 1 42 LC
100G-LR4    optical 4 100000 0 none   1.4 2.6 -10.8 40.0 1 1 45 LC
200G-FR4    optical 4 200000 1 RS544  1.2 2.2  -8.0 52.0 1 1 46 LC
200G-SR4    optical 4 200000 1 RS544  0.4 1.1  -7.3  7.2 0 0 45 MPO-12
400G-SR8    optical 8 400000 1 RS544  0.4 1.0  -7.2  7.4 0 0 50 MPO-16
400G-SR4    optical 4 400000 1 RS544  0.9 1.0  -5.6  7.8 0 0 51 MPO-12
400G-DR4    optical 4 400000 1 RS544  1.6 1.3  -6.1 75.0 0 1 52 MPO-12
400G-FR4    optical 4 400000 1 RS544  1.6 2.0  -6.9 56.0 1 1 52 LC
800G-DR8    optical 8 800000 1 RS544  1.7 1.3  -6.0 82.0 0 1 55 MPO-16
200G-AOC    aoc     4 200000 1 RS544  0.3 0.5  -7.0  7.0 0 0 46 none
400G-AOC    aoc     8 400000 1 RS544  0.3 0.5  -7.0  7.0 0 0 48 none
100G-DAC    dac     4 100000 0 RS528  0.0 0.0   0.0  0.0 0 0 35 none
200G-DAC    dac     4 200000 1 RS544  0.0 0.0   0.0  0.0 0 0 35 none
400G-DAC    dac     4 400000 1 RS544  0.0 0.0   0.0  0.0 0 0 35 none
800G-ACC    acc     8 800000 1 RS544  0.0 0.0   0.0  0.0 0 0 47 none
"""
MEDIA = {}
for _row in _ROWS.split("\n"):
    if _row.strip():
        n, k, la, sp, pam, fec, tx, lo, se, bi, du, sm, te, co = _row.split()
        MEDIA[n] = Medium(n, k, int(la), int(sp), pam == "1", fec, float(tx), float(lo), float(se), float(bi),
                          du == "1", sm == "1", float(te), "No separable connector" if co == "none" else co)


@functools.lru_cache(None)
def q_of(ber, pam4):
    """The eye's Q for an error ratio, by bisection."""
    lo, hi = 0.0, 12.0
    for _ in range(60):
        mid = (lo + hi) / 2
        if eye_ber(mid, pam4) > ber:
            lo = mid
        else:
            hi = mid
    return lo


def eye_ber(q, pam4):
    return (0.375 if pam4 else 0.5) * math.erfc(q / 1.4142135623730951)


@functools.lru_cache(65536)
def _ber(margin_centi_db, log_floor_centi, pam4, limit):
    """Thermal, shot and intensity noise: Q = P*q1 / sqrt(1 + s*P + r*P^2), calibrated to the limit at 0 dB and to the
    floor with much light."""
    p = 10 ** (margin_centi_db / 1000)
    q0, qf, shot = q_of(limit, pam4), q_of(10 ** (log_floor_centi / 100), pam4), 0.04
    if qf <= q0 * 1.001:
        return 10 ** (log_floor_centi / 100)
    q1sq = q0 * q0 * (1 + shot) / (1 - q0 * q0 / (qf * qf))
    r = q1sq / (qf * qf)
    return eye_ber(p * math.sqrt(q1sq / (1 + shot * p + r * p * p)), pam4)


def ber(margin_db, log_floor, medium):
    return _ber(round(100 * max(-20.0, min(30.0, margin_db))), round(100 * log_floor), medium.pam4, medium.limit)


@functools.lru_cache(4096)
def _p_lost(log_b_fiftieth, fec):
    n, t = (544, 15) if fec == "RS544" else (528, 7)
    b = 10 ** (log_b_fiftieth / 50)
    p = -math.expm1(10 * math.log1p(-b))
    total = 0.0
    for k in range(t + 1, min(n, t + 80)):
        total += math.exp(math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
                          + k * math.log(p) + (n - k) * math.log1p(-p))
    return min(1.0, total)


def p_lost(b, fec):
    """Probability that a codeword cannot be corrected, errors at random."""
    return 0.0 if b < 1e-8 else _p_lost(round(50 * math.log10(min(b, 0.4))), fec)


def poisson(rng, mean):
    if mean <= 0:
        return 0
    if mean > 60:
        return max(0, round(rng.gauss(mean, math.sqrt(mean))))
    limit, k, product = math.exp(-mean), 0, rng.random()
    while product > limit:
        k += 1
        product *= rng.random()
    return k


VENDORS = [("Lumenor", "LN"), ("Photonix", "PX"), ("Castor Optics", "CO"), ("Brightwave", "BW"), ("OEM", "OE")]


class Side:
    """One end: a module (or cable end) with its lasers and receivers, and how its meters lie."""

    def __init__(self, rng, medium):
        self.rng, self.medium = rng, medium
        self.present = True
        self.laser_on = True
        self.temp_rise_c = 0.0      # of this module only, due to a fault
        self.new_module()

    def new_module(self):
        rng, m = self.rng, self.medium
        n = m.lanes
        vendor, code = rng.choice(VENDORS)
        self.ident = {"vendor": vendor, "part_number": f"{code}-{m.name}",
                      "serial": f"{code}{rng.randrange(10**8):08d}", "revision": rng.choice(["A0", "A1", "B2", "1"]),
                      "date": f"20{rng.randrange(22, 26)}-{rng.randrange(1, 13):02d}-{rng.randrange(1, 28):02d}"}
        self.firmware = f"{rng.randrange(1, 5)}.{rng.randrange(10)}.{rng.randrange(10)}"
        base = rng.gauss(m.tx, 0.6)
        self.tx = [base + rng.gauss(0, 0.35) for _ in range(n)]
        self.drop = [0.0] * n       # loss of the transmitter
        self.dead = [False] * n
        self.eye = [0.0] * n        # penalty of the sent signal at unchanged power, dB
        self.rx_pen = [0.0] * n     # penalty of the receiver at unchanged power, dB
        self.mute = [False] * n     # the power meter of this lane reads nothing
        self.bias = [rng.gauss(m.bias, m.bias * 0.06) for _ in range(n)]
        self.bias_mult = [1.0] * n
        if rng.random() < 0.4 and m.bias > 30:      # one laser feeds two lanes
            self.bias = [self.bias[i - i % 2] * (1 + rng.gauss(0, 0.004)) for i in range(n)]
        clip = lambda x: max(-2.5, min(2.5, x))
        rx_cal, tx_cal = clip(rng.gauss(0, 0.9)), clip(rng.gauss(0, 0.9))
        self.rx_cal = [rx_cal + rng.gauss(0, 0.3) for _ in range(n)]
        self.tx_cal = [tx_cal + rng.gauss(0, 0.3) for _ in range(n)]
        self.rise_c = rng.gauss(m.temp - 22, 2.5)
        self.temp_cal = rng.gauss(0, 1.0)
        self.supply_v = rng.gauss(3.3, 0.025)
        self.whole_degrees = rng.random() < 0.35

    def sends(self, lane):
        if not (self.present and self.laser_on) or self.dead[lane]:
            return DARK_DBM
        return self.tx[lane] - self.drop[lane]

    def meter_mw(self, dbm, calibration):
        if dbm < -35:
            return 0.0 if self.rng.random() < 0.8 else 0.0001
        mw = 10 ** ((dbm + calibration + self.rng.gauss(0, 0.06)) / 10)
        return math.floor(mw * 10000) / 10000

    def temp_c(self, room_c, load):
        return room_c + self.rise_c + 3.5 * load + self.temp_rise_c


class Link:
    """Both ends, what is between them, and the state of the connection."""

    def __init__(self, rng, medium, log_floor=None):
        self.rng, self.medium = rng, medium
        n = medium.lanes
        self.near, self.far = Side(rng, medium), Side(rng, medium)
        base_in = max(0.3, rng.gauss(medium.loss, 0.3)) if medium.fibre else 0.0
        self.loss_in = [base_in + abs(rng.gauss(0, 0.15)) for _ in range(n)]
        self.loss_out = [base_in + abs(rng.gauss(0, 0.15)) for _ in range(n)]
        if medium.duplex:
            self.loss_in = [self.loss_in[0] + rng.gauss(0, 0.1) for _ in range(n)]
            self.loss_out = [self.loss_out[0] + rng.gauss(0, 0.1) for _ in range(n)]
        if not medium.fibre:        # copper: margin instead of light
            snr = max(2.2, rng.gauss(4.2, 0.9))
            self.margin_in = [snr + rng.gauss(0, 0.25) for _ in range(n)]
            self.margin_out = [snr + rng.gauss(0, 0.25) for _ in range(n)]
        low, high = (-9.5, -6.8) if medium.pam4 and medium.speed_mbps / medium.lanes > 60000 else \
                    ((-11.0, -7.5) if medium.pam4 else (-16.5, -12.5))
        if log_floor is None:
            log_floor = rng.uniform(low, high)
        if medium.fec == "none":
            log_floor = min(log_floor, -15.5)
        self.floor_in = [log_floor + rng.gauss(0, 0.25) for _ in range(n)]
        self.floor_out = [log_floor + rng.gauss(0, 0.25) for _ in range(n)]
        self.burst_in = self.burst_out = 10 ** rng.uniform(-6.8, -5.3)     # per second
        self.lanes_used = n
        self.kept = {}
        self.speed_mbps = medium.speed_mbps

    def ends(self, inward):
        return (self.far, self.near, self.loss_in, self.floor_in) if inward else \
               (self.near, self.far, self.loss_out, self.floor_out)

    def light(self, inward, lane):
        src, _, loss, _ = self.ends(inward)
        sent = src.sends(lane)
        return sent if sent <= DARK_DBM else max(DARK_DBM, sent - loss[lane])

    def lane_ber(self, inward, lane, temp_c):
        m = self.medium
        src, dst, _, floor = self.ends(inward)
        if not (src.present and dst.present and src.laser_on) or src.dead[lane]:
            return 0.5
        if m.fibre:
            margin = self.light(inward, lane) - m.sens
            if margin < -9:
                return 0.5
        else:
            margin = (self.margin_in if inward else self.margin_out)[lane]
        warm = max(0.0, temp_c - 55)
        return ber(margin - src.eye[lane] - dst.rx_pen[lane] - 0.02 * warm, floor[lane] + 0.021 * warm, m)

    def bers(self, inward, temp_c):
        """Error ratio of each lane; kept while nothing of what it depends on changes."""
        src, dst, loss, floor = self.ends(inward)
        temp_c = round(temp_c, 1)
        margin = 0 if self.medium.fibre else self.margin_in[0] + self.margin_out[0]
        key = (temp_c, sum(loss), sum(floor), sum(src.drop), sum(src.eye), sum(dst.rx_pen), src.tx[0], margin, src.present,
               dst.present, src.laser_on, sum(src.dead), self.lanes_used)
        if self.kept.get(inward, (None,))[0] != key:
            self.kept[inward] = key, [self.lane_ber(inward, lane, temp_c) for lane in range(self.lanes_used)]
        return self.kept[inward][1]

    def hazard(self, bers):
        """Falls per second: three lost codewords in a row lose the alignment (802.3 clause 119.2.5.3)."""
        mean = sum(bers) / len(bers)
        if max(bers) > 0.05:
            return 1e9
        if self.medium.fec == "none":
            return 1e9 if mean > 1e-5 else 0.0
        return self.medium.line_bps / 5440 * p_lost(mean, self.medium.fec) ** 3
