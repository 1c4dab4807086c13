// The frame of the console: sign-in, the rooms, and the refresh of the open one.

import { ask, byId, changed, dot, element, Refusal } from './page.js';

const REFRESH = 2000;
/** Most time between two questions while the answers stay the same. */
const SLOWEST = 10000;
const ROOMS = {
  overview: 'Overview', calls: 'Calls', servers: 'Servers', clients: 'Clients', history: 'History', start: 'Start here' };
/** Rooms without an entry of their own, and the entry that leads to them. */
const INNER = { call: 'calls' };

let me = null;
let room = null; // The module of the open room.
let opened = '';
let timer = 0;
let ticks = 0; // Since the last question.
let pause = 1; // Ticks between two questions.

/** The room and what is open in it, such as `call/KEY`. */
const place = () => location.hash.slice(1).split('/');

async function start() {
  try {
    me = await ask('me');
  } catch {
    state('bad', 'the gateway does not answer');
    timer = setTimeout(start, REFRESH);
    return;
  }
  const isIn = Boolean(me.rights);
  byId('sign-in').hidden = isIn;
  byId('rooms').hidden = !isIn;
  byId('who').hidden = !(isIn && me.signIn);
  if (isIn) {
    byId('name').textContent = me.name;
    showRooms();
    await go();
  } else {
    leave();
    byId('with-key').hidden = !me.withKey;
    byId('with-openid').hidden = !me.withOpenId;
    byId('needed').textContent = me.scope;
    byId('refused').hidden = location.hash !== '#refused';
    state('wait', 'signed out');
    byId('key').focus();
  }
}

function showRooms() {
  byId('rooms').replaceChildren(...Object.entries(ROOMS).map(([name, title]) =>
    element('a', { href: `#${name}`, id: `room-${name}` }, title)));
}

function leave() {
  clearTimeout(timer);
  room?.close();
  room = null;
  opened = '';
  byId('room').replaceChildren();
}

async function go() {
  const [name, ...rest] = place();
  const known = Object.hasOwn(ROOMS, name) || Object.hasOwn(INNER, name) ? name : 'overview';
  if (opened !== [known, ...rest].join('/')) {
    leave();
    opened = [known, ...rest].join('/');
    for (const link of byId('rooms').children) {
      link.toggleAttribute('aria-current', link.id === `room-${INNER[known] ?? known}`);
    }
    const module = await import(`./${known}.js`);
    if (opened !== [known, ...rest].join('/')) return;
    room = module;
    room.open(byId('room'), rest, me, refresh);
  }
  await refresh();
}

async function refresh() {
  clearTimeout(timer);
  if (document.hidden || !room) return;
  const asked = room;
  const before = changed();
  try {
    const [kind, text] = await asked.refresh() ?? ['', 'live'];
    state(kind, text);
  } catch (failure) {
    if (failure instanceof Refusal && failure.status === 401) {
      await start();
      return;
    }
    state('bad', failure instanceof TypeError ? 'the gateway does not answer' : failure.message);
  }
  if (asked === room) {
    const most = Math.max(1, Math.floor((room.slowest ?? SLOWEST) / interval()));
    pause = changed() === before ? Math.min(2 * pause, most) : 1;
    ticks = 0;
    clearTimeout(timer);
    timer = setTimeout(tick, interval());
  }
}

const interval = () => room.interval ?? REFRESH;

/** Asks again, or only shows how old things are by now. */
function tick() {
  ticks++;
  if (ticks >= pause || document.hidden) {
    refresh();
  } else {
    room?.tick?.();
    timer = setTimeout(tick, interval());
  }
}

/** Changes the text only when it differs: screen readers announce each change. */
function state(kind, text) {
  if (byId('state').textContent !== text) {
    byId('state').replaceChildren(dot(kind), text);
  }
}

byId('with-key').addEventListener('submit', async (event) => {
  event.preventDefault();
  const key = byId('key').value;
  byId('key').value = '';
  try {
    await ask('sign-in', 'POST', { key });
    history.replaceState(null, '', location.pathname);
    await start();
  } catch (refusal) {
    byId('refused').hidden = false;
    byId('key').focus();
  }
});
byId('sign-out').addEventListener('click', async () => {
  await ask('sign-out', 'POST', {});
  await start();
});
addEventListener('hashchange', () => {
  if (me?.rights) go(); // Also while the module of a room loads.
});
document.addEventListener('visibilitychange', refresh);
start();
