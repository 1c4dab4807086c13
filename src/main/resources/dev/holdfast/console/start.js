// Snippets for clients, with the real URL. A test runs those that it can.

import { ask, button, byId, element, section } from './page.js';

export const interval = 60000;

let place = null;

export function open(room) {
  place = element('div', {});
  room.append(section('start', 'Start here',
    element('p', { class: 'quiet' }, 'Put a key, or remove the line with it, if the gateway needs none.'), place));
}

export function close() {}

export async function refresh() {
  const { snippets } = await ask('start');
  if (place.children.length === snippets.length) return;
  place.replaceChildren(...snippets.map((snippet, index) => {
    const text = element('pre', { class: 'code', tabindex: '0', id: `snippet-${index}` }, snippet.text);
    return element('div', { class: 'snippet' },
      element('div', { class: 'title' }, element('h3', {}, snippet.name),
        button('Copy', { 'aria-label': `Copy for ${snippet.name}` }, async (event) => {
          await navigator.clipboard.writeText(snippet.text);
          event.target.textContent = 'Copied';
        })),
      element('p', { class: 'quiet' }, snippet.where), text);
  }));
}
