// The link budget, both ways: what is sent, what arrives, and where it is lost. Then each lane between the module's limits.
import { dbm, dbmOf, el } from './format.js';

const LOST_DB = 1.5; // so much more than the other lanes (or so much of the own past) is drawn as a loss on the way
const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];
const finite = (value) => Number.isFinite(value);

/** One way: the lane that lost most. `sent`, `got`: mW by lane. `gone`: dB less than in the link's own past. */
export function budget(sent, got, gone, limitMw) {
  const lanes = got.map((mw, index) => {
    const rx = dbmOf(mw);
    const tx = dbmOf(sent[index]);
    return { lane: index + 1, rx, tx, loss: finite(tx) && finite(rx) ? tx - rx : undefined };
  }).filter((lane) => lane.rx !== undefined);
  if (!lanes.length) return undefined;
  const losses = lanes.map((lane) => lane.loss).filter(finite);
  const worst = losses.length ? lanes.reduce((a, b) => ((b.loss ?? -1) > (a.loss ?? -1) ? b : a)) : lanes.reduce((a, b) => (b.rx < a.rx ? b : a));
  const others = lanes.filter((lane) => lane !== worst);
  const usual = others.length ? median(others.map((lane) => (losses.length ? lane.loss ?? 0 : -lane.rx))) : undefined;
  const more = usual === undefined ? undefined : (losses.length ? worst.loss : -worst.rx) - usual;
  const said = more >= LOST_DB ? `${more.toFixed(1)} dB lost here` : gone >= LOST_DB ? `${gone.toFixed(1)} dB less than before: lost here` : undefined;
  return { ...worst, lanes: lanes.length, said, lost: said && Math.max(more ?? 0, gone ?? 0), usual: losses.length ? usual : undefined, limit: dbmOf(limitMw) };
}

const height = (power) => (finite(power) ? Math.max(5, Math.min(46, (power + 14) * 2.5)) : 0);

function beam(way) {
  const from = height(way.tx ?? (finite(way.rx) ? way.rx + (way.lost ?? 0) : 0));
  const to = height(way.rx);
  const at = way.lost ? 50 : 88;
  return el('svg', { viewBox: '0 0 100 100', preserveAspectRatio: 'none', 'aria-hidden': 'true' },
    el('line.fibre', { x1: 0, y1: 50, x2: 100, y2: 50 }),
    way.lost ? el('polygon.lost', { points: `${at},${50 - from} 100,${50 - from} 100,${50 + from} ${at},${50 + from}` }) : '',
    el('polygon.glow', { points: `0,${50 - from} ${at},${50 - from} ${at + 9},${50 - to} 100,${50 - to} 100,${50 + to} ${at + 9},${50 + to} ${at},${50 + from} 0,${50 + from}` }));
}

function drawWay(title, way, from, to) {
  const lane = way.lanes > 1 ? `, lane ${way.lane}` : '';
  const loss = way.loss === undefined ? 'loss not known' : `${way.loss.toFixed(1)} dB on the way`;
  const lossWord = way.lost ? `▲ ${way.said}` : loss;
  const usual = way.usual !== undefined ? `other lanes lose ${way.usual.toFixed(1)} dB` : '';
  return el('div', {}, el('h3', {}, `${title}${lane}`),
    el('div.way', { role: 'group', 'aria-label': `${title}${lane}: ${from} sends ${dbm(way.tx)}, ${to} receives ${dbm(way.rx)}; ${lossWord}` },
      el('div.end.from', {}, from, el('b', {}, `Tx ${way.tx === undefined ? '?' : dbm(way.tx)}`)),
      el('div.beam.degraded', {}, el(`div.lossword${way.lost ? '.marked' : ''}`, {}, lossWord), beam(way),
        el('div.place', {}, way.lost ? `${way.loss === undefined ? '' : `${way.loss.toFixed(1)} dB in all; `}${usual}` : usual)),
      el(`div.end.to.degraded${way.lost ? '.marked' : ''}`, {}, to, el('b', {}, `Rx ${dbm(way.rx)}`),
        way.limit !== undefined ? el('span.soft', {}, `limit ${dbm(way.limit)}`) : '')));
}

export function lightCard(port) {
  const module = port.now?.module;
  const far = port.now?.peer?.module;
  const near = module?.present ? module.lanes || [] : [];
  if (!near.some((lane) => lane.rx_power_mw !== undefined)) return '';
  const farLanes = far?.lanes || [];
  const figures = port.figures || {};
  const here = port.now.id?.netdev || port.port;
  const there = port.peer || 'far end';
  const pick = (lanes, key) => near.map((_, index) => lanes[index]?.[key]);
  const towards = budget(pick(farLanes, 'tx_power_mw'), pick(near, 'rx_power_mw'), figures.rx_power_lost_db, module.thresholds?.rx_power_mw?.low_alarm);
  const back = farLanes.some((lane) => lane.rx_power_mw !== undefined)
    ? budget(pick(near, 'tx_power_mw'), pick(farLanes, 'rx_power_mw'), figures.far_rx_power_lost_db, far.thresholds?.rx_power_mw?.low_alarm) : undefined;
  return el('section.card', {}, el('h2', {}, 'Where the light goes'),
    towards ? drawWay('Towards this node', towards, there, here) : '',
    back ? drawWay('From this node', back, here, there)
      : el('p.soft', {}, "From this node: the far module's received power can't be read from here; ask the switch for it."));
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
  const fill = el('i', {});
  fill.style.width = `${100 * share(raw)}%`;
  const marks = [limits.low_warn, limits.high_warn].filter((x) => x !== undefined).map((x) => {
    const mark = el('u', {});
    mark.style.left = `${100 * share(x)}%`;
    return mark;
  });
  return el(`li.${tone}`, {}, `lane ${index + 1}`,
    el('span.gauge', { role: 'img', 'aria-label': `${kind.title}, lane ${index + 1}: ${text} ${sign || 'within limits'}` }, fill, marks),
    el('span.num', {}, `${text} ${sign}`));
}

export function lanesCard(port) {
  const module = port.now?.module;
  const lanes = module?.present ? module.lanes || [] : [];
  if (!lanes.length) return '';
  return el('section.card', {}, el('h2', {}, "Lanes against the module's own limits"),
    GAUGES.filter((kind) => lanes.some((lane) => lane[kind.key] !== undefined)).map((kind) => {
      const limits = module.thresholds?.[kind.key] || {};
      const values = lanes.map((lane) => lane[kind.key]).filter((x) => x !== undefined);
      const usual = median(values);
      const ends = [limits.low_alarm ?? kind.fallback[0], limits.high_alarm ?? kind.fallback[1]].map((x) => (kind.log ? dbm(dbmOf(x)) : `${x} ${kind.unit}`));
      return [el('h3', {}, kind.title),
        el('ul.lanes', {}, lanes.map((lane, index) => gauge(lane, index, kind, limits, kind.log && dbmOf(lane[kind.key]) < dbmOf(usual) - 3))),
        el('p.range', {}, el('span', {}, `${limits.low_alarm === undefined ? 'about ' : 'alarm '}${ends[0]}`), el('span', {}, `${limits.high_alarm === undefined ? 'about ' : 'alarm '}${ends[1]}`))];
    }),
    el('p.soft.small', {}, 'A bar runs from the low to the high alarm; the marks are the warnings.'));
}
