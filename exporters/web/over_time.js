// "Over time": all lanes, errors, temperature and traffic on one axis, with bands of fault, maintenance and proof.
import { axis, chart, crosshair } from './chart.js';
import { ago, ber, dbm, duration, el } from './format.js';
import { RANGES } from './past.js';

const DARK_DBM = -40; // what the history keeps for no light
const tick = (x) => String(+x.toFixed(2)).replace('-', '−');
const pick = (past, key) => past.points.map((point) => ({ at: point.at, value: point[key] }));
const lanesOf = (past) => [...new Set(past.points.flatMap((point) => Object.keys(point)))].map((key) => key.match(/^rx_power_dbm\.(\d)$/)?.[1]).filter(Boolean).sort();

/** Faults, proofs and maintenance as spans of time; `to` undefined: it lasts. */
export function bandsOf(past, events, now, faults = []) {
  const bands = [];
  const begun = new Map();
  const close = (key, to) => { if (begun.has(key)) [bands.push({ ...begun.get(key), to }), begun.delete(key)]; };
  for (const event of [...events].sort((a, b) => Date.parse(a.at) - Date.parse(b.at))) {
    const at = Date.parse(event.at);
    const key = event.fault_id || event.fault;
    if (event.event === 'opened' || event.event === 'reopened') [close(`proof ${key}`, at), begun.has(key) || begun.set(key, { kind: 'fault', from: at })];
    if (event.event === 'proving') [close(key, at), begun.set(`proof ${key}`, { kind: 'proof', from: at })];
    if (event.event === 'closed') [close(key, at), close(`proof ${key}`, at)];
  }
  // Of an open fault the report says since when; the list of events may begin later.
  for (const fault of faults)
    if (fault.state !== 'proving' && !begun.has(fault.id)) begun.set(fault.id, { kind: 'fault', from: Date.parse(fault.opened_at) });
  for (const key of [...begun.keys()]) close(key, now);
  for (const work of past.maintenance || []) bands.push({ kind: 'work', from: Date.parse(work.since), to: work.ended_at ? Date.parse(work.ended_at) : now });
  return bands;
}

function rowsOf(port, past) {
  const limits = port.now?.module?.thresholds || {};
  const low = limits.rx_power_mw?.low_alarm > 0 ? 10 * Math.log10(limits.rx_power_mw.low_alarm) : undefined;
  const light = (x) => dbm(x <= DARK_DBM ? -Infinity : x);
  const lanes = lanesOf(past);
  return [
    { name: 'BER', title: 'Bit errors before correction (pre-FEC BER)', format: ber, log: true, limit: port.figures?.pre_fec_ber_limit, limitWord: 'FEC limit', now: port.now?.link?.carrier ? port.figures?.pre_fec_ber : undefined, series: [{ name: '', points: pick(past, 'pre_fec_ber') }] },
    { name: 'Rx', title: lanes.length > 1 ? 'Received light, each lane' : 'Received light', format: light, tick, none: DARK_DBM, limit: low, limitWord: 'low alarm', now: port.now?.link?.carrier ? port.figures?.worst_rx_power_dbm : undefined,
      series: lanes.length ? lanes.map((lane) => ({ name: lanes.length > 1 ? `lane ${lane}` : '', points: pick(past, `rx_power_dbm.${lane}`) })) : [{ name: '', points: pick(past, 'rx_power_dbm') }] },
    { name: 'temperature', title: 'Module temperature', format: (x) => `${x.toFixed(1)} °C`, tick, limit: limits.temperature_c?.high_warn, limitWord: 'high warning', series: [{ name: '', points: pick(past, 'temperature_c') }] },
  ].filter((row) => row.series.some((one) => one.points.some((point) => Number.isFinite(point.value))));
}

// "now" only of what was read within a minute of the report; an older reading says how old it is.
function latest(row, now) {
  const limit = row.limit === undefined ? '' : `, ${row.limitWord} ${row.format(row.limit)}`;
  const worstOf = row.series.length > 1 ? 'worst ' : '';
  if (row.now !== undefined) return `${worstOf}${row.format(row.now)} now${limit}`; // the same number as in the verdict
  const values = row.series.map((one) => one.points.findLast((point) => Number.isFinite(point.value))).filter(Boolean);
  if (!values.length) return '';
  const newest = Math.max(...values.map((point) => point.at));
  const worst = values.reduce((a, b) => ((row.log ? b.value > a.value : row.name === 'Rx' ? b.value < a.value : b.value > a.value) ? b : a));
  const age = (now - newest) / 1000;
  return `${worstOf}${row.format(worst.value)} ${age <= 120 ? 'now' : `${duration(age)} ago`}${limit}`;
}

export function overTime(report, port, events, past, width, state) {
  const now = Date.parse(report.at);
  const rows = rowsOf(port, past);
  const since = state.range ?? 86400;
  const first = rows.flatMap((row) => row.series.flatMap((one) => one.points.find((point) => Number.isFinite(point.value))?.at ?? [])).reduce((a, b) => Math.min(a, b), now - 1000);
  const from = Math.max(first, now - since * 1000); // before the first reading there is nothing to draw
  const short = past.remembered && rows.length && first - (now - since * 1000) > since * 50;
  const time = axis(from, now, width);
  const bands = bandsOf(past, events, now, port.faults).filter((band) => band.to >= time.from && band.from <= time.to);
  const readout = el('p.readout', { 'aria-live': 'polite' });
  const stack = el('div.stack', { id: 'charts', tabindex: '0', role: 'group', 'aria-label': 'Charts; arrow keys move the crosshair' },
    rows.map((row) => chart(row.series, { ...row, now: latest(row, now) }, time, bands)));
  crosshair(stack, readout, time, rows, state);
  const lanes = rows.find((row) => row.name === 'Rx')?.series || [];
  return el('section.card', {}, el('div.bar', {}, el('h2', {}, 'Over time'),
    past.remembered ? el('div.ranges', { role: 'group', 'aria-label': 'Time range' }, RANGES.map(([text, seconds]) => el('button', { type: 'button', id: `range-${seconds}`, 'aria-pressed': String(seconds === since), click: () => state.setRange(seconds) }, text))) : ''),
  past.why ? el('p.soft.small', {}, `${past.why}: the charts begin when this page was opened.`) : '',
  short ? el('p.soft.small', {}, 'The history of this port begins ', ago(first, report.at), '.') : '',
  rows.length ? [readout, stack] : el('p.soft', {}, 'No readings yet.'),
  el('p.legend.small', {}, lanes.length > 1 ? lanes.map((one, index) => el(`span.key.s${index % 8}`, {}, one.name)) : '',
    bands.some((band) => band.kind === 'fault') ? el('span.key.fault', {}, 'fault open') : '', bands.some((band) => band.kind === 'proof') ? el('span.key.proof', {}, 'repair being verified') : '',
    bands.some((band) => band.kind === 'work') ? el('span.key.work', {}, 'maintenance') : ''));
}

