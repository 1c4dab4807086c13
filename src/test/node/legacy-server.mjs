/**
 * The conformance server over HTTP+SSE, the transport of 2024-11-05, as the official TypeScript SDK
 * speaks it: streams at http://127.0.0.1:PORT/sse, messages to where those say.
 *
 *   node legacy-server.mjs [--port N] [--host ADDRESS]
 *
 * Prints and ends as conformance-server.mjs does.
 */
import { createServer as createHttpServer } from 'node:http';
import { parseArgs } from 'node:util';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { createServer } from './fixture/session.mjs';

const { values: options } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    host: { type: 'string', default: '127.0.0.1' },
  },
});
const transports = new Map();

async function handle(request, response) {
  const { pathname, searchParams } = new URL(request.url, 'http://localhost');
  if (request.method === 'GET' && pathname === '/sse') {
    const transport = new SSEServerTransport('/messages', response);
    const server = createServer();
    server.onclose = () => transports.delete(transport.sessionId);
    transports.set(transport.sessionId, transport);
    return server.connect(transport);
  }
  const transport = transports.get(searchParams.get('sessionId'));
  if (request.method === 'POST' && pathname === '/messages' && transport) {
    return transport.handlePostMessage(request, response);
  }
  response.writeHead(404).end('Not found');
}

const http = createHttpServer((request, response) => {
  handle(request, response).catch((error) => {
    console.error(error);
    response.headersSent || response.writeHead(500).end();
  });
});
// See conformance-server.mjs.
http.keepAliveTimeout = 75_000;
http.listen(Number(options.port), options.host, () => {
  console.log(`listening on ${http.address().port}`);
});

process.on('SIGTERM', () => process.exit(0));
process.stdin.on('end', () => process.exit(0)).resume();
