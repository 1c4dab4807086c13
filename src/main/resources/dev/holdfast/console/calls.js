// The list of calls of all replicas. The gateway filters, searches and sorts.

import { ask, button, dot, duration, element, fill, gatewayNow, number, section, size, table } from './page.js';

const PAGE = 25;
const COLUMNS = [
  ['tool', 'Tool'], ['state', 'State'], ['upstream', 'Upstream'], ['principal', 'Principal'], ['client', 'Client'],
  ['started', 'Started'], ['events', 'Events'], ['bytes', 'Bytes'], ['', 'Resumes'], ['replica', 'Replica']];
const DOTS = { running: '', finished: '', held: '', task: '', 'client gone': 'wait', waiting: 'wait', 'not fetched': 'wait' };

const chosen = { state: '', q: '', sort: '-started', skip: 0 };
let states = null;
let body = null;
let pages = null;
let found = null;
let shown = { calls: [] };
let heads = [];

export function open(room, rest, me, refresh) {
  const change = (name, value) => {
    chosen[name] = value;
    chosen.skip = 0;
    refresh();
  };
  states = element('select', { id: 'call-state' });
  states.addEventListener('change', () => change('state', states.value));
  const search = element('input', { id: 'call-search', type: 'search', value: chosen.q });
  search.addEventListener('input', () => change('q', search.value));
  heads = COLUMNS.map(([name, title]) => name === '' ? element('span', {}, title)
    : button(title, { class: 'link', 'data-column': name }, () =>
      change('sort', chosen.sort === `-${name}` ? name : `-${name}`)));
  const [frame, rows] = table('Calls', heads);
  body = rows;
  found = element('span', { class: 'quiet', role: 'status', id: 'calls-found' });
  const turn = (by) => {
    chosen.skip = Math.max(0, chosen.skip + by * PAGE);
    refresh();
  };
  pages = element('p', { class: 'pages' },
    button('Back', { id: 'calls-back' }, () => turn(-1)), ' ',
    button('Next', { id: 'calls-next' }, () => turn(1)), ' ', found);
  room.append(section('calls', 'Calls',
    element('p', { class: 'fields' },
      element('label', { for: 'call-state' }, 'State'), states,
      element('label', { for: 'call-search' }, 'Search'), search),
    frame, pages));
}

export function close() {}

export async function refresh() {
  shown = await ask(`calls?${new URLSearchParams({ ...chosen, most: PAGE })}`);
  const page = shown;
  showStates(page);
  for (const head of heads) {
    const name = head.dataset.column;
    const order = chosen.sort === name ? 'ascending' : chosen.sort === `-${name}` ? 'descending' : null;
    const cell = head.parentElement;
    if (order) cell.setAttribute('aria-sort', order);
    else cell.removeAttribute('aria-sort');
  }
  tick();
  const [back, next] = pages.children;
  back.disabled = chosen.skip === 0;
  next.disabled = chosen.skip + PAGE >= page.found;
  const last = chosen.skip + page.calls.length;
  const text = page.found === 0 ? 'No such call.'
    : `${chosen.skip + 1} to ${last} of ${number(page.found)}; the last ${number(page.total)} calls of all replicas`;
  if (found.textContent !== text) found.textContent = text;
}

export function tick() {
  fill(body, shown.calls, (call) => [call, ages(call)], row);
}

const ages = (call) => call.started > 1 ? duration((call.open ? gatewayNow() : call.changed) - call.started) : '–';

function showStates(page) {
  const options = [['', `all (${page.total})`], ['open', 'open'], ['taken over', 'taken over'],
    ...Object.entries(page.states).map(([name, count]) => [name, `${name} (${count})`])];
  if (chosen.state && !options.some(([name]) => name === chosen.state)) options.push([chosen.state, `${chosen.state} (0)`]);
  fill(states, options, (option) => option, ([name, title]) => element('option', { value: name }, title));
  states.value = chosen.state;
}

function row(call) {
  return element('tr', {},
    element('td', {}, element('a', { href: `#call/${call.key}` }, call.tool || '(unknown)')),
    element('td', {}, dot(DOTS[call.state] ?? 'bad'), call.state, call.takenOver ? ' · taken over' : ''),
    element('td', {}, call.upstream),
    element('td', {}, call.principal || '–'),
    element('td', {}, call.client || '–'),
    element('td', { title: call.started > 1 ? new Date(call.started).toISOString() : null }, ages(call)),
    element('td', { class: 'number' }, number(call.events)),
    element('td', { class: 'number' }, size(call)),
    element('td', { class: 'number' }, number(call.resumes)),
    element('td', { class: 'code' }, call.replica));
}
