// The past of a port: what the daemon remembers, else what was seen since the page was opened.
const seen = new Map(); // port -> [{at, rx_power_dbm, pre_fec_ber, temperature_c}]
const KEPT = 2000;

export function collect(report) {
  const at = Date.parse(report.at);
  for (const port of report.ports) {
    const list = seen.get(port.port) || [];
    if (list.length && list[list.length - 1].at >= at) continue;
    list.push({ at, rx_power_dbm: port.figures?.worst_rx_power_dbm, pre_fec_ber: port.figures?.pre_fec_ber, temperature_c: port.now?.module?.temperature_c });
    if (list.length > KEPT) list.shift();
    seen.set(port.port, list);
  }
}

const fromHere = (name) => ({ remembered: false, points: seen.get(name) || [], events: [], repairs: [], maintenance: [] });

let kept; // whether this daemon has a history: its own description of its API says so
async function hasHistory() {
  kept ??= fetch('api/v1/openapi.json').then((answer) => answer.json()).then((api) => '/api/v1/ports/{port}/history' in api.paths);
  return kept;
}

export async function past(name) {
  try {
    if (!(await hasHistory())) return fromHere(name);
    const answer = await fetch(`api/v1/ports/${name}/history?since=86400`);
    if (!answer.ok) return fromHere(name);
    const history = await answer.json();
    const signals = history.signals || {};
    const points = (history.at || []).map((at, index) => {
      const point = { at: Date.parse(at) };
      for (const [key, values] of Object.entries(signals)) point[key] = values[index] ?? undefined;
      return point;
    });
    if (points.length < 2) return fromHere(name);
    return { remembered: true, points, events: history.events || [], repairs: history.repairs || [], maintenance: history.maintenance || [] };
  } catch {
    return fromHere(name);
  }
}
