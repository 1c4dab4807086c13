// The console. Texts of peers become text nodes only, never markup.

const REFRESH = 2000;
const DEMO_STEPS = 10;
const DEMO_INTERVAL = 400;
const CUT_AFTER = 4;
const PAUSE = 1200;

const byId = (id) => document.getElementById(id);

let chosen = null; // The key of the session whose streams are shown.
let latest = null;
let timer = 0;

function element(tag, attributes, ...children) {
  const created = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== false) {
      created.setAttribute(name, value === true ? '' : value);
    }
  }
  created.append(...children.filter((child) => child !== null));
  return created;
}

/** Keeps the old elements where nothing has changed, so that the focus stays. */
function fill(parent, items, signature, create) {
  const old = new Map([...parent.children].map((child) => [child.dataset.signature, child]));
  parent.replaceChildren(...items.map((item) => {
    const text = JSON.stringify(signature(item));
    const kept = old.get(text);
    if (kept) {
      old.delete(text);
      return kept;
    }
    const created = create(item);
    created.dataset.signature = text;
    return created;
  }));
}

/** The same, but remembers which control of the parent had the focus. */
function refill(parent, items, signature, create) {
  const focused = parent.contains(document.activeElement) ? document.activeElement.id : '';
  fill(parent, items, signature, create);
  if (focused && document.activeElement.id !== focused) {
    byId(focused)?.focus();
  }
}

function duration(millis) {
  const seconds = Math.max(0, Math.round(millis / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h ${Math.floor(seconds % 3600 / 60)} min`;
  return `${Math.floor(seconds / 86400)} d ${Math.floor(seconds % 86400 / 3600)} h`;
}

const since = (time) => duration(Date.now() - Date.parse(time));
const dot = (kind) => element('span', { class: `dot ${kind}` });
const clientsUrl = (path) => `http://${location.hostname}:${latest.port}${path}`;

// Refresh

async function refresh() {
  clearTimeout(timer);
  if (document.hidden) return;
  try {
    const response = await fetch('console/status');
    if (!response.ok) throw new Error(response.status === 503 ? 'the store is away' : `status ${response.status}`);
    latest = await response.json();
    show();
    await showStreams();
    state(latest.draining ? 'wait' : '', latest.draining ? 'draining' : 'live');
  } catch (failure) {
    state('bad', failure instanceof TypeError ? 'the gateway does not answer' : failure.message);
  }
  clearTimeout(timer);
  timer = setTimeout(refresh, REFRESH);
}

/** Changes the text only when it differs: screen readers announce each change. */
function state(kind, text) {
  if (byId('state').textContent !== text) {
    byId('state').replaceChildren(dot(kind), text);
  }
}

function show() {
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
  byId('sessions-table').hidden = latest.sessions.length === 0;
  byId('no-sessions').hidden = latest.sessions.length > 0;
  byId('more-sessions').hidden = latest.moreSessions === 0;
  byId('more-sessions').textContent =
    `${latest.moreSessions.toLocaleString('en')} more; these were used most recently.`;
  refill(byId('sessions'), latest.sessions,
    (session) => [session, session.key === chosen, since(session.lastUsed), since(session.created)], sessionRow);
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
    element('td', {}, end));
}

function confirmEnd(session, name) {
  const dialog = byId('confirm');
  byId('confirm-text').textContent = `End session ${session.id} of ${name}?`;
  dialog.returnValue = '';
  dialog.onclose = async () => {
    if (dialog.returnValue === 'end') {
      await fetch(`console/sessions/${session.key}`, { method: 'DELETE' });
      if (chosen === session.key) chosen = null;
      await refresh();
    }
  };
  dialog.showModal();
}

// Streams of one session

function choose(key) {
  chosen = key;
  refresh();
}

async function showStreams() {
  const session = latest.sessions.find((each) => each.key === chosen);
  byId('streams-section').hidden = !session;
  if (!session) {
    chosen = null;
    return;
  }
  const response = await fetch(`console/sessions/${session.key}`);
  if (!response.ok) return;
  const found = await response.json();
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

/** The events of a response, as WHATWG HTML, section 9.2.6, reads them. Holdfast ends lines with LF. */
async function* events(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    rest += value;
    const blocks = rest.split('\n\n');
    rest = blocks.pop();
    for (const block of blocks) {
      const event = { id: '', data: '' };
      for (const line of block.split('\n')) {
        if (line.startsWith('id:')) event.id = line.slice(3).trimStart();
        if (line.startsWith('data:')) event.data += line.slice(5).trimStart();
      }
      yield event;
    }
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
document.addEventListener('visibilitychange', refresh);
refresh();
