// The path of light from the far port to this one, with what is suspected where; then each lane between the module's limits.
import { dbm, dbmOf, duration, el, probability, words } from './format.js';

const SUSPECT_FROM = 0.05; // below it a name is noise on a drawing
const NOTABLE_DB = 1; // less than this is within what a connector loses or gains when it is mated
const FAR_OLD_S = 300;
const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];

// Which pieces of the path a fault accuses, by its name and end.
const PIECES = {
  dirty_connector: { path: ['far_connector', 'connector'], local: ['connector'], far: ['far_connector'] },
  damaged_fiber: { path: ['fibre'] },
  faulty_cable: { path: ['fibre'] },
  unplugged: { path: ['far_connector', 'connector'] },
  wrong_cabling: { path: ['fibre'] },
  far_port_down: { far: ['far_port'] },
  far_switch_fault: { far: ['far_port'] },
  provider_link: { far: ['far_port'] },
  failing_transmitter: { local: ['module'], far: ['far_module'] },
  bad_module: { local: ['module'], far: ['far_module'] },
  module_overheated: { local: ['module'] },
  module_missing: { local: ['module'] },
  module_unsupported: { local: ['module'] },
};
const BY_END = { local: ['port'], node: ['port'], far: ['far_port'], path: ['fibre'] };

/** Piece of the path -> [{fault, confidence}], the likeliest first. */
export function suspects(fault) {
  const found = {};
  for (const one of fault?.state === 'proving' ? [] : fault?.differential || [])
    if (one.confidence >= SUSPECT_FROM && one.fault !== 'healthy')
      for (const piece of PIECES[one.fault]?.[one.end] || BY_END[one.end] || []) (found[piece] ||= []).push(one);
  return found;
}

/** The loss against this link's own baseline, in the direction that lost most; undefined: no baseline. */
export function loss(port) {
  const figures = port.figures || {};
  const [here, far] = [figures.rx_power_lost_db, figures.far_rx_power_lost_db];
  if (here === undefined && far === undefined) return undefined;
  return (far ?? -Infinity) > (here ?? -Infinity) ? { db: far, to: 'far' } : { db: here, to: 'here', lane: figures.rx_power_lost_lane };
}

function piece(key, name, found, lines, note) {
  const accused = found[key] || [];
  return el(`li.piece.${key}${accused.length ? '.suspect' : ''}${note ? '.grey' : ''}`, {}, el('span.what', {}, name), lines.filter(Boolean).map((line) => el('b', {}, line)), note ? el('span.small', {}, note) : '',
    accused.slice(0, 2).map((one) => el('span.accused', {}, `▲ ${words(one.fault)} ${probability(one.confidence)}`)));
}

function farNote(peer, far) {
  if (!far) return 'not readable from here';
  const age = peer.module_age_s ?? peer.age_s ?? 0;
  return age > FAR_OLD_S ? `as read ${duration(age)} ago` : '';
}

function nearNote(report, port, module) {
  const source = port.now?.sources?.module;
  if (!module) return 'not readable';
  if (!module.present) return 'no module';
  if (source && source.state !== 'ok' && source.last_ok !== undefined) return `as read ${duration(report.t - source.last_ok)} ago`;
  return module.imported_at ? `imported ${duration((Date.parse(report.at) - Date.parse(module.imported_at)) / 1000)} ago` : '';
}

export function pathCard(report, port) {
  const module = port.now?.module;
  const peer = port.now?.peer || {};
  const far = peer.module;
  const fault = port.faults[0];
  const found = suspects(fault);
  const lost = loss(port);
  // Of the lane that lost most; without a loss, of the one with the least margin.
  const lane = (lost?.db >= NOTABLE_DB && port.figures.rx_power_lost_lane) || port.figures?.worst_rx_lane;
  const at = (list, key, index) => (list?.[index]?.[key] === undefined ? '' : dbm(dbmOf(list[index][key])));
  const weakest = (list) => { const values = (list || []).map((one) => one.rx_power_mw).filter((x) => x !== undefined); return values.length ? dbm(dbmOf(Math.min(...values))) : ''; };
  const index = lane ? lane - 1 : 0;
  const rx = port.figures?.worst_rx_power_dbm !== undefined && lane === port.figures.worst_rx_lane ? dbm(port.figures.worst_rx_power_dbm) : at(module?.lanes, 'rx_power_mw', index);
  const ofLane = (module?.lanes?.length || 0) > 1 && lane ? ` (lane ${lane})` : '';
  const copper = module?.media_type === 'copper' || /copper|dac/i.test(`${module?.kind || ''}`);
  // Between the modules light is lost only if a fault of the path is suspected: a laser that sends less loses none there.
  const between = ['connector', 'far_connector', 'fibre'].some((key) => found[key]);
  const isLoss = lost && lost.db >= NOTABLE_DB && between;
  const elsewhere = copper || (lost?.db >= NOTABLE_DB && !between);
  const lossLine = elsewhere || !lost ? '' : isLoss ? `${lost.to === 'far' ? '←' : '→'} ${lost.db.toFixed(1)} dB lost` : 'no loss';
  const lossNote = elsewhere ? '' : lost ? `below this link's baseline${isLoss && lost.to === 'here' ? ofLane : ''}` : 'no baseline yet';
  return el('section.card', {}, el('h2', {}, 'The path'), el('ol.path', {},
    piece('far_port', port.peer || 'Far port unknown', found, [], port.peer ? '' : 'no LLDP, plan or subnet manager names it'),
    piece('far_module', 'Far module', found, copper ? [] : [far && `Tx ${at(far.lanes, 'tx_power_mw', index) || 'unknown'}`, weakest(far?.lanes) && `Rx ${weakest(far.lanes)}`], copper ? '' : farNote(peer, far)),
    copper ? '' : piece('far_connector', 'Connector', found, [], ''),
    el(`li.piece.fibre${found.fibre ? '.suspect' : ''}${isLoss ? '.lossy' : ''}`, {}, el('span.what', {}, copper ? 'Copper cable' : 'Fibre'), el('b.loss', {}, lossLine), el('span.small', {}, lossNote),
      (found.fibre || []).slice(0, 2).map((one) => el('span.accused', {}, `▲ ${words(one.fault)} ${probability(one.confidence)}`))),
    copper ? '' : piece('connector', 'Connector', found, [], ''),
    piece('module', `This module${ofLane}`, found, copper || !module?.present ? [] : [rx && `Rx ${rx}`, at(module?.lanes, 'tx_power_mw', index) && `Tx ${at(module.lanes, 'tx_power_mw', index)}`], nearNote(report, port, module)),
    piece('port', port.now?.id?.netdev || port.port, found, [], '')));
}

