// One port: the verdict and what to do, where the light is lost, lanes, time, events.
import { ago, ber, dbm, duration, el, percent, pill, quantity, speed, stamp, words } from './format.js';
import { chart } from './chart.js';
import { lanesCard, lightCard } from './light.js';
import { ticket } from './ticket.js';

const TITLES = { dirty_connector: 'Dirty connector', damaged_fiber: 'Damaged fibre', pcie_degraded: 'PCIe link degraded', nic_fault: 'Faulty network card' };
const title = (name) => TITLES[name] || words(name).replace(/^./, (c) => c.toUpperCase());
const PLACES = { local: 'at this end', far: 'at the far end', path: 'on the way', node: 'in this node', fabric: 'in the fabric' };

// A statement is true or not: "1 = 1" says nothing to people.
const isStatement = (one) => one.op === '=' && one.threshold === 1 && !one.unit;

function evidence(fault) {
  if (!fault.evidence.length) return '';
  return [el('h3', {}, 'Why'), el('div.scroll', { tabindex: '0', role: 'group', 'aria-label': 'Evidence' }, el('table', {},
    el('thead', {}, el('tr', {}, ['', 'What', 'Seen', 'Compared with', 'Where, by whom'].map((head) => el('th', { scope: 'col' }, head || el('span', {}, '±'))))),
    el('tbody', {}, fault.evidence.map((one) => el('tr', {}, el('td', {}, one.supports === false ? '− against' : '+ for'), el('td', {}, one.text || words(one.symptom)),
      el('td.num', {}, isStatement(one) ? (one.observed ? 'yes' : 'no') : quantity(one.observed, one.unit)), el('td.num', {}, one.threshold === undefined || isStatement(one) ? '' : `${one.op} ${quantity(one.threshold, one.unit)}`),
      el('td', {}, [one.where, one.source].filter(Boolean).join(', ')))))))];
}

const noted = (one) => `by ${one.by} ${one.until ? `until ${stamp(one.until)}` : 'until it closes'}${one.reason ? `: ${one.reason}` : ''}`;

// The operator who acknowledged the fault, and the state of the repair: the first questions at night.
function standing(fault, report, port) {
  const lines = [];
  if (fault.acknowledged) lines.push(['Acknowledged', ` ${noted(fault.acknowledged)}`]);
  if (port.maintenance) lines.push(['In maintenance', ` ${noted(port.maintenance).replace('until it closes', 'until it is ended')}. Nothing is raised meanwhile.`]);
  if (fault.state === 'proving' && fault.proof) {
    const done = (Date.parse(report.at) - Date.parse(fault.proof.since)) / 1000;
    lines.push(['Its signs are gone.', ` It closes after ${duration(fault.proof.needed_s)} without a sign, a drop or a lost block; ${duration(done)} so far.`]);
  }
  return lines.map(([head, rest]) => el('p.standing', {}, el('strong', {}, head), rest));
}

// What cannot be told apart is named together: "Far port down 55%, unplugged 25% or damaged fiber 20%".
function headline(fault) {
  const names = fault.state === 'proving' ? [] : fault.undecided?.names || [];
  if (names.length < 2) return `${title(fault.fault)}: ${percent(fault.confidence)} sure`;
  const each = names.map((one) => `${one.end === 'far' && !one.fault.startsWith('far_') ? 'far ' : ''}${words(one.fault)} ${percent(one.confidence)}`);
  return `${each.slice(0, -1).join(', ')} or ${each.at(-1)}`.replace(/^./, (c) => c.toUpperCase());
}

function verdict(fault, report, port) {
  const others = fault.differential.filter((one) => one.fault !== fault.fault || one.end !== fault.end);
  return el(`section.card.verdict.${port.health}`, {},
    el('h2', {}, headline(fault)),
    el('p', {}, fault.summary.replace(/^./, (c) => c.toUpperCase())),
    el('p.soft', {}, [PLACES[fault.end], fault.severity, fault.state, `since ${ago(fault.opened_at, report.at)}`].filter(Boolean).join(' · ')),
    standing(fault, report, port),
    fault.repair.length ? [el('h3', {}, fault.state === 'proving' ? 'Should it come back, in this order' : 'Do this, in this order'), el('ol.steps', {}, fault.repair.map((step) => el('li', {}, step)))] : '',
    fault.verify ? el('p', {}, 'Then ', el('code', {}, `linkhealth verify ${port.port}`), `: ${fault.verify}`) : '',
    fault.to_be_sure && fault.state !== 'proving' ? el('p', {}, `To be sure: ${fault.to_be_sure}`) : '',
    evidence(fault),
    fault.ruled_out?.length ? [el('h3', {}, 'Speaks against other faults'), el('ul', {}, fault.ruled_out.map((one) => el('li', {}, `${words(one.symptom)}: ${one.text} (${one.source})`)))] : '',
    fault.missing?.length ? [el('h3', {}, 'Would help to decide'), el('ul', {}, fault.missing.map((one) => el('li', {}, `${words(one.symptom)}: ${one.why}${one.decides ? `; it would tell this from ${one.decides}` : ''}; ${one.how}`)))] : '',
    others.length ? [el('h3', {}, 'Or'), el('ul', {}, others.map((one) => el('li', {}, `${title(one.fault)} ${PLACES[one.end] || ''}: ${percent(one.confidence)}`)))] : '');
}

