// The node: its ports as dense rows, the worst first; faults of several ports as one row; the rear view where slots are known.
import { decades, sparkline } from './chart.js';
import { HEALTH_ORDER, SIGNS, ber, code, el, isPartial, needsAttention, noted, notRead, percent, portHref, portPill, probability, speed, title, words } from './format.js';

const worstFirst = (a, b) => HEALTH_ORDER.indexOf(a.health) - HEALTH_ORDER.indexOf(b.health) || a.port.localeCompare(b.port, 'en', { numeric: true });

/** [{fault, ports}]: a fault that several ports share is one group; every other port is a group of its own. */
export function groups(ports) {
  const byId = new Map();
  for (const port of [...ports].sort(worstFirst)) {
    const shared = port.faults.find((fault) => fault.ports?.length > 1);
    const key = shared ? shared.id : port.port;
    byId.set(key, { fault: shared, ports: [...(byId.get(key)?.ports || []), port] });
  }
  return [...byId.values()];
}

const MARGIN_FULL_DB = 10; // a bar of this margin is full: more light than that changes nothing
function marginBar(port) {
  const db = port.figures?.rx_power_margin_db;
  if (db === undefined) return el('span.soft', {}, '–');
  const tone = db < 0 ? 'down' : db < 1 ? 'degraded' : 'healthy';
  return el(`span.margin.${tone}`, {}, el('span.gauge', { 'aria-hidden': 'true' }, el('i', { style: { width: `${Math.max(2, Math.min(100, (100 * db) / MARGIN_FULL_DB))}%` } })), el('span.num', {}, `${db.toFixed(1)} dB`));
}

function stateText(port) {
  const link = port.now?.link || {};
  if (link.carrier === false) return 'link down';
  return speed(link.speed_mbps) || '–';
}

const acknowledged = (fault) => (fault.acknowledged ? el('span.soft', {}, el('br'), 'Acknowledged ', noted(fault.acknowledged)) : '');

/** `said`: notes already shown; one about the whole node is shown once, at its first port. */
function row(port, sparks, range, said, inGroup) {
  const fault = port.faults[0];
  const points = sparks.get(port.port) || [];
  const undecided = fault?.state !== 'proving' && fault?.undecided?.names?.length > 1;
  return [el(`tr.${port.health}${needsAttention(port) ? '.work' : ''}`, { id: `row-${port.port}` },
    el('th', { scope: 'row' }, el('a', { href: portHref(port.port), id: `tile-${port.port}` }, port.port), port.now?.id?.netdev ? el('span.soft.small', {}, ` ${port.now.id.netdev}`) : ''),
    el('td', {}, portPill(port)), el('td', {}, port.peer || el('span.soft', {}, 'unknown')), el('td.num', {}, stateText(port)), el('td', { 'data-label': 'margin' }, marginBar(port)),
    el('td.num', { 'data-label': 'BER' }, port.figures?.pre_fec_ber === undefined ? '–' : ber(port.figures.pre_fec_ber), ' ', sparkline(points, range, `pre-FEC BER over the last hour, ${points.length} readings`)),
    el('td.num', { 'data-label': 'carrier losses' }, port.figures?.involuntary_downs_24h ?? '–')),
  fault && !inGroup ? el(`tr.detail.${port.health}`, {}, el('td', { colspan: 7 }, el('strong', {}, undecided ? fault.undecided.names.map((one) => `${title(one.fault)} ${probability(one.confidence)}`).join(' or ') : `${title(fault.fault)} ${probability(fault.confidence)}`),
    fault.state === 'proving' ? '' : `: ${fault.summary}`, fault.repair[0] && fault.state !== 'proving' ? el('span', {}, el('br'), el('strong', {}, 'First: '), fault.repair[0]) : '', acknowledged(fault), fault.state === 'proving' ? ': the symptoms are gone, the repair is being verified' : '')) : '',
  !fault && port.note && !said.has(port.note) && said.add(port.note) ? el('tr.detail', {}, el('td', { colspan: 7 }, `${port.note.replace(/^./, (c) => c.toUpperCase())}.`)) : '',
  port.exempt ? el('tr.detail', {}, el('td.soft', { colspan: 7 }, `Not monitored: ${port.exempt}`)) : ''];
}

