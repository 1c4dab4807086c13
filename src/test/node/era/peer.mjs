/** What clients of both eras have in common: what they declare, answer and receive. */
export const info = { name: 'holdfast-era-client', version: '1.0.0' };
export const capabilities = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };

const fields = (message) => ({
  name: 'Ada',
  color: 'blue',
  answer: /^Say (.+)/.exec(message)?.[1] ?? 'blue',
  ok: true,
});

const answers = {
  'elicitation/create': ({ mode, message, requestedSchema }) =>
    mode === 'url'
      ? { action: 'accept' }
      : {
          action: 'accept',
          content: Object.fromEntries(
            Object.keys(requestedSchema.properties).map((name) => [name, fields(message)[name]]),
          ),
        },
  'sampling/createMessage': () => ({
    model: 'none',
    role: 'assistant',
    content: { type: 'text', text: 'Paris' },
  }),
  'roots/list': () => ({ roots: [{ uri: 'file:///roots/a', name: 'a' }] }),
};

/** The answers of one client, which notes in `asked` the methods that it was asked. */
export function answersOf(asked) {
  const noted = Object.entries(answers).map(([method, answer]) => [
    method,
    (params = {}) => {
      asked.push(method);
      return answer(params);
    },
  ]);
  return Object.fromEntries(noted);
}

/** Notifications in the order in which they came, and a way to wait for one. */
export class Received {
  received = [];
  asked = [];
  #waiting = [];

  add(message) {
    this.received.push(message);
    this.#waiting = this.#waiting.filter(
      ({ matches, resolve }) => !matches(message) || resolve(message),
    );
  }

  next(matches) {
    const found = this.received.find(matches);
    return found
      ? Promise.resolve(found)
      : new Promise((resolve) => this.#waiting.push({ matches, resolve }));
  }
}
