/**
 * Calls one tool with the official TypeScript SDK client, as any program that uses the SDK would:
 * nothing but its public API, and reconnecting is left to the SDK.
 *
 *   node sdk-client.mjs --url URL | --command JSON --tool NAME [--args JSON] [--answer TEXT] [--timeout-ms N]
 *                       [--logs N] [--linger-ms N] [--sse | --oauth SECONDS]
 *
 * With --command, an array of words, it starts a server over stdio instead. With --sse it speaks HTTP
 * with SSE, the transport of 2024-11-05. With --oauth it logs in where the server sends it, and renews
 * tokens that are older than so many seconds.
 *
 * Prints one JSON line {"progress":[…],"logs":[…],"result":…,"errors":[…],"renewals":N}, exits with 0 if
 * a result came. `errors` holds what the SDK reported on the way, such as cut connections. With --logs it
 * stays after the result until so many log messages have come, with --linger-ms for a time after the
 * outcome, whatever that is.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CallToolResultSchema,
  ElicitRequestSchema,
  LoggingMessageNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { oauthLogin } from './oauth-login.mjs';
import { resumingFetch } from './resuming-fetch.mjs';

const { values: options } = parseArgs({
  options: {
    url: { type: 'string' },
    command: { type: 'string' },
    tool: { type: 'string' },
    args: { type: 'string', default: '{}' },
    answer: { type: 'string', default: 'yes' },
    'timeout-ms': { type: 'string', default: '120000' },
    logs: { type: 'string', default: '0' },
    'linger-ms': { type: 'string', default: '0' },
    sse: { type: 'boolean', default: false },
    oauth: { type: 'string' },
  },
});

const progress = [];
const logs = [];
const errors = [];

const client = new Client(
  { name: 'holdfast-sdk-client', version: '1.0.0' },
  { capabilities: { elicitation: {} } },
);
client.onerror = (error) => {
  const message = String(error.message ?? error);
  // Counted at the transport, see below.
  if (!message.startsWith('Received a progress notification for an unknown token')) {
    errors.push(message);
  }
};
client.setRequestHandler(ElicitRequestSchema, () => ({
  action: 'accept',
  content: { answer: options.answer, response: options.answer },
}));
let allLogged = () => {};
client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => {
  logs.push(params.data);
  allLogged();
});

const authProvider = options.oauth ? oauthLogin(options.url, Number(options.oauth)) : undefined;

const overHttp = () => new StreamableHTTPClientTransport(new URL(options.url), {
  authProvider,
  // The SDK gives up after two attempts by default; a replica takes longer to come back than that.
  reconnectionOptions: {
    initialReconnectionDelay: 50,
    maxReconnectionDelay: 500,
    reconnectionDelayGrowFactor: 1.5,
    maxRetries: 500,
  },
});

const overStdio = ([command, ...args]) =>
  new StdioClientTransport({ command, args, stderr: 'inherit' });

const overSse = () =>
  new SSEClientTransport(new URL(options.url), { fetch: resumingFetch() });

let transport = options.command
  ? overStdio(JSON.parse(options.command))
  : options.sse ? overSse() : overHttp();

let result = null;
try {
  try {
    await client.connect(transport);
  } catch (unauthorized) {
    if (authProvider?.code === undefined) {
      throw unauthorized;
    }
    await transport.finishAuth(authProvider.code);
    transport = overHttp();
    await client.connect(transport);
  }
  // The SDK drops the last progress when the result comes in the same read, since it hands out
  // results at once and notifications one turn later. So what is counted is what came.
  const deliver = transport.onmessage;
  transport.onmessage = (message, extra) => {
    if (message.method === 'notifications/progress') {
      progress.push(message.params.progress);
    }
    deliver(message, extra);
  };
  result = await client.callTool(
    { name: options.tool, arguments: JSON.parse(options.args) },
    CallToolResultSchema,
    {
      onprogress: () => {}, // makes the SDK ask for progress
      timeout: Number(options['timeout-ms']),
      resetTimeoutOnProgress: true,
    },
  );
  await new Promise((resolve) => {
    allLogged = () => logs.length >= Number(options.logs) && resolve();
    allLogged();
  });
} catch (error) {
  errors.push(String(error.message ?? error));
}
await delay(Number(options['linger-ms']));

const line = JSON.stringify({ progress, logs, result, errors: [...errors], renewals: authProvider?.renewals });
// Good manners only: the outcome is known, so a failure here changes nothing.
await transport.terminateSession?.().catch(() => {});
await client.close().catch(() => {});
process.stdout.write(`${line}\n`, () => process.exit(result === null ? 1 : 0));
