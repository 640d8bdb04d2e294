"""What breaks: each function changes the physics of a port at t0 and returns the truth, with what this recording cannot
tell from it."""
import math


def alt(*pairs):
    out = []
    for pair in pairs:
        name, _, end = pair.partition("@")
        out.append({"fault": name, "end": end} if end else {"fault": name})
    return out


def truth(fault, end, also=(), onset=None, **more):
    return {"fault": fault, "end": end, "also_accept": alt(*also), "onset_t": onset, **more}


def strike(p, t0, change):
    """Apply a change at t0, or quietly before the recording."""
    if t0 > 0:
        p.node.at(t0, lambda t: (change(t), p.recheck(t)))
        return
    change(0.0)
    cause = p.why_down(0.0)
    if cause:
        p.up, p.down_since, p.up_seq = False, -5000.0, p.up_seq + 1
        p.downs = p.ups
        p.note_reason(cause)
        p.retry(5.0)


def target_ber(p, rng, hard, t0=1.0):
    """Errors worth a repair: from ten times what is normal to the edge of the FEC. Without a past: a twelfth of the limit
    at least (copper a third), below which nobody could call them too many."""
    if t0 <= 0 and p.medium.fec != "none":
        return p.medium.limit * 10 ** rng.uniform(-1.0 if p.medium.fibre else -0.4, 0.3)
    if p.medium.fec == "none":
        return 10 ** rng.uniform(-11, -8.5)
    top = -3.2 if p.medium.pam4 else -4.2
    low = (-5.6 if hard else -4.8) if p.medium.pam4 else (-7.5 if hard else -6)
    return 10 ** rng.uniform(low, top - (0.6 if hard else 0))


def penalty_for(p, inward, lanes, goal, values):
    """The dB on `values[lanes]` that brings the mean error ratio to the goal (bisection); undone afterwards."""
    temp = p.near_temp(0)
    was = [values[i] for i in lanes]
    lo, hi = 0.0, 14.0
    for _ in range(40):
        mid = (lo + hi) / 2
        for i, w in zip(lanes, was):
            values[i] = w + mid
        bers = p.link.bers(inward, temp)
        if sum(bers) / len(bers) < goal:
            lo = mid
        else:
            hi = mid
    for i, w in zip(lanes, was):
        values[i] = w
    return lo


def some_lanes(p, rng, most=None):
    n = p.medium.lanes
    if p.medium.duplex:
        return list(range(n))
    k = min(most or n, 1 + sum(rng.random() < 0.25 for _ in range(n - 1)))
    first = rng.randrange(n - k + 1)
    return list(range(first, first + k))


def add_db(values, lanes, db, rng=None):
    for i in lanes:
        values[i] += db * (rng.uniform(0.85, 1.1) if rng else 1.0)


def touched(p, t0, rng):
    """Somebody had it in the hand: a short loss of light just before."""
    if t0 > 0 and rng.random() < 0.35:
        p.node.at(t0, lambda t: p.fall(t, rng.uniform(10, 50)))


def unseen_far(p):
    """Nothing is known of the far port while the link is down."""
    return p.level < 2 or (p.level == 2 and p.ib)


def dirty_connector(p, t0, rng, hard):
    lanes, link = some_lanes(p, rng), p.link
    outward = rng.random() < 0.1 and p.level >= 2 and p.medium.fec != "none"
    touched(p, t0, rng)
    if not outward and p.medium.smf and rng.random() < (0.15 if hard else 0.05):
        goal = rng.uniform(-5.4 if t0 > 0 else -4.5, -3.9)
        strike(p, t0, lambda t: [link.floor_in.__setitem__(i, goal) for i in lanes])
        return truth("dirty_connector", "path", ("bad_module",), t0, kind="reflection", lanes=lanes)
    values = link.loss_out if outward else link.loss_in
    goal = 10 ** rng.uniform(-3.4, -3.15) if outward else target_ber(p, rng, hard, t0)
    db = penalty_for(p, not outward, lanes, goal, values)
    spread = None if outward or p.medium.duplex else rng      # one fibre carries all wavelengths
    strike(p, t0, lambda t: add_db(values, lanes, db, spread))
    if outward:
        also = ("damaged_fiber", "bad_module@far", "bad_module@local", "failing_transmitter@far") if p.level < 3 else ()
    else:
        also = ("failing_transmitter@far", "damaged_fiber") if p.level < 3 else ()
        if t0 <= 0:
            also = ("failing_transmitter@far", "damaged_fiber", "bad_module") if p.level < 3 or db < 4 else ()
    return truth("dirty_connector", "path", also, t0, direction="out" if outward else "in", lanes=lanes, db=round(db, 1))


