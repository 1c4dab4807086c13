/**
 * The server of conformance-server.mjs in the revision 2026-07-28, and in no other: the same tools,
 * prompts and resources, without sessions, at http://127.0.0.1:PORT/mcp or on stdin and stdout.
 *
 *   node era/server.mjs [--stdio]
 *
 * Prints and ends as conformance-server.mjs does.
 */
import { randomBytes } from 'node:crypto';
import { createServer as createHttpServer } from 'node:http';
import {
  localhostHostValidation,
  localhostOriginValidation,
  toNodeHandler,
} from '@modelcontextprotocol/node';
import {
  CLIENT_CAPABILITIES_META_KEY,
  createMcpHandler,
  createRequestStateCodec,
  inputRequired,
  McpServer,
  ProtocolError,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { changes } from '../fixture/changes.mjs';
import { complete, listPrompts, messages, prompts } from '../fixture/prompts.mjs';
import { listResources, listResourceTemplates, readResource } from '../fixture/resources.mjs';
import { run } from '../fixture/rounds.mjs';
import { listTools, tools } from '../fixture/tools.mjs';

const INVALID_PARAMS = -32602;
const codec = createRequestStateCodec({ key: randomBytes(32) });

/** Makes the server of one request, or of one connection over stdio. */
function createServer() {
  const whole = new McpServer(
    { name: 'holdfast-era-fixture', version: '1.0.0' },
    {
      capabilities: {
        tools: { listChanged: true },
        prompts: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        logging: {},
        completions: {},
      },
      requestState: { verify: codec.verify },
    },
  );
  // Names the arguments that must be in headers, too.
  whole.toolInputSchemaJson = (name) => tools[name]?.inputSchema;
  const { server } = whole;
  server.setRequestHandler('tools/list', listTools);
  server.setRequestHandler('tools/call', callTool);
  server.setRequestHandler('prompts/list', listPrompts);
  server.setRequestHandler('prompts/get', getPrompt);
  server.setRequestHandler('completion/complete', complete);
  server.setRequestHandler('resources/list', listResources);
  server.setRequestHandler('resources/templates/list', listResourceTemplates);
  server.setRequestHandler('resources/read', (request) => {
    try {
      return readResource(request);
    } catch (error) {
      throw new ProtocolError(INVALID_PARAMS, error.message, error.data);
    }
  });
  return whole;
}

async function callTool({ params }, context) {
  const tool = find(tools, params.name);
  try {
    const started = tool.call(params.arguments ?? {}, streamOf(context), clientOf(context));
    return await answer(started, tool, context, (content) => ({ content }));
  } catch (error) {
    return { isError: true, content: [{ type: 'text', text: error.message }] };
  }
}

function getPrompt({ params }, context) {
  const prompt = find(prompts, params.name);
  return answer(prompt.messages(params.arguments ?? {}), prompt, context, messages);
}

function find(all, name) {
  if (all[name] === undefined) {
    throw new ProtocolError(INVALID_PARAMS, `Unknown name ${name}`);
  }
  return all[name];
}

/** Runs a tool or prompt again from its start, with the results of all rounds so far. */
async function answer(started, { sealed }, { mcpReq }, complete) {
  const rounds = [...(mcpReq.requestState() ?? [])];
  if (mcpReq.inputResponses) {
    rounds.push(mcpReq.inputResponses);
  }
  const given = [...rounds];
  const { content, requests } = await run(started, () => given.shift());
  return requests === undefined
    ? complete(content)
    : inputRequired({
        inputRequests: requests,
        ...(sealed && { requestState: await codec.mint(rounds) }),
      });
}

/** The request as the tools know it from the older SDK. */
function streamOf({ mcpReq }) {
  return {
    _meta: mcpReq._meta,
    signal: mcpReq.signal,
    sendNotification: (sent) =>
      sent.method === 'notifications/message'
        ? mcpReq.log(sent.params.level, sent.params.data)
        : mcpReq.notify(sent),
  };
}

/** The session as the tools know it from the older SDK. */
function clientOf({ mcpReq }) {
  return {
    getClientCapabilities: () => mcpReq.envelope?.[CLIENT_CAPABILITIES_META_KEY],
    sendLoggingMessage: ({ level, data }) => mcpReq.log(level, data),
  };
}

function overHttp() {
  const handler = createMcpHandler(createServer, {
    legacy: 'reject',
    onerror: (error) => console.error(error.message),
  });
  changes.on('tools', handler.notify.toolsChanged);
  changes.on('prompts', handler.notify.promptsChanged);
  changes.on('resource', handler.notify.resourceUpdated);
  const handle = toNodeHandler(handler);
  const isLocalHost = localhostHostValidation();
  const isLocalOrigin = localhostOriginValidation();
  const http = createHttpServer((request, response) => {
    if (isLocalHost(request, response) && isLocalOrigin(request, response)) {
      handle(request, response);
    }
  });
  // See conformance-server.mjs.
  http.keepAliveTimeout = 75_000;
  http.listen(0, '127.0.0.1', () => console.log(`listening on ${http.address().port}`));
}

function overStdio() {
  serveStdio(
    () => {
      const whole = createServer();
      changes.on('tools', () => whole.sendToolListChanged());
      changes.on('prompts', () => whole.sendPromptListChanged());
      changes.on('resource', (uri) => whole.server.sendResourceUpdated({ uri }));
      return whole;
    },
    { legacy: 'reject' },
  );
}

if (process.argv[2] === '--stdio') {
  overStdio();
} else {
  overHttp();
}
process.on('SIGTERM', () => process.exit(0));
process.stdin.on('end', () => process.exit(0)).resume();
