// SPDX-License-Identifier: Apache-2.0
// The app lists, with how far the icons of each are.
import { counted, element, number, sentence } from '/text.js';

const byId = id => document.getElementById(id);

/** Shows the lists; a click on one filters the icons by it. */
export function showLists(lists, choose) {
  byId('lists-count').textContent = lists.length ? counted(lists.length, 'list') : '';
  byId('lists-empty').hidden = lists.length > 0;
  byId('lists').hidden = lists.length === 0;
  const place = [...byId('lists').querySelectorAll('button')].indexOf(document.activeElement);
  byId('lists').replaceChildren(...lists.map(list => {
    const label = `${number(list.ready)} of ${number(list.apps)} ready, ${number(list.pending)} pending, ${number(list.failed)} failed`;
    return element('li.list', {},
      element('button.list-row', { type: 'button', click: () => choose(list.name) },
        element('span.list-name', {}, element('bdi', {}, list.name)),
        element('span.list-count', {}, `${number(list.ready)} / ${number(list.apps)}`)),
      bar(list, label),
      list.state === 'ok' ? null : element('p.trouble', {},
        list.state === 'rejected' ? 'Rejected: ' : 'Rejected, the last good version stays in force: ',
        element('bdi', {}, sentence(list.error ?? 'the file cannot be used'))));
  }));
  if (place >= 0) byId('lists').querySelectorAll('button')[place]?.focus();
}

function bar(list, label) {
  const made = element('div.bar', {
    role: 'progressbar', 'aria-label': `${list.name}: ${label}`, 'aria-valuemin': 0, 'aria-valuemax': list.apps || 1,
    'aria-valuenow': list.ready, 'aria-valuetext': label,
  });
  for (const part of ['ready', 'pending', 'failed']) {
    if (!list[part]) continue;
    const piece = element(`span.${part}`);
    piece.style.width = `${(100 * list[part]) / list.apps}%`;
    made.append(piece);
  }
  return made;
}
