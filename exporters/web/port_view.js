// One port: the story in one line with the actions at hand, the verdict with its steps, the path of light, lanes, time, events.
import { actions } from './actions.js';
import { overTime } from './over_time.js';
import { lanesCard, loss, pathCard } from './path.js';
import { SIGNS, ago, ber, code, dbm, duration, el, isPartial, joined, lasting, noted, notRead, percent, portPill, probability, quantity, speed, time, title, words } from './format.js';

const PLACES = { local: 'at this end', far: 'at the far end', path: 'on the path', node: 'in this node', fabric: 'in the fabric' };

// A statement is true or not: "1 = 1" says nothing to people.
const isStatement = (one) => one.op === '=' && one.threshold === 1 && !one.unit;

function evidence(fault, port) {
  const rows = [...fault.evidence, ...(fault.ruled_out || [])];
  if (!rows.length) return '';
  const seen = (one) => (isStatement(one) ? (one.observed ? 'yes' : 'no') : quantity(one.observed, one.unit));
  const limit = (one) => (one.threshold === undefined || isStatement(one) ? '' : `${one.op} ${quantity(one.threshold, one.unit)}`);
  const of = fault.ports?.length && fault.ports[0] !== port.port ? `Evidence from ${fault.ports[0]}` : 'Evidence';
  return [el('h3', {}, of), el('div.scroll', { tabindex: '0', role: 'group', 'aria-label': 'Evidence' }, el('table.evidence', {},
    el('thead', {}, el('tr', {}, ['', 'What', 'Value', 'Limit', 'Source'].map((head) => el('th', { scope: 'col' }, head || el('span.hidden', {}, 'For or against'))))),
    el('tbody', {}, rows.map((one) => el(`tr${one.supports === false ? '.against' : ''}`, {}, el('td', {}, one.supports === false ? '−' : '+', el('span.hidden', {}, one.rules_out ? ' rules out' : one.supports === false ? ' against' : ' for')), el('td', {}, one.text || title(one.symptom), one.rules_out ? `: rules out ${one.rules_out}` : ''),
      el('td.num', {}, seen(one)), el('td.num', {}, limit(one)), el('td', {}, [one.where, one.source].filter(Boolean).join(', ')))))))];
}

// The operator who acknowledged the fault, and the state of the repair: the first questions at night.
function standing(fault, report, port) {
  const lines = [];
  if (fault.acknowledged) lines.push(['Acknowledged ', noted(fault.acknowledged)]);
  if (port.maintenance) lines.push(['In maintenance ', noted(port.maintenance), '. No fault opens meanwhile.']);
  if (fault.state === 'proving' && fault.proof) {
    const done = (Date.parse(report.at) - Date.parse(fault.proof.since)) / 1000;
    lines.push(['Symptoms gone. ', `The fault closes after ${duration(fault.proof.needed_s)} without a symptom, a carrier loss or an uncorrectable block; ${duration(done)} so far.`]);
  }
  return lines.map(([head, ...rest]) => el('p.standing', {}, el('strong', {}, head), rest));
}

// Faults that cannot be told apart are named together: "Far port down 55%, unplugged 25% or damaged fibre 20%".
function headline(fault) {
  const names = fault.state === 'proving' ? [] : fault.undecided?.names || [];
  if (names.length < 2) return `${title(fault.fault)} ${probability(fault.confidence)}`;
  const each = names.map((one) => `${one.end === 'far' && !one.fault.startsWith('far_') ? 'far ' : ''}${words(one.fault)} ${probability(one.confidence)}`);
  return joined(each, 'or').replace(/^./, (c) => c.toUpperCase());
}

const list = (head, items) => (items?.length ? [el('h3', {}, head), el('ul', {}, items.map((item) => el('li', {}, item)))] : '');

const STILL_SEEN_MS = 30000; // a link that came back shows no symptom for a while: the text describes the past
const stateWord = (state) => (state === 'proving' ? 'verifying' : state); // as the command line says it