def damaged_fiber(p, t0, rng, hard):
    link, n = p.link, p.medium.lanes
    if rng.random() < 0.3:
        strike(p, t0, lambda t: (add_db(link.loss_in, range(n), 60), add_db(link.loss_out, range(n), 60)))
        also = ["unplugged"]
        if p.level < 3:
            also += ["bad_module@far", "failing_transmitter@far"]
        if unseen_far(p):
            also += ["far_port_down"]
        return truth("damaged_fiber", "path", also, t0, mode="broken")
    lanes = list(range(n)) if p.medium.duplex or rng.random() < 0.5 else sorted(rng.sample(range(n), n // 2))
    db = penalty_for(p, True, lanes, target_ber(p, rng, hard, t0), link.loss_in)
    spread = None if p.medium.duplex else rng
    strike(p, t0, lambda t: (add_db(link.loss_in, lanes, db, spread), add_db(link.loss_out, lanes, db, spread)))
    also = ("dirty_connector", "failing_transmitter@far") if p.level < 3 else ()
    if t0 <= 0:
        also = ("dirty_connector", "failing_transmitter@far", "bad_module") if p.level < 3 or db < 4 else ()
    return truth("damaged_fiber", "path", also, t0, mode="bend", lanes=lanes, db=round(db, 1))


def failing_transmitter(p, t0, rng, hard, far=None):
    far = (rng.random() < 0.55) if far is None else far
    link, n = p.link, p.medium.lanes
    side = link.far if far else link.near
    lane = rng.randrange(n)
    end = "far" if far else "local"
    hidden = far and p.level < 3
    mode = rng.choice(["dead", "decay", "step"])
    if mode == "dead":
        def change(t):
            side.dead[lane] = True
        strike(p, t0, change)
        also = ["dirty_connector", "damaged_fiber", "bad_module"] if hidden else []
        return truth("failing_transmitter", end, also, t0, mode=mode, lanes=[lane])
    goal = target_ber(p, rng, hard, t0) if far else 10 ** rng.uniform(-3.6, -3.1)
    db = max(2.5 if t0 > 0 else 4.5, penalty_for(p, far, [lane], goal, side.drop))
    if mode == "step" or t0 <= 0:
        strike(p, t0, lambda t: add_db(side.drop, [lane], db))
    else:
        span = rng.uniform(1200, 5400)
        top = rng.uniform(1.3, 1.5)

        def creep(t, k=1):
            side.drop[lane] = db * (k / 40) ** 1.6
            side.bias_mult[lane] = 1 + (top - 1) * min(1.0, k / 25)
            if k < 40:
                p.node.at(t + span / 40, lambda now: creep(now, k + 1))
        p.node.at(t0, creep)
        t0 += span * min(1.0, (2 / db) ** (1 / 1.6))
    also = ["dirty_connector", "damaged_fiber"] if hidden else []
    if t0 <= 0 and far:
        also += ["dirty_connector", "damaged_fiber", "bad_module"] if hidden or db < 4 else []
    return truth("failing_transmitter", end, also, t0, mode=mode, lanes=[lane], db=round(db, 1))


def storm(p, t0, rng, bursts, gap_s=(20, 200)):
    """An intermittent contact: quiet, then falls for some minutes, and again."""
    def fall(t, left):
        p.fall(t)
        if left > 0:
            p.node.at(t + rng.uniform(*gap_s), lambda now: fall(now, left - 1))

    def begin(t, again=True):
        fall(t, rng.randrange(3, 10))
        p.node.at(t + rng.uniform(1500, 5400), begin)
    p.node.at(max(t0, 30.0), begin)
    p.link.burst_in = max(p.link.burst_in, bursts)


def bad_module(p, t0, rng, hard):
    link, n = p.link, p.medium.lanes
    smf = ["dirty_connector"] if p.medium.smf else []
    mode = rng.choice(["lane", "lane", "far_eye", "bursts", "mgmt", "meter"] + ["far_rx"] * (p.level >= 2 and hard))
    if p.medium.fec == "none" and mode == "far_rx":
        mode = "lane"
    if mode == "meter":
        lane = rng.randrange(n)

        def change(t):
            link.near.mute[lane] = True
        strike(p, t0, change)
        return truth("bad_module", "local", (), t0, kind="ddm", lanes=[lane])
    if mode == "lane":
        lanes = [rng.randrange(n)]
        db = penalty_for(p, True, lanes, target_ber(p, rng, hard, t0), link.near.rx_pen)
        steps = 30 if hard and t0 > 0 and rng.random() < 0.3 else 1       # a receiver that fails slowly
        for k in range(steps):
            strike(p, t0 + k * 100, lambda t: add_db(link.near.rx_pen, lanes, db / steps))
        t0 += 60 * (steps - 1)
        return truth("bad_module", "local", ["bad_module@far"] + smf, t0, kind="lane", lanes=lanes)
    if mode == "far_eye":
        lanes = list(range(n)) if rng.random() < 0.4 else [rng.randrange(n)]
        db = penalty_for(p, True, lanes, target_ber(p, rng, hard, t0), link.far.eye)
        strike(p, t0, lambda t: add_db(link.far.eye, lanes, db))
        return truth("bad_module", "far", ["bad_module@local"] + smf, t0, kind="far_eye", lanes=lanes)
    if mode == "far_rx":
        db = penalty_for(p, False, [0], 10 ** rng.uniform(-3.4, -3.1), link.far.rx_pen)
        strike(p, t0, lambda t: add_db(link.far.rx_pen, [0], db))
        also = ["bad_module@local"] + smf + (["dirty_connector", "damaged_fiber"] if p.level < 3 else [])
        also += ["far_port_down"] if unseen_far(p) else []      # it may go down; then the far end is silent
        return truth("bad_module", "far", also, t0, kind="far_rx")
    if mode == "bursts":
        if t0 > 0:
            p.node.at(t0, lambda t: storm(p, t, rng, rng.uniform(0.01, 0.05)))
        else:
            storm(p, 60, rng, rng.uniform(0.01, 0.05))
        return truth("bad_module", "local", ["bad_module@far"], t0, kind="bursts")
    cause, text = rng.choice([
        (("EEPROM issue", ""), "module 0, Cable error, Bus stuck (I2C or data shorted)"),
        (("Power budget exceeded", ""), "module 0, Cable error, Power budget exceeded"),
        (("Module", "CMIS module is not in ModuleReady state"), ""), (("Calibration failure", ""), "")])

    def change(t):
        p.blocks["module"] = cause
        if cause[0] == "Module" or not p.caps["reason"]:
            p.module_state = "ModuleFault"
        elif cause[0] == "EEPROM issue":
            p.unread["module"] = "EIO"
        if text and p.driver == "mlx5_core" and t > 0:
            p.node.event(t + 0.3, p.key, "kernel_log", f"mlx5_core {p.id['pci']}: Port module event[error]: {text}")
    strike(p, t0, change)
    return truth("bad_module", "local", (), t0, kind="mgmt", note=cause[0])


def module_overheated(p, t0, rng, hard):
    side = p.link.near
    now_c = p.node.room(t0 + 3600) + side.rise_c + min(0.0, side.temp_cal)
    rise = rng.uniform(72.5, 76) - now_c if hard else rng.uniform(74, 88) - now_c
    t0 = max(t0, 60.0)
    state = {"hot": False, "off": 0.0}

    def creep(t, k=1):
        wanted = rise if not state["hot"] else rise - 22
        side.temp_rise_c += (wanted - side.temp_rise_c) * 0.12
        temp = p.near_temp(t)
        if temp > 71 and p.driver == "mlx5_core" and not state["off"] and not hard:
            state["off"] = t
            p.node.event(t, p.key, "kernel_log", f"mlx5_core {p.id['pci']}: Port module event[error]: module 0, "
                         "Cable error, High Temperature")
        if temp > 81 and not state["hot"]:
            state["hot"] = True
            p.blocks["heat"] = "overheat"
            p.recheck(t)
        elif state["hot"] and temp < 69:
            state["hot"] = False
            p.blocks.pop("heat", None)
            p.recheck(t)
        p.node.at(t + 30, creep)
    p.node.at(t0, creep)
    return truth("module_overheated", "local", (), t0 + 60, degrees=round(rise, 1))


def module_missing(p, t0, rng, hard):
    def change(t):
        p.link.near.present = False
        if t > 0:
            p.node.event(t + 0.1, p.key, "module_removed")
            if p.driver == "mlx5_core":
                p.node.event(t + 0.1, p.key, "kernel_log",
                             f"mlx5_core {p.id['pci']}: Port module event: module 0, Cable unplugged")
    strike(p, t0, change)
    return truth("module_missing", "local", () if p.medium.optical else ("unplugged",), t0)


def module_unsupported(p, t0, rng, hard):
    def change(t):
        p.link.near.new_module()
        p.blocks["refused"] = "unsupported"
        if t > 0:
            p.node.event(t, p.key, "module_inserted")
        text = {"mlx5_core": f"mlx5_core {p.id['pci']}: Port module event[error]: module 0, Cable error, "
                             "Enforce part number list",
                "bnxt_en": f"bnxt_en {p.id['pci']} {p.id['netdev']}: Unqualified SFP+ module detected on port 0",
                "ice": f"ice {p.id['pci']}: Rx/Tx is disabled on this device because an unsupported module type was "
                       "detected"}[p.driver]
        if t > 0:
            p.node.event(t + 2, p.key, "kernel_log", text)
    if t0 > 0:
        p.node.at(t0 - 30, lambda t: (p.fall(t, 1e9), p.node.event(t + 0.1, p.key, "module_removed")))
    strike(p, t0, change)
    also = () if t0 > 0 or p.caps["reason"] else ("settings_mismatch", "bad_module", "far_port_down", "faulty_cable")
    return truth("module_unsupported", "local", also, t0)


def faulty_cable(p, t0, rng, hard):
    link, n = p.link, p.medium.lanes
    mode = rng.choice(["lanes", "flaps", "dead"] if not hard else ["lanes", "lanes", "flaps", "one_way", "dead"])
    if mode == "dead":
        strike(p, t0, lambda t: p.blocks.__setitem__("cable", "signal"))
        dark = ["settings_mismatch", "bad_module"] if not p.caps["reason"] else []
        if unseen_far(p) and not p.caps["reason"]:
            dark += ["far_port_down"]
        if not p.caps["reason"] and not (p.medium.fibre and p.caps["powers"]):
            dark += ["unplugged"]       # at the far end: this end's plug stays where it is
        return truth("faulty_cable", "path", dark, t0, mode=mode)
    if mode == "flaps":
        if t0 > 0:
            p.node.at(t0, lambda t: storm(p, t, rng, rng.uniform(0.01, 0.05)))
        else:
            storm(p, 60, rng, rng.uniform(0.01, 0.05))
        return truth("faulty_cable", "path", ("bad_module",) if p.medium.fibre else (), t0, mode=mode)
    lanes = some_lanes(p, rng, max(1, n // 2)) if rng.random() < 0.7 else list(range(n))
    for inward in (True,) if mode == "one_way" else (True, False):
        if p.medium.fibre:
            values = (link.near if inward else link.far).rx_pen
        else:
            values = (link.near if inward else link.far).rx_pen
        db = penalty_for(p, inward, lanes, max(2e-5 if p.medium.pam4 else 1e-6, target_ber(p, rng, hard, t0)), values)
        strike(p, t0, lambda t, v=values, d=db: add_db(v, lanes, d))
    return truth("faulty_cable", "path", (), t0, mode=mode, lanes=lanes)


def reduced_speed(p, t0, rng, hard):
    def change(t):
        if rng.random() < 0.5:
            p.link.lanes_used = max(1, p.medium.lanes // 2)
        p.link.speed_mbps = p.medium.speed_mbps // 2
    if t0 > 0:
        p.node.at(t0, lambda t: (p.fall(t, rng.uniform(6, 30)), change(t)))
    else:
        change(0)
    return truth("reduced_speed", "path", (), t0)


def settings_mismatch(p, t0, rng, hard):
    cause = rng.choice([("Autoneg", "FEC mismatch during override"), ("Logical mismatch", "RS FEC is not locked"),
                        ("Autoneg", "No HCD"), ("Autoneg", "No partner detected during force mode"),
                        ("Logical mismatch", "PCS did not acquire AM lock")])
    local = rng.random() < 0.6
    if t0 > 0 and local:
        def down(t):
            p.admin_up = False
            p.node.event(t, p.key, "admin_down")
            p.recheck(t)
        p.node.at(t0 - 25, down)

    def change(t):
        p.blocks["config"] = cause
        if local and t > 0:
            p.admin_up = True
            p.node.event(t, p.key, "admin_up")
    strike(p, t0, change)
    also = []
    if not p.caps["reason"]:
        also += ["bad_module", "faulty_cable"] if not p.medium.optical else ["bad_module"]
        also += ["far_port_down"] if unseen_far(p) else []
        also += ["unplugged"] if unseen_far(p) and not p.caps["powers"] else []
    elif cause[1].startswith("No partner") and unseen_far(p):
        also += ["far_port_down"]
    elif cause[0] == "Logical mismatch":
        also += ["bad_module", "faulty_cable"] if cause[1].startswith("PCS") else []
    return truth("settings_mismatch", "path", also, t0, note=cause[1], by="local" if local else "far")


def admin_down(p, t0, rng, hard):
    def change(t):
        p.admin_up = False
        if rng.random() < 0.5:
            p.link.near.laser_on = False
        if t > 0:
            p.node.event(t, p.key, "admin_down")
    strike(p, t0, change)
    return truth("admin_down", "local", (), t0)


def unplugged(p, t0, rng, hard):
    link, n = p.link, p.medium.lanes
    if not p.medium.optical and rng.random() < 0.4:
        def pulled(t):
            link.far.present = False
        strike(p, t0, pulled)
        also = ["far_port_down"] if unseen_far(p) else []
        if p.level < 3 or p.medium.kind == "dac":
            also += ["bad_module@far"] + ["settings_mismatch", "faulty_cable"] * (not p.caps["reason"])
        return truth("unplugged", "path", also, t0, mode="far_end")
    if not p.medium.optical:
        def change(t):
            link.near.present = link.far.present = False
            if t > 0 and rng.random() < 0.8:
                p.node.event(t + 0.1, p.key, "module_removed")
        strike(p, t0, change)
        return truth("unplugged", "path", ("module_missing",), t0, mode="cable")
    also = ["damaged_fiber"]
    if p.level < 3:
        also += ["bad_module@far", "failing_transmitter@far"] + (["far_port_down"] if unseen_far(p) else [])
    if rng.random() < 0.5:
        strike(p, t0, lambda t: (add_db(link.loss_in, range(n), 70), add_db(link.loss_out, range(n), 70)))
        return truth("unplugged", "path", also, t0, mode="fibre")

    def change(t):
        link.far.present = False
        add_db(link.loss_out, range(n), 70)
    strike(p, t0, change)
    return truth("unplugged", "path", also if p.level < 3 else (), t0, mode="far_module")


def far_port_down(p, t0, rng, hard):
    group = [q for q in p.node.ports if q.switch == p.switch and not q.truth and q.driver != "efa" and not q.exempt]
    if len(group) > 1 and rng.random() < 0.4:
        for q in group:
            def change(t, q=q):
                q.link.far.laser_on = False
                p.node.silent[p.switch] = 1e12
            strike(q, t0 + (rng.uniform(0, 2) if t0 > 0 else 0), change)
            q.truth = truth("far_port_down", "far", ("far_switch_fault",) if t0 > 0 else
                            ("far_switch_fault", "unplugged", "damaged_fiber"), t0, mode="switch")
        return p.truth
    laser = rng.random() < 0.3 or not p.medium.fibre

    def change(t):
        p.far_admin_up = False
        p.link.far.laser_on = laser
        p.blocks["far"] = "idle_far"
    strike(p, t0, change)
    also = []
    if unseen_far(p):
        also += ["bad_module@far", "failing_transmitter@far"]
        also += ["settings_mismatch", "bad_module", "faulty_cable", "far_switch_fault"] if laser else ["unplugged", "damaged_fiber"]
        also += ["unplugged"] if not p.caps["powers"] else []
    return truth("far_port_down", "far", also, t0, mode="laser on" if laser else "laser off")


def far_switch_fault(p, t0, rng, hard):
    group = [q for q in p.node.ports if q.switch == p.switch and not q.truth and q.driver != "efa" and not q.exempt]
    mode = rng.choice(["errors", "flaps", "down"])
    also = ("far_port_down",) if mode == "down" else ()
    if mode == "errors" and t0 <= 0:        # no common onset was seen
        also = ("faulty_cable",) if not p.medium.optical else ("bad_module", "dirty_connector") if p.medium.smf else \
            ("bad_module",)
    if mode == "flaps":
        def together(t):
            for q in group:
                p.node.at(t + rng.uniform(0, 1.5), lambda now, q=q: q.fall(now))
            p.node.at(t + rng.uniform(60, 600), together)
        p.node.at(max(t0, 60.0), together)
    for q in group:
        if mode == "down":
            strike(q, max(t0, 90.0) + rng.uniform(0, 1.5), lambda t, q=q: setattr(q.link.far, "laser_on", False))
        elif mode == "errors":
            lanes = range(q.medium.lanes)
            goal = max(target_ber(q, rng, hard, t0), 2e-5 if q.medium.pam4 else 1e-6)
            db = penalty_for(q, True, lanes, goal, q.link.far.eye)
            strike(q, t0 + rng.uniform(0, 60) * (t0 > 0), lambda t, q=q, d=db: add_db(q.link.far.eye, range(
                q.medium.lanes), d))
        q.truth = truth("far_switch_fault", "far", also, max(t0, 60.0) if mode != "errors" else t0, mode=mode)
    return p.truth


def pcie_degraded(p, t0, rng, hard):
    def change(t):
        if rng.random() < 0.6:
            p.pcie["width"] = rng.choice([8, 4])
        else:
            p.pcie["speed_gtps"] = rng.choice([8.0, 16.0] if p.base_pcie["speed_gtps"] > 16 else [8.0, 5.0])
        p.throttle = 0.6
        p.extra.update(outbound_pci_stalled_wr_events=0.9, out_of_buffer=0.1, pause_tx_pause_frames=5.0)
    def of(q):
        q.pcie, q.throttle = dict(p.pcie), 0.6
        q.extra.update(p.extra)
    strike(p, t0, change)
    for q in p.card_mates():
        strike(q, t0, lambda t, q=q: of(q))
        q.truth = truth("pcie_degraded", "node", (), t0)
    return truth("pcie_degraded", "node", (), t0)


def nic_fault(p, t0, rng, hard):
    t0 = max(t0, 120.0)
    pci, dev = p.id["pci"], p.id["netdev"]
    if p.driver == "mlx5_core":
        texts = [f"mlx5_core {pci}: device's health compromised - reached miss count",
                 f"mlx5_core {pci}: wait_func:1162:(pid 0): ACCESS_REG(0x805) timeout. Will cause a leak of a command "
                 "resource", f"mlx5_core {pci}: health: synd 0x8: unrecoverable hardware error"]
    else:
        texts = [f"NETDEV WATCHDOG: {dev} ({p.driver}): transmit queue 4 timed out"]

    def change(t):
        p.blocks["nic"] = "nic"
        p.frozen = True
        if p.driver == "mlx5_core":
            p.node.event(t + 0.1, p.key, "device_fatal")
        log(t)

    both = not hard or rng.random() < 0.7       # each function of the card has its own driver instance and log

    def log(t):
        text = rng.choice(texts)
        for q in [p] + (mates if both else []):
            p.node.event(t, q.key, "kernel_log", text.replace(pci, q.id["pci"]).replace(dev, q.id["netdev"]))
        p.node.at(t + rng.uniform(60, 400), log)
    mates = p.card_mates()
    strike(p, t0, change)
    for q in mates:
        strike(q, t0 + 0.01, lambda t, q=q: (q.blocks.__setitem__("nic", "nic"), setattr(q, "frozen", True)))
        q.truth = truth("nic_fault", "node", (), t0)
    return truth("nic_fault", "node", (), t0)


def host_bottleneck(p, t0, rng, hard):
    rate = rng.uniform(4, 30) if hard else rng.uniform(20, 400)
    names = {"out_of_buffer": rate, "pause_tx_pause_frames": rate * 10, "rx_discards_phy": rate / 2}
    p.node.at(t0, lambda t: p.extra.update(names))
    return truth("host_bottleneck", "node", (), t0)


def congestion(p, t0, rng, hard):
    scale = 1 if hard else 4

    def change(t):
        p.extra.update(np_cnp_sent=rng.uniform(200, 900) * scale, np_ecn_marked_roce_packets=rng.uniform(300, 2500) * scale,
                       rp_cnp_handled=rng.uniform(300, 2500) * scale, pause_rx_pause_frames=rng.uniform(10, 90) * scale,
                       cnpHandled=800.0 * scale, cnpSent=500.0 * scale, RxECNMrkd=900.0 * scale)
        p.wait_rate = rng.uniform(0.2, 0.6) * (1 if hard else 2)
    p.node.at(t0, change)
    return truth("congestion", "fabric", (), t0)


def loss_elsewhere(p, t0, rng, hard):
    share = 10 ** (rng.uniform(-7.6, -6.8) if hard else rng.uniform(-7, -5.8))

    def change(t):
        way = rng.choice(["in", "out", "both"])
        if way != "out":
            p.loss_in_share = share
            if rng.random() < 0.5:
                name = "port_rcv_remote_physical_errors" if p.ib else "mac_FrameCheckSequenceErrors"
                p.extra[name] = share * p.link.speed_mbps * 1e6 / 8 / 4096
        if way != "in":
            p.loss_out_share = share
    p.node.at(t0, change)
    return truth("loss_elsewhere", "fabric", (), t0)


def wrong_cabling(p, t0, rng, hard):
    mates = [q for q in p.node.ports if q is not p and not q.truth and q.level >= 1 and q.plan and "peer" in q.plan]
    if mates and rng.random() < 0.6:
        q = rng.choice(mates)
        p.seen_far, q.seen_far = q.seen_far, p.seen_far
        q.truth = truth("wrong_cabling", "path", (), 0.0)
    else:
        p.seen_far = (p.switch, f"Ethernet{rng.randrange(64)}/2") if not p.ib else (p.switch, str(rng.randrange(65, 99)))
    return truth("wrong_cabling", "path", (), 0.0)


def monitor_blind(p, t0, rng, hard):
    errno = rng.choice(["EPERM", "ETIMEDOUT", "EACCES", "ENODEV"])
    names = ["counters", "link", "module"] if errno == "EPERM" else ["counters", "module"]
    p.node.at(t0, lambda t: p.unread.update({n: errno for n in names}))
    return truth("monitor_blind", "node", ("nic_fault",) if errno in ("ETIMEDOUT", "ENODEV") else (), t0, mode=errno)


FIELD = {"dirty_connector": 22, "bad_module": 16, "damaged_fiber": 8, "failing_transmitter": 7, "module_overheated": 4,
         "module_missing": 3, "module_unsupported": 1.5, "faulty_cable": 9, "reduced_speed": 2, "settings_mismatch": 5,
         "admin_down": 4, "unplugged": 7, "far_port_down": 12, "far_switch_fault": 6, "pcie_degraded": 3, "nic_fault": 4,
         "host_bottleneck": 4, "congestion": 5, "loss_elsewhere": 3, "wrong_cabling": 3, "monitor_blind": 2}
LIGHT = {"dirty_connector", "damaged_fiber", "failing_transmitter", "bad_module"}


def possible(name, p):
    m = p.medium
    if p.truth or p.driver == "efa" or p.exempt:
        return False
    if name in LIGHT and not m.optical or name == "faulty_cable" and m.optical:
        return False
    if name == "module_overheated" and m.kind == "dac" or name == "pcie_degraded" and not p.caps["pcie"]:
        return False
    if name == "loss_elsewhere" and "out_of_sequence" not in p.names:
        return False
    if name == "host_bottleneck" and "out_of_buffer" not in p.names:
        return False
    if name == "wrong_cabling" and (p.level < 1 or not p.plan or "peer" not in p.plan):
        return False
    if name in ("module_missing", "unplugged", "reduced_speed") and not p.plan:
        return p.node.seen_first        # only if it was seen to work before
    if name == "far_switch_fault":
        return sum(q.switch == p.switch and not q.truth and q.driver != "efa" and not q.exempt for q in p.node.ports) > 1
    return True
