/**
 * An MCP server on the official TypeScript SDK that offers what the official conformance suite asks
 * of a 2025-11-25 server, over Streamable HTTP with sessions, at http://127.0.0.1:PORT/mcp.
 *
 *   node conformance-server.mjs [--port N] [--resumable false] [--retry-ms N]
 *
 * Port 0 (the default) takes any free one. It prints `listening on PORT` when it is ready and ends
 * on SIGTERM or when its stdin closes, so that it never outlives the test that started it.
 */
import { randomUUID } from 'node:crypto';
import { createServer as createHttpServer } from 'node:http';
import { parseArgs } from 'node:util';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { OrderedEventStore } from './fixture/event-store.mjs';
import { createServer } from './fixture/session.mjs';

const LOCAL_NAMES = new Set(['localhost', '127.0.0.1', '[::1]']);

const { values: options } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    resumable: { type: 'string', default: 'true' },
    // How long a client waits before it reconnects. Short, for the sake of fast tests.
    'retry-ms': { type: 'string', default: '200' },
  },
});

const transports = new Map();

async function openTransport() {
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => transports.set(id, transport),
    ...(options.resumable !== 'false' && {
      eventStore: new OrderedEventStore(),
      retryInterval: Number(options['retry-ms']),
    }),
  });
  const server = createServer();
  server.onclose = () => transports.delete(transport.sessionId);
  await server.connect(transport);
  return transport;
}

async function handle(request, response) {
  // A web page that rebinds its own name to 127.0.0.1 gives itself away by its Host and Origin.
  if (!isLocal(`http://${request.headers.host}`) || !isLocal(request.headers.origin)) {
    return refuse(response, 403, -32000, 'Host or Origin not allowed');
  }
  if (new URL(request.url, 'http://localhost').pathname !== '/mcp') {
    return refuse(response, 404, -32000, 'Not found');
  }
  const sessionId = request.headers['mcp-session-id'];
  if (sessionId !== undefined && !transports.has(sessionId)) {
    return refuse(response, 404, -32001, 'Session not found');
  }
  // Without a session id only `initialize` makes sense; a new transport refuses all else itself.
  const transport = transports.get(sessionId) ?? (await openTransport());
  await transport.handleRequest(request, response);
}

function isLocal(url) {
  return url === undefined || (URL.canParse(url) && LOCAL_NAMES.has(new URL(url).hostname));
}

function refuse(response, status, code, message) {
  response.writeHead(status, { 'Content-Type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code, message } }));
}

const http = createHttpServer((request, response) => {
  handle(request, response).catch((error) => {
    console.error(error);
    if (!response.headersSent) {
      refuse(response, 500, -32603, 'Internal error');
    }
  });
});
// Node closes idle connections after 5 s; a client that reuses one at that very moment would fail
// for a reason that no test is about.
http.keepAliveTimeout = 75_000;
http.listen(Number(options.port), '127.0.0.1', () => {
  console.log(`listening on ${http.address().port}`);
});

process.on('SIGTERM', () => process.exit(0));
process.stdin.on('end', () => process.exit(0)).resume();
