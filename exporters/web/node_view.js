// The node as a person sees its back: cards in the order of their PCI addresses, their ports as tiles.
import { dbm, el, percent, pill, portHref, SIGNS, speed, words } from './format.js';

const order = ['down', 'degraded', 'at_risk', 'unknown'];
const needsWork = (port) => order.slice(0, 3).includes(port.health);

function tile(port) {
  const link = port.now?.link || {};
  const module = port.now?.module;
  const figures = port.figures || {};
  const fault = port.faults[0];
  const empty = module && !module.present;
  const light = figures.worst_rx_power_dbm;
  const lane = figures.worst_rx_lane && (module?.lanes?.length || 0) > 1 ? ` (lane ${figures.worst_rx_lane})` : '';
  return el('li', {}, el(`a.tile.${port.health}${needsWork(port) ? '.work' : ''}`, { href: portHref(port.port), id: `tile-${port.port}` },
    el(`span.cage${empty ? '.empty' : ''}`, { 'aria-hidden': 'true' }, SIGNS[port.health] || '?'),
    el('span', {},
      el('strong', {}, port.port, ' ', pill(port.health)),
      el('span.small', {}, [port.now?.id?.netdev, link.carrier === false ? 'no carrier' : speed(link.speed_mbps), link.fec].filter(Boolean).join(' · ')),
      light !== undefined || empty ? el('span.small', {}, el('br'), light === undefined ? 'no module' : `Rx ${dbm(light)}${lane}`) : '',
      fault ? el('span.fault', {}, el('br'), `${words(fault.fault)}, ${percent(fault.confidence)} sure`) : '',
      port.exempt ? el('span.small', {}, el('br'), `exempt: ${port.exempt}`) : '')));
}

function cards(ports) {
  const byCard = new Map();
  for (const port of ports) {
    const card = (port.now?.id?.pci || '').replace(/\.\d+$/, '') || port.now?.id?.device || port.port;
    byCard.set(card, [...(byCard.get(card) || []), port]);
  }
  return [...byCard].sort(([a], [b]) => (a < b ? -1 : 1));
}

function headline(report) {
  const bad = order.flatMap((health) => report.ports.filter((port) => port.health === health && needsWork(port)));
  if (!bad.length) {
    const blind = report.ports.filter((port) => port.health === 'unknown').length;
    if (report.ports.every((port) => port.health === 'exempt')) return el('p', {}, 'No port of this node is judged.');
    return el('p', {}, blind ? `No fault is known; ${blind} of ${report.ports.length} ports can't be judged.` : 'All ports are well.');
  }
  return el('div', {}, el('p', {}, el('strong', {}, `${bad.length} of ${report.ports.length} ports ${bad.length === 1 ? 'needs' : 'need'} work:`)),
    el('ul', {}, bad.map((port) => el('li', {}, el('a', { href: portHref(port.port), id: `head-${port.port}` }, port.port), ' ', pill(port.health), ' ',
      port.faults[0] ? `${words(port.faults[0].fault)}: ${port.faults[0].summary}` : ''))));
}

function unseen(sight) {
  return sight?.unreadable ? el('p.soft', {}, `${sight.unreadable} of ${sight.sources} sources are unreadable: linkhealth doctor says why.`) : '';
}

export function nodeView(report, sight) {
  const gaps = report.gaps || [];
  return [
    el('section.card', {}, el('h1', { tabindex: '-1' }, report.node), headline(report), unseen(sight),
      report.impact?.share ? el('p.soft', {}, `${percent(report.impact.share)} of this node's bandwidth is lost or at risk.`) : ''),
    el('section.card', { 'aria-label': 'The machine from behind' }, el('h2', {}, 'The machine from behind'),
      el('ul.machine', {}, cards(report.ports).map(([card, ports]) => el('li.slot', {}, el('p.small', {}, `card ${card}`), el('ul', {}, ports.map(tile)))))),
    gaps.length ? el('section.card', {}, el('h2', {}, "What can't be seen"), el('ul', {}, gaps.map((gap) => el('li', {}, `${gap.probe}: ${gap.reason}`)))) : '',
  ];
}
