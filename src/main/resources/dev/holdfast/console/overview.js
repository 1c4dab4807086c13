// The gateway, its upstreams, replicas and sessions.

import { ask, byId, confirm, dot, duration, element, events, fill, refill, since } from './page.js';

const DEMO_STEPS = 10;
const DEMO_INTERVAL = 400;
const CUT_AFTER = 4;
const PAUSE = 1200;

let chosen = null; // The key of the session whose streams are shown.
let latest = null;
let sessions = { sessions: [], more: false, page: 0 };
let skip = 0;
let operates = false;
let changed = () => {};

const clientsUrl = (path) => latest.clientUrl
  ? latest.clientUrl + path : `http://${location.hostname}:${latest.port}${path}`;

export function open(root, rest, me, refresh) {
  byId('overview').hidden = false;
  operates = me.rights.includes('operate');
  changed = refresh;
}

export function close() {
  byId('overview').hidden = true;
}

export async function refresh() {
  [latest, sessions] = await Promise.all([ask('status'), ask(`sessions?skip=${skip}`)]);
  tick();
  await showStreams();
  return latest.draining ? ['wait', 'draining'] : ['', 'live'];
}

export function tick() {
  byId('version').textContent = latest.version;
  byId('about').textContent = `${latest.store} store · up ${since(latest.started)}`;
  showCounts(latest.counts);
  showUpstreams();
  byId('replicas-section').hidden = latest.replicas.length === 0;
  fill(byId('replicas'), latest.replicas, (replica) => replica, (replica) =>
    element('li', {}, dot(replica.alive ? '' : 'bad'), element('span', { class: 'code' }, replica.id),
      replica.self ? ' (this one)' : '', replica.alive ? '' : ` silent for ${duration(replica.silentMillis)}`));
  showSessions();
  byId('demo-section').hidden = !latest.demo;
}

function showCounts(counts) {
  const numbers = [
    ['Sessions', counts.sessions], ['Open streams', counts.openStreams], ['Connections', counts.connections], ['Held back', counts.heldBack],
    ['Resumes', counts.resumes], ['Gaps', counts.gaps], ['Take-overs', counts.takeOvers]];
  fill(byId('counts'), numbers, (number) => number, ([name, value]) =>
    element('div', { class: name === 'Gaps' && value > 0 ? 'alarm' : '' },
      element('dt', {}, name), element('dd', {}, value.toLocaleString('en'))));
}

function showUpstreams() {
  fill(byId('upstreams'), latest.upstreams, (upstream) => [upstream, latest.port], (upstream) =>
    element('tr', {},
      element('td', {}, dot(upstream.up ? '' : 'bad'), upstream.up ? 'up' : 'down'),
      element('td', {}, upstream.name),
      element('td', { class: 'wide' }, upstream.kind,
        upstream.up ? null : element('span', { class: 'reason' },
          `${upstream.reason} (since ${new Date(upstream.since).toLocaleTimeString('en-GB')})`)),
      element('td', { class: 'code' }, clientsUrl(upstream.path))));
}

function showSessions() {
  const listed = sessions.sessions;
  byId('sessions-table').hidden = listed.length === 0;
  byId('no-sessions').hidden = listed.length > 0;
  byId('session-pages').hidden = skip === 0 && !sessions.more;
  byId('newer').disabled = skip === 0;
  byId('older').disabled = !sessions.more;
  byId('more-sessions').textContent = `${skip + 1} to ${skip + listed.length}, the most recently used first`;
  refill(byId('sessions'), listed,
    (session) => [{ ...session, handle: '' }, session.key === chosen, since(session.lastUsed), since(session.created)], sessionRow);
}

function turn(pages) {
  skip = Math.max(0, skip + pages * sessions.page);
  changed();
}

function sessionRow(session) {
  const name = session.client || 'not initialized';
  const open = element('button',
    { type: 'button', class: 'link code', id: `open-${session.key}`, 'aria-expanded': `${session.key === chosen}`,
      'aria-label': `Streams of ${session.id} ${name}` }, session.id);
  open.addEventListener('click', () => choose(session.key === chosen ? null : session.key));
  const end = element('button',
    { type: 'button', class: 'danger', id: `end-${session.key}`, 'aria-label': `End ${session.id} ${name}` }, 'End');
  end.addEventListener('click', () => confirmEnd(session, name));
  return element('tr', { class: session.key === chosen ? 'chosen' : '' },
    element('td', {}, open),
    element('td', { class: 'wide' }, name),
    element('td', {}, session.upstream),
    element('td', {}, session.address ?? ''),
    element('td', { class: 'number' }, `${session.requests}`,
      session.errors > 0 ? element('span', { class: 'reason' }, `${session.errors} failed`) : null),
    element('td', {}, since(session.lastUsed)),
    element('td', {}, since(session.created)),
    element('td', {}, operates ? end : null));
}

function confirmEnd(session, name) {
  confirm(`End session ${session.id} of ${name}?`,
    'Its streams and their events are removed. Running calls end with an error.', 'End session', async () => {
      await ask(`sessions/${session.handle}`, 'DELETE');
      if (chosen === session.key) chosen = null;
      changed();
    });
}

// Streams of one session

function choose(key) {
  chosen = key;
  changed();
}