function group({ fault, ports }, sparks, range, said) {
  if (!fault || ports.length < 2) return ports.map((port) => row(port, sparks, range, said, false));
  // The steps name far ends: those of the port that the fault is told on, as everywhere.
  const told = ports.find((port) => port.port === fault.ports?.[0])?.faults[0] || fault;
  return [el(`tr.detail.shared.${ports[0].health}`, {}, el('td', { colspan: 7 }, el('strong', {}, `${title(fault.fault)} ${probability(fault.confidence)}, one fault of ${ports.length} ports`), `: ${fault.summary}`,
    told.repair[0] ? el('span', {}, el('br'), el('strong', {}, 'First: '), told.repair[0]) : '', acknowledged(told))),
  ports.map((port) => row(port, sparks, range, said, true))];
}

function onlyInPart(ports) {
  const partial = ports.filter(isPartial);
  if (!partial.length) return '';
  const whats = new Set(partial.map(notRead));
  const count = partial.length === ports.length ? (ports.length === 1 ? 'It is judged' : 'Each is judged') : `${partial.length} of them ${partial.length === 1 ? 'is' : 'are'} judged`;
  return ` ${count} only in part${whats.size === 1 ? `: ${[...whats][0]}` : ''}.`;
}

function headline(report) {
  const judged = report.ports.filter((port) => port.health !== 'exempt');
  const bad = judged.filter(needsAttention);
  const unknown = judged.filter((port) => port.health === 'unknown').length;
  if (!judged.length) return el('p', {}, 'No port of this node is monitored.');
  const noticed = judged.filter((port) => port.health === 'healthy' && port.faults?.length).length;
  const notices = noticed ? ` ${noticed === 1 ? '1 has' : `${noticed} have`} a notice.` : '';
  if (!bad.length) return el('p', {}, unknown ? `No port needs attention; ${unknown} of ${judged.length} ports cannot be judged.${notices}` : `All ${judged.length} ports healthy.${onlyInPart(judged)}${notices}`);
  return el('p', {}, el('strong', {}, `${bad.length} of ${judged.length} ports ${bad.length === 1 ? 'needs' : 'need'} attention`),
    report.impact?.share ? `; ${percent(report.impact.share)} of this node's bandwidth is lost or at risk.` : '.');
}

function rearView(ports) {
  const slots = new Map();
  for (const port of ports) if (port.now?.pcie?.slot) slots.set(port.now.pcie.slot, [...(slots.get(port.now.pcie.slot) || []), port]);
  if (!slots.size) return '';
  return el('section.card', { 'aria-label': 'Rear view' }, el('h2', {}, 'Rear view'), el('ul.rear', {}, [...slots].sort(([a], [b]) => a.localeCompare(b, 'en', { numeric: true })).map(([slot, members]) => el('li', {}, el('span.small', {}, `slot ${slot}`),
    members.map((port) => el(`a.cage.${port.health}`, { href: portHref(port.port), id: `cage-${port.port}`, title: `${port.port}: ${words(port.health)}` }, SIGNS[port.health] || '?', el('span', {}, port.now?.id?.netdev || port.port)))))));
}

function unseen(report, sight) {
  const gaps = report.gaps || [];
  if (!gaps.length && !sight?.unreadable) return '';
  return el('section.card', {}, el('h2', {}, 'Not readable'), sight?.unreadable ? el('p', {}, `${sight.unreadable} of ${sight.sources} sources cannot be read, or only in part. `, code('linkhealth doctor'), ' names each and its remedy.') : '',
    gaps.length ? el('ul', {}, gaps.map((gap) => el('li', {}, `${gap.probe}: ${gap.reason}${gap.hint ? `; ${gap.hint}` : ''}`))) : '');
}

export function nodeView(report, sight, sparks) {
  const range = decades([...sparks.values()]);
  const said = new Set();
  return [el('section.card', {}, el('h1', { tabindex: '-1' }, report.node), headline(report),
    el('div.scroll', { tabindex: '0', role: 'group', 'aria-label': 'Ports, worst first' }, el('table.ports', {},
      el('thead', {}, el('tr', {}, ['Port', 'State', 'Far end', 'Speed', 'Light margin', 'Pre-FEC BER, 1 h', 'Carrier losses, 24 h'].map((head) => el('th', { scope: 'col' }, head)))),
      el('tbody', {}, groups(report.ports).map((one) => group(one, sparks, range, said)))))),
  rearView(report.ports), unseen(report, sight)];
}
