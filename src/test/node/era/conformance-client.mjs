/**
 * The client of one scenario of the conformance suite, on the SDK of 2026-07-28. The suite starts it with
 * the URL of a server as last argument and the scenario in the environment.
 *
 *   node era/conformance-client.mjs [GATEWAY] URL
 *
 * GATEWAY is a file with the command line of a gateway, an array in JSON; `{url}` in a word stands for
 * the URL. The client then speaks to this gateway.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const scenarios = {
  'request-metadata': list,
  'json-schema-ref-no-deref': list,
  tools_call: (client) => callAll(client, [{ name: 'add_numbers', arguments: { a: 5, b: 3 } }]),
  'http-custom-headers': (client) => callAll(client, toolCalls()),
  async 'http-invalid-tool-headers'(client) {
    const args = { region: 'us-west1' };
    await callAll(client, (await list(client)).map(({ name }) => ({ name, arguments: args })));
  },
  async 'http-standard-headers'(client) {
    await callAll(client, (await list(client)).map(({ name }) => ({ name, arguments: {} })));
    for (const { uri } of (await client.listResources()).resources) {
      await client.readResource({ uri });
    }
    for (const { name } of (await client.listPrompts()).prompts) {
      await client.getPrompt({ name, arguments: {} });
    }
  },
  async 'sep-2322-client-request-state'(client) {
    const tools = ['echo_state', 'no_state', 'unrelated', 'no_result_type'];
    await callAll(client, tools.map((name) => ({ name: `test_mrtr_${name}`, arguments: {} })));
  },
};

async function list(client) {
  return (await client.listTools()).tools;
}

/** A client reads the schemas of tools before it calls them. */
async function callAll(client, calls) {
  await list(client);
  for (const call of calls) {
    // The suite looks at what was sent, not at what the client makes of the result.
    await client.callTool(call).catch((error) => console.error(call.name, error.message));
  }
}

function toolCalls() {
  return JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT).toolCalls;
}

async function startGateway(file, url) {
  const [command, ...args] = JSON.parse(readFileSync(file, 'utf8'));
  const gateway = spawn(command, args.map((word) => word.replace('{url}', url)), {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  process.on('exit', () => gateway.kill());
  for await (const line of createInterface({ input: gateway.stdout })) {
    console.error(line);
    const port = /Listening on: http:\/\/[^:]+:(\d+)/.exec(line)?.[1];
    if (port) {
      gateway.stdout.resume();
      return `http://127.0.0.1:${port}/mcp`;
    }
  }
  throw new Error('The gateway did not start');
}

const [file, upstream] = process.argv.length > 3 ? process.argv.slice(2) : [undefined, process.argv[2]];
const url = file ? await startGateway(file, upstream) : upstream;
const client = new Client(
  { name: 'holdfast-conformance-client', version: '1.0.0' },
  {
    capabilities: { roots: { listChanged: true }, sampling: {}, elicitation: {} },
    versionNegotiation: { mode: 'auto' },
  },
);
client.setRequestHandler('elicitation/create', () => ({
  action: 'accept',
  content: { confirmed: true },
}));
await client.connect(new StreamableHTTPClientTransport(new URL(url)));
await scenarios[process.env.MCP_CONFORMANCE_SCENARIO](client);
await client.close();
process.exit(0);
