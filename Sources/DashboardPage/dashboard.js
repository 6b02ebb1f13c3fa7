// SPDX-License-Identifier: Apache-2.0
// The dashboard of an agent: shows what it says, and has it do things if the address had a token.
import {
  access, ask, followEvents, followStatus, iconPages, onAccess, Refusal, takeToken, tell,
} from '/agent.js';
import { Details } from '/details.js';
import { addEvents } from '/events.js';
import { showLists } from '/lists.js';
import { showGone, showProblems, showRefused, showVerdict } from '/problems.js';
import { command, counted, element, nameOf, number, retell, sentence } from '/text.js';
import { Wall } from '/wall.js';

const byId = id => document.getElementById(id);
const states = [['', 'All'], ['ready', 'Ready'], ['pending', 'Pending'], ['failed', 'Failed'], ['retired', 'Retired']];

let status = null;
let lastAnswer = null;
const icons = new Map();
const filter = { text: '', list: '', state: '' };
let isLoading = false;
let isLoaded = false;
let isStale = false;

// Words

let noticeTimer = 0;

/** Says something for some seconds, to everybody. */
function say(text, tone = '') {
  const notice = byId('notice');
  notice.textContent = text;
  notice.dataset.tone = tone;
  notice.classList.add('shown');
  clearTimeout(noticeTimer);
  noticeTimer = setTimeout(() => notice.classList.remove('shown'), 5000);
}

let announced = '';

/** Tells screen readers that the verdict is another one. */
function announce(text) {
  if (text === announced) return;
  // The first one is read with the page.
  if (announced) byId('live').textContent = text;
  announced = text;
}

function showLink(state, text) {
  byId('link').dataset.state = state;
  byId('link-text').textContent = text;
}

// What the agent is told

const mayChange = () => access === 'change';

async function act(path, body, done) {
  try {
    await tell(path, body);
    say(done);
  } catch (error) {
    say(error instanceof Refusal ? sentence(error.message) : 'The agent does not answer.', 'bad');
  }
  details.refresh();
}

const actions = {
  sync: () => act('/v1/sync', undefined, 'Scanning the lists folder.'),
  pause: () => act('/v1/pause', undefined, 'New downloads are paused. Running ones finish.'),
  resume: () => act('/v1/resume', undefined, 'Downloads are resumed.'),
  retryFailed: () => act('/v1/retry', { failed: true }, 'Retrying all failed icons.'),
  retry: url => act('/v1/retry', { urls: [url] }, 'Retrying the icon.'),
  refresh: url => act('/v1/refresh', { urls: [url] }, 'Refreshing the icon.'),
  pin: url => act('/v1/pin', { url }, 'The icon is pinned: it stays, whether or not a list names it.'),
  unpin: url => act('/v1/unpin', { url }, 'The icon is no longer pinned.'),
  async confirmEviction() {
    const count = status?.icons.retired ?? 0;
    const isSure = await confirm(
      'Evict retired images?',
      `${counted(count, 'image')} that no list names will be removed from disk now. This cannot be undone.`,
      `Evict ${counted(count, 'image')}`);
    if (isSure) await act('/v1/evict', { confirm: true }, 'Evicting retired images.');
  },
};

function confirm(title, text, yes) {
  const dialog = byId('confirm');
  byId('confirm-title').textContent = title;
  byId('confirm-text').textContent = text;
  byId('confirm-yes').textContent = yes;
  dialog.returnValue = '';
  dialog.showModal();
  return new Promise(resolve => {
    dialog.addEventListener('close', () => resolve(dialog.returnValue === 'yes'), { once: true });
  });
}

byId('confirm-yes').addEventListener('click', () => byId('confirm').close('yes'));
byId('confirm-no').addEventListener('click', () => byId('confirm').close());
byId('sync').addEventListener('click', actions.sync);
byId('pause').addEventListener('click', () => (status?.state === 'paused' ? actions.resume() : actions.pause()));

// The wall

const wall = new Wall(byId('icons'), byId('wall-space'), icon => {
  wall.select(icon.url);
  details.open(icon, mayChange());
});

const details = new Details(actions, say, () => {
  wall.select(null);
  wall.focus();
});