function verdict(fault, report, port) {
  const others = fault.differential.filter((one) => (one.fault !== fault.fault || one.end !== fault.end) && one.confidence >= 0.005);
  const missing = (one) => `${title(one.symptom)}: ${one.why}${one.decides ? `; it would separate this from ${one.decides}` : ''}; ${one.how}`;
  return el(`section.card.verdict.${port.health}`, {},
    el('h2', {}, headline(fault)),
    el('p', {}, fault.last_seen_at && (fault.state === 'proving' || Date.parse(report.at) - Date.parse(fault.last_seen_at) > STILL_SEEN_MS) ? ['Last symptoms, ', ago(fault.last_seen_at, report.at), `: ${fault.summary}`] : fault.summary.replace(/^./, (c) => c.toUpperCase())),
    el('p.soft.small', {}, [PLACES[fault.end], fault.severity, stateWord(fault.state)].filter(Boolean).join(' · '), ' · diagnosed ', ago(fault.opened_at, report.at)),
    standing(fault, report, port),
    el('div.two', {}, el('div', {},
      fault.repair.length ? [el('h3', {}, fault.state === 'proving' ? 'If it returns, in this order' : 'Do this, in this order'), el('ol.steps', {}, fault.repair.map((step) => el('li', {}, step)))] : '',
      fault.verify ? el('p', {}, el('strong', {}, 'Fixed when '), `${fault.verify}.`) : '',
      el('p.small', {}, el('a', { href: `#/runbook/${fault.fault}`, id: `runbook-${fault.fault}-${fault.end}` }, `Runbook: ${words(fault.fault)}`)),
      fault.to_be_sure && fault.state !== 'proving' && !fault.repair.includes(fault.to_be_sure) ? el('p', {}, el('strong', {}, 'Confirm by: '), fault.to_be_sure) : ''),
    el('div', {}, evidence(fault, port), list('Also possible', others.slice(0, 4).map((one) => `${title(one.fault)} ${PLACES[one.end] || ''}: ${probability(one.confidence)}`)),
      list('Not readable, and would help', fault.missing?.map(missing)))));
}

const gapLine = (gap) => `${gap.probe}: ${gap.reason}${gap.hint ? `; ${gap.hint}` : ''}`;

function quiet(port) {
  const text = { healthy: isPartial(port) ? `Healthy (partial: ${notRead(port)})` : 'Healthy', exempt: `Not monitored: ${port.exempt}`, unknown: 'Not enough can be read to judge this port.' };
  return el(`section.card.verdict.${port.health}`, {}, el('h2', {}, text[port.health] || `This port is ${words(port.health)}; cause not determined yet.`),
    port.note ? el('p', {}, port.note) : '',
    port.checks?.length ? [el('h3', {}, 'Check'), el('ol.steps', {}, port.checks.map((step) => el('li', {}, step)))] : '',
    port.gaps?.length ? [el('p', {}, 'Not readable:'), el('ul', {}, port.gaps.map((gap) => el('li', {}, gapLine(gap))))] : port.health === 'healthy' ? el('p.soft', {}, 'No fault signs in any readable source.') : '');
}

/** What happened to the link, as one sentence: since when, whether it carries, how much of the node it is. */
function happened(report, port) {
  const link = port.now?.link || {};
  const fault = port.faults[0];
  const down = link.carrier === false;
  const changed = port.figures?.carrier_since_t === undefined ? undefined : new Date(Date.parse(report.at) - (report.t - port.figures.carrier_since_t) * 1000);
  const since = down && changed ? changed : fault?.opened_at;
  const share = port.impact?.share ?? (report.ports.filter((one) => one.health !== 'exempt').length && ['down', 'degraded', 'at_risk'].includes(port.health) ? report.impact?.share : undefined);
  return el('p', {}, down ? el('strong', {}, 'Link down') : link.carrier ? ['Carrying traffic', link.speed_mbps ? ` at ${speed(link.speed_mbps)}` : ''] : 'Link state unknown',
    since && (down || fault) ? [down ? ' ' : ', fault open ', lasting(since, report.at)] : '', '.',
    fault && share ? ` ${percent(share)} of this node's bandwidth is ${down ? 'lost' : 'at risk'}.` : '');
}

