import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { cuttingFetch } from './cutting-fetch.mjs';

/** Something came, but not what should have come. */
export class Mismatch extends Error {}

/** Tools by what they do: name, arguments, and text of the result. */
const tools = {
  text: ['test_simple_text', {}, 'This is a simple text response for testing.'],
  steps: ['count', { n: 5, intervalMs: 30 }, 'counted 5'],
  form: ['ask', { question: 'Which color?' }, 'accept: blue'],
  url: ['visit', { url: 'https://example.com/form' }, 'accept'],
  sampling: ['test_sampling', { prompt: 'Which city?' }, 'LLM response: Paris'],
  roots: ['test_input_required_result_list_roots', {}, 'file:///roots/a'],
  rounds: ['test_input_required_result_multi_round', {}, 'Ada likes blue'],
  toolsChanged: ['test_trigger_tool_change', {}, 'changed tools'],
  touched: ['touch', { uri: 'test://watched-resource' }, 'touched test://watched-resource'],
  logging: ['test_logging_tool', {}, 'logged'],
  urlFirst: ['visit_first', { url: `https://example.com/${randomUUID()}` }, 'accept'],
  hanging: ['hang', {}, 'cancelled'],
};

/**
 * Every feature by name: a function of a way to connect. It returns if all that belongs to the feature
 * came.
 */
export const features = {
  async list(open) {
    const peer = await open();
    const [name] = tools.text;
    const { tools: listed } = await peer.request('tools/list');
    expect(listed.some((each) => each.name === name), true);
    expect((await peer.request('prompts/list')).prompts.length > 0, true);
    const { resources } = await peer.request('resources/list');
    const { contents } = await peer.request('resources/read', { uri: resources[0].uri });
    expect(contents[0].uri, resources[0].uri);
  },

  call: (open) => calls(open, tools.text),

  async progress(open) {
    const peer = await calls(open, tools.steps, { progress: true });
    expect(progressOf(peer), [1, 2, 3, 4, 5]);
  },

  'elicitation form': (open) => calls(open, tools.form),
  'elicitation url': (open) => calls(open, tools.url),

  async 'url required'(open) {
    const peer = await open();
    const first = await codeOf(peer.call(...tools.urlFirst));
    if (peer.era === 'old') {
      expect(first, -32042);
    }
    await calls(() => peer, tools.urlFirst);
  },

  async 'calls at once'(open) {
    const peer = await open();
    const ask = (word) => calls(() => peer, ['ask', { question: `Say ${word}` }, `accept: ${word}`]);
    await Promise.all([calls(() => peer, tools.steps), ...['one', 'two'].map(ask)]);
  },

  /** A question for one client must not reach another one, whose call began in between. */
  async 'clients at once'(open) {
    const counting = await open();
    const asking = await open();
    const began = Promise.withResolvers();
    asking.questions.gate = began.promise;
    const rounds = calls(() => asking, tools.rounds);
    await Promise.race([rounds, asking.questions.first]);
    const [name] = tools.steps;
    const count = counting.call(name, { n: 20, intervalMs: 50 }, { progress: true });
    await Promise.race([count, counting.next(({ method }) => method === 'notifications/progress')]);
    began.resolve();
    await Promise.all([rounds, count]);
    await counting.close();
    expect(counting.questions.asked, []);
  },

  sampling: (open) => calls(open, tools.sampling),
  roots: (open) => calls(open, tools.roots),
  'several rounds': (open) => calls(open, tools.rounds),

  async 'list changed'(open) {
    const peer = await open();
    await peer.follow({ toolsListChanged: true });
    await calls(() => peer, tools.toolsChanged);
    await peer.next(({ method }) => method === 'notifications/tools/list_changed');
  },

  async 'resource update'(open) {
    const peer = await open();
    const [, { uri }] = tools.touched;
    await peer.follow({ resourceSubscriptions: [uri] });
    await calls(() => peer, tools.touched);
    const { params } = await peer.next(({ method }) => method === 'notifications/resources/updated');
    expect(params.uri, uri);
  },

  async 'log level'(open) {
    const peer = await open();
    await peer.setLevel('warning');
    await calls(() => peer, tools.logging);
    const logs = peer.received.filter(({ method }) => method === 'notifications/message');
    expect(logs.map(({ params }) => params.level), ['warning', 'error']);
  },

  async cancel(open) {
    const [name] = tools.hanging;
    const peer = await open();
    const reports = await receiver();
    const abort = new AbortController();
    const call = peer.call(name, { report: reports.url }, { signal: abort.signal });
    const ended = call.then(() => new Mismatch('It ended'), (error) => error);
    await Promise.race([reports.got('/?started'), ended.then((error) => Promise.reject(error))]);
    abort.abort('no longer needed');
    await reports.got('/?cancelled');
    expect((await ended) instanceof Mismatch, false);
  },

  async 'error codes'(open) {
    const peer = await open();
    expect(await codeOf(peer.call('no-such-tool', {})), -32602);
    const notFound = await codeOf(peer.request('resources/read', { uri: 'test://nothing' }));
    // The SDK 2 shows clients of old servers the code of the new revision.
    expect(notFound === -32002 && peer.era === 'old' ? -32602 : notFound, -32602);
    expect(await codeOf(peer.request('no/such/method')), -32601);
  },

  async 'cut and resume'(open) {
    const cut = cuttingFetch(2);
    const peer = await Promise.race([cut.failed, open({ fetch: cut.fetch })]);
    await Promise.race([cut.failed, calls(() => peer, tools.steps, { progress: true })]);
    expect(cut.done, true);
    expect(progressOf(peer), [1, 2, 3, 4, 5]);
  },
};

async function calls(open, [name, args, text], options) {
  const peer = await open();
  const result = await peer.call(name, args, options);
  if (result.isError) {
    throw new Error(result.content[0].text);
  }
  expect(result.content[0].text, text);
  return peer;
}

function progressOf(peer) {
  return peer.received
    .filter(({ method }) => method === 'notifications/progress')
    .map(({ params }) => params.progress);
}

async function codeOf(call) {
  try {
    return `result ${JSON.stringify(await call)}`;
  } catch ({ code, message }) {
    // The SDK 2 (2.4) reads the error of HTTP 400, but not of the 404 of an unknown method.
    return Number.isInteger(code) ? code : Number(/"code":(-\d+)/.exec(message)?.[1] ?? NaN);
  }
}

function expect(found, wanted) {
  if (JSON.stringify(found) !== JSON.stringify(wanted)) {
    throw new Mismatch(`${JSON.stringify(found)} instead of ${JSON.stringify(wanted)}`);
  }
}

/** Notes requests of tools that report what they do. */
async function receiver() {
  const paths = new Map();
  const of = (path) => {
    paths.has(path) || paths.set(path, Promise.withResolvers());
    return paths.get(path);
  };
  const http = createServer((request, response) => {
    of(request.url).resolve();
    response.end();
  });
  await new Promise((resolve) => http.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${http.address().port}/`,
    got: (path) => of(path).promise,
  };
}
