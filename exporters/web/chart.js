// A line over time with its limit, as SVG that is as wide as its place.
import { el } from './format.js';

const clock = (ms) => new Date(ms).toISOString().slice(11, 16);

/** points: [{at: ms, value}]; options: {title, unit, format, limit, limitWord, log, none, marks: [ms]}. What is `none` or less (0 with
 *  `log`) is said when it is now, and a gap in the line: drawn, it would flatten all the rest. */
export function chart(points, options, width) {
  const none = options.log ? 0 : options.none ?? -Infinity;
  const drawn = (point) => Number.isFinite(point.value) && point.value > none;
  const known = points.filter((point) => Number.isFinite(point.value));
  const seen = known.filter(drawn);
  const last = known[known.length - 1];
  const text = last ? `${options.title}: now ${options.format(last.value)}${options.limit === undefined ? '' : `, limit ${options.format(options.limit)}`}` : `${options.title}: nothing seen yet`;
  const block = [el('h3', {}, text)];
  if (seen.length < 2) return [...block, el('p.soft.small', {}, seen.length ? 'One reading so far: a line needs two.' : known.length ? 'Nothing to draw: none in all that time.' : 'No reading yet.')];
  const high = 150;
  const left = 58;
  const scale = options.log ? Math.log10 : (x) => x;
  const values = [...seen.map((point) => scale(point.value)), ...(options.limit > 0 || !options.log ? [options.limit].filter(Number.isFinite).map(scale) : [])];
  let low = Math.min(...values);
  let top = Math.max(...values);
  if (top - low < (options.log ? 1 : 2)) [low, top] = [low - (options.log ? 0.5 : 1), top + (options.log ? 0.5 : 1)];
  [low, top] = options.log ? [Math.floor(low), Math.ceil(top)] : [low - (top - low) * 0.08, top + (top - low) * 0.08];
  const begin = points[0].at;
  const end = Math.max(last.at, begin + 1000);
  const x = (at) => left + ((width - left - 10) * (at - begin)) / (end - begin);
  const y = (value) => 12 + ((high - 36) * (top - scale(value))) / (top - low);
  const ticks = options.log ? Array.from({ length: Math.min(8, top - low + 1) }, (_, i) => 10 ** (top - Math.round((i * (top - low)) / Math.min(7, top - low || 1)))) : [low, (low + top) / 2, top];
  const lines = [];
  let line = [];
  for (const point of points) { // a gap in what was seen is a gap in the line
    if (drawn(point)) line.push(`${x(point.at).toFixed(1)},${y(point.value).toFixed(1)}`);
    else if (line.length) [lines.push(line), (line = [])];
  }
  if (line.length) lines.push(line);
  return [...block, el('svg.chart', { viewBox: `0 0 ${width} ${high}`, role: 'img', 'aria-label': `${text}; ${seen.length} readings from ${clock(begin)} to ${clock(end)} UTC` },
    ticks.map((tick) => [el('line.axis', { x1: left, x2: width - 10, y1: y(tick), y2: y(tick) }), el('text', { x: left - 6, y: y(tick) + 4, 'text-anchor': 'end' }, options.tick ? options.tick(tick) : options.format(tick))]),
    (options.marks || []).filter((at) => at > begin && at < end).map((at) => el('line.mark', { x1: x(at), x2: x(at), y1: 8, y2: high - 24 })),
    Number.isFinite(options.limit) ? [el('line.limit', { x1: left, x2: width - 10, y1: y(options.limit), y2: y(options.limit) }),
      el('text.limitword', { x: width - 12, y: y(options.limit) - 4, 'text-anchor': 'end' }, options.limitWord || 'limit')] : '',
    lines.map((one) => (one.length > 1 ? el('polyline.line', { points: one.join(' ') }) : el('circle.dot', { cx: one[0].split(',')[0], cy: one[0].split(',')[1], r: 2.5 }))),
    el('text', { x: left, y: high - 4 }, `${clock(begin)} UTC`), el('text', { x: width - 10, y: high - 4, 'text-anchor': 'end' }, `${clock(end)} UTC`))];
}