async function showStreams() {
  const session = sessions.sessions.find((each) => each.key === chosen);
  byId('streams-section').hidden = !session;
  if (!session) {
    chosen = null;
    return;
  }
  const found = await ask(`sessions/${session.handle}`);
  if (!found) return;
  const shown = found.streams.filter((stream) => stream.firstMillis > 0);
  byId('streams-title').textContent = `Streams of ${session.id} ${session.client}`;
  byId('no-streams').hidden = shown.length > 0;
  byId('axis').hidden = shown.length === 0;
  const start = Math.min(...shown.map((stream) => stream.firstMillis));
  const end = Math.max(start + 1, ...shown.map((stream) => stream.open ? found.now : stream.lastMillis));
  shown.sort((a, b) => a.firstMillis - b.firstMillis);
  fill(byId('streams'), shown, (stream) => [stream, start, end], (stream) => streamRow(stream, start, end));
  const [from, to] = byId('axis').children;
  from.textContent = new Date(start).toLocaleTimeString('en-GB');
  to.textContent = (found.more ? 'older streams are not shown · ' : '') + new Date(end).toLocaleTimeString('en-GB');
}

function streamRow(stream, start, end) {
  const bar = element('div', { class: 'bar' });
  const until = stream.open ? end : stream.lastMillis;
  bar.style.left = `${100 * (stream.firstMillis - start) / (end - start)}%`;
  bar.style.width = `${100 * (until - stream.firstMillis) / (end - start)}%`;
  const names = { g: 'standalone', m: 'shared' };
  const gone = stream.events - stream.kept;
  const text = `${stream.open ? 'open' : 'complete'}, ${stream.events} events`
    + (gone > 0 ? `, ${gone} gone` : '');
  return element('li', { class: stream.open ? 'open' : '' },
    element('span', { class: 'code', title: stream.lastId }, names[stream.name] ?? stream.name),
    element('div', { class: 'track' }, bar),
    element('span', {}, text));
}

// Cut me off

class Demo {
  #session = null;

  async run() {
    byId('demo').replaceChildren();
    byId('demo-result').textContent = '';
    await this.#end();
    await this.#open();
    const ids = [];
    let last = '';
    const received = (event) => {
      last = event.id || last;
      if (event.data) {
        ids.push(event.id);
        this.#line('', element('span', { class: 'code' }, event.id), this.#describe(JSON.parse(event.data)));
      }
      return event;
    };
    const connection = new AbortController();
    const call = await this.#send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: {
      name: 'countdown', arguments: { from: DEMO_STEPS, intervalMs: DEMO_INTERVAL },
      _meta: { progressToken: 'demo' } } }, connection.signal);
    let result = null;
    try {
      for await (const event of events(call)) {
        result = this.#result(received(event)) ?? result;
        if (ids.length === CUT_AFTER) {
          connection.abort();
        }
      }
    } catch (cut) {
      if (cut.name !== 'AbortError') throw cut;
    }
    this.#line('cut', '✂ Connection broken. The call runs on.');
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
    this.#line('resumed', `↻ GET with Last-Event-ID: ${last}`);
    const rest = await this.#fetch({ method: 'GET', headers: { Accept: 'text/event-stream', 'Last-Event-ID': last } });
    for await (const event of events(rest)) {
      result = this.#result(received(event)) ?? result;
    }
    const numbers = ids.map((id) => Number(id.slice(id.lastIndexOf('-') + 1)));
    const whole = numbers.every((number, index) => number === index + 1);
    byId('demo-result').textContent = whole && result
      ? `✓ ${ids.length} events, each once and in order. Result: ${result}.`
      : `✗ Events are missing or repeated: ${numbers.join(', ')}.`;
  }

  async #open() {
    this.#session = null;
    const response = await this.#send({ jsonrpc: '2.0', id: 0, method: 'initialize', params: {
      protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'cut me off', version: '1' } } });
    await response.text();
    this.#session = response.headers.get('Mcp-Session-Id');
    await (await this.#send({ jsonrpc: '2.0', method: 'notifications/initialized' })).text();
  }

  /** The session of a run stays, so that its streams can be looked at, until the next run. */
  async #end() {
    if (this.#session) {
      await this.#fetch({ method: 'DELETE', headers: {} }).catch(() => {});
    }
  }

  #send(message, signal) {
    return this.#fetch({
      method: 'POST', signal, body: JSON.stringify(message),
      headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' } });
  }

  async #fetch(request) {
    if (this.#session) {
      request.headers['Mcp-Session-Id'] = this.#session;
      request.headers['MCP-Protocol-Version'] = '2025-11-25';
    }
    const response = await fetch(clientsUrl('/mcp'), request);
    if (!response.ok) throw new Error(`the gateway answered ${response.status}`);
    return response;
  }

  #result({ data }) {
    return data ? JSON.parse(data).result?.content?.[0]?.text ?? null : null;
  }

  #describe(message) {
    if (message.result) return message.result.content[0].text;
    if (message.error) return message.error.message;
    return message.params?.message ?? message.method;
  }

  #line(kind, ...content) {
    byId('demo').append(element('li', { class: kind }, ...content));
  }
}

const demo = new Demo();

byId('cut').addEventListener('click', async () => {
  byId('cut').disabled = true;
  try {
    await demo.run();
  } catch (failure) {
    byId('demo-result').textContent = failure instanceof TypeError
      ? `✗ No answer. Is ${location.origin} among holdfast.http.allowed-origins?`
      : `✗ ${failure.message}`;
  } finally {
    byId('cut').disabled = false;
  }
});
byId('close-streams').addEventListener('click', () => choose(null));
byId('newer').addEventListener('click', () => turn(-1));
byId('older').addEventListener('click', () => turn(1));
