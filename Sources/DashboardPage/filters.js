// SPDX-License-Identifier: Apache-2.0
// Which icons the wall shows: by text, list and state.
import { element, nameOf, number } from '/text.js';
import { isStale } from '/wall.js';

const byId = id => document.getElementById(id);
const states = [
  ['', 'All'], ['ready', 'Ready'], ['pending', 'Pending'], ['failed', 'Failed'], ['stale', 'Stale'], ['retired', 'Retired'],
];
/** They are offered only while an icon is in them. */
const rareStates = ['stale', 'retired'];
const filter = { text: '', list: '', state: '' };

const isIn = (state, icon) => !state || (state === 'stale' ? isStale(icon) : icon.state === state);

export function isShown(icon) {
  if (!isIn(filter.state, icon)) return false;
  if (filter.list && !(icon.lists ?? []).includes(filter.list)) return false;
  if (!filter.text) return true;
  icon.words ??= [nameOf(icon), ...(icon.names ?? []), icon.url, icon.error ?? ''].join('\n').toLowerCase();
  return icon.words.includes(filter.text);
}

/** Filters by nothing but this. */
export function setFilter(change) {
  Object.assign(filter, { text: '', list: '', state: '' }, change);
  byId('search').value = filter.text;
  byId('list-filter').value = filter.list;
}

/** Offers the states, with how many icons are in each. */
export function showStates(icons) {
  const counts = Object.fromEntries(states.map(([state]) => [state, 0]));
  for (const icon of icons) for (const [state] of states) if (isIn(state, icon)) counts[state] += 1;
  for (const button of byId('states').children) {
    const { state } = button.dataset;
    button.querySelector('.number').textContent = number(counts[state]);
    button.hidden = rareStates.includes(state) && counts[state] === 0 && filter.state !== state;
    button.setAttribute('aria-pressed', state === filter.state);
  }
}

/** Offers the lists that there are. */
export function offerLists(names) {
  const select = byId('list-filter');
  if ([...select.options].slice(1).map(option => option.value).join('\n') !== names.join('\n')) {
    select.replaceChildren(element('option', { value: '' }, 'All lists'),
      ...names.map(name => element('option', { value: name }, name)));
    select.value = names.includes(filter.list) ? filter.list : '';
    filter.list = select.value;
  }
}

/** Calls a function whenever somebody chooses another filter. */
export function onFilter(changed) {
  const set = change => {
    Object.assign(filter, change);
    changed();
  };
  byId('states').append(...states.map(([state, text]) => element('button', {
    type: 'button', data: { state }, 'aria-pressed': state === '', click: () => set({ state }),
  }, text, element('span.number', {}, '0'))));
  byId('search').addEventListener('input', event => set({ text: event.target.value.trim().toLowerCase() }));
  byId('list-filter').addEventListener('change', event => set({ list: event.target.value }));
}
