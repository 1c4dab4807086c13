/**
 * Runs the conformance suite of Durable Streams for servers.
 *
 *   node streams/suite.mjs URL PATTERN
 *
 * runs the tests whose full names match the pattern, and prints `passed`, `failed` or `skipped`, a tab and
 * the name of each test, and for a failed one a tab and the reason.
 */
import { startVitest } from 'vitest/node';

const [url, pattern] = process.argv.slice(2);
process.env.STREAMS_URL = url;
const vitest = await startVitest('test', ['streams/suite.test.mjs'], {
  config: false,
  watch: false,
  reporters: [{}],
  testTimeout: 120_000,
  testNamePattern: pattern,
});
for (const module of vitest.state.getTestModules()) {
  for (const error of module.errors()) {
    console.log(`failed\t${module.moduleId}\t${error.message}`);
  }
  for (const test of module.children.allTests()) {
    const { state, errors } = test.result();
    const reason = (errors ?? []).map((error) => JSON.stringify(error.message)).join(' ');
    console.log(`${state}\t${test.fullName}${reason && `\t${reason}`}`);
  }
}
await vitest.close();
process.exit(0);
