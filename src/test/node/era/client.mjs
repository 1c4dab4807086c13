/**
 * Tries features of MCP with one of several clients, as a program that uses the client would:
 *
 *   node era/client.mjs --client CLIENT --url URL | --command JSON [--sse] [--tools demo] FEATURE...
 *
 * CLIENT is `old` (the SDK of the revisions to 2025-11-25), `auto` (the SDK of 2026-07-28, which asks
 * the server for its revision), `new` (the same, but without a way back) or `raw` (2026-07-28 without
 * an SDK; it checks what SDKs overlook). With --command, an array of words, it starts a server over
 * stdio. With --sse, which only `old` can, it speaks HTTP with SSE. With --tools it uses the demo tools
 * of a gateway in place of those of the test servers. FEATURE is a name of features.mjs, or `all`.
 *
 * Prints one JSON line {"feature":…,"outcome":…,"detail":…} for each feature. The outcome is `works`,
 * `refused` (an error came), `wrong` (something else came), `nothing` (nothing came for 15 seconds), or
 * `none` (the server has no tool for it).
 */
import { parseArgs } from 'node:util';
import { features, Mismatch, MissingTool, tools } from './features.mjs';
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
    tools: { type: 'string', default: 'fixture' },
  },
});

const openers = {
  old: openOld,
  auto: (server) => openNew(server, 'auto'),
  new: (server) => openNew(server, { pin: '2026-07-28' }),
  raw: openRaw,
};

async function attempt(feature) {
  const server = { ...options, command: options.command && JSON.parse(options.command) };
  let peer;
  const run = async () => {
    // The feature may change how the client fetches, before it connects.
    const open = async (changes = {}) => (peer = await openers[options.client]({ ...server, ...changes }));
    return features[feature](open, (name) => toolOf(name));
  };
  let timer;
  const limit = new Promise((resolve) => {
    timer = setTimeout(() => resolve({ outcome: 'nothing', detail: '' }), LIMIT_MS);
  });
  const ended = run().then(
    (detail) => ({ outcome: 'works', detail: detail ?? '' }),
    (error) => ({ outcome: outcomeOf(error), detail: `${error.code ?? ''} ${error.message}`.trim() }),
  );
  const found = await Promise.race([ended, limit]);
  clearTimeout(timer);
  console.log(JSON.stringify({ feature, ...found, era: peer?.era }));
  await peer?.close().catch(() => {});
}

function toolOf(name) {
  const tool = tools[options.tools][name];
  if (tool === undefined) {
    throw new MissingTool(`The server has no tool for ${name}`);
  }
  return tool;
}

function outcomeOf(error) {
  if (error instanceof MissingTool) {
    return 'none';
  }
  return error instanceof Mismatch ? 'wrong' : 'refused';
}

const all = positionals.includes('all') ? Object.keys(features) : positionals;
await Promise.all(all.map(attempt));
process.exit(0);