function isShown(icon) {
  if (filter.state && icon.state !== filter.state) return false;
  if (filter.list && !(icon.lists ?? []).includes(filter.list)) return false;
  if (!filter.text) return true;
  icon.words ??= [nameOf(icon), ...(icon.names ?? []), icon.url, icon.error ?? ''].join('\n').toLowerCase();
  return icon.words.includes(filter.text);
}

function showWall() {
  const shown = [...icons.values()].filter(isShown);
  wall.show(shown);
  byId('icons-count').textContent = shown.length === icons.size
    ? counted(icons.size, 'icon') : `${number(shown.length)} of ${counted(icons.size, 'icon')}`;
  document.querySelector('.filters').hidden = isLoaded && icons.size === 0;
  const empty = byId('wall-empty');
  empty.hidden = shown.length > 0;
  empty.textContent = icons.size === 0
    ? (isLoaded ? 'No list names an icon yet.' : 'Loading the icons…') : 'No icon matches. Clear the filters to see all.';
  showStates();
}

function showStates() {
  const counts = { '': icons.size };
  for (const icon of icons.values()) counts[icon.state] = (counts[icon.state] ?? 0) + 1;
  for (const button of byId('states').children) {
    const count = counts[button.dataset.state] ?? 0;
    button.querySelector('.number').textContent = number(count);
    button.hidden = button.dataset.state === 'retired' && count === 0 && filter.state !== 'retired';
    button.setAttribute('aria-pressed', button.dataset.state === filter.state);
  }
}

function setFilter(change) {
  Object.assign(filter, { text: '', list: '', state: '' }, change);
  byId('search').value = filter.text;
  byId('list-filter').value = filter.list;
  showWall();
  byId('icons').scrollIntoView({ block: 'nearest' });
  wall.focus();
}

/** Has the icons filtered by the lists that there are. */
function offerLists(names) {
  const select = byId('list-filter');
  if ([...select.options].slice(1).map(option => option.value).join('\n') !== names.join('\n')) {
    select.replaceChildren(element('option', { value: '' }, 'All lists'),
      ...names.map(name => element('option', { value: name }, name)));
    select.value = names.includes(filter.list) ? filter.list : '';
    filter.list = select.value;
  }
}

for (const [state, text] of states) {
  byId('states').append(element('button', {
    type: 'button', data: { state }, 'aria-pressed': state === '',
    click() {
      filter.state = state;
      showWall();
    },
  }, text, element('span.number', {}, '0')));
}
byId('search').addEventListener('input', event => {
  filter.text = event.target.value.trim().toLowerCase();
  showWall();
});
byId('list-filter').addEventListener('change', event => {
  filter.list = event.target.value;
  showWall();
});

let noteLoaded = () => {};
/** That the names of icons are known, or will not be for now. */
const loaded = new Promise(resolve => {
  noteLoaded = resolve;
  setTimeout(resolve, 3000);
});

/** Reads all icons again. While that goes on, a change is read afterwards, and then not at once. */
async function loadIcons() {
  isStale = true;
  if (isLoading) return;
  isLoading = true;
  try {
    while (isStale) {
      isStale = false;
      const start = performance.now();
      const found = new Map();
      for await (const page of iconPages()) {
        for (const icon of page.icons) found.set(icon.url, icon);
        if (icons.size === 0 && page.next) for (const icon of page.icons) icons.set(icon.url, icon);
      }
      icons.clear();
      for (const [url, icon] of found) icons.set(url, icon);
      isLoaded = true;
      noteLoaded();
      showWall();
      if (details.url && icons.has(details.url)) details.refresh(icons.get(details.url));
      // What takes the agent long is asked for rarely.
      await new Promise(resolve => { setTimeout(resolve, Math.max(1000, 10 * (performance.now() - start))); });
    }
  } catch {
    // The stream of the status says that the agent is gone, and loads again when it is back.
  } finally {
    isLoading = false;
    showWall();
  }
}

let isFolderShown = false;

/** Says where lists go, as long as there is none. */
async function showFolder() {
  if (isFolderShown) return;
  isFolderShown = true;
  try {
    byId('lists-empty').append(command((await ask('/v1/settings')).folders.lists, say));
  } catch {
    isFolderShown = false;
  }
}

// Events

const nameOfURL = url => nameOf(icons.get(url) ?? { url });

let waiting = [];