function quiet(port) {
  const say = { healthy: 'This link is well.', exempt: `Nothing is expected of this port: ${port.exempt}`, unknown: 'Not enough can be read to judge this port.' };
  return el(`section.card.verdict.${port.health}`, {}, el('h2', {}, say[port.health] || `This port is ${words(port.health)}.`),
    port.gaps?.length ? el('ul', {}, port.gaps.map((gap) => el('li', {}, `${gap.probe}: ${gap.reason}${gap.hint ? `; ${gap.hint}` : ''}`))) : '');
}

function ticketCard(report, port, state) {
  const text = ticket(report, port);
  const toggle = () => { state.ticketOpen = !state.ticketOpen; state.redraw(); };
  const copy = async (event) => {
    event.target.textContent = await navigator.clipboard.writeText(text).then(() => 'Copied', () => 'Select the text and copy it');
  };
  const file = `data:text/markdown;charset=utf-8,${encodeURIComponent(text)}`;
  return el('section.card', {}, el('h2', {}, 'Ticket'),
    el('div.actions', {}, el('button', { type: 'button', id: 'ticket', 'aria-expanded': String(Boolean(state.ticketOpen)), click: toggle }, state.ticketOpen ? 'Hide the ticket' : 'Write the ticket')),
    state.ticketOpen ? [el('p', {}, el('label', { for: 'ticket-text' }, 'Markdown, for any ticket system')), el('textarea', { id: 'ticket-text', readonly: true }, text),
      el('div.actions', {}, el('button', { type: 'button', id: 'ticket-copy', click: copy }, 'Copy'),
        el('a', { href: file, download: `${report.node}-${port.port.replaceAll('/', '-')}.md`, id: 'ticket-file' }, 'Save as a file'))] : '');
}

const EVENT_SIGNS = { opened: ['✖', 'down'], worsened: ['▲', 'degraded'], reopened: ['✖', 'down'], acknowledged: ['✓', 'unknown'], proving: ['…', 'unknown'], closed: ['●', 'healthy'] };

// What is remembered has the fault's name and summary beside the event's; what is told as it comes has the fault as an object.
const flat = (event) => (typeof event.fault === 'object' ? { ...event, fault: event.fault.fault, summary: event.fault.summary, acknowledged: event.fault.acknowledged } : event);
// What is seen stands with the opening; the rest says what was done.
function told(event) {
  if (event.event === 'acknowledged') return event.acknowledged ? ` ${noted(event.acknowledged)}` : '';
  if (event.event === 'proving') return ': its signs are gone, the repair proves itself';
  return event.event === 'closed' ? '' : `: ${event.summary}`;
}

function timeline(report, port, events, past) {
  const all = new Map([...past.events, ...events.filter((event) => event.port === port.port)].map((event) => [event.id, flat(event)]));
  const entries = [...all.values()].map((event) => {
    const [sign, tone] = EVENT_SIGNS[event.event] || ['·', 'exempt'];
    return { at: event.at, sign, tone, text: `${title(event.fault)} ${words(event.event)}${told(event)}` };
  });
  const repairs = [...past.repairs, ...port.faults.flatMap((fault) => fault.repairs || [])].map((repair) => ({
    at: repair.at, sign: '✚', tone: 'unknown',
    text: `repair: ${words(repair.action)}, ${words(repair.outcome)}${repair.rx_power_before_dbm !== undefined && repair.rx_power_after_dbm !== undefined
      ? ` (Rx ${dbm(repair.rx_power_before_dbm)} → ${dbm(repair.rx_power_after_dbm)})` : ''}` }));
  const works = (past.maintenance || []).flatMap((work) => [
    { at: work.since, sign: '⚒', tone: 'exempt', text: `maintenance begun ${noted(work).replace(' until it closes', '')}` },
    { at: work.ended_at, sign: '⚒', tone: 'exempt', text: 'maintenance ended' }]);
  const once = new Map([...entries, ...repairs, ...works].filter((entry) => entry.at).map((entry) => [`${entry.at} ${entry.text}`, entry]));
  const sorted = [...once.values()].sort((a, b) => (a.at < b.at ? 1 : -1)).slice(0, 50);
  return el('section.card', {}, el('h2', {}, 'What happened'),
    sorted.length ? el('ol.timeline', {}, sorted.map((entry) => el(`li.${entry.tone}`, { 'data-sign': entry.sign }, el('span.soft.small', {}, ago(entry.at, report.at)), el('br'), entry.text)))
      : el('p.soft', {}, past.remembered ? 'Nothing in the last day.' : 'Nothing since this page was opened.'));
}

