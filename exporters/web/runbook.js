// A runbook's text, as docs/runbooks has it: the alerts lead here, on whichever node they are about.
import { el } from './format.js';

/** `code`, **bold** and [links](other.md) of one line. */
function inline(text) {
  return text.split(/(`[^`]+`|\*\*[^*]+\*\*|\*[^*]+\*|\[[^\]]+\]\([^)]+\))/).filter(Boolean).map((part) => {
    const link = part.match(/^\[([^\]]+)\]\(([a-z_]+)\.md\)$/);
    if (link) return el('a', { href: `#/runbook/${link[2]}` }, link[1]);
    if (/^\[/.test(part)) return part.match(/^\[([^\]]+)\]/)[1]; // leads out of the runbooks: the page is all there is here
    if (part.startsWith('`')) return el('code', {}, part.slice(1, -1));
    if (part.startsWith('**')) return el('strong', {}, inline(part.slice(2, -2)));
    return part.startsWith('*') ? el('em', {}, part.slice(1, -1)) : part;
  });
}

/** Markdown of the runbooks: headings, paragraphs, lists, code blocks. Text stays text. */
export function markdown(text) {
  const out = [];
  for (const block of text.replace(/<!--[\s\S]*?-->/g, '').split(/\n{2,}/).map((one) => one.replace(/^\n+|\s+$/g, '')).filter(Boolean)) {
    const lines = block.split('\n');
    const items = (mark) => block.split(new RegExp(`(?:^|\\n)(?:${mark}) `)).slice(1).map((item) => el('li', {}, inline(item.replaceAll(/\n\s*/g, ' '))));
    if (/^#+ /.test(block)) out.push(el(block.startsWith('# ') ? 'h1' : 'h2', { tabindex: block.startsWith('# ') ? '-1' : undefined }, inline(lines[0].replace(/^#+ /, ''))), ...(lines.length > 1 ? [el('p', {}, inline(lines.slice(1).join(' ')))] : []));
    else if (block.startsWith('```')) out.push(el('pre', {}, lines.filter((line) => !line.startsWith('```')).join('\n')));
    else if (/^[*-] /.test(block)) out.push(el('ul', {}, items('[*-]')));
    else if (/^\d+\. /.test(block)) out.push(el('ol.steps', {}, items('\\d+\\.')));
    else out.push(el('p', {}, inline(lines.join(' '))));
  }
  return out;
}

const texts = new Map();
/** The text of a runbook; "" where this daemon has none of that name. */
export async function load(name) {
  if (!/^[a-z_]+$/.test(name)) return '';
  if (!texts.has(name)) texts.set(name, await fetch(`web/${name}.md`).then((answer) => (answer.ok ? answer.text() : '')).catch(() => ''));
  return texts.get(name);
}

export function runbookView(name) {
  const text = texts.get(name);
  return [el('section.card.runbook', {}, el('p.small', {}, el('a', { href: '#/', id: 'back' }, '← this node')),
    text ? markdown(text) : el('h1', { tabindex: '-1' }, text === '' ? `No runbook "${name}"` : 'Loading …'))];
}
