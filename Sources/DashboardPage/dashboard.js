// SPDX-License-Identifier: Apache-2.0
// The dashboard of an agent: shows what it says, and has it do things if the address had a token.
import {
  access, ask, followEvents, followStatus, iconPages, isTokenOver, onAccess, pause, Refusal, takeToken, tell,
} from '/agent.js';
import { Details } from '/details.js';
import { confirm, say } from '/dialogs.js';
import { addEvents } from '/events.js';
import { isShown, offerLists, onFilter, setFilter, showStates } from '/filters.js';
import { showLists } from '/lists.js';
import { showGone, showProblems, showRefused, showVerdict } from '/problems.js';
import { byName, command, counted, element, nameOf, number, retell, sentence } from '/text.js';
import { Wall } from '/wall.js';

const byId = id => document.getElementById(id);

let status = null;
let lastAnswer = null;
const icons = new Map();
let isLoading = false;
let isLoaded = false;
let isOutdated = false;

// Words

let announced = '';

/** Announces a changed verdict to screen readers. */
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
    say(error instanceof Refusal ? sentence(error.message) : 'The agent does not respond.', 'bad');
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
  showStates(icons.values());
}

/** Shows the icons that a problem or a list is about. */
function showOnly(change) {
  setFilter(change);
  showWall();
  byId('icons').scrollIntoView({ block: 'nearest' });
  wall.focus();
}

onFilter(showWall);

let noteLoaded = () => {};
/** That the names of icons are known, or will not be for now. */
const loaded = new Promise(resolve => {
  noteLoaded = resolve;
  setTimeout(resolve, 3000);
});

/** Reloads all icons. A change during a load, or an error, triggers another load after a pause. */
async function loadIcons() {
  isOutdated = true;
  if (isLoading) return;
  isLoading = true;
  try {
    while (isOutdated) {
      isOutdated = false;
      const start = performance.now();
      const found = new Map();
      for await (const page of iconPages()) {
        for (const icon of page.icons) found.set(icon.url, icon);
        if (icons.size === 0 && page.next) for (const icon of page.icons) icons.set(icon.url, icon);
      }
      icons.clear();
      for (const icon of byName(found.values())) icons.set(icon.url, icon);
      isLoaded = true;
      noteLoaded();
      showWall();
      if (details.url && icons.has(details.url)) details.refresh(icons.get(details.url));
      // The slower the agent answers, the longer the pause.
      await new Promise(resolve => { setTimeout(resolve, Math.max(1000, 10 * (performance.now() - start))); });
    }
  } catch {
    await pause(5000);
    // The stream of the status says that the agent is gone, and loads again when it is back.
    isOutdated ||= !wasGone;
  } finally {
    isLoading = false;
    showWall();
  }
  if (isOutdated) loadIcons();
}

let listsFolder = null;

/** Says where lists go, as long as there is none. */
async function showFolder() {
  if (listsFolder) return;
  try {
    const { lists } = (await ask('/v1/settings')).folders;
    if (listsFolder) return;
    listsFolder = lists;
    byId('lists-empty').append(
      command(lists, say), element('p', {}, 'A list to try, as ', element('code', {}, 'apps.json'), ':'),
      command('[ { "name": "Swift", "icon": "https://www.swift.org/favicon.ico" } ]', say));
    showSentence();
  } catch {
    // The next status has it asked for again.
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
      // Its image is gone, too: send no more requests for it.
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
  showSentence();
  showLink('live', report.state === 'paused' ? 'Live, paused' : 'Live');
  showLists(report.lists, list => showOnly({ list }));
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

function showSentence() {
  const verdict = showVerdict(status, listsFolder);
  announce(verdict);
  document.title = `${verdict.replace(/\.$/, '')} · syncagent`;
}

function gone(error) {
  wasGone = true;
  if (error instanceof Refusal && error.status === 403) {
    showLink('gone', 'Not allowed');
    announce(showRefused());
    document.title = 'Not allowed · syncagent';
    for (const part of document.querySelectorAll('.problems, .columns, #actions')) part.hidden = true;
    return;
  }
  showLink('gone', 'Not responding');
  showGone(lastAnswer);
  byId('actions').hidden = true;
  announce('The agent does not respond.');
  document.title = 'Not responding · syncagent';
}

function showAccess() {
  byId('actions').hidden = !mayChange();
  byId('pause').textContent = status?.state === 'paused' ? 'Resume' : 'Pause';
  if (status) showProblems(status, mayChange(), actions, showOnly, say);
  byId('read-only').hidden = access !== 'read';
  byId('read-only').firstChild.textContent = isTokenOver
    ? 'Read-only now: the command that opened this page has ended. To change things, run it again: '
    : 'Read-only. To change things, run ';
}

async function start() {
  takeToken();
  onAccess(showAccess);
  byId('events').hidden = true;
  showStates([]);
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
