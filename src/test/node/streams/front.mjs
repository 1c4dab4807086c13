/**
 * Lets the conformance suite of Durable Streams, which writes streams, read calls through a gateway.
 *
 *   node streams/front.mjs
 *
 * prints `listening on PORT` and serves until its standard input ends:
 *
 *   /mcp       an MCP server. A call of its tool sends what it is told, and ends when it is told.
 *   /gateway   PUT tells the URL of the gateway, which has /mcp as its upstream.
 *   otherwise  a stream of the suite: PUT calls the tool through the gateway, and POST lets the server
 *              send messages. The answer comes when the caller has them. GET, HEAD and OPTIONS go to
 *              /calls/HANDLE/stream of the gateway.
 *
 * A message of the suite travels as `params.data` of a notification, or in the result if it closes the
 * stream; a stream that closes without a message is a cancelled call. A stream of text or bytes is one of
 * JSON strings. Answers with messages are unwrapped; all else is as the gateway says, but for the space
 * after `data:`, which the suite does not expect before a control event, and which has no meaning.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, request as send } from 'node:http';

const JSON_TYPE = 'application/json';
const NEXT = 'stream-next-offset';
const CLOSED = 'stream-closed';
const HOP = ['connection', 'content-length', 'keep-alive', 'transfer-encoding'];

let gateway;

/** Responses to running calls, by the key of the call. */
const running = new Map();

/** Streams of the suite, by their path. */
const streams = new Map();

async function bodyOf(message) {
  const chunks = [];
  for await (const chunk of message) {
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function answer(response, status, headers = {}, body = '') {
  response.writeHead(status, headers).end(body);
}

// The MCP server.

async function serveMcp(request, response) {
  if (request.method !== 'POST') {
    return answer(response, request.method === 'DELETE' ? 200 : 405);
  }
  const message = JSON.parse(await bodyOf(request));
  if (message.method === 'notifications/cancelled') {
    for (const call of running.values()) {
      if (call.id === message.params.requestId && call.session === request.headers['mcp-session-id']) {
        call.response.end();
      }
    }
  }
  if (message.id === undefined) {
    return answer(response, 202);
  }
  if (message.method === 'tools/call') {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    running.set(message.params.arguments.key, {
      id: message.id,
      session: request.headers['mcp-session-id'],
      response,
    });
    return;
  }
  const result =
    message.method === 'initialize'
      ? {
          protocolVersion: '2025-11-25',
          capabilities: { tools: {}, logging: {} },
          serverInfo: { name: 'front', version: '1' },
        }
      : {};
  const session = message.method === 'initialize' ? { 'mcp-session-id': randomUUID() } : {};
  answer(
    response,
    200,
    { 'content-type': JSON_TYPE, ...session },
    JSON.stringify({ jsonrpc: '2.0', id: message.id, result }),
  );
}

// The caller.

class Call {
  #session;
  #received = 0;
  #sent = 0;
  #ended = false;
  #waiting = [];
  #turn = Promise.resolve();

  constructor(type) {
    this.type = type;
    this.key = randomUUID();
    this.closed = false;
  }

  get isJson() {
    return this.type.split(';')[0].trim().toLowerCase() === JSON_TYPE;
  }

  #post(message, headers = {}) {
    return fetch(`${gateway}/mcp`, {
      method: 'POST',
      headers: {
        'content-type': JSON_TYPE,
        accept: `${JSON_TYPE}, text/event-stream`,
        'mcp-protocol-version': '2025-11-25',
        ...headers,
      },
      body: JSON.stringify({ jsonrpc: '2.0', ...message }),
    });
  }

  async start() {
    const opened = await this.#post({
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'front', version: '1' } },
    });
    await opened.text();
    this.#session = { 'mcp-session-id': opened.headers.get('mcp-session-id') };
    await (await this.#post({ method: 'notifications/initialized' }, this.#session)).text();
    const called = await this.#post(
      { id: 2, method: 'tools/call', params: { name: 'stream', arguments: { key: this.key } } },
      this.#session,
    );
    this.handle = called.headers.get('holdfast-call');
    if (!this.handle) {
      throw new Error(`no handle: ${called.status}`);
    }
    this.#read(called.body);
    while (!running.has(this.key)) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  async #read(body) {
    const decoder = new TextDecoder();
    let rest = '';
    for await (const chunk of body) {
      const events = (rest + decoder.decode(chunk, { stream: true })).split('\n\n');
      rest = events.pop();
      this.#received += events.filter((event) => /^data: ?\S/m.test(event)).length;
      this.#wake();
    }
    this.#ended = true;
    this.#wake();
  }

  #wake() {
    this.#waiting.splice(0).forEach((resolve) => resolve());
  }

  async #until(condition) {
    while (!condition()) {
      await new Promise((resolve) => this.#waiting.push(resolve));
    }
  }

  /** Sends messages one after the other, and returns when the caller has them. */
  write(values, close) {
    this.closed ||= close;
    const turn = this.#turn.then(() => this.#write(values, close));
    this.#turn = turn.catch(() => {});
    return turn;
  }

  async #write(values, close) {
    const { id, response } = running.get(this.key);
    values.forEach((value, at) => {
      const message =
        close && at === values.length - 1
          ? { id, result: { content: [], structuredContent: { value } } }
          : { method: 'notifications/message', params: { level: 'info', data: value } };
      response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`);
      this.#sent++;
    });
    await this.#until(() => this.#received >= this.#sent);
    if (!close) {
      return;
    }
    if (values.length === 0) {
      const cancel = { method: 'notifications/cancelled', params: { requestId: 2 } };
      await (await this.#post(cancel, this.#session)).text();
    }
    response.end();
    await this.#until(() => this.#ended);
  }
}

// The streams of the suite.

/** The messages in a body, as JSON values. Throws for invalid JSON. */
function valuesIn(body, call) {
  if (!call.isJson) {
    return body.length === 0 ? [] : [body.toString('latin1')];
  }
  const value = body.length === 0 ? [] : JSON.parse(body);
  return Array.isArray(value) ? value : [value];
}

function unwrap(message) {
  return 'result' in message ? message.result.structuredContent.value : message.params.data;
}

function unwrapAll(array, call) {
  const values = JSON.parse(array).map(unwrap);
  return call.isJson ? JSON.stringify(values) : Buffer.from(values.join(''), 'latin1');
}

/** Asks the gateway for a stream. */
async function ask(path, method, query, headers, response) {
  const handle = streams.get(path)?.handle ?? 'unknown';
  const asked = send(`${gateway}/calls/${handle}/stream${query}`, { method, headers });
  response.once('close', () => asked.destroy());
  asked.end();
  const [reply] = await once(asked, 'response');
  return reply;
}

/** The offset of the end of a stream, as the gateway tells it. */
async function end(path, response) {
  const reply = await ask(path, 'HEAD', '', {}, response);
  reply.resume();
  return reply.headers[NEXT];
}

async function pass(request, response, path) {
  const query = request.url.includes('?') ? request.url.slice(request.url.indexOf('?')) : '';
  const sent = Object.entries(request.headers).filter(([name]) => !HOP.includes(name) && name !== 'host');
  const reply = await ask(path, request.method, query, Object.fromEntries(sent), response);
  const headers = Object.fromEntries(Object.entries(reply.headers).filter(([name]) => !HOP.includes(name)));
  const call = streams.get(path);
  if (reply.headers['content-type']?.startsWith('text/event-stream')) {
    response.writeHead(reply.statusCode, headers).flushHeaders();
    return passEvents(reply, response, call);
  }
  const body = await bodyOf(reply);
  if (call && reply.statusCode === 200 && request.method !== 'OPTIONS') {
    const content = request.method === 'HEAD' ? '' : unwrapAll(body, call);
    return answer(response, 200, { ...headers, 'content-type': call.type }, content);
  }
  answer(response, reply.statusCode, headers, body);
}

async function passEvents(reply, response, call) {
  reply.setEncoding('utf8');
  let rest = '';
  for await (const chunk of reply) {
    const events = (rest + chunk).split('\n\n');
    rest = events.pop();
    for (const event of events) {
      const data = /^event: data\ndata: (.*)$/.exec(event);
      const lines = data && unwrapAll(data[1], call).toString().split('\n');
      const written = data ? `event: data\n${lines.map((line) => `data: ${line}`).join('\n')}` : event;
      response.write(`${written.replace(/^data: \{/m, 'data:{')}\n\n`);
    }
  }
  response.end(rest);
}

async function put(request, response, path) {
  const type = request.headers['content-type'] ?? 'application/octet-stream';
  const known = streams.get(path);
  const body = await bodyOf(request);
  if (known) {
    const same = known.type.toLowerCase() === type.toLowerCase();
    return answer(response, same ? 200 : 409, { 'content-type': known.type, [NEXT]: await end(path, response) });
  }
  const call = new Call(type);
  const values = valuesIn(body, call);
  const close = request.headers[CLOSED]?.toLowerCase() === 'true';
  await call.start();
  streams.set(path, call);
  await call.write(values, close);
  answer(response, 201, {
    'content-type': type,
    location: `http://${request.headers.host}${path}`,
    [NEXT]: await end(path, response),
    ...(close ? { [CLOSED]: 'true' } : {}),
  });
}

