// The ticket of a port as Markdown: where, what, what to bring, the steps, how to verify, the evidence, the serial numbers.
import { dbm, probability, quantity, speed, title, words } from './format.js';

export function ticket(report, port) {
  const fault = port.faults[0];
  const module = port.now?.module || {};
  const far = port.now?.peer?.module || {};
  const id = port.now?.id || {};
  const serial = (m) => (m.serial ? `${m.vendor || ''} ${m.part_number || ''} SN ${m.serial}`.trim() : 'unknown');
  const lines = [
    `# ${report.node} ${port.port}: ${fault ? `${words(fault.fault)} (${probability(fault.confidence)})` : words(port.health)}`, '',
    `- Where: ${report.node}, port ${port.port} (${[id.netdev, id.pci].filter(Boolean).join(', ')})`,
    `- Far end: ${port.peer || 'unknown'}`,
    `- Link: ${[speed(port.now?.link?.speed_mbps), module.type, module.connector, module.length_m ? `${module.length_m} m` : ''].filter(Boolean).join(', ')}`];
  if (!fault) return [...lines, '- No fault is open.', ''].join('\n');
  lines.push(`- Diagnosed: ${fault.opened_at}`, `- Severity: ${fault.severity}`, '', fault.summary, '', '## Do this', '',
    ...fault.repair.map((step, index) => `${index + 1}. ${step}`), '', '## Verify', '', `Fixed when ${fault.verify}. Watch it with \`linkhealth verify ${port.port}\`.`, '', '## Evidence', '',
    ...fault.evidence.slice(0, 6).map((one) => `- ${one.supports === false ? 'against: ' : ''}${one.text || title(one.symptom)} ${quantity(one.observed, one.unit)}${
      one.threshold !== undefined ? ` (${one.op} ${quantity(one.threshold, one.unit)})` : ''}${one.where ? `, ${one.where}` : ''}${one.source ? `, by ${one.source}` : ''}`));
  if (port.figures?.worst_rx_power_dbm !== undefined) lines.push(`- worst lane receives ${dbm(port.figures.worst_rx_power_dbm)}`);
  return [...lines, '', '## Parts', '', `- this module: ${serial(module)}`, `- far module: ${serial(far)}`, `- fault id: ${fault.id}`, ''].join('\n');
}
