import * as modern from '@modelcontextprotocol/client';
import { StdioClientTransport as ModernStdio } from '@modelcontextprotocol/client/stdio';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  ResultSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { capabilities, info, Questions, Received } from './peer.mjs';

const TIMEOUT = { timeout: 14_000 };
const RECONNECTION = {
  initialReconnectionDelay: 50,
  maxReconnectionDelay: 500,
  reconnectionDelayGrowFactor: 1.5,
  maxRetries: 100,
};

/** A `fetch` that tells when the server has begun to answer a GET: the stream of a session. */
function watching(inner = fetch) {
  const { promise: streaming, resolve } = Promise.withResolvers();
  const watched = async (url, init) => {
    const response = await inner(url, init);
    init?.method === 'GET' && resolve();
    return response;
  };
  return { streaming, watched };
}

/** Connects with the TypeScript SDK 1. */
export async function openOld({ url, command, sse, fetch }) {
  const client = new Client(info, { capabilities });
  const questions = new Questions();
  for (const schema of [ElicitRequestSchema, CreateMessageRequestSchema, ListRootsRequestSchema]) {
    client.setRequestHandler(schema, ({ method, params }) => questions.answers[method](params));
  }
  const { streaming, watched } = watching(fetch);
  const http = { fetch: watched, reconnectionOptions: RECONNECTION };
  const transport = command
    ? new StdioClientTransport({ command: command[0], args: command.slice(1), stderr: 'ignore' })
    : sse
      ? new SSEClientTransport(new URL(url), { fetch })
      : new StreamableHTTPClientTransport(new URL(url), http);
  await client.connect(transport, TIMEOUT);
  return new SdkPeer(client, transport, 'old', {
    questions,
    streaming: command || sse || streaming,
    request: (method, params) => client.request({ method, params }, ResultSchema, TIMEOUT),
    call: (params, options) => client.callTool(params, undefined, options),
  });
}

/** Connects with the TypeScript SDK 2. */
export async function openNew({ url, command, fetch }, mode) {
  const client = new modern.Client(info, { capabilities, versionNegotiation: { mode } });
  const questions = new Questions();
  for (const [method, answer] of Object.entries(questions.answers)) {
    client.setRequestHandler(method, ({ params }) => answer(params));
  }
  const { streaming, watched } = watching(fetch);
  const transport = command
    ? new ModernStdio({ command: command[0], args: command.slice(1), stderr: 'ignore' })
    : new modern.StreamableHTTPClientTransport(new URL(url), {
        fetch: watched,
        reconnectionOptions: RECONNECTION,
      });
  await client.connect(transport, TIMEOUT);
  const era = client.getNegotiatedProtocolVersion() >= '2026' ? 'new' : 'old';
  return new SdkPeer(client, transport, era, {
    questions,
    streaming: command || streaming,
    request: (method, params) =>
      client.request({ method, params }, modern.specTypeSchemas.Result, TIMEOUT),
    call: (params, options) => client.callTool(params, options),
  });
}

class SdkPeer extends Received {
  #client;
  #sdk;
  #level;

  constructor(client, transport, era, sdk) {
    super(sdk.questions);
    this.#client = client;
    this.#sdk = sdk;
    this.era = era;
    // The SDKs drop progress that comes together with the result, so what counts is what came.
    const deliver = transport.onmessage;
    transport.onmessage = (message, extra) => {
      message.method && message.id === undefined && this.add(message);
      deliver(message, extra);
    };
  }

  request(method, params = {}) {
    return this.#sdk.request(method, params);
  }

  call(name, args, { signal, progress = false } = {}) {
    const meta = this.#level && { _meta: { [modern.LOG_LEVEL_META_KEY]: this.#level } };
    const options = { ...TIMEOUT, signal, ...(progress && { onprogress: () => {} }) };
    return this.#sdk.call({ name, arguments: args, ...meta }, options);
  }

  async follow(filter) {
    if (this.era === 'new') {
      await this.#client.listen(filter, TIMEOUT);
      return;
    }
    // Until then a server of the older revisions can only drop a notification.
    await this.#sdk.streaming;
    for (const uri of filter.resourceSubscriptions ?? []) {
      await this.#client.subscribeResource({ uri }, TIMEOUT);
    }
  }

  async setLevel(level) {
    if (this.era === 'new') {
      this.#level = level;
    } else {
      await this.#client.setLoggingLevel(level, TIMEOUT);
    }
  }

  close() {
    return this.#client.close();
  }
}
