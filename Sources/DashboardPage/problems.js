// SPDX-License-Identifier: Apache-2.0
// Whether all is well, and what to do if not. The agent decides both: the commands tell the same.
import { bytes, capital, command, counted, drawing, element, number, sentence, when, withTimes } from '/text.js';

const marks = { ok: 'check', busy: 'busy', stopped: 'pause', problem: 'alert', gone: 'alert', unknown: 'wait', empty: 'plus' };

/** Shows the verdict; returns its sentence. It names the lists folder by its path, if that is known. */
export function showVerdict(status, listsFolder) {
  const { level, sentence: text } = status.verdict ?? { level: 'unknown', sentence: 'The agent is running.' };
  // A colon announces the list of a terminal; here it has a title of its own, and the code is beside each problem.
  const title = text.replace(/:$/, '.').replace(/ \[[a-z0-9-]+\]\.$/, '.')
    .replace('the lists folder', () => listsFolder ?? 'the lists folder');
  // Without icons there is nothing that could be well.
  mark(level === 'ok' && status.icons.referenced === 0 ? 'empty' : level, title);
  const facts = [];
  if (status.published) facts.push(['published ', when(status.published)]);
  if (status.generation !== null) facts.push([`generation ${number(status.generation)}`]);
  facts.push([`${counted(status.cache.images, 'image')}, ${bytes(status.cache.bytes)} on disk`]);
  if (status.renditions) facts.push([`${counted(status.renditions.ready, 'image')} rendered`]);
  const { active, queued } = status.downloads;
  if (active + queued > 0) facts.push([`${number(active)} downloading, ${number(queued)} queued`]);
  const more = document.getElementById('verdict-more');
  for (const fact of facts) fact[0] = capital(fact[0]);
  more.replaceChildren(element('span.facts', {}, facts.map(fact => element('span', {}, fact))));
  return title;
}

/** Shows that nobody answers. */
export function showGone(since) {
  mark('gone', 'The agent does not respond.');
  document.getElementById('verdict-more').replaceChildren(
    'It was stopped, or the syncagent dashboard command has ended. ',
    ...(since ? ['The data below is from ', when(since), '. '] : []), 'This page retries automatically.');
}

/** Shows that the agent refuses to be read; returns the sentence. */
export function showRefused() {
  const title = 'This page may not read the agent’s state.';
  mark('gone', title);
  document.getElementById('verdict-more').replaceChildren(
    'Run ', element('code', {}, 'syncagent dashboard'), ', and open the address that it prints.');
  return title;
}

function mark(level, text) {
  const block = document.getElementById('verdict');
  const title = document.getElementById('verdict-text');
  if (title.textContent !== text) title.textContent = text;
  if (block.dataset.level === level) return;
  block.dataset.level = level;
  document.getElementById('verdict-mark').replaceChildren(drawing(marks[level] ?? 'wait'));
}

/** The states and lists that a problem is about: what the wall shows of it. */
function filterOf(problem, status) {
  if ((status.failures ?? []).some(failure => failure.code === problem.code)) {
    return { state: 'failed', text: problem.code };
  }
  return problem.code === 'stale' ? { state: 'stale' } : null;
}

/** What a button does about a problem, for those who may. */
function remedy(problem, actions) {
  switch (problem.code) {
    case 'paused': return ['Resume', actions.resume];
    case 'eviction-held': return ['Evict now…', actions.confirmEviction];
    case 'origin-waiting': return ['Retry now', actions.retryFailed];
    default: return null;
  }
}

/** The most problems that are shown whole before somebody asks for more. */
const mostWhole = 3;
/** The codes of the others that are shown whole since. */
const opened = new Set();

/** Shows the problems, the most urgent first. */
export function showProblems(status, mayChange, actions, filter, say) {
  const problems = status.problems ?? [];
  const section = document.getElementById('problems');
  section.hidden = problems.length === 0;
  const failed = new Set((status.failures ?? []).map(failure => failure.code));
  const items = problems.map((problem, index) => {
    const facts = { data: { severity: problem.severity, code: problem.code } };
    const title = element('h3.problem-title', {}, capital(problem.sentence), ' ', element('span.code', {}, problem.code));
    if (index >= mostWhole && !opened.has(problem.code)) {
      const open = () => {
        opened.add(problem.code);
        showProblems(status, mayChange, actions, filter, say);
      };
      const label = `Show ${problem.code}`;
      return element('li.problem.brief', facts, title,
        element('button.plain', { type: 'button', 'aria-label': label, 'aria-expanded': 'false', click: open }, 'Show'));
    }
    const shown = filterOf(problem, status);
    const retry = failed.size > 1 ? 'Retry all failed' : 'Retry';
    const deed = failed.has(problem.code) ? [retry, actions.retryFailed] : remedy(problem, actions);
    const buttons = [
      deed && mayChange ? element('button', { type: 'button', click: deed[1] }, deed[0]) : null,
      shown ? element('button', { type: 'button', click: () => filter(shown) }, 'Show them') : null,
    ].filter(Boolean);
    return element('li.problem', facts, title,
      problem.detail ? element('p.detail', {}, element('bdi', {}, withTimes(sentence(capital(problem.detail))))) : null,
      ...(problem.commands ?? []).map(text => command(text, say)),
      buttons.length ? element('div.actions', {}, buttons) : null);
  });
  keepFocus(document.getElementById('problem-list'), items);
}

/** Replaces the children of a list, and leaves the focus on the same button of the same item. */
function keepFocus(list, items) {
  const place = [...list.children].findIndex(item => item.contains(document.activeElement));
  const button = place < 0 ? -1
    : [...list.children[place].querySelectorAll('button')].indexOf(document.activeElement);
  list.replaceChildren(...items);
  if (button >= 0) items[place]?.querySelectorAll('button')[button]?.focus();
}