const DARK_DBM = -40; // what the memory keeps for no light

function charts(port, past, width, marks) {
  const pick = (key) => past.points.map((point) => ({ at: point.at, value: point[key] }));
  const module = port.now?.module;
  const limits = module?.thresholds || {};
  const low = limits.rx_power_mw?.low_alarm > 0 ? 10 * Math.log10(limits.rx_power_mw.low_alarm) : undefined;
  return el('section.card', {}, el('h2', {}, 'Over time'),
    past.remembered ? '' : el('p.soft.small', {}, 'No history is kept here: what is drawn was seen since this page was opened.'),
    chart(pick('pre_fec_ber'), { title: 'Bit errors before correction (pre-FEC BER)', format: ber, limit: port.figures?.pre_fec_ber_limit, limitWord: 'FEC limit', log: true, marks }, width),
    chart(pick('rx_power_dbm'), { title: 'Received light, worst lane', format: (x) => dbm(x <= DARK_DBM ? -Infinity : x), none: DARK_DBM, tick: (x) => x.toFixed(1), limit: low, limitWord: 'low alarm', marks }, width),
    module?.temperature_c !== undefined ? chart(pick('temperature_c'), { title: 'Module temperature', format: (x) => `${x.toFixed(1)} °C`, tick: (x) => x.toFixed(0), limit: limits.temperature_c?.high_warn, limitWord: 'high warning', marks }, width) : '');
}

function facts(report, port) {
  const module = port.now?.module || {};
  const link = port.now?.link || {};
  const figures = port.figures || {};
  const rows = [['Link', [link.carrier === false ? 'down' : 'up', speed(link.speed_mbps), link.lanes ? `${link.lanes} lanes` : '', link.fec].filter(Boolean).join(', ')],
    ['Flaps in 24 h', `${figures.involuntary_downs_24h ?? '–'}${figures.last_involuntary_down_at ? `, the last ${ago(figures.last_involuntary_down_at, report.at)}` : ''}`], ['Uncorrectable blocks', port.now?.counters?.fec_uncorrectable_blocks],
    ['Pre-FEC BER', figures.pre_fec_ber === undefined ? '' : `${ber(figures.pre_fec_ber)}${figures.pre_fec_ber_normal === undefined ? '' : `, normal ${ber(figures.pre_fec_ber_normal)}`}`],
    ['Margin', figures.rx_power_margin_db === undefined ? '' : `${figures.rx_power_margin_db.toFixed(1)} dB above the low alarm`],
    ['Module', module.present === false ? 'none' : [module.type, module.vendor, module.part_number].filter(Boolean).join(' ')], ['Serial', module.serial], ['Connector', module.connector],
    ['Module read', module.imported_at === undefined ? '' : `by another program (imported) ${ago(module.imported_at, report.at)}`],
    ['Temperature', module.temperature_c === undefined ? '' : `${module.temperature_c.toFixed(1)} °C`], ['PCI', port.now?.id?.pci], ['Driver', port.now?.id?.driver]];
  return el('section.card', {}, el('h2', {}, 'This port'), el('dl', {}, rows.filter(([, value]) => value !== undefined && value !== '').map(([name, value]) => [el('dt', {}, name), el('dd', {}, String(value))])));
}

export function portView(report, port, events, past, width, state) {
  const marks = events.filter((event) => event.port === port.port).map((event) => Date.parse(event.at));
  return [el('section.card', {}, el('p.small', {}, el('a', { href: '#/', id: 'back' }, `← ${report.node}`)),
    el('h1', { tabindex: '-1' }, port.port, ' ', pill(port.health)),
    el('p.soft', {}, [port.now?.id?.netdev, port.now?.module?.type, port.peer ? `to ${port.peer}` : 'far end not known'].filter(Boolean).join(' · '))),
  el('div.columns', {}, el('div', {}, port.faults.length ? port.faults.map((fault) => verdict(fault, report, port)) : quiet(port), lightCard(port), lanesCard(port)),
    el('div', {}, ticketCard(report, port, state), charts(port, past, width, marks), timeline(report, port, events, past), facts(report, port)))];
}
