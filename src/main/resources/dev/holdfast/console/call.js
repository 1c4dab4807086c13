// One call: facts, time line, events as they come, and what an operator can do.

import { ask, attempt, button, bytes, confirm, dot, duration, element, fill, gatewayNow, number, section, size, time } from './page.js';

const MOST_EVENTS = 500;

export const interval = 1000;
export const slowest = 4000;

let key = '';
let me = null;
let parts = {};
let last = '';
let closed = false;
let shown = null;
let reads = false; // Whether messages are shown. Each look is recorded.

export function open(room, [opened], operator, refresh) {
  key = opened ?? '';
  me = operator;
  last = '';
  closed = false;
  shown = null;
  reads = false;
  parts = {
    title: element('h2', { id: 'call-title' }, 'Call'),
    facts: element('dl', { id: 'facts', class: 'facts' }),
    track: element('div', { class: 'track', 'aria-hidden': 'true' }),
    steps: element('ol', { id: 'steps', class: 'steps' }),
    events: element('ol', { id: 'events', class: 'events', tabindex: '0', 'aria-labelledby': 'call-events-title' }),
    output: element('p', { role: 'status', id: 'call-output' }),
    result: element('pre', { id: 'call-result', class: 'code', tabindex: '0', hidden: true }),
    cancel: button('Cancel', { class: 'danger', id: 'cancel-call' }, () => cancel(refresh)),
    collect: button('Collect result', { id: 'collect-call' }, collect),
    read: button('Show messages', { id: 'read-call' }, () => read(refresh)),
  };
  room.append(
    element('section', { 'aria-labelledby': 'call-title' },
      element('p', {}, element('a', { href: '#calls' }, 'All calls')),
      element('div', { class: 'title' }, parts.title, element('span', {}, parts.cancel, ' ', parts.collect, ' ', parts.read)),
      parts.output, parts.result, parts.facts),
    section('call-steps', 'Time line', parts.track, parts.steps),
    section('call-events', 'Events', parts.events));
  parts.cancel.hidden = parts.collect.hidden = !me.rights.includes('operate');
  parts.read.hidden = !me.rights.includes('messages');
}

export function close() {}

export async function refresh() {
  const call = (closed ? null : await showEvents()) ?? await ask(`calls/${key}`);
  if (!call) return ['bad', 'no such call'];
  shown = call;
  tick();
  return [call.open ? '' : 'wait', call.open ? 'live' : call.state];
}

export function tick() {
  if (shown) show(shown);
}

function show(call) {
  parts.title.textContent = call.tool || 'Call';
  parts.cancel.disabled = !call.open;
  parts.collect.disabled = call.open;
  const facts = [
    ['State', call.state + (call.takenOver ? ', taken over' : '')], ['Upstream', call.upstream],
    ['Principal', call.principal || '–'], ['Client', call.client || '–'], ['Revision', call.version || '–'],
    ['Replica', call.replica || '–'], [call.open ? 'Age' : 'Took', call.started > 1 ? duration((call.open ? gatewayNow() : call.changed) - call.started) : '–'],
    ['Events', number(call.events)], ['Bytes', size(call)], ['Resumes', number(call.resumes)]];
  fill(parts.facts, facts, (fact) => fact, ([name, value]) =>
    element('div', {}, element('dt', {}, name), element('dd', {}, value)));
  fill(parts.steps, call.steps, (step) => step, (step) => element('li', {},
    element('span', { class: 'code' }, time(step.millis)), dot(step.kind === 'left' || step.kind === 'taken over' ? 'wait' : ''),
    step.kind, step.replica ? element('span', { class: 'quiet code' }, ` ${step.replica}`) : null));
  showTrack(call);
}

/** When a client was connected: from each connection to its end. */
function showTrack(call) {
  const start = call.steps[0]?.millis ?? gatewayNow();
  const end = Math.max(start + 1, call.open ? gatewayNow() : call.changed);
  const bars = [];
  const at = new Map(); // By replica, since when a client is connected there.
  for (const step of call.steps) {
    if (step.kind === 'connected' || step.kind === 'resumed') at.set(step.replica, step.millis);
    if (['left', 'held', 'task', 'delivered'].includes(step.kind) && at.has(step.replica)) {
      bars.push([at.get(step.replica), step.millis]);
      at.delete(step.replica);
    }
  }
  at.forEach((from) => bars.push([from, end]));
  fill(parts.track, bars, (bar) => [bar, start, end], ([from, to]) => {
    const bar = element('div', { class: 'bar' });
    bar.style.left = `${100 * (from - start) / (end - start)}%`;
    bar.style.width = `${100 * (to - from) / (end - start)}%`;
    return bar;
  });
}

/** Shows new events. Returns the call; null if its events are no longer kept. */
async function showEvents() {
  const page = await ask(`calls/${key}/${reads ? 'messages' : 'events'}?after=${last}`);
  if (!page) {
    closed = true;
    return null;
  }
  if (page.gap) parts.events.append(element('li', { class: 'reason' }, 'Earlier events are no longer kept.'));
  parts.events.append(...page.events.map(line));
  while (parts.events.children.length > MOST_EVENTS) parts.events.firstElementChild.remove();
  last = page.next;
  closed = page.closed;
  return page.call;
}

function line(event) {
  const progress = event.progress === undefined || event.progress === null ? ''
    : ` ${event.progress}${event.total ? `/${event.total}` : ''}`;
  return element('li', {},
    element('span', { class: 'code' }, `${event.number}`), element('span', { class: 'code' }, time(event.millis)),
    element('span', {}, event.kind + progress), element('span', { class: 'quiet' }, bytes(event.bytes)),
    event.message === undefined ? null : element('code', { class: 'message' }, event.message));
}

function cancel(refresh) {
  confirm('Cancel this call?', 'The server is told to stop, and the client gets an error.', 'Cancel the call', () =>
    attempt(parts.output, async () => {
      await ask(`calls/${key}`, 'DELETE');
      refresh();
      return 'The cancellation is on its way to the replica that runs the call.';
    }));
}

function collect() {
  confirm('Collect the result?', 'You see what the tool has returned. That is recorded. The client can still collect it.',
    'Collect', () => attempt(parts.output, async () => {
      const found = await ask(`calls/${key}/result`, 'POST', {});
      if (!found) return 'The result is no longer kept.';
      parts.result.hidden = false;
      parts.result.textContent = found.result;
      return `The result has ${bytes(found.bytes)}.`;
    }));
}

function read(refresh) {
  confirm('Show the messages?', 'Each look is recorded in the audit log.', 'Show', () => {
    reads = true;
    last = '';
    closed = false;
    parts.events.replaceChildren();
    refresh();
  });
}