const OF_LIGHT = ['dirty_connector', 'damaged_fiber', 'failing_transmitter'];
/** far port — link — this port: which of the three is suspect, and what the link lost. */
function story(report, port, state) {
  const fault = port.faults[0];
  const end = fault && fault.state !== 'proving' ? fault.end : '';
  const lost = loss(port);
  // An end is not called healthy because the other one is suspected: of a link that is down nothing is known of it.
  const tone = (side) => (side.includes(end) ? port.health : port.health === 'down' ? 'unknown' : 'healthy');
  const peer = port.now?.peer;
  const mark = (name, health, extra) => el(`li.${health}`, {}, el('span.dot', { 'aria-hidden': 'true' }, SIGNS[health] || '?'), el('span', {}, name, extra ? el('span.small.soft', {}, ` ${extra}`) : ''));
  const lanes = [...(fault?.lanes || [])].sort((a, b) => a - b);
  const which = lanes.length ? `${lanes.length > 1 ? 'lanes' : 'lane'} ${joined(lanes)}` : '';
  const isLost = lost && lost.db >= 1 && OF_LIGHT.includes(fault?.fault) && fault.state !== 'proving';
  const middle = [fault ? title(fault.fault) : port.health === 'healthy' ? 'no fault' : words(port.health), which, isLost ? `${lost.db.toFixed(1)} dB lost` : ''].filter(Boolean).join(', ');
  return el(`section.card.story.${port.health}`, {}, el('p.small', {}, el('a', { href: '#/', id: 'back' }, `← ${report.node}`)),
    el('h1', { tabindex: '-1' }, port.port, ' ', portPill(port)),
    el('ol.threeparts', { 'aria-label': 'Far port, link, this port' },
      mark(port.peer || 'far port unknown', peer || port.peer ? tone(['far', 'fabric']) : end === 'far' ? port.health : 'unknown', ''),
      mark(middle, !fault ? tone(['path']) : end ? port.health : 'unknown', ''),
      mark(port.now?.id?.netdev || port.port, port.health === 'exempt' ? 'exempt' : tone(['local', 'node']), port.now?.module?.type)),
    happened(report, port),
    fault && fault.repair.length && fault.state !== 'proving' ? el('p.first', {}, el('strong', {}, 'First: '), fault.repair[0]) : '',
    fault?.ports?.length > 1 ? el('p', {}, `One fault of ${fault.ports.length} ports: ${fault.ports.join(', ')}`) : '',
    actions(report, port, state));
}

const EVENT_SIGNS = { opened: ['✖', 'down'], worsened: ['▲', 'degraded'], reopened: ['✖', 'down'], acknowledged: ['✓', 'unknown'], proving: ['…', 'unknown'], closed: ['●', 'healthy'] };
const EVENT_WORDS = { proving: 'repair being verified' };

// A remembered event has the fault's name and summary as texts; one from the stream has the fault as an object.
const flat = (event) => (typeof event.fault === 'object' ? { ...event, fault: event.fault.fault, fault_id: event.fault.id, summary: event.fault.summary, acknowledged: event.fault.acknowledged } : event);
function detail(event) {
  if (event.event === 'acknowledged') return event.acknowledged ? [' ', noted(event.acknowledged)] : '';
  return ['closed', 'proving'].includes(event.event) ? '' : `: ${event.summary}`;
}

const allEvents = (port, events, past) => [...new Map([...past.events, ...events.filter((event) => event.port === port.port || port.faults.some((fault) => fault.id === flat(event).fault_id))].map((event) => [event.id, flat(event)])).values()];

