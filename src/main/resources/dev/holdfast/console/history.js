// The last hour, drawn from the figures of the replicas.

import { ask, element, number, section } from './page.js';

const WIDTH = 600;
const HEIGHT = 90;
const SVG = 'http://www.w3.org/2000/svg';
const millis = (seconds) => seconds < 1 ? `${Math.round(seconds * 1000)} ms` : `${seconds} s`;
const CHARTS = [
  ['Calls a minute', [['calls', 'calls']], number],
  ['Duration of calls', [['p50', 'half'], ['p95', '95 %'], ['p99', '99 %']], millis],
  ['Events a minute', [['events', 'events']], number],
  ['Connections', [['connections', 'connections']], number],
  ['Resumes a minute', [['resumes', 'resumes']], number],
  ['Gaps a minute', [['gaps', 'gaps']], number],
  ['Errors of upstreams a minute', [['errors', 'errors']], number],
  ['Memory', [['memory', 'heap']], (value) => `${number(value)} MB`]];

export const interval = 20000;
export const slowest = 20000;

let charts = null;
let replicas = null;

export function open(room, rest, me, refresh) {
  replicas = element('select', { id: 'of-replica' }, element('option', { value: '' }, 'all together'));
  replicas.addEventListener('change', refresh);
  charts = element('div', { class: 'charts' });
  room.append(section('history', 'The last hour',
    element('p', { class: 'fields' }, element('label', { for: 'of-replica' }, 'Replica'), replicas), charts));
}

export function close() {}

export async function refresh() {
  const found = await ask('history');
  for (const name of Object.keys(found.replicas)) {
    if (![...replicas.options].some((option) => option.value === name)) {
      replicas.append(element('option', { value: name }, name));
    }
  }
  const figures = found.replicas[replicas.value] ?? found.all;
  charts.replaceChildren(...CHARTS.map(([title, series, text]) => chart(title, series, text, figures)));
}

function chart(title, series, text, figures) {
  const most = Math.max(1e-9, ...series.flatMap(([name]) => figures[name]));
  const drawing = document.createElementNS(SVG, 'svg');
  drawing.setAttribute('viewBox', `0 0 ${WIDTH} ${HEIGHT}`);
  drawing.setAttribute('preserveAspectRatio', 'none');
  drawing.setAttribute('role', 'img');
  const now = series.map(([name, label]) => `${label} ${text(figures[name].at(-1))}`).join(', ');
  const peak = `most ${text(most === 1e-9 ? 0 : most)}`;
  drawing.setAttribute('aria-label', `${title}: now ${now}, ${peak}`);
  series.forEach(([name], index) => {
    const line = document.createElementNS(SVG, 'polyline');
    const values = figures[name];
    line.setAttribute('points', values.map((value, i) =>
      `${i * WIDTH / (values.length - 1)},${HEIGHT - 2 - value / most * (HEIGHT - 6)}`).join(' '));
    line.setAttribute('class', `line line-${index}`);
    drawing.append(line);
  });
  return element('figure', {}, element('figcaption', {}, element('strong', {}, title), element('span', { class: 'quiet' }, `${now} · ${peak}`)),
    drawing);
}
