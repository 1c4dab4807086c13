/**
 * The server of conformance-server.mjs over stdio: one session, which ends when stdin closes.
 *
 *   node conformance-stdio.mjs
 */
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { createServer } from './fixture/session.mjs';

await createServer().connect(new StdioServerTransport());
process.stdin.on('end', () => process.exit(0));
