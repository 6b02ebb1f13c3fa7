// SPDX-License-Identifier: Apache-2.0
// What happened last, the newest first.
import { capital, element, sentence, when, withTimes } from '/text.js';

const tones = {
  'icon-ready': 'good', 'icon-changed': 'good', 'list-accepted': 'good', 'generation-published': 'good', resumed: 'good',
  'eviction-active': 'good', 'cache-healed': 'good', 'icon-failed': 'bad', 'list-rejected': 'bad',
  'publication-failed': 'bad', 'purge-failed': 'bad', 'downloads-blocked': 'bad', 'downloads-unblocked': 'good',
  'icon-stale': 'wait', 'icon-fresh': 'good', 'icon-kept': 'wait', 'configuration-rejected': 'bad', 'list-kept': 'wait', paused: 'wait',
  'eviction-held': 'wait', 'eviction-suspended': 'wait', 'icon-not-rendered': 'wait', 'rendering-blocked': 'bad',
  'rendering-unblocked': 'good', gap: 'wait',
};
const mostEvents = 60;

/** Adds events that are newer than those before; `name` gives the name of an icon. */
export function addEvents(events, name) {
  const list = document.getElementById('events');
  document.getElementById('events-empty').hidden = true;
  list.hidden = false;
  const items = events.map(event => element('li.event', { data: { tone: tones[event.kind] ?? '' } },
    element('span.dot', { 'aria-hidden': 'true' }),
    element('p', {}, ...subject(event, name),
      element('bdi', {}, withTimes(told(event)))), when(event.time)));
  list.prepend(...items.slice(-mostEvents).reverse());
  while (list.children.length > mostEvents) list.lastChild.remove();
}

/** The next attempt is left out: it may be long over, and the details of the icon have it. */
const told = event => sentence(capital(event.message ?? event.kind)).replace(/ The next attempt is at \S+/, '');

/** What an event is about: an icon or a list. */
function subject({ url, list }, name) {
  const text = url ? name(url) : list;
  return text ? [element('strong', {}, element('bdi', {}, text)), ' '] : [];
}
