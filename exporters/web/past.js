// The past of a port: what the daemon remembers, else what was seen since the page was opened.
export const RANGES = [['1 h', 3600], ['6 h', 21600], ['24 h', 86400], ['7 d', 604800], ['30 d', 2592000], ['90 d', 7776000]];
const seen = new Map(); // port -> [{at, rx_power_dbm, pre_fec_ber, temperature_c}]
const KEPT = 2000;
const DARK_DBM = -40; // as the daemon's history keeps "no light"

function now(port) {
  const point = { rx_power_dbm: port.figures?.worst_rx_power_dbm, pre_fec_ber: port.figures?.pre_fec_ber, temperature_c: port.now?.module?.temperature_c };
  (port.now?.module?.lanes || []).forEach((lane, index) => {
    if (lane.rx_power_mw !== undefined) point[`rx_power_dbm.${index + 1}`] = lane.rx_power_mw > 0 ? Math.max(DARK_DBM, 10 * Math.log10(lane.rx_power_mw)) : DARK_DBM;
  });
  return point;
}

export function collect(report) {
  const at = Date.parse(report.at);
  for (const port of report.ports) {
    const list = seen.get(port.port) || [];
    if (list.length && list.at(-1).at >= at) continue;
    list.push({ at, ...now(port) });
    if (list.length > KEPT) list.shift();
    seen.set(port.port, list);
  }
}

const fromHere = (name, why) => ({ remembered: false, why, points: seen.get(name) || [], events: [], repairs: [], maintenance: [] });

let kept; // whether this daemon has a history: its own description of its API says so
async function hasHistory() {
  kept ??= fetch('api/v1/openapi.json').then((answer) => answer.json()).then((api) => '/api/v1/ports/{port}/history' in api.paths);
  return kept.catch((error) => { kept = undefined; throw error; }); // asked again next time
}

/** `query`: parameters of /history beside `since`. */
export async function past(name, since, query = '') {
  try {
    if (!(await hasHistory())) return fromHere(name, 'This daemon keeps no history');
    const answer = await fetch(`api/v1/ports/${name}/history?since=${since}${query}`);
    if (!answer.ok) throw new Error(answer.status);
    const history = await answer.json();
    const signals = Object.entries(history.signals || {});
    const points = (history.at || []).map((at, index) => {
      const point = { at: Date.parse(at) };
      for (const [key, values] of signals) point[key] = values[index] ?? undefined;
      return point;
    });
    if (points.length < 2) return fromHere(name, 'The history of this port has just begun');
    return { remembered: true, points, from: Date.parse(history.from), to: Date.parse(history.to), events: history.events || [], repairs: history.repairs || [], maintenance: history.maintenance || [] };
  } catch (error) {
    return fromHere(name, `The history could not be read (${error.message})`);
  }
}
