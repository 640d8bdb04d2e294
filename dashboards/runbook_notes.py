"""Notes for the runbooks that the fault table does not have: owner, when the fault pages on-call, and what not to do.

One entry for each fault name of `linkhealth rules`; dashboards/generate.py fails when one is missing or left over.
"""

DATACENTRE = "data centre technicians (work at the rack)"
NETWORK = "network team (owner of the far switch)"
PROVIDER = "provider of the virtual function (cloud or hypervisor operator)"
HOSTS = "node owners (host operations)"

# fault: (owner, when it pages on-call, what not to do)
NOTES = {
    "dirty_connector": (
        DATACENTRE,
        "Only when the link is down, flaps or loses data (severity critical). Otherwise the link carries traffic.",
        ["do not replace a module or fibre before both ends are inspected and cleaned: dirt is the cause in most cases",
         "do not look into a fibre; do not reuse a cleaning pen that touched a dirty end",
         "do not unplug a neighbouring cable: compare slot and port, and check that the port's light disappears"]),
    "damaged_fiber": (
        DATACENTRE,
        "Only when the link is down or data is lost.",
        ["do not clean repeatedly: light lost in both directions is rarely dirt",
         "do not tighten ties or close doors on the bundle while you search"]),
    "failing_transmitter": (
        DATACENTRE + "; for the far module " + NETWORK,
        "Only when the link is down or data is lost.",
        ["do not clean the fibre first: the laser sends less light, none is lost on the path",
         "do not replace the module at the wrong end: `end` in the alert is local (node) or far (switch)"]),
    "bad_module": (
        DATACENTRE + "; for the far module " + NETWORK,
        "Only when the link is down or data is lost.",
        ["do not swap both modules at once: the bad one could not be identified afterwards",
         "do not move a suspect module to another node without labelling it"]),
    "module_overheated": (
        DATACENTRE,
        "No. Many in one rack at once are a cooling failure, which is urgent.",
        ["do not replace the module before you have checked fans, inlet temperature and blank panels"]),
    "module_missing": (
        DATACENTRE,
        "Yes: the link is down. Silence it before announced work (deploy/README.md).",
        ["do not order a new module before you have pushed the old one in until it clicks"]),
    "module_unsupported": (
        HOSTS + "; " + DATACENTRE + " order the part",
        "Yes: the link is down. It usually follows a replacement or a firmware update: check the last change.",
        ["do not force the driver to accept the module on one node only",
         "do not downgrade the card's firmware before you have compared the part number with the approved list"]),
    "faulty_cable": (
        DATACENTRE,
        "Only when the link is down or data is lost.",
        ["do not clean a copper or active optical cable: it has no fibre ends",
         "do not bend it more tightly to make it reach"]),
    "reduced_speed": (
        DATACENTRE + ", after " + HOSTS + " have compared the settings",
        "No: the link carries traffic at less bandwidth.",
        ["do not touch the cable before the settings of both ends are compared: a splitter may be intended"]),
    "settings_mismatch": (
        NETWORK + " and " + HOSTS,
        "Yes: the link is down. Many at once usually follow a change on a switch.",
        ["do not replace anything: hardware is not the cause",
         "do not change one end only"]),
    "admin_down": (
        "the operator who disabled the port",
        "Never. The fault exists so that the port is not investigated.",
        ["do not enable the port before you know who disabled it and why"]),
    "unplugged": (
        DATACENTRE,
        "Yes: the link is down. Silence it before announced cabling work (deploy/README.md).",
        ["do not replace the module: there is no light because nothing is plugged in",
         "do not plug the cable into the next free port: check the patch record"]),
    "far_port_down": (
        NETWORK,
        "Yes: the link is down. For several links of one switch the switch's alert replaces this one.",
        ["do not touch the cable or the module in the node: the cause is at the far end",
         "do not bounce the node's port repeatedly"]),
    "far_switch_fault": (
        NETWORK,
        "Yes. The switch's alert comes first and inhibits this one.",
        ["do not touch single cables: several links went down together",
         "do not reboot the nodes"]),
    "pcie_degraded": (
        HOSTS,
        "No: the link works, but the card cannot fill it.",
        ["do not touch the cable: the loss is between the card and the CPU",
         "do not judge after a warm reboot: PCIe links retrain at a cold boot"]),
    "nic_fault": (
        HOSTS,
        "Yes: the card does not work.",
        ["do not touch cables or modules: all ports of the card fail together",
         "do not reset the device while a job uses its other ports"]),
    "host_bottleneck": (
        HOSTS,
        "Never: the network works, this node drops what arrives.",
        ["do not touch the cable"]),
    "congestion": (
        NETWORK,
        "Never: no link is broken.",
        ["do not touch the cable",
         "do not drain the node: other nodes' traffic may be the cause"]),
    "loss_elsewhere": (
        NETWORK,
        "Never for this link: find the link that has errors of its own.",
        ["do not touch this cable"]),
    "wrong_cabling": (
        DATACENTRE,
        "No: the link carries traffic, to the wrong place.",
        ["do not move the cable before the plan is checked: the plan may be wrong",
         "do not move a cable of a node with a running job: drain it first"]),
    "bad_training": (
        HOSTS,
        "Never: the link carries traffic.",
        ["do not replace or clean anything before two trainings gave the same result: no part is known to be faulty",
         "do not disable the port while a job uses it: drain the node first"]),
    "provider_link": (
        PROVIDER,
        "Yes: nothing on this machine brings the link back.",
        ["do not look for a cable: the physical link belongs to the provider",
         "do not reset the virtual function repeatedly: note the times for the ticket"]),
    "monitor_blind": (
        HOSTS,
        "Never for one port: no fault is known, but the port is not monitored until it is readable again.",
        ["do not treat \"cannot be read\" as healthy or as faulty",
         "do not reset the module while the link carries a job"]),
}