function timeline(report, events, past, port) {
  const entries = events.map((event) => {
    const [sign, tone] = EVENT_SIGNS[event.event] || ['·', 'exempt'];
    return { at: event.at, sign, tone, key: `${event.fault} ${event.event}`, text: [`${title(event.fault)} ${EVENT_WORDS[event.event] || words(event.event)}`, detail(event)] };
  });
  const repairs = [...past.repairs, ...port.faults.flatMap((fault) => fault.repairs || [])].map((repair) => ({ at: repair.at, sign: '✚', tone: 'unknown', key: 'repair',
    text: `Repair: ${words(repair.action)}, ${words(repair.outcome)}${repair.rx_power_before_dbm !== undefined && repair.rx_power_after_dbm !== undefined ? ` (Rx ${dbm(repair.rx_power_before_dbm)} → ${dbm(repair.rx_power_after_dbm)})` : ''}` }));
  const works = (past.maintenance || []).flatMap((work) => [{ at: work.since, sign: '⚒', tone: 'exempt', key: 'begin', text: ['Maintenance started ', noted(work)] }, { at: work.ended_at, sign: '⚒', tone: 'exempt', key: 'end', text: 'Maintenance ended' }]);
  const once = new Map([...entries, ...repairs, ...works].filter((entry) => entry.at).map((entry) => [`${entry.at} ${entry.key}`, entry]));
  const sorted = [...once.values()].sort((a, b) => (a.at < b.at ? 1 : -1)).slice(0, 50);
  return el('section.card', {}, el('h2', {}, 'Events'),
    sorted.length ? el('ol.timeline', {}, sorted.map((entry) => el(`li.${entry.tone}`, { 'data-sign': entry.sign }, el('span.soft.small', {}, ago(entry.at, report.at)), el('br'), entry.text)))
      : el('p.soft', {}, past.remembered ? 'None in this time range.' : 'None since this page was opened.'));
}

function facts(report, port) {
  const module = port.now?.module || {};
  const link = port.now?.link || {};
  const figures = port.figures || {};
  const rows = [['Link', [link.carrier === false ? 'down' : 'up', speed(link.speed_mbps), link.lanes ? `${link.lanes} lanes` : '', link.fec].filter(Boolean).join(', ')],
    ['Carrier losses in 24 h', [`${figures.involuntary_downs_24h ?? '–'}`, figures.last_involuntary_down_at ? [', last ', ago(figures.last_involuntary_down_at, report.at)] : '']], ['Uncorrectable blocks since the driver started', port.now?.counters?.fec_uncorrectable_blocks],
    ['Pre-FEC BER', figures.pre_fec_ber === undefined ? '' : `${ber(figures.pre_fec_ber)}${figures.pre_fec_ber_normal === undefined ? '' : `, baseline ${ber(figures.pre_fec_ber_normal)}`}`],
    ['Light margin', figures.rx_power_margin_db === undefined ? '' : `${figures.rx_power_margin_db.toFixed(1)} dB above the low alarm`],
    ['Module', module.present === false ? 'none' : [module.type, module.vendor, module.part_number].filter(Boolean).join(' ')], ['Serial number', module.serial], ['Connector', module.connector],
    ['Module read', module.imported_at === undefined ? '' : ['by another program (imported) ', ago(module.imported_at, report.at)]],
    ['Temperature', module.temperature_c === undefined ? '' : `${module.temperature_c.toFixed(1)} °C`], ['Slot', port.now?.pcie?.slot], ['PCI address', port.now?.id?.pci], ['Driver', port.now?.id?.driver]];
  return el('section.card', {}, el('h2', {}, 'This port'), el('dl', {}, rows.filter(([, value]) => value !== undefined && value !== '').map(([name, value]) => [el('dt', {}, name), el('dd', {}, typeof value === 'number' ? String(value) : value)])));
}

export function portView(report, port, events, past, width, state) {
  const mine = allEvents(port, events, past);
  return [story(report, port, state),
    port.faults.length ? port.faults.map((fault) => verdict(fault, report, port)) : quiet(port),
    pathCard(report, port), overTime(report, port, mine, past, width, state), lanesCard(port),
    el('div.columns', {}, timeline(report, mine, past, port), facts(report, port)),
    port.faults.length && port.gaps?.length ? el('section.card', {}, el('h2', {}, 'Not readable'), el('ul', {}, port.gaps.map((gap) => el('li', {}, gapLine(gap)))), el('p.soft', {}, code('linkhealth doctor'), ' says what mends each.')) : ''];
}
