"""What good links go through. Each function schedules it at t on a port (or the node), and says on the ports what would
be true to say meanwhile (`tolerate`: name, from, until)."""
import math

import shared


def working(node):
    return [p for p in node.ports if not p.truth and not p.exempt]


def one_port(fn):
    def wrapped(node, t, rng):
        ports = [p for p in working(node) if p.driver != "efa"]
        if ports:
            fn(node, rng.choice(ports), t, rng)
    wrapped.__name__ = fn.__name__
    return wrapped


def every_port(node, t, rng, fn):
    for p in node.ports:
        node.at(t, lambda now, p=p: fn(now, p))


def set_admin(p, t, up):
    p.admin_up = up
    p.node.event(t, p.key, "admin_up" if up else "admin_down")
    p.recheck(t)


@one_port
def maintenance(node, p, t, rng):
    length = rng.uniform(300, 2400)
    node.at(t, lambda now: set_admin(p, now, False))
    node.at(t + length, lambda now: set_admin(p, now, True))
    p.tolerate.append(("admin_down", t, t + length + 400))


@one_port
def ifdown_up(node, p, t, rng):
    length = rng.uniform(2, 40)
    node.at(t, lambda now: set_admin(p, now, False))
    node.at(t + length, lambda now: set_admin(p, now, True))
    p.tolerate.append(("admin_down", t, t + length + 400))


@one_port
def flap(node, p, t, rng):
    if not p.flapped:               # one per day is normal; three are a fault
        p.flapped = True
        node.at(t, lambda now: p.fall(now))


@one_port
def swap_same(node, p, t, rng):
    if p.medium.kind in ("dac", "acc"):
        return
    length = rng.uniform(25, 120)

    if any(q.truth for q in p.cage):
        return

    def out(now):
        for q in shared.cage_of(p):
            q.link.near.present = False
            q.recheck(now)
            node.event(now + 0.1, q.key, "module_removed")

    def back(now):
        for q in shared.cage_of(p):
            q.link.near.present = True
            q.link.near.new_module()
        if p.cage:
            shared.put_in_one_module(p.cage)
        for q in shared.cage_of(p):
            node.event(now, q.key, "module_inserted")
            q.recheck(now)
    node.at(t, out)
    node.at(t + length, back)
    for q in shared.cage_of(p):
        q.tolerate += [(name, t, t + length + 300) for name in ("module_missing", "unplugged")]


@one_port
def reroute(node, p, t, rng):
    if not p.medium.optical or p.moved:
        return
    p.moved = True
    more = rng.uniform(0.8, 1.5)
    for inward in (True, False):       # only if there is plenty of light
        for lane in range(p.medium.lanes):
            if p.link.light(inward, lane) - p.medium.sens - more < 3.2:
                return

    def out(now):
        for values in (p.link.loss_in, p.link.loss_out):
            for i in range(p.medium.lanes):
                values[i] += 70
        p.recheck(now)

    def back(now):
        for values in (p.link.loss_in, p.link.loss_out):
            for i in range(p.medium.lanes):
                values[i] += more - 70
        p.recheck(now)
    length = rng.uniform(20, 150)
    node.at(t, out)
    node.at(t + length, back)
    p.tolerate += [(n, t, t + length + 300) for n in ("unplugged", "damaged_fiber", "far_port_down")]


def reboot(node, t, rng, warm=None):
    length = rng.uniform(150, 420)

    def down(now):
        node.blackout_t = now + length
        node.uptime0 = -(now + length - rng.uniform(25, 70))
        for p in node.ports:
            p.up, p.up_seq, p.down_since = False, p.up_seq + 1, now
            p.downs += 1

    def up(now):
        node.events = []
        for p in [p for p in node.ports if not p.exempt]:
            p.reset_counters(fresh=True)
            p.downs, p.ups = 1, 0
            p.far_counters["link_downed"] += 1
            p.retry(now + (0 if p.driver == "efa" else rng.uniform(0, 40) + rng.choice([0, 0, 60])))
            p.aer = 0.0
        node.event(now, None, "monitor_start")
    node.at(t, down)
    node.at(t + length, up)


def driver_reload(node, t, rng, length=None, text="E-Switch: cleanup"):
    ports = [p for p in working(node) if p.driver != "efa"]
    if not ports:
        return
    chosen = ports if rng.random() < 0.5 else [rng.choice(ports)]
    for p in chosen:
        def gone(now, p=p):
            p.fall(now, 1e9)
            node.event(now + 0.02, p.key, "device_gone")
            if p.driver == "mlx5_core":
                node.event(now + 0.03, p.key, "kernel_log", f"mlx5_core {p.id['pci']}: {text}")
            p.gone = True

        def back(now, p=p):
            p.gone = False
            node.event(now, p.key, "device_added")
            p.reset_counters(fresh=True)
            p.ups, p.downs = 0, 0
            p.up_seq += 1
            p.retry(now + p.retrain_s() * rng.choice([1, 1, 4]))
        node.at(t, gone)
        node.at(t + (length or rng.uniform(8, 40)) + rng.uniform(0, 5), back)


