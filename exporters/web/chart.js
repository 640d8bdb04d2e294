// Lines over one time axis: every chart of a port has the same width, the same span and the same crosshair.
import { el, local, stamp } from './format.js';

const LEFT = 64;
const RIGHT = 12;
const TOP = 10;
const BOTTOM = 22;
const HEIGHT = 150;
const HOUR = 3600e3;

/** Where a time lies: pixels from the left edge of every chart. */
export const axis = (from, to, width) => {
  const span = Math.max(to - from, 1000);
  const inner = width - LEFT - RIGHT;
  return { from, to, width, x: (at) => LEFT + (inner * (at - from)) / span, at: (x) => from + (span * (x - LEFT)) / inner };
};

const TICK_STEPS = [5, 10, 15, 30, 60, 180, 360, 720, 1440, 2880, 10080, 20160].map((minutes) => minutes * 60e3);
function timeTicks(time) {
  const step = TICK_STEPS.find((one) => (time.to - time.from) / one <= Math.max(2, time.width / 160)) || TICK_STEPS.at(-1);
  const offset = new Date(time.from).getTimezoneOffset() * 60e3;
  const ticks = [];
  for (let at = Math.ceil((time.from - offset) / step) * step + offset; at < time.to; at += step) ticks.push(at);
  return { ticks, text: (at) => (step >= 24 * HOUR ? local(at).split(',')[0] : local(at).split(', ').at(-1)) };
}

/** Between which values a chart runs: its readings, and its limit where that does not flatten them. */
function range(values, limit, log) {
  const all = [...values, ...(Number.isFinite(limit) ? [limit] : [])];
  let [low, high] = [Math.min(...all), Math.max(...all)];
  if (high - low < (log ? 1 : 2)) [low, high] = [low - (log ? 0.5 : 1), high + (log ? 0.5 : 1)];
  return log ? [Math.floor(low), Math.ceil(high)] : [low - (high - low) * 0.08, high + (high - low) * 0.08];
}

/** Multiples of 1, 2 or 5 times a power of ten, at most five of them. */
function roundTicks(low, high) {
  const rough = (high - low) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((one) => one * power >= rough);
  return Array.from({ length: Math.floor(high / step) - Math.ceil(low / step) + 1 }, (_, i) => (Math.ceil(low / step) + i) * step);
}

function valueTicks(low, high, log) {
  if (!log) return roundTicks(low, high);
  const step = Math.max(1, Math.ceil((high - low) / 4));
  return Array.from({ length: Math.floor((high - low) / step) + 1 }, (_, i) => 10 ** (high - i * step));
}

/** Pieces of one line: where readings are missing for longer than usual, or there was no light, the line has a gap. */
function pieces(points, drawn) {
  const known = points.filter((point) => Number.isFinite(point.value));
  const steps = known.slice(1).map((point, i) => point.at - known[i].at).sort((a, b) => a - b);
  const usual = steps[Math.floor(steps.length / 2)] || 0;
  const lines = [];
  let line = [];
  for (const point of known) {
    if (line.length && (!drawn(point.value) || point.at - line.at(-1).at > 3.5 * usual)) [lines.push(line), (line = [])];
    if (drawn(point.value)) line.push(point);
  }
  if (line.length) lines.push(line);
  return lines;
}

/** series: [{name, points: [{at, value}]}]; options: {title, now, format, tick, limit, limitWord, log, none}. A value of `none`
 *  or less (0 with `log`) is read in the crosshair and is a gap in the line: drawn, it would flatten all the rest. */
