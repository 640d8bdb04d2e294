// What an operator does about a port: acknowledge, maintenance, ticket, verify. A caller without the right to act gets the
// command for the node's shell instead.
import { code, duration, el, time } from './format.js';

const HOURS = [['1 hour', 3600], ['4 hours', 14400], ['1 day', 86400], ['7 days', 604800]];

function field(state, key, label, input) {
  const node = input({ id: `form-${key}`, name: key, input: (event) => { state.form[key] = event.target.value; }, change: (event) => { state.form[key] = event.target.value; } });
  if (state.form[key] !== undefined) node.value = state.form[key];
  return el('p.field', {}, el('label', { for: `form-${key}` }, label), node);
}

async function post(state, path, parameters) {
  const given = Object.fromEntries(Object.entries(parameters).filter(([, value]) => value));
  try {
    const answer = await fetch(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(given) });
    const body = await answer.json().catch(() => ({}));
    state.result = { good: answer.ok, text: body.text || body.error || `the daemon answered ${answer.status}` };
    if (answer.ok) state.form = { by: state.form.by };
  } catch (error) {
    state.result = { good: false, text: error.message };
  }
  state.refresh();
}

const result = (state, command) => (state.result ? el('div', { role: 'status' }, el(`p.${state.result.good ? 'healthy' : 'down'}.said`, {}, `${state.result.good ? '✓' : '✖'} ${state.result.text}`),
  state.result.good ? '' : el('p.small', {}, 'In a shell of the node: ', code(command))) : '');

function acknowledgePanel(port, state) {
  const path = `api/v1/ports/${port.port}/ack`;
  const taken = port.faults[0]?.acknowledged;
  if (taken) return [el('p', {}, `Acknowledged by ${taken.by}${taken.reason ? `: ${taken.reason}` : ''}.`), el('button', { type: 'button', id: 'ack-end', click: () => post(state, path, { end: '1', by: state.form.by || taken.by }) }, 'Withdraw'), result(state, `linkhealth ack --end ${port.port}`)];
  return [el('p.soft', {}, 'Ends the Prometheus alert of this fault until it closes or the time is over; the fault stays open.'),
    el('form', { submit: (event) => { event.preventDefault(); post(state, path, { by: state.form.by, reason: state.form.reason, for: state.form.for }); } },
      field(state, 'by', 'Your name', (more) => el('input', { ...more, required: true, maxlength: 64, autocomplete: 'username' })),
      field(state, 'reason', 'Reason or ticket', (more) => el('input', { ...more, maxlength: 500 })),
      field(state, 'for', 'For', (more) => el('select', more, el('option', { value: '' }, 'until it closes'), HOURS.map(([text, seconds]) => el('option', { value: seconds }, text)))),
      el('button.main', { id: 'ack-send' }, 'Acknowledge')), result(state, `linkhealth ack ${port.port} --reason …`)];
}

function maintenancePanel(port, state) {
  const path = 'api/v1/maintenance';
  if (port.maintenance) return [el('p', {}, `In maintenance by ${port.maintenance.by}${port.maintenance.reason ? `: ${port.maintenance.reason}` : ''}`, port.maintenance.until ? [', until ', time(port.maintenance.until)] : '', '.'),
    el('button', { type: 'button', id: 'maintenance-end', click: () => post(state, path, { port: port.port, end: '1', by: state.form.by || port.maintenance.by }) }, 'End maintenance'), result(state, `linkhealth maintenance end ${port.port}`)];
  return [el('p.soft', {}, 'No fault opens and no event is sent for this port meanwhile.'),
    el('form', { submit: (event) => { event.preventDefault(); post(state, path, { port: port.port, by: state.form.by, reason: state.form.reason, for: state.form.length || '3600' }); } },
      field(state, 'by', 'Your name', (more) => el('input', { ...more, required: true, maxlength: 64, autocomplete: 'username' })),
      field(state, 'reason', 'Reason or ticket', (more) => el('input', { ...more, maxlength: 500 })),
      field(state, 'length', 'For', (more) => el('select', more, HOURS.map(([text, seconds]) => el('option', { value: seconds }, text)))),
      el('button.main', { id: 'maintenance-send' }, 'Begin maintenance')), result(state, `linkhealth maintenance start ${port.port} --for 1h --reason …`)];
}

async function copy(event, text) {
  const button = event.currentTarget;
  button.textContent = await navigator.clipboard.writeText(text).then(() => 'Copied', () => 'Select the text to copy it');
}

// The daemon writes the ticket, as it does for the command; it is fetched when the panel opens.
async function fetchTicket(port, state) {
  try {
    const answer = await fetch(`api/v1/ticket/${port.port}`);
    const body = await answer.json().catch(() => ({}));
    state.ticket = answer.ok ? { port: port.port, text: body.markdown } : { port: port.port, error: body.error || `the daemon answered ${answer.status}` };
  } catch (error) {
    state.ticket = { port: port.port, error: error.message };
  }
  state.redraw();
}

function ticketPanel(report, port, state) {
  if (state.ticket?.port !== port.port) return el('p.soft', {}, 'Writing the ticket …');
  const { text, error } = state.ticket;
  if (error) return el('p.down', { role: 'status' }, `✖ ${error}`);
  const file = `data:text/markdown;charset=utf-8,${encodeURIComponent(text)}`;
  return [el('p', {}, el('label', { for: 'ticket-text' }, 'Markdown, for any ticket system')), el('textarea', { id: 'ticket-text', readonly: true }, text),
    el('div.actions', {}, el('button.main', { type: 'button', id: 'ticket-copy', click: (event) => copy(event, text) }, 'Copy'),
      el('a', { href: file, download: `${report.node}-${port.port.replaceAll('/', '-')}.md`, id: 'ticket-file' }, 'Save as a file'))];
}

function verifyPanel(report, port) {
  const fault = port.faults[0];
  const command = `linkhealth verify ${port.port}`;
  const done = fault?.proof ? (Date.parse(report.at) - Date.parse(fault.proof.since)) / 1000 : 0;
  return [fault?.verify ? el('p', {}, el('strong', {}, 'Fixed when '), `${fault.verify}.`) : '',
    fault?.proof ? el('p', {}, `${duration(done)} of ${duration(fault.proof.needed_s)} without a symptom of the fault.`) : el('p', {}, 'The daemon verifies every repair: once the symptoms are gone, this page shows its progress.'),
    el('p', {}, 'To watch it at the rack: ', code(command), ' ', el('button', { type: 'button', id: 'verify-copy', click: (event) => copy(event, command) }, 'Copy'))];
}

const PANELS = [
  ['ack', 'Acknowledge', (report, port, state) => acknowledgePanel(port, state), (port) => port.faults.length],
  ['maintenance', 'Maintenance', (report, port, state) => maintenancePanel(port, state), () => true],
  ['ticket', 'Ticket', ticketPanel, () => true],
  ['verify', 'Verify', verifyPanel, (port) => port.faults.length],
];

export function actions(report, port, state) {
  const toggle = (key) => () => {
    [state.panel, state.result, state.ticket] = [state.panel === key ? '' : key, undefined, undefined];
    state.redraw();
    if (state.panel === 'ticket') fetchTicket(port, state);
  };
  const open = PANELS.find(([key, , , offered]) => key === state.panel && offered(port));
  return [el('div.actions', {}, PANELS.filter(([, , , offered]) => offered(port)).map(([key, text]) => el('button', { type: 'button', id: key, 'aria-expanded': String(state.panel === key), click: toggle(key) }, text))),
    open ? el('div.panel', { id: `panel-${open[0]}` }, open[2](report, port, state)) : ''];
}