def firmware_update(node, t, rng):
    driver_reload(node, t, rng, rng.uniform(40, 110), "fw reset: sync reset now")


@one_port
def clear_counters(node, p, t, rng):
    def clear(now):
        for n in list(p.counters):
            if not n.startswith("netdev") and n not in ("link_down_events_phy",):
                p.counters[n] = 0.0
    node.at(t, clear)


def hot_room(node, t, rng):
    node.room_step.append((t, t + rng.uniform(3600, 6 * 3600), rng.uniform(4, 9)))


def fan_step(node, t, rng):
    node.room_step.append((t, t + rng.uniform(900, 3 * 3600), rng.choice([-4, -3, 3, 5])))


@one_port
def busy_module(node, p, t, rng):
    node.at(t, lambda now: p.unread.__setitem__("module", "EBUSY"))
    node.at(t + rng.uniform(120, 1500), lambda now: p.unread.pop("module", None))


@one_port
def shaky_reads(node, p, t, rng):
    name = rng.choice(["module", "counters", "peer"])
    node.at(t, lambda now: p.unread.__setitem__(name, (rng.choice(["EIO", "ETIMEDOUT", "EAGAIN"]), 0.25)))
    length = rng.uniform(600, 4000)
    node.at(t + length, lambda now: p.unread.pop(name, None))
    p.tolerate.append(("monitor_blind", t, t + length + 900))       # for a while it may be unreadable


def peak(names_of):
    @one_port
    def fn(node, p, t, rng):
        names = names_of(rng)
        was = p.wait_rate

        def begin(now):
            p.extra.update(names)
            p.wait_rate = 0.5

        def over(now):
            for n in names:
                p.extra.pop(n, None)
            p.wait_rate = was
        node.at(t, begin)
        node.at(t + rng.uniform(60, 300), over)
    return fn


congestion_peak = peak(lambda rng: {"np_cnp_sent": 2000.0, "np_ecn_marked_roce_packets": 4000.0,
                                    "rp_cnp_handled": 5000.0, "pause_rx_pause_frames": 300.0})
pfc_storm = peak(lambda rng: {"pause_rx_pause_frames": 20000.0, "pause_tx_pause_frames": rng.choice([0.0, 9000.0]),
                              "port_xmit_discards": 3.0})
incast = peak(lambda rng: {"out_of_buffer": 50.0, "pause_tx_pause_frames": 400.0, "rx_discards_phy": 5.0})


def switch_upgrade(node, t, rng):
    switch = rng.choice([p.switch for p in node.ports])
    length = rng.uniform(100, 480)
    node.at(t, lambda now: node.silent.__setitem__(switch, now + length))
    for p in node.ports:
        if p.switch != switch or p.driver == "efa" or p.truth:
            continue

        def off(now, p=p):
            p.link.far.laser_on = False
            p.blocks["far_boot"] = "idle_far" if not p.medium.fibre else "dark"
            p.recheck(now)

        def on(now, p=p):
            p.link.far.laser_on = True
            p.blocks.pop("far_boot", None)
            p.recheck(now)
        node.at(t + rng.uniform(0, 2.5), off)
        node.at(t + length + rng.uniform(0, 30), on)
        p.tolerate += [(n, t, t + length + 400) for n in ("far_port_down", "far_switch_fault")]


def daemon_restart(node, t, rng):
    def stop(now):
        node.blackout_t = now + length
        node.event(now + length, None, "monitor_start")
    length = rng.uniform(20, 600)
    node.at(t, stop)


@one_port
def cosmic(node, p, t, rng):
    """A burst of lost codewords, once: a glitch of a clock, somebody who walked by."""
    def hit(now):
        if p.up:
            n = int(math.exp(rng.gauss(4, 1.5)))
            p.add("fec_uncorrectable_blocks", n)
            p.add("symbol_error" if p.ib else "phy_SymbolErrorDuringCarrier", n * 17)
            p.add("port_rcv_errors", n // 3)
            p.add("mac_FrameCheckSequenceErrors", n // 3)
    node.at(t, hit)


def new_job(node, t, rng):
    """Adaptive routing reorders while a shuffle runs: retries without loss."""
    def begin(now):
        for p in node.ports:
            p.ar_share *= 8

    def over(now):
        for p in node.ports:
            p.ar_share /= 8
    node.at(t, begin)
    node.at(t + rng.uniform(300, 1800), over)


ALL = [maintenance, ifdown_up, flap, flap, flap, swap_same, reroute, reboot, driver_reload, firmware_update, clear_counters,
       hot_room, fan_step, busy_module, shaky_reads, congestion_peak, pfc_storm, incast, switch_upgrade, daemon_restart,
       cosmic, new_job]
