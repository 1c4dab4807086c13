// Servers, the names of merged endpoints, and tools that an operator tries.

import { ask, attempt, button, dot, element, events, fill, number, section, since, table } from './page.js';

export const interval = 5000;

let body = null;
let operates = false;
let trial = null;
let shown = [];

export function open(room, rest, me) {
  operates = me.rights.includes('operate');
  const [frame, rows] = table('Servers',
    ['State', 'Name', 'Server', 'Speaks', 'Sessions', 'Calls', 'Mean time', 'Errors', 'Mended', 'Last failure', '']);
  body = rows;
  const names = element('div', { id: 'names' });
  room.append(section('servers', 'Servers', frame, names));
  trial = operates ? new Trial() : null;
  if (trial) room.append(trial.section);
}

export function close() {
  trial?.cut();
}

export async function refresh() {
  shown = (await ask('servers')).servers;
  tick();
  trial?.offer(shown);
}

export function tick() {
  fill(body, shown, (each) => [each, each.failure ? since(each.failure.since) : ''], row);
}

function row(each) {
  const errors = Object.entries(each.errors).map(([kind, count]) => `${kind}: ${number(count)}`).join(', ');
  const mended = [['translated', 'sessions translated'], ['reopened', 'sessions opened again'], ['resumed', 'answers resumed'],
    ['respawns', 'new processes']].filter(([name]) => each[name] > 0).map(([name, text]) => `${number(each[name])} ${text}`).join(', ');
  return element('tr', {},
    element('td', {}, dot(each.up ? '' : 'bad'), each.up ? 'up' : each.downOn > 1 ? `down, say ${each.downOn} replicas` : 'down'),
    element('td', {}, each.name),
    element('td', { class: 'wide' }, each.kind, each.about ? element('span', { class: 'quiet' }, ` ${each.about}`) : null),
    element('td', {}, speaks(each)),
    element('td', { class: 'number' }, number(each.sessions)),
    element('td', { class: 'number' }, number(each.calls)),
    element('td', { class: 'number' }, each.calls ? `${number(Math.round(each.totalMillis / each.calls))} ms` : '–'),
    element('td', { class: 'wide' }, errors || '–'),
    element('td', { class: 'wide' }, mended || '–'),
    element('td', { class: 'wide' }, each.failure ? `${each.failure.reason} (${since(each.failure.since)} ago)` : '–'),
    element('td', {}, each.kind === 'merged' ? button('Names', { 'aria-label': `Names of ${each.name}` }, () => showNames(each)) : null));
}

/** The revision and how it is spoken; known when a session was opened. */
function speaks({ revision, transport }) {
  if (!revision) return '–';
  if (revision === '2026-07-28') return `${revision}, no sessions`;
  return `${revision}, sessions${transport === 'sse' ? ' over HTTP with SSE' : ''}`;
}

async function showNames(each) {
  const place = document.getElementById('names');
  place.replaceChildren(element('p', { class: 'quiet' }, 'The servers are asked …'));
  try {
    const found = await ask(`names?endpoint=${encodeURIComponent(each.name)}`);
    const [frame, rows] = table(`Names of ${each.name}`, ['Server', 'Names for clients']);
    rows.append(...Object.entries(found.tools).map(([name, tools]) =>
      element('tr', {}, element('td', {}, name), element('td', { class: 'wide' }, tools.join(', ')))));
    place.replaceChildren(element('h3', {}, `Names of ${each.path}`), frame,
      element('ul', {}, ...Object.entries(found.unavailable).map(([name, reason]) =>
        element('li', { class: 'reason' }, `${name} is not available: ${reason}`)),
      ...found.dropped.map((text) => element('li', { class: 'reason' }, `dropped: ${text}`))));
  } catch (failure) {
    place.replaceChildren(element('p', { class: 'reason' }, failure.message));
  }
}

/** A tool that is tried: the session, the form, the connection. */
class Trial {
  #server = element('select', { id: 'try-server' });
  #tool = element('select', { id: 'try-tool' });
  #about = element('p', { class: 'quiet' });
  #form = element('form', { id: 'try-form', class: 'tool' });
  #output = element('p', { role: 'status', id: 'try-output' });
  #events = element('ol', { id: 'try-events', class: 'events', tabindex: '0', 'aria-label': 'Messages' });
  #call = button('Call', { id: 'try-call' }, () => this.#form.requestSubmit());
  #cut = button('Cut the connection', { id: 'try-cut', disabled: true }, () => this.cut());
  #resume = button('Resume', { id: 'try-resume', disabled: true }, () => this.#follow());
  #link = element('a', { hidden: true }, 'The call');
  #try = '';
  #tools = [];
  #last = '';
  #connection = null;

