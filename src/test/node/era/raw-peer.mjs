import { capabilities, info, Questions, Received } from './peer.mjs';

const VERSION = '2026-07-28';
const KEY = 'io.modelcontextprotocol/';
const CACHEABLE = ['server/discover', 'tools/list', 'prompts/list', 'resources/list', 'resources/read'];
const NAMES = { 'tools/call': 'name', 'prompts/get': 'name', 'resources/read': 'uri' };

/** Connects without an SDK, and fails at each answer that the revision does not allow. */
export async function openRaw({ url, fetch: fetching = fetch }) {
  const peer = new RawPeer(url, fetching);
  const { supportedVersions } = await peer.request('server/discover');
  check(supportedVersions.includes(VERSION), `versions ${supportedVersions}`);
  return peer;
}

class RawPeer extends Received {
  era = 'new';
  #url;
  #fetch;
  #level;
  #ids = 0;
  #closing = new AbortController();

  constructor(url, fetching) {
    super(new Questions());
    this.#url = url;
    this.#fetch = fetching;
  }

  async request(method, params = {}, { signal, progress = false } = {}) {
    const id = ++this.#ids;
    const response = await this.#post(id, method, params, progress, signal);
    for await (const message of messages(response, this.#again(signal))) {
      if (message.method === undefined) {
        check(message.id === id || message.error !== undefined, `id ${message.id} for ${id}`);
        return resultOf(method, message);
      }
      check(message.id === undefined, `a request ${message.method} of the server`);
      this.add(message);
    }
    throw new Error('The stream ended without a response');
  }

  async call(name, args, options) {
    let params = { name, arguments: args };
    for (;;) {
      const result = await this.request('tools/call', params, options);
      if (result.resultType === 'complete') {
        return result;
      }
      const inputs = Object.entries(result.inputRequests ?? {});
      const answered = inputs.map(async ([key, { method, params: asked }]) => [
        key,
        await this.questions.answers[method](asked),
      ]);
      const inputResponses = Object.fromEntries(await Promise.all(answered));
      const { requestState } = result;
      params = { name, arguments: args, inputResponses, ...(requestState && { requestState }) };
    }
  }

  async follow(notifications) {
    const id = ++this.#ids;
    const response = await this.#post(id, 'subscriptions/listen', { notifications }, false);
    const iterator = messages(response);
    const { value: first, done } = await iterator.next();
    check(!done && first.method === 'notifications/subscriptions/acknowledged', JSON.stringify(first));
    check(
      JSON.stringify(first.params.notifications) === JSON.stringify(notifications),
      `honoured ${JSON.stringify(first.params.notifications)}`,
    );
    this.#read(iterator, id).catch(() => {});
  }

  async #read(iterator, id) {
    for await (const message of iterator) {
      if (message.params?._meta?.[`${KEY}subscriptionId`] === id) {
        this.add(message);
      }
    }
  }

  setLevel(level) {
    this.#level = level;
  }

  async close() {
    this.#closing.abort();
  }

  async #post(id, method, params, progress, signal) {
    const name = NAMES[method] && params[NAMES[method]];
    const response = await this.#fetch(this.#url, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        'MCP-Protocol-Version': VERSION,
        'Mcp-Method': method,
        ...(name && { 'Mcp-Name': name }),
      },
      body: JSON.stringify({ jsonrpc: '2.0', id, method, params: this.#params(id, params, progress) }),
      signal: AbortSignal.any([this.#closing.signal, ...(signal ? [signal] : [])]),
    });
    check(!response.headers.has('Mcp-Session-Id'), 'a session id');
    return response;
  }

  #params(id, params, progress) {
    const _meta = {
      [`${KEY}protocolVersion`]: VERSION,
      [`${KEY}clientInfo`]: info,
      [`${KEY}clientCapabilities`]: capabilities,
      ...(this.#level && { [`${KEY}logLevel`]: this.#level }),
      ...(progress && { progressToken: id }),
    };
    return { ...params, _meta };
  }

  /** Comes back to a stream that was cut. */
  #again(signal) {
    return (lastEventId) =>
      this.#fetch(this.#url, {
        headers: { Accept: 'text/event-stream', 'Last-Event-ID': lastEventId },
        signal,
      });
  }
}

/** The messages of a response, and of those that continue it, if there is a way to get them. */
async function* messages(response, again) {
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
    const text = await response.text();
    check(text.startsWith('{'), `HTTP ${response.status} ${text.slice(0, 100)}`);
    yield JSON.parse(text);
    return;
  }
  let lastEventId;
  for (let stream = response; ; stream = await again(lastEventId)) {
    let rest = '';
    for await (const chunk of stream.body.pipeThrough(new TextDecoderStream())) {
      const frames = (rest + chunk.replaceAll('\r\n', '\n')).split('\n\n');
      rest = frames.pop();
      for (const frame of frames) {
        lastEventId = /^id: ?(.+)$/m.exec(frame)?.[1] ?? lastEventId;
        const data = /^data: ?(\S.*)$/m.exec(frame)?.[1];
        if (data) {
          yield JSON.parse(data);
        }
      }
    }
    if (lastEventId === undefined || again === undefined) {
      return;
    }
  }
}

function resultOf(method, { result, error }) {
  if (error) {
    check(error.code !== -32002 && error.code !== -32042, `error ${error.code} of the other era`);
    throw Object.assign(new Error(error.message), error);
  }
  check(['complete', 'input_required'].includes(result.resultType), `resultType ${result.resultType}`);
  if (CACHEABLE.includes(method)) {
    const { ttlMs, cacheScope } = result;
    check(Number.isInteger(ttlMs) && ['public', 'private'].includes(cacheScope), 'no cache hints');
  }
  return result;
}

function check(holds, found) {
  if (!holds) {
    throw new Error(`Not allowed in ${VERSION}: ${found}`);
  }
}
