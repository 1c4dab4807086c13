/**
 * Follows a call to its end with the official client of Durable Streams.
 *
 *   node streams/follow.mjs URL sse|long-poll
 *
 * Prints each message on a line, and exits with 0 when the stream is closed.
 */
import { stream } from '@durable-streams/client';

const [url, live] = process.argv.slice(2);
const response = await stream({ url, live, offset: '-1' });
for await (const message of response.jsonStream()) {
  console.log(JSON.stringify(message));
}
