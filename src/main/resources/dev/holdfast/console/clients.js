// The clients of the last calls: what they can, and what the gateway does for them.

import { ask, element, fill, number, section, table } from './page.js';

export const interval = 5000;

let body = null;

export function open(room) {
  const [frame, rows] = table('Clients',
    ['Client', 'Revision', 'Can', 'Known as', 'Resumes', 'Gives up after', 'Mended for it', 'Sessions', 'Calls', 'Resumed', 'Results not fetched']);
  body = rows;
  room.append(section('clients', 'Clients',
    element('p', { class: 'quiet' }, 'Of the last 1,000 calls of all replicas, and those that have opened a session since they started.'), frame));
}

export function close() {}

export async function refresh() {
  const { clients } = await ask('clients');
  fill(body, clients, (each) => each, (each) => element('tr', {},
    element('td', { class: 'wide' }, each.client || '–', each.agent ? element('span', { class: 'quiet' }, ` ${each.agent}`) : null),
    element('td', {}, each.version || '–'),
    element('td', { class: 'wide' }, each.can === null ? 'not known' : each.can.join(', ') || 'nothing more'),
    element('td', {}, each.known ?? '–'),
    element('td', {}, each.resumes === null ? 'not known' : each.resumes === 0 ? 'no' : `${each.resumes} times`),
    element('td', {}, each.timeLimit === null ? 'not known' : `${each.timeLimit} s`),
    element('td', { class: 'wide' }, each.repairs.join(', ') || '–'),
    element('td', { class: 'number' }, number(each.sessions)),
    element('td', { class: 'number' }, number(each.calls)),
    element('td', { class: 'number' }, number(each.resumed)),
    element('td', { class: 'number' }, number(each.notFetched))));
}