export function chart(series, options, time, bands) {
  const none = options.log ? 0 : options.none ?? -Infinity;
  const drawn = (value) => Number.isFinite(value) && value > none;
  const inside = series.map((one) => ({ ...one, points: one.points.filter((point) => point.at >= time.from && point.at <= time.to) }));
  const values = inside.flatMap((one) => one.points.map((point) => point.value));
  const head = el('h3', {}, options.title, options.now ? el('span.soft', {}, ` ${options.now}`) : '');
  const scale = options.log ? Math.log10 : (x) => x;
  const seen = values.filter(drawn).map(scale);
  if (seen.length < 2)
    return el('figure.chart', {}, el('figcaption', {}, head), el('p.soft.small', {}, values.some(Number.isFinite) ? `Nothing to draw: ${options.format(values.find(Number.isFinite))} all the time.` : 'No reading in this time.'));
  const limit = options.limit > 0 || !options.log ? options.limit : undefined;
  const [low, high] = range(seen, Number.isFinite(limit) ? scale(limit) : undefined, options.log);
  const y = (value) => TOP + ((HEIGHT - TOP - BOTTOM) * (high - scale(value))) / (high - low);
  const { ticks, text } = timeTicks(time);
  const right = time.width - RIGHT;
  const label = `${options.title}${options.now ? ` ${options.now}` : ''}; ${seen.length} readings from ${stamp(time.from)} to ${stamp(time.to)}`;
  return el('figure.chart', {}, el('figcaption', {}, head), el('svg', { viewBox: `0 0 ${time.width} ${HEIGHT}`, role: 'img', 'aria-label': label },
    bands.map((band) => el(`rect.band.${band.kind}`, { x: time.x(Math.max(band.from, time.from)), y: TOP, height: HEIGHT - TOP - BOTTOM,
      width: Math.max(1.5, time.x(Math.min(band.to, time.to)) - time.x(Math.max(band.from, time.from))) })),
    valueTicks(low, high, options.log).map((tick) => [el('line.axis', { x1: LEFT, x2: right, y1: y(tick), y2: y(tick) }),
      el('text', { x: LEFT - 6, y: y(tick) + 4, 'text-anchor': 'end' }, (options.tick || options.format)(tick))]),
    ticks.map((at) => el('text', { x: time.x(at), y: HEIGHT - 6, 'text-anchor': 'middle' }, text(at))),
    Number.isFinite(limit) ? [el('line.limit', { x1: LEFT, x2: right, y1: y(limit), y2: y(limit) }),
      el('text.limitword', { x: right - 2, y: y(limit) - 4, 'text-anchor': 'end' }, options.limitWord || 'limit')] : '',
    inside.map((one, index) => pieces(one.points, drawn).map((line) => (line.length > 1
      ? el(`polyline.line.s${index % 8}`, { points: line.map((point) => `${time.x(point.at).toFixed(1)},${y(point.value).toFixed(1)}`).join(' ') })
      : el(`circle.dot.s${index % 8}`, { cx: time.x(line[0].at), cy: y(line[0].value), r: 2 })))),
    el('line.cross', { x1: -9, x2: -9, y1: TOP, y2: HEIGHT - BOTTOM })));
}

const nearest = (points, at) => points.reduce((best, point) => (Math.abs(point.at - at) < Math.abs((best?.at ?? Infinity) - at) ? point : best), undefined);

/** The crosshair of a stack of charts: pointer, or the arrow keys when the stack has the focus. `rows`: [{name, format, series}]. */
export function crosshair(stack, readout, time, rows, state) {
  const show = (at) => {
    state.cross = at;
    const inside = at !== undefined && at >= time.from && at <= time.to;
    for (const line of stack.querySelectorAll('.cross')) [line.setAttribute('x1', inside ? time.x(at) : -9), line.setAttribute('x2', inside ? time.x(at) : -9)];
    if (!inside) {
      readout.textContent = 'Move the pointer over a chart, or use the arrow keys, to read values.';
      return;
    }
    const reach = (time.to - time.from) / 60;
    const parts = rows.flatMap((row) => row.series.map((one) => {
      const point = nearest(one.points.filter((each) => each.value !== undefined), at);
      return point && Math.abs(point.at - at) <= reach ? `${[row.name, one.name].filter(Boolean).join(' ')} ${row.format(point.value)}` : '';
    })).filter(Boolean);
    readout.textContent = `${local(at)} (${stamp(at)}): ${parts.join(' · ') || 'no reading'}`;
  };
  stack.addEventListener('pointermove', (event) => {
    const svg = event.target.closest('svg');
    if (!svg) return;
    const box = svg.getBoundingClientRect();
    show(time.at(((event.clientX - box.left) / box.width) * time.width));
  });
  stack.addEventListener('pointerleave', () => show(undefined));
  stack.addEventListener('keydown', (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const next = (state.cross ?? time.to) + (step * (time.to - time.from)) / 60;
    show(Math.max(time.from, Math.min(time.to, next)));
  });
  show(state.cross);
}

const positive = (point) => Number.isFinite(point.value) && point.value > 0;
/** The decades from the least to the greatest value of all lines, at least one: rows of a table are compared. */
export function decades(lines) {
  const logs = lines.flat().filter(positive).map((point) => Math.log10(point.value));
  const low = Math.min(...logs);
  return [low, Math.max(low + 1, ...logs)];
}

/** A line without axes, for a row of a table; [low, high]: `decades` of all rows; `label` is what a screen reader reads. */
export function sparkline(points, [low, high], label) {
  const drawn = points.filter(positive);
  if (drawn.length < 2) return '';
  const values = drawn.map((point) => Math.log10(point.value));
  const [from, to] = [drawn[0].at, drawn.at(-1).at];
  return el('svg.spark', { viewBox: '0 0 96 22', role: 'img', 'aria-label': label },
    el('polyline.line.s0', { points: drawn.map((point, i) => `${(94 * (point.at - from) / Math.max(1, to - from) + 1).toFixed(1)},${(20 - (18 * (values[i] - low)) / (high - low)).toFixed(1)}`).join(' ') }));
}
