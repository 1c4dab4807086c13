/**
 * Tries features of MCP with one of several clients, as a program that uses the client would:
 *
 *   node era/client.mjs --client CLIENT --url URL | --command JSON [--sse] FEATURE...
 *
 * CLIENT is `old` (the SDK of the revisions to 2025-11-25), `auto` (the SDK of 2026-07-28, which asks
 * the server for its revision), `new` (the same, but without a way back) or `raw` (2026-07-28 without
 * an SDK; it checks what SDKs overlook). With --command, an array of words, it starts a server over
 * stdio. With --sse, which only `old` can, it speaks HTTP with SSE. FEATURE is a name of features.mjs, `all`, or a
 * request, such as {"method":"tools/list"}, whose result becomes the detail.
 *
 * Prints one JSON line {"feature":…,"outcome":…,"detail":…,"era":…} for each feature. The outcome is `works`,
 * `refused` (an error came), `wrong` (something else came), or `nothing` (nothing came for 15 seconds).
 */
import { parseArgs } from 'node:util';
import { features, Mismatch } from './features.mjs';
import { openRaw } from './raw-peer.mjs';
import { openNew, openOld } from './sdk-peer.mjs';

const LIMIT_MS = 15_000;

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    client: { type: 'string' },
    url: { type: 'string' },
    command: { type: 'string' },
    sse: { type: 'boolean', default: false },
  },
});

const server = { ...options, command: options.command && JSON.parse(options.command) };

const openers = {
  old: openOld,
  auto: (server) => openNew(server, 'auto'),
  new: (server) => openNew(server, { pin: '2026-07-28' }),
  raw: openRaw,
};

async function attempt(feature) {
  let peer;
  // A feature may change how the client fetches, before it connects.
  const open = async (changes) => (peer = await openers[options.client]({ ...server, ...changes }));
  const run = feature.startsWith('{') ? request(open, JSON.parse(feature)) : trial(open, feature);
  let timer;
  const limit = new Promise((resolve) => {
    timer = setTimeout(() => resolve({ outcome: 'nothing' }), LIMIT_MS);
  });
  const found = await Promise.race([run.catch(failure), limit]);
  clearTimeout(timer);
  console.log(JSON.stringify({ feature, ...found, era: peer?.era }));
  await peer?.close().catch(() => {});
}

async function trial(open, feature) {
  await features[feature](open);
  return { outcome: 'works' };
}

async function request(open, { method, params }) {
  const peer = await open();
  const result = await (method === 'tools/call'
    ? peer.call(params.name, params.arguments, { progress: true })
    : peer.request(method, params));
  return { outcome: 'works', detail: result };
}

function failure(error) {
  const outcome = error instanceof Mismatch ? 'wrong' : 'refused';
  return { outcome, detail: `${error.code ?? ''} ${error.message}`.trim() };
}

const all = positionals.includes('all') ? Object.keys(features) : positionals;
for (const feature of all) {
  await attempt(feature);
}
process.exit(0);
