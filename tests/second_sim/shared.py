"""What several ports share (a module, a card, a trunk of fibres, the node), what breaks of it, and what only looks like it.
Each scene sets the truth of its ports; `shared` is the same for ports that have one fault together."""
import random

import faults
from faults import add_db, strike, truth, unseen_far


def put_in_one_module(ports):
    """A module with several ports: one set of memory, and the lanes of all of them in it."""
    first = ports[0].link.near
    for p in ports:
        p.cage = ports
        side = p.link.near
        side.ident, side.firmware, side.supply_v = first.ident, first.firmware, first.supply_v
        side.whole_degrees, side.rise_c, side.temp_cal = first.whole_degrees, first.rise_c, first.temp_cal
        p.caps.update({name: ports[0].caps[name] for name in ("flags", "limits", "vdm", "powers")})
        p.load_scale = ports[0].load_scale


def split_modules(node, rng):
    """Neighbours of one kind, in pairs; as many lanes as a module has place for."""
    for a, b in zip(node.ports[::2], node.ports[1::2]):
        if a.medium is b.medium and a.medium.optical and a.medium.lanes <= 4 and not (a.exempt or b.exempt):
            put_in_one_module([a, b])


def together(name, ports, change, make):
    for p in ports:
        change(p)
        p.truth = dict(make(p), mode=name)
        if len(ports) > 1:
            p.truth["shared"] = name


def cage_of(p):
    return p.cage or [p]


def module_dead(node, p, t0, rng):
    def change(q):
        def stop(t):
            q.blocks["module"] = ("Module", "CMIS module is not in ModuleReady state")
            q.module_state = "ModuleFault"
        strike(q, t0, stop)
    together("module dead", cage_of(p), change, lambda q: truth("bad_module", "local", (), t0))


def module_pulled(node, p, t0, rng):
    def change(q):
        def out(t):
            q.link.near.present = False
            node.event(t + 0.1, q.key, "module_removed")
        strike(q, t0, out)
    together("module pulled", cage_of(p), change, lambda q: truth("module_missing", "local", (), t0))


def dark(q):
    n = range(q.medium.lanes)
    add_db(q.link.loss_in, n, 70)
    add_db(q.link.loss_out, n, 70)


def one_of_two(node, p, t0, rng):
    """Each port of a module has fibres of its own."""
    strike(p, t0, lambda t: dark(p))
    also = ["unplugged"] + (["bad_module@far", "failing_transmitter@far"] if p.level < 3 else [])
    p.truth = truth("damaged_fiber", "path", also + ["far_port_down"] * unseen_far(p), t0, mode="one of two")


def trunk(node, p, t0, rng):
    ports = [q for q in node.ports if q.medium.optical and not q.exempt]
    one_switch = len({q.switch for q in ports}) == 1  # then its end may be at fault as well

    def make(q):
        also = ["unplugged"] + (["far_port_down", "far_switch_fault"] if unseen_far(q) or one_switch else [])
        also += ["nic_fault"] if not q.caps["powers"] else []
        also += ["bad_module@far", "failing_transmitter@far"] if q.level < 3 else []
        return truth("damaged_fiber", "path", also, t0)
    together("trunk", ports, lambda q: strike(q, t0 + rng.uniform(0, 0.4), lambda t, q=q: dark(q)), make)


def node_stops(node, p, t0, rng):
    """The cages' power, a PCIe switch, the firmware of all cards: no driver says a word."""
    ports = [q for q in node.ports if not q.exempt]
    known = p.level > 0 and len({q.switch for q in ports}) > 1

    def change(q):
        def stop(t):
            q.blocks["host"] = "host"
            q.link.near.laser_on = False
        strike(q, t0 + rng.uniform(0, 0.8), stop)
    also = () if known else ("far_switch_fault", "far_port_down")
    together("all rails", ports, change, lambda q: truth("nic_fault", "node", also, t0))


def by_chance(node, p, t0, rng):
    """Two links of one card in one minute, for two reasons."""
    others = [q for q in node.ports if q is not p and not q.exempt]
    near = [q for q in others if q.id["pci"][:-1] == p.id["pci"][:-1]] or others
    q = rng.choice(near)
    p.truth = faults.module_missing(p, t0, rng, node.hard)

    def off(t):
        q.far_admin_up = q.link.far.laser_on = False
        q.blocks["far"] = "idle_far"
    strike(q, t0 + rng.uniform(7, 50), off)
    also = ["unplugged", "damaged_fiber", "far_switch_fault"] if unseen_far(q) else []
    q.truth = truth("far_port_down", "far", also, t0 + 50, mode="by chance")


NEEDS = {module_dead: 2, module_pulled: 2, one_of_two: 2, trunk: 2, node_stops: 3, by_chance: 2}
OF_MODULES = (module_dead, module_pulled, one_of_two)


def play(node, t0, rng):
    """A scene that this node can have; False: it can have none."""
    used = [p for p in node.ports if not p.exempt and p.driver != "efa"]
    able = []
    for scene, least in NEEDS.items():
        ports = [p for p in used if p.medium.optical or scene is node_stops]
        if scene in OF_MODULES:
            ports = [p for p in ports if p.cage]
        if len(ports) >= least and len(used) == len([p for p in node.ports if not p.exempt]):
            able.append((scene, ports))
    if not able:
        return False
    scene, ports = rng.choice(able)
    scene(node, rng.choice(ports), max(t0, 2400.0), random.Random(rng.random()))
    return True