  constructor() {
    this.#tool.addEventListener('change', () => this.#show());
    this.#form.addEventListener('submit', (event) => {
      event.preventDefault();
      attempt(this.#output, () => this.#start());
    });
    this.section = section('try', 'Try a tool',
      element('p', { class: 'fields' },
        element('label', { for: 'try-server' }, 'Server'), this.#server,
        button('Open a session', { id: 'try-open' }, () => attempt(this.#output, () => this.#open())),
        element('label', { for: 'try-tool' }, 'Tool'), this.#tool),
      this.#about, this.#form,
      element('p', { class: 'fields' }, this.#call, this.#cut, this.#resume, this.#link), this.#output, this.#events);
    this.#call.disabled = true;
  }

  offer(servers) {
    fill(this.#server, servers, (each) => each.name, (each) => element('option', { value: each.name }, each.name));
  }

  async #open() {
    this.end();
    const opened = await ask('tries', 'POST', { server: this.#server.value });
    this.#try = opened.try;
    this.#tools = opened.tools;
    this.#tool.replaceChildren(...opened.tools.map((tool) => element('option', { value: tool.name }, tool.name)));
    this.#show();
    const { name, version } = opened.info ?? {};
    return `${name ?? 'The server'} ${version ?? ''} speaks ${opened.version} here, and has ${opened.tools.length} tools.`;
  }

  #show() {
    const tool = this.#tools.find((each) => each.name === this.#tool.value);
    this.#call.disabled = !tool;
    this.#about.textContent = tool?.description ?? '';
    const schema = tool?.inputSchema ?? {};
    const required = new Set(schema.required ?? []);
    this.#form.replaceChildren(...Object.entries(schema.properties ?? {}).map(([name, property]) =>
      field(name, property, required.has(name))));
  }

  async #start() {
    this.cut();
    this.#events.replaceChildren();
    const args = {};
    for (const input of this.#form.elements) {
      const value = read(input);
      if (value !== undefined) args[input.name] = value;
    }
    const called = await ask('tries/call', 'POST', { try: this.#try, tool: this.#tool.value, arguments: args });
    if (called.answer) {
      this.#line('', called.answer);
      return 'The answer came at once.';
    }
    this.#link.href = `#call/${called.key}`;
    this.#link.hidden = false;
    this.#last = `${called.stream}_0-0`;
    this.#follow();
    return '';
  }

  /** Follows the call from the last event on, as a client that resumes with Last-Event-ID. */
  async #follow() {
    this.#connection = new AbortController();
    this.#cut.disabled = false;
    this.#resume.disabled = true;
    this.#output.textContent = 'connected';
    let isOver = false;
    try {
      const response = await fetch('console/tries/follow', { method: 'POST', signal: this.#connection.signal,
        headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ try: this.#try, last: this.#last }) });
      if (response.status === 204) isOver = true;
      else if (!response.ok) throw new Error((await response.json()).error);
      else {
        for await (const event of events(response)) {
          this.#last = event.id || this.#last;
          if (event.data) {
            const message = JSON.parse(event.data);
            isOver = isOver || 'result' in message || 'error' in message;
            this.#line(event.id, describe(message));
          }
        }
      }
      this.#output.textContent = isOver ? 'The call has ended.' : 'The connection has ended; resume it.';
    } catch (failure) {
      this.#output.textContent = failure.name === 'AbortError' ? 'The connection is cut. The call goes on.' : failure.message;
    }
    this.#cut.disabled = true;
    this.#resume.disabled = isOver;
  }

  cut() {
    this.#connection?.abort();
  }

  /** Ends the session: its calls end with it. */
  end() {
    this.cut();
    if (this.#try) ask('tries/end', 'POST', { try: this.#try }).catch(() => {});
    this.#try = '';
  }

  #line(id, text) {
    this.#events.append(element('li', {}, element('span', { class: 'code' }, id), element('span', { class: 'message' }, text)));
  }
}

function describe(message) {
  if (message.result) {
    const texts = (message.result.content ?? []).map((part) => part.text ?? `(${part.type})`);
    return texts.join('\n') || JSON.stringify(message.result);
  }
  if (message.error) return message.error.message;
  const { progress, total, message: text } = message.params ?? {};
  return progress === undefined ? message.method : `${progress}${total ? `/${total}` : ''} ${text ?? ''}`;
}

/** A field of the form, by the JSON schema of an argument. Objects and arrays are written as JSON. */
function field(name, property, required) {
  const id = `argument-${name}`;
  const type = Array.isArray(property.type) ? property.type.find((each) => each !== 'null') : property.type;
  const common = { id, name, required: required && type !== 'boolean', 'data-type': type ?? 'json' };
  let input;
  if (Array.isArray(property.enum)) {
    input = element('select', { ...common, 'data-type': 'json' }, required ? null : element('option', { value: '' }, ''),
      ...property.enum.map((value) => element('option', { value: JSON.stringify(value) }, String(value))));
  } else if (type === 'boolean') {
    input = element('input', { ...common, type: 'checkbox' });
    input.checked = property.default === true;
  } else if (type === 'integer' || type === 'number') {
    input = element('input', { ...common, type: 'number', step: type === 'integer' ? '1' : 'any',
      min: property.minimum ?? null, max: property.maximum ?? null, value: property.default ?? null });
  } else if (type === 'string') {
    input = element('input', { ...common, type: 'text', value: property.default ?? null });
  } else {
    input = element('textarea', { ...common, rows: '3', placeholder: 'JSON' });
  }
  const hint = property.description ? element('small', { id: `${id}-hint`, class: 'quiet' }, property.description) : null;
  if (hint) input.setAttribute('aria-describedby', hint.id);
  return element('p', {}, element('label', { for: id }, name + (required ? ' *' : '')), input, hint);
}

function read(input) {
  if (!input.name) return undefined;
  if (input.dataset.type === 'boolean') return input.checked;
  if (input.value === '') return undefined;
  if (input.dataset.type === 'integer' || input.dataset.type === 'number') return Number(input.value);
  return input.dataset.type === 'string' ? input.value : JSON.parse(input.value);
}