const GAUGES = [
  { title: 'Received light', key: 'rx_power_mw', log: true, fallback: [0.063, 2.51] },
  { title: 'Sent light', key: 'tx_power_mw', log: true, fallback: [0.1, 3.16] },
  { title: 'Laser current', key: 'tx_bias_ma', unit: 'mA', fallback: [0, 120] },
];

function state(value, limits) {
  const beyond = (low, high) => (low !== undefined && value <= low) || (high !== undefined && value >= high);
  if (beyond(limits.low_alarm, limits.high_alarm)) return ['down', '✖ alarm'];
  if (beyond(limits.low_warn, limits.high_warn)) return ['degraded', '▲ warning'];
  return ['healthy', ''];
}

function gauge(lane, index, kind, limits, weak) {
  const raw = lane[kind.key];
  if (raw === undefined) return el('li', {}, `lane ${index + 1}`, el('span.soft', {}, 'not readable'), '');
  const scale = kind.log ? dbmOf : (x) => x;
  const low = scale(limits.low_alarm ?? kind.fallback[0]);
  const high = Math.max(scale(limits.high_alarm ?? kind.fallback[1]), low + 1);
  const share = (x) => Math.max(0, Math.min(1, (scale(x) - low) / (high - low)));
  let [tone, sign] = state(raw, limits);
  if (!sign && weak) [tone, sign] = ['degraded', '▲ low'];
  const text = kind.log ? dbm(dbmOf(raw)) : `${raw.toFixed(1)} ${kind.unit}`;
  const marks = [limits.low_warn, limits.high_warn].filter((x) => x !== undefined).map((x) => el('u', { style: { left: `${100 * share(x)}%` } }));
  return el(`li.${tone}`, {}, `lane ${index + 1}`,
    el('span.gauge', { role: 'img', 'aria-label': `${kind.title}, lane ${index + 1}: ${text} ${sign || 'within limits'}` }, el('i', { style: { width: `${100 * share(raw)}%` } }), marks),
    el('span.num', {}, `${text} ${sign}`));
}

export function lanesCard(port) {
  const module = port.now?.module;
  const lanes = module?.present ? module.lanes || [] : [];
  const kinds = GAUGES.filter((kind) => lanes.some((lane) => lane[kind.key] !== undefined));
  if (!kinds.length) return '';
  return el('section.card', {}, el('h2', {}, "Lanes against the module's limits"),
    el('div.gauges', {}, kinds.map((kind) => {
      const limits = module.thresholds?.[kind.key] || {};
      const usual = median(lanes.map((lane) => lane[kind.key]).filter((x) => x !== undefined));
      const ends = [limits.low_alarm ?? kind.fallback[0], limits.high_alarm ?? kind.fallback[1]].map((x) => (kind.log ? dbm(dbmOf(x)) : `${x} ${kind.unit}`));
      return el('div', {}, el('h3', {}, kind.title),
        el('ul.lanes', {}, lanes.map((lane, index) => gauge(lane, index, kind, limits, kind.log && dbmOf(lane[kind.key]) < dbmOf(usual) - 3))),
        el('p.soft.small', {}, `${limits.low_alarm === undefined ? 'Drawn' : 'Alarms'}: ${ends[0]} to ${ends[1]}`));
    })),
    kinds.some((kind) => module.thresholds?.[kind.key]?.low_alarm !== undefined) ? el('p.soft.small', {}, 'Each bar runs from the low alarm to the high alarm; the marks are the warnings.') : '');
}
