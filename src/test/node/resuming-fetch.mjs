/**
 * A `fetch` for the SSEClientTransport of the TypeScript SDK. That (1.32) drops the `Last-Event-ID`
 * with which its event source comes back, and so gets a new session instead of the rest of its own;
 * this puts the header in again. One for each transport:
 *
 *   new SSEClientTransport(url, { fetch: resumingFetch() })
 */
export function resumingFetch(inner = fetch) {
  let last = '';
  return async (url, init = {}) => {
    const headers = new Headers(init.headers);
    if (last !== '' && headers.get('Accept') === 'text/event-stream') {
      headers.set('Last-Event-ID', last);
    }
    const response = await inner(url, { ...init, headers });
    if (!response.headers.get('Content-Type')?.startsWith('text/event-stream')) {
      return response;
    }
    const reader = response.body.getReader();
    const decoder = new TextDecoder();
    let rest = '';
    const body = new ReadableStream(
      {
        async pull(controller) {
          const { done, value } = await reader.read();
          if (done) {
            controller.close();
            return;
          }
          rest += decoder.decode(value, { stream: true });
          const frames = rest.split('\n\n');
          rest = frames.pop();
          for (const frame of frames) {
            last = /^id: (.+)$/m.exec(frame)?.[1] ?? last;
          }
          controller.enqueue(value);
        },
        cancel: (reason) => reader.cancel(reason),
      },
      // Reads nothing ahead: what breaks off would take that with it, and its id would be noted.
      { highWaterMark: 0 },
    );
    return new Response(body, { status: response.status, headers: response.headers });
  };
}
