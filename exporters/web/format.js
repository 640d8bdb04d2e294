// Words and numbers, as `linkhealth explain` writes them: units always, one decimal for dBm, times with their distance.
export const SIGNS = { healthy: '●', at_risk: '◆', degraded: '▲', down: '✖', unknown: '?', exempt: '○' };
export const words = (name) => (name || '').replaceAll('_', ' ');
const known = (value) => value !== undefined && value !== null && Number.isFinite(value);

export const dbmOf = (mw) => (known(mw) ? (mw > 0 ? 10 * Math.log10(mw) : -Infinity) : undefined);
export function dbm(value) {
  if (value === -Infinity) return 'dark';
  return known(value) ? `${value > 0 ? '+' : value < 0 ? '−' : ''}${Math.abs(value).toFixed(1)} dBm` : 'not known';
}
export const ber = (value) => (known(value) ? (value === 0 ? '0' : value.toExponential(1).replace(/e([+-])(\d)$/, 'e$10$2')) : '–');
export const speed = (mbps) => (known(mbps) && mbps > 0 ? `${mbps / 1000}G` : '');
/** 99 % at most: nothing is certain. */
export const percent = (share) => `${Math.min(99, Math.round(share * 100))}%`;

export function duration(seconds) {
  const s = Math.max(0, Math.round(seconds));
  if (s < 90) return `${s} s`;
  if (s < 5400) return `${Math.round(s / 60)} min`;
  if (s < 129600) return `${Math.round(s / 3600)} h`;
  return `${Math.round(s / 86400)} d`;
}
/** "2026-09-07 13:24:25Z": without milliseconds. */
export const stamp = (at) => at.replace('T', ' ').replace(/\.\d+Z$/, 'Z');
/** "2 h ago (2026-09-07 13:24:25Z)"; `now`: the report's time. */
export const ago = (at, now) => `${duration((Date.parse(now) - Date.parse(at)) / 1000)} ago (${stamp(at)})`;
export function quantity(value, unit) {
  if (!known(value)) return '';
  const text = unit === 'dBm' ? dbm(value) : Math.abs(value) > 0 && Math.abs(value) < 1e-3 ? ber(value) : String(+value.toPrecision(3));
  return unit && unit !== 'dBm' ? `${text} ${unit}` : text;
}
/** el('p.soft', {id: 'a'}, 'text', child): an element; text is text, never markup. */
export function el(tag, attributes, ...children) {
  const [name, ...classes] = tag.split('.');
  const svg = ['svg', 'path', 'line', 'polyline', 'polygon', 'circle', 'text', 'g'].includes(name);
  const node = svg ? document.createElementNS('http://www.w3.org/2000/svg', name) : document.createElement(name);
  if (classes.length) node.setAttribute('class', classes.filter(Boolean).join(' '));
  for (const [key, value] of Object.entries(attributes || {}))
    if (typeof value === 'function') node.addEventListener(key, value);
    else if (value !== undefined && value !== null && value !== false) node.setAttribute(key, value === true ? '' : value);
  node.append(...children.flat(3).filter((child) => child !== undefined && child !== null && child !== ''));
  return node;
}
export const pill = (health) => el(`span.pill.${health}`, {}, `${SIGNS[health] || '?'} ${words(health)}`);
export const portHref = (port) => `#/port/${encodeURIComponent(port)}`;