/** Events come in hundreds: they are shown together. */
function happened(event) {
  if (waiting.push(event) === 1) setTimeout(takeEvents, 150);
}

function takeEvents() {
  const events = waiting;
  waiting = [];
  addEvents(events, nameOfURL);
  let isKnown = true;
  let isFilterTouched = false;
  for (const { kind, url, code } of events) {
    const icon = url ? icons.get(url) : null;
    if (kind.startsWith('list-') || kind === 'gap' || kind === 'purged' || kind === 'unpinned' || kind === 'pinned') isKnown = false;
    if (!kind.startsWith('icon-')) continue;
    if (!icon || (kind === 'icon-ready' ? icon.path : !['icon-stale', 'icon-fresh'].includes(kind))) isKnown = false;
    if (!icon) continue;
    if (kind === 'icon-evicted') {
      // It is gone, and so is its image: nothing is asked of it any more.
      icons.delete(url);
      isFilterTouched = true;
      if (details.url === url) {
        details.close();
        say('The icon is evicted: no list names it.');
      }
      continue;
    }
    if (kind === 'icon-stale' || kind === 'icon-fresh') icon.stale = kind === 'icon-stale';
    if (kind === 'icon-ready') Object.assign(icon, { state: 'ready', error: null });
    if (kind === 'icon-failed' && icon.state !== 'ready') Object.assign(icon, { state: 'failed', error: code });
    if (kind === 'icon-failed' || kind === 'icon-ready') icon.words = undefined;
    isFilterTouched = true;
    wall.refresh(icon);
    if (details.url === url) details.refresh(icon);
  }
  if (isFilterTouched) showWall();
  if (!isKnown) loadIcons();
}

// The agent

let wasGone = true;
let lastGeneration = null;

function changed(report) {
  status = report;
  lastAnswer = new Date().toISOString();
  const verdict = showVerdict(report);
  announce(verdict);
  document.title = `${verdict.replace(/\.$/, '')} · syncagent`;
  showLink('live', report.state === 'paused' ? 'Live, paused' : 'Live');
  showLists(report.lists, list => setFilter({ list }));
  offerLists(report.lists.map(list => list.name));
  if (report.lists.length === 0) showFolder();
  const foot = [`syncagent ${report.version}`, report.pid ? `process ${report.pid}` : null,
    report.watch.mode ? `lists folder watched by ${report.watch.mode}` : null];
  byId('foot').replaceChildren(...foot.filter(Boolean).map(text => element('span', {}, text)));
  showAccess();
  if (wasGone) wall.forgetFailures();
  if (wasGone || lastGeneration !== report.generation) loadIcons();
  wasGone = false;
  lastGeneration = report.generation;
}

function gone(error) {
  if (error instanceof Refusal && error.status === 403) {
    showLink('gone', 'Not allowed');
    announce(showRefused());
    document.title = 'Not allowed · syncagent';
    for (const part of document.querySelectorAll('.problems, .columns, #actions')) part.hidden = true;
    return;
  }
  wasGone = true;
  showLink('gone', 'No answer');
  showGone(lastAnswer);
  byId('actions').hidden = true;
  announce('The agent does not answer.');
  document.title = 'No answer · syncagent';
}

function showAccess() {
  byId('actions').hidden = !mayChange();
  byId('pause').textContent = status?.state === 'paused' ? 'Resume' : 'Pause';
  if (status) showProblems(status, mayChange(), actions, setFilter, say);
  const note = byId('read-only') ?? element('span', { id: 'read-only' });
  note.textContent = access === 'read' ? 'Read-only. To change things, run syncagent dashboard.' : '';
  byId('foot').append(note);
}

async function start() {
  takeToken();
  onAccess(showAccess);
  byId('events').hidden = true;
  showStates();
  followStatus(changed, gone);
  let since = null;
  try {
    const page = await ask('/v1/events?last=60');
    await loaded;
    if (page.events.length) addEvents(page.events, nameOfURL);
    since = page.next ?? page.events.at(-1)?.id ?? null;
  } catch (error) {
    if (error instanceof Refusal && error.status === 403) return;
    // The stream is tried all the same.
  }
  followEvents(since, happened, () => {});
  setInterval(() => { if (!document.hidden) retell(document); }, 15000);
}

start();
