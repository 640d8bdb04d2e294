// Words and numbers, as `linkhealth explain` writes them: units always, one decimal for dBm. Elements are built here only.
export const SIGNS = { healthy: '●', at_risk: '◆', degraded: '▲', down: '✖', unknown: '?', exempt: '○' };
/** Worst first: the order of rows everywhere. */
export const HEALTH_ORDER = ['down', 'degraded', 'at_risk', 'unknown', 'healthy', 'exempt'];
export const needsAttention = (port) => HEALTH_ORDER.indexOf(port.health) < 3;
export const words = (name) => (name === 'monitor_blind' ? 'port unreadable' : name || '').replaceAll('_', ' ').replace('fiber', 'fibre').replace(/^(nic|pcie)\b/, (name) => ({ nic: 'NIC', pcie: 'PCIe' })[name]);
export const title = (name) => words(name).replace(/^./, (c) => c.toUpperCase());
const known = (value) => value !== undefined && value !== null && Number.isFinite(value);

export const dbmOf = (mw) => (known(mw) ? (mw > 0 ? 10 * Math.log10(mw) : -Infinity) : undefined);
export function dbm(value) {
  if (value === -Infinity) return 'dark';
  if (!known(value)) return 'unknown';
  const tenths = Math.round(value * 10); // not "−0.0"
  return `${tenths > 0 ? '+' : tenths < 0 ? '−' : ''}${(Math.abs(tenths) / 10).toFixed(1)} dBm`;
}
export const ber = (value) => (known(value) ? (value === 0 ? '0' : value.toExponential(1).replace(/e([+-])(\d)$/, 'e$10$2')) : '–');
export const speed = (mbps) => (known(mbps) && mbps > 0 ? `${mbps / 1000}G` : '');
export const percent = (share) => `${Math.round(share * 100)}%`;
/** A probability: 99 % at most, because no diagnosis is certain. */
export const probability = (share) => `${Math.min(99, Math.round(share * 100))}%`;

export function duration(seconds) {
  const s = Math.max(0, Math.floor(seconds));
  if (s < 120) return `${s} s`;
  if (s < 7200) return `${Math.floor(s / 60)} min`;
  if (s < 172800) return `${Math.floor(s / 3600)} h`;
  return `${Math.floor(s / 86400)} d`;
}
/** "2026-09-07 13:24:25Z": UTC, without milliseconds. */
export const stamp = (at) => new Date(at).toISOString().replace('T', ' ').replace(/\.\d+Z$/, 'Z');
const LOCAL = { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', hour12: false };
export const local = (at) => new Date(at).toLocaleString('en-GB', LOCAL);
/** Local time; UTC is its tooltip and what a screen reader reads. */
export const time = (at) => el('time', { datetime: new Date(at).toISOString(), title: stamp(at) }, local(at), el('span.hidden', {}, `, ${stamp(at)}`));
/** "for 2 h, since 7 Sept, 13:24"; `now`: the report's time, as the ages of all readings. */
export const lasting = (at, now) => [`for ${duration((Date.parse(now) - new Date(at).getTime()) / 1000)}, since `, time(at)];
/** "2 h ago (7 Sept, 13:24)" */
export const ago = (at, now) => [`${duration((Date.parse(now) - new Date(at).getTime()) / 1000)} ago (`, time(at), ')'];
/** "1, 4 and 5" */
export const joined = (items, last = 'and') => (items.length < 2 ? `${items[0] ?? ''}` : `${items.slice(0, -1).join(', ')} ${last} ${items.at(-1)}`);
/** "by ann (ticket 4711) until 7 Sept, 13:24" */
export const noted = (one) => [`by ${one.by}`, one.reason ? ` (${one.reason})` : '', one.until ? [' until ', time(one.until)] : ''];
export function quantity(value, unit) {
  if (!known(value)) return '';
  if (unit === 'Mb/s') return speed(value) || '0';
  const text = unit === 'dBm' ? dbm(value) : unit === 'dB' ? value.toFixed(1) : Number.isInteger(value) ? String(value) : unit === 'C' ? value.toFixed(1) : Math.abs(value) > 0 && Math.abs(value) < 1e-3 ? ber(value) : String(+value.toPrecision(3));
  return unit && unit !== 'dBm' ? `${text} ${unit === 'C' ? '°C' : unit}` : text;
}

const SVG = ['svg', 'path', 'line', 'polyline', 'polygon', 'circle', 'rect', 'text', 'g'];
/** el('p.soft', {id: 'a'}, 'text', child): an element; text is text, never markup. A function is a listener, `style` an object. */
export function el(tag, attributes, ...children) {
  const [name, ...classes] = tag.split('.');
  const node = SVG.includes(name) ? document.createElementNS('http://www.w3.org/2000/svg', name) : document.createElement(name);
  if (classes.length) node.setAttribute('class', classes.filter(Boolean).join(' '));
  for (const [key, value] of Object.entries(attributes || {}))
    if (typeof value === 'function') node.addEventListener(key, value);
    else if (key === 'style') Object.assign(node.style, value); // by property: the page's policy allows no inline styles
    else if (value !== undefined && value !== null && value !== false) node.setAttribute(key, value === true ? '' : value);
  node.append(...children.flat(4).filter((child) => child !== undefined && child !== null && child !== ''));
  return node;
}
// What a healthy link is judged by, where it was not read.
const NOT_READ = { errors: 'error counters', fec: 'FEC' };
export const notRead = (port) => port.partial.map((what) => `no ${NOT_READ[what] || words(what)}`).join(', ');
export const isPartial = (port) => port.health === 'healthy' && port.partial?.length > 0;
/** The port's state; "healthy" never stands alone where a source that it is judged by was not read. */
export const portPill = (port) => el(`span.pill.${port.health}`, { title: isPartial(port) ? notRead(port) : undefined }, `${SIGNS[port.health] || '?'} ${words(port.health)}${isPartial(port) ? ' (partial)' : ''}`);
export const portHref = (port) => `#/port/${encodeURIComponent(port)}`;
export const code = (command) => el('code', {}, command);
