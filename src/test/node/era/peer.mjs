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

/** The questions to one client, and its answers by method. */
export class Questions {
  asked = [];
  /** Answers wait for this. */
  gate = undefined;
  #first = Promise.withResolvers();
  first = this.#first.promise;

  answers = Object.fromEntries(
    Object.entries(answers).map(([method, answer]) => [
      method,
      async (params = {}) => {
        this.asked.push(method);
        this.#first.resolve();
        await this.gate;
        return answer(params);
      },
    ]),
  );
}

/** Notifications in the order in which they came, and a way to wait for one. */
export class Received {
  received = [];
  #waiting = [];

  constructor(questions) {
    this.questions = questions;
  }

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
