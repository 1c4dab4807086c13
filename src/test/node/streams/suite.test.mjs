/** Runs the conformance suite of Durable Streams at the URL in STREAMS_URL. */
import { runConformanceTests } from '@durable-streams/server-conformance-tests';

// Longer than a wait of the gateway, since machines differ.
runConformanceTests({ baseUrl: process.env.STREAMS_URL, longPollTimeoutMs: 60_000 });
