"""The words in which the cases of rules_test.py are written: series as a node serves them, and what must be firing when."""


def labels(values):
    return "{" + ",".join(f'{key}="{value}"' for key, value in values.items() if value != "") + "}"


def series(name, values, **label):
    return {"series": name + labels(label), "values": str(values)}


LONG = 1500  # minutes: longer than any case


def always(value):
    return f"{value}x{LONG}"


def node(instance, present=None, **place):
    """What every node has. `present`: the values of what is 1 while it answers."""
    present = present or always(1)
    up = present.replace("stale", "0").replace("_", "0")
    return [series("up", up, job="linkhealth", instance=instance, **place),
            series("linkhealth_build_info", present, job="linkhealth", instance=instance, version="1", **place)]


def port(instance, device, health="healthy", peer=("", ""), present=None, part=None, link_up=1, netdev="", **place):
    """A port whose health does not change. `part`: (vendor, part number, firmware)."""
    present = present or always(1)
    at = {"job": "linkhealth", "instance": instance, "device": device, "port": "1", **place}
    out = [series("linkhealth_port_info", present, **at, netdev=netdev or device.replace("mlx5_", "ens"), pci="0000:1b:00.0",
                  peer_system=peer[0], peer_port=peer[1]),
           series("linkhealth_link_up", present if link_up else present.replace("1x", "0x"), **at)]
    out.append(series("linkhealth_port_health", present, **at, health=health))
    if part:
        out.append(series("linkhealth_module_info", present, **at, vendor=part[0], part_number=part[1], firmware=part[2],
                          serial=f"{instance}{device}"))
    return out


def fault(instance, device, name, end="path", severity="warning", state="open", values=None, **place):
    return [series("linkhealth_fault_active", values or always(0.9), job="linkhealth", instance=instance, device=device,
                   port="1", fault=name, end=end, severity=severity, state=state, **place)]


def downs(instance, device, values, intent="involuntary", **place):
    return [series("linkhealth_link_downs_total", values, job="linkhealth", instance=instance, device=device, port="1",
                   intent=intent, **place)]


def events(instance, name, event, values, device="mlx5_0"):
    return [series("linkhealth_fault_events_total", values, job="linkhealth", instance=instance, device=device, port="1",
                   fault=name, event=event)]


SHOWN = ("alertname", "severity", "instance", "device", "peer_system", "fault", "vendor", "part_number")


class Case:
    """One input and what must hold at some times: exactly these alerts are firing, exactly this is recorded."""

    def __init__(self, name, *inputs):
        self.name, self.inputs, self.checks = name, [one for group in inputs for one in group], []
        self.fired, self.recorded = set(), set()

    def firing(self, at, *alerts):
        """alerts: dicts of the labels of SHOWN. No other alert may be firing."""
        self.fired |= {alert["alertname"] for alert in alerts}
        self.checks.append({
            "expr": f'max by ({", ".join(SHOWN)}) (ALERTS{{alertstate="firing"}})', "eval_time": at,
            "exp_samples": [{"labels": labels(alert), "value": 1} for alert in alerts]})
        return self

    def records(self, at, name, *samples):
        """samples: (labels, value), each with the record's own name; all that is recorded by this name."""
        self.recorded.add(name)
        self.checks.append({"expr": name, "eval_time": at, "exp_samples": [
            {"labels": name + labels(label), "value": value} for label, value in samples]})
        return self

    def about(self, at, record, expr, *samples):
        """The same for an expression over the record: rounded figures, fewer labels."""
        self.recorded.add(record)
        self.checks.append({"expr": expr, "eval_time": at, "exp_samples": [
            {"labels": labels(label), "value": value} for label, value in samples]})
        return self

    def promtool(self):
        return {"name": self.name, "interval": "1m", "input_series": self.inputs, "promql_expr_test": self.checks}


def alert(alertname, severity, **label):
    return {"alertname": alertname, "severity": severity, **label}
