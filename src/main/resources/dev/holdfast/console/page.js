// What all rooms of the console share. Texts of peers become text nodes only, never markup.

export const byId = (id) => document.getElementById(id);

export function element(tag, attributes, ...children) {
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
export function fill(parent, items, signature, create) {
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
export function refill(parent, items, signature, create) {
  const focused = parent.contains(document.activeElement) ? document.activeElement.id : '';
  fill(parent, items, signature, create);
  if (focused && document.activeElement.id !== focused) {
    byId(focused)?.focus();
  }
}

export function duration(millis) {
  const seconds = Math.max(0, Math.round(millis / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h ${Math.floor(seconds % 3600 / 60)} min`;
  return `${Math.floor(seconds / 86400)} d ${Math.floor(seconds % 86400 / 3600)} h`;
}

export const since = (time) => duration(Date.now() - Date.parse(time));
export const dot = (kind) => element('span', { class: `dot ${kind}` });

/** Answer of a request that was refused. */
export class Refusal extends Error {
  constructor(status, text) {
    super(text);
    this.status = status;
  }
}

/** Fields that differ between answers that say the same. */
const PASSING = new Set(['now', 'handle', 'silentMillis']);
const MOST_SEEN = 50;
const seen = new Map(); // The last answers, by what was asked.
let changes = 0;
let ahead = 0; // Of the clock of this browser, in ms.

/** Number of answers that have said something new. */
export const changed = () => changes;

/** The time of the gateway. */
export const gatewayNow = () => Date.now() + ahead;

function note(path, answer) {
  ahead = answer?.now === undefined ? ahead : answer.now - Date.now();
  const text = JSON.stringify(answer, (name, value) => PASSING.has(name) ? undefined : value);
  if (seen.get(path) !== text) changes++;
  if (seen.size >= MOST_SEEN) seen.clear();
  seen.set(path, text);
  return answer;
}

/** Asks the gateway. Returns null for what is not there. */
export async function ask(path, method = 'GET', body = null) {
  const response = await fetch(`console/${path}`, {
    method,
    headers: body === null ? {} : { 'Content-Type': 'application/json' },
    body: body === null ? null : JSON.stringify(body),
  });
  if (response.status === 404) return null;
  if (response.ok) return response.status === 204 ? {} : note(path, await response.json());
  const { error } = await response.json().catch(() => ({}));
  throw new Refusal(response.status, error ?? `status ${response.status}`);
}

/** A button that does something. */
export function button(text, attributes, action) {
  const created = element('button', { type: 'button', ...attributes }, text);
  created.addEventListener('click', action);
  return created;
}

/** Asks a question, and runs an action after the answer yes. */
export function confirm(question, hint, yes, action) {
  const dialog = byId('confirm');
  byId('confirm-text').textContent = question;
  byId('confirm-hint').textContent = hint;
  byId('confirm-yes').textContent = yes;
  dialog.returnValue = '';
  dialog.onclose = () => {
    if (dialog.returnValue === 'yes') action();
  };
  dialog.showModal();
}

export const time = (millis) => new Date(millis).toLocaleTimeString('en-GB');

export const number = (value) => value.toLocaleString('en');

export function bytes(count) {
  if (count < 1024) return `${count} B`;
  if (count < 1048576) return `${Math.round(count / 1024)} kB`;
  return `${(count / 1048576).toFixed(1)} MB`;
}

/** Bytes of the events of a call; not known of one that only the store has. */
export const size = (call) => call.bytes === 0 && call.events > 0 ? '–' : bytes(call.bytes);

/** A section with a title. */
export function section(id, title, ...children) {
  return element('section', { 'aria-labelledby': `${id}-title`, id },
    element('h2', { id: `${id}-title` }, title), ...children);
}

/** A table that scrolls; each head is a text or an element. Returns the frame and the body. */
export function table(label, heads) {
  const body = element('tbody', {});
  const row = element('tr', {}, ...heads.map((head) => element('th', { scope: 'col' }, head)));
  const frame = element('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': label },
    element('table', {}, element('thead', {}, row), body));
  return [frame, body];
}

/** Reports what an action of the operator has done. */
export async function attempt(output, action) {
  try {
    output.textContent = await action() ?? '';
  } catch (failure) {
    output.textContent = failure.message;
  }
}

/** The events of a response, as WHATWG HTML, section 9.2.6, reads them. Holdfast ends lines with LF. */
export async function* events(response) {
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
