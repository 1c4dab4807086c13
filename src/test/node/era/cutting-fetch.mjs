/**
 * A `fetch` that cuts the first stream of a tool call once, after some progress.
 *
 * @param after how many notifications pass
 * @returns the `fetch`; `done`, whether it has cut; and `failed`, which rejects if the stream that was
 *     cut had no event ids, so that no client can come back to it
 */
export function cuttingFetch(after) {
  const lost = Promise.withResolvers();
  // Nobody may wait for it.
  lost.promise.catch(() => {});
  const cut = { done: false, failed: lost.promise, fetch: cutting };
  let used = false;

  async function cutting(url, init) {
    const response = await fetch(url, init);
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream');
    if (used || !isStream || !String(init.body).includes('"tools/call"')) {
      return response;
    }
    used = true;
    const reader = response.body.getReader();
    const decoder = new TextDecoder();
    let text = '';
    const body = new ReadableStream({
      async pull(controller) {
        const { done, value } = await reader.read();
        if (done) {
          controller.close();
          return;
        }
        text += decoder.decode(value, { stream: true });
        controller.enqueue(value);
        if (text.split('notifications/progress').length > after && text.endsWith('\n\n')) {
          cut.done = true;
          /^id: ?\S/m.test(text) || lost.reject(new Error('The stream has no event ids'));
          await reader.cancel();
          controller.close();
        }
      },
      cancel: (reason) => reader.cancel(reason),
    });
    return new Response(body, { status: response.status, headers: response.headers });
  }

  return cut;
}