async function post(request, response, path) {
  const call = streams.get(path);
  const body = await bodyOf(request);
  const close = request.headers[CLOSED]?.toLowerCase() === 'true';
  if (!call) {
    return answer(response, 404);
  }
  if (call.closed) {
    const status = close && body.length === 0 ? 204 : 409;
    return answer(response, status, { [CLOSED]: 'true', [NEXT]: await end(path, response) });
  }
  let values;
  try {
    values = valuesIn(body, call);
  } catch {
    return answer(response, 400);
  }
  if (values.length === 0 && !close) {
    return answer(response, 400);
  }
  await call.write(values, close);
  answer(response, 204, { [NEXT]: await end(path, response), ...(close ? { [CLOSED]: 'true' } : {}) });
}

async function serve(request, response) {
  const path = request.url.split('?')[0];
  if (path === '/mcp') {
    return serveMcp(request, response);
  }
  if (path === '/gateway') {
    gateway = (await bodyOf(request)).toString();
    return answer(response, 204);
  }
  switch (request.method) {
    case 'PUT':
      return put(request, response, path);
    case 'POST':
      return post(request, response, path);
    case 'DELETE':
      return answer(response, streams.delete(path) ? 204 : 404);
    default:
      return pass(request, response, path);
  }
}

const server = createServer((request, response) =>
  serve(request, response).catch((failure) => {
    if (!response.destroyed) {
      console.error(failure);
      response.destroy();
    }
  }),
);
// An idle connection that is closed while it is used again would fail a test.
server.keepAliveTimeout = 0;
server.listen(0, '127.0.0.1', () => console.log(`listening on ${server.address().port}`));
process.stdin.on('end', () => process.exit(0)).resume();
