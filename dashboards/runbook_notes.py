"""What people have to know about a fault beside what the program's tables say: who owns it, when it pages, what not to do.

One entry for each fault name of `linkhealth rules`; dashboards/generate.py fails when one is missing or left over.
"""

DATACENTRE = "the data centre technicians (work at the rack)"
NETWORK = "the network team (owner of the far switch)"
HOSTS = "the owners of the nodes (host operations)"

# fault: (owner, when it wakes somebody, what not to do)
NOTES = {
    "dirty_connector": (
        DATACENTRE,
        "Not by itself: the link carries. It pages when data is lost or the link is down (the fault's severity rises to critical).",
        ["do not replace a module or fibre before both ends are inspected and cleaned: that is the cause in most cases",
         "do not look into a fibre; do not clean with a dry pen that was used on a dirty end before",
         "do not pull the neighbour: read slot and port, and let the port's light help you"]),
    "damaged_fiber": (
        DATACENTRE,
        "Not by itself; when the link is down or data is lost.",
        ["do not clean again and again: light lost in both directions is rarely dirt",
         "do not tighten ties or close doors on the bundle while you search"]),
    "failing_transmitter": (
        DATACENTRE + "; for the far module with " + NETWORK,
        "Not by itself; when the link is down or data is lost.",
        ["do not clean the fibre first: less light leaves the laser, no light is lost on the way",
         "do not replace the module at the wrong end: the alert says `end`, local is in the node, far in the switch"]),
    "bad_module": (
        DATACENTRE + "; for the far module with " + NETWORK,
        "Not by itself; when the link is down or data is lost.",
        ["do not swap both modules at once: nobody would know which one was bad",
         "do not put a suspect module into another node without a note on it"]),
    "module_overheated": (
        DATACENTRE,
        "Not by itself. Many in one rack at once is a matter of cooling, and that is urgent.",
        ["do not replace the module before fans, inlet temperature and blank panels are checked"]),
    "module_missing": (
        DATACENTRE,
        "Yes: the link is down. Not where work on the cage is announced (silence it before, deploy/README.md).",
        ["do not order a new module before the old one is pushed in until it clicks"]),
    "module_unsupported": (
        HOSTS + "; the part is ordered by " + DATACENTRE,
        "Yes: the link is down. It mostly follows a replacement or a firmware update: look at what was done last.",
        ["do not force the driver to accept the module on one node only",
         "do not downgrade the firmware of the card before the part number is compared with the approved list"]),
    "faulty_cable": (
        DATACENTRE,
        "Not by itself; when the link is down or data is lost.",
        ["do not try to clean a copper or active optical cable: it has no ends to clean",
         "do not bend it tighter to make it reach"]),
    "reduced_speed": (
        DATACENTRE + ", after " + HOSTS + " have compared the settings",
        "Not by itself: the link carries, with less.",
        ["do not touch the cable before the settings of both ends are compared: a splitter may be intended"]),
    "settings_mismatch": (
        NETWORK + " and " + HOSTS,
        "Yes: the link is down. Many at once mostly follow a change on a switch.",
        ["do not replace anything: hardware is not the cause",
         "do not change one end only"]),
    "admin_down": (
        "whoever set it down",
        "Never. It is there so that nobody searches for a fault.",
        ["do not set it up without asking who set it down and why"]),
    "unplugged": (
        DATACENTRE,
        "Yes: the link is down. Not where cabling work is announced (silence it before, deploy/README.md).",
        ["do not replace the module: there is no light because nothing is plugged in",
         "do not plug the cable into the next free port: look at the patch record"]),
    "far_port_down": (
        NETWORK,
        "Yes: the link is down. With several links of a switch the switch's alert comes instead of this one.",
        ["do not touch the cable or the module in the node: the cause is at the far end",
         "do not bounce the port of the node again and again"]),
    "far_switch_fault": (
        NETWORK,
        "Yes. The switch's alert comes first and holds off this one.",
        ["do not touch single cables: several links fell together",
         "do not reboot the nodes"]),
    "pcie_degraded": (
        HOSTS,
        "Not by itself: the link carries, the card can't fill it.",
        ["do not touch the cable: the loss is between the card and the processor",
         "do not judge from a warm reboot: links are trained anew at a cold boot"]),
    "nic_fault": (
        HOSTS,
        "Yes: the card does not work.",
        ["do not touch cables or modules: all ports of the card fail together",
         "do not reset the device while a job runs on its other ports"]),
    "host_bottleneck": (
        HOSTS,
        "Never: the network is fine, this host drops what arrives.",
        ["do not touch the cable"]),
    "congestion": (
        NETWORK,
        "Never: no link is broken.",
        ["do not touch the cable",
         "do not drain the node: it suffers from others' traffic as well as from its own"]),
    "loss_elsewhere": (
        NETWORK,
        "Never for this link: look for the link that has errors of its own.",
        ["do not touch this cable"]),
    "wrong_cabling": (
        DATACENTRE,
        "Not by itself: the link carries, to the wrong place.",
        ["do not move the cable before the plan is checked: it may be the plan that is wrong",
         "do not move a cable of a node with a running job: drain it first"]),
    "monitor_blind": (
        HOSTS,
        "Never for one port: nothing is known to be broken. It is a hole in the watch and has to be closed.",
        ["do not take \"can't be read\" for \"healthy\", nor for \"faulty\"",
         "do not reset the module while the link carries a job"]),
}
