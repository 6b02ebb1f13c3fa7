// SPDX-License-Identifier: Apache-2.0
// Everything known of one icon, beside the wall.
import { pause, Refusal, why } from '/agent.js';
import { imageOf, makeImage, showImage } from '/images.js';
import { bytes, capital, command, counted, element, nameOf, number, sentence, shellWord, shownURL, when, withTimes } from '/text.js';

const panel = document.getElementById('details');

export class Details {
  #url = null;
  #closed;
  #say;
  #actions;
  #mayChange = false;
  #icon = null;
  #image = null;

  constructor(actions, say, closed) {
    this.#actions = actions;
    this.#say = say;
    this.#closed = closed;
    document.addEventListener('keydown', event => {
      // Escape clears a search and closes a dialog first.
      if (event.key !== 'Escape' || this.#url === null || event.target.closest('input, select, dialog')) return;
      event.preventDefault();
      this.close();
    });
  }

  get url() { return this.#url; }

  async open(icon, mayChange) {
    const isNew = this.#url !== icon.url;
    this.#url = icon.url;
    this.#icon = icon;
    this.#mayChange = mayChange;
    if (isNew) this.#show(icon, null);
    panel.hidden = false;
    if (isNew) panel.focus();
    await this.refresh();
  }

  close() {
    this.#url = null;
    panel.hidden = true;
    panel.replaceChildren();
    this.#closed();
  }

  /** Asks again, if it is open. */
  async refresh(icon = this.#icon) {
    if (this.#url === null) return;
    const url = this.#url;
    this.#icon = icon;
    let report = null;
    let trouble = null;
    try {
      report = await why(url);
    } catch (error) {
      trouble = error instanceof Refusal ? error.message : 'The agent does not respond.';
      if (!(error instanceof Refusal)) pause(5000).then(() => { if (this.#url === url) this.refresh(); });
    }
    if (this.#url === url) this.#show(icon, report, trouble);
  }

  #show(icon, report, trouble) {
    const place = [...panel.querySelectorAll('button')].indexOf(document.activeElement);
    const state = report?.state ?? icon.state;
    const image = this.#picture(imageOf({ ...icon, path: report?.path ?? icon.path, state }));
    const names = icon.names?.length > 1 ? icon.names.join(', ') : null;
    const parts = [
      element('div.details-head', {},
        element('span.big', { data: { state } }, image),
        element('div', {},
          element('h2', { id: 'details-title' }, element('bdi', {}, nameOf(icon))),
          element('span.state', { data: { state } }, capital(state))),
        element('button.close', { type: 'button', click: () => this.close() }, 'Close')),
      trouble ? element('p.box', {}, trouble) : null,
      report?.failure ? failure(report.failure) : null,
      report?.stale ? element('p.box', { data: { tone: 'wait' } }, withTimes(sentence(report.stale))) : null,
      icon.previous
        ? element('p.box', { data: { tone: 'wait' } },
          'This is the previous image of the app. The image of its new URL is not on disk yet.')
        : null,
      this.#facts(icon, report, names, trouble),
      this.#deeds(icon, report),
      element('h3', {}, 'In a terminal'),
      command(`syncagent why ${shellWord(icon.url)}`, this.#say, `syncagent why ${shellWord(shownURL(icon.url))}`),
    ];
    panel.replaceChildren(...parts.filter(Boolean));
    if (place >= 0) panel.querySelectorAll('button')[place]?.focus();
  }

  /** The same element for the same image: it is not loaded again whenever something is told of the icon. */
  #picture(source) {
    if (source === '') return null;
    if (this.#image?.dataset.source !== source) this.#image = makeImage(64);
    showImage(this.#image, source);
    return this.#image;
  }

  #facts(icon, report, names, trouble) {
    const size = icon.width ? `${number(icon.width)} × ${number(icon.height)} px` : null;
    const file = [icon.type, size, icon.bytes ? bytes(icon.bytes) : null].filter(Boolean).join(', ');
    const response = report?.response;
    const holds = report?.holds ?? [];
    const rows = [
      ['Next', report ? withTimes(sentence(capital(report.next))) : trouble ? null : 'Asking the agent…'],
      ...holds.map(hold => ['On hold', withTimes(sentence(capital(hold.reason)))]),
      ['Names', names],
      ['Lists', (report?.lists ?? icon.lists ?? []).join(', ') || 'None'],
      ['URL', element('bdi', {}, shownURL(icon.url))],
      ['Image', file],
      ['Rendered', report?.renditions?.length ? report.renditions.map(rendition => rendition.size).join(', ') : null],
      ['Not rendered', report?.renderFailure ? sentence(capital(report.renderFailure.message)) : null],
      ['SHA-256', icon.sha256 ? element('code', {}, icon.sha256) : null],
      ['Received', response ? when(response.received) : null],
      ['Freshness', response ? withTimes(sentence(capital(response.freshness))) : null],
      ['Origin', report?.origin?.failures ? `${report.origin.name}: ${counted(report.origin.failures, 'failure')} in a row` : null],
      ['Redirects', report?.trail?.length > 1 ? report.trail.map(hop => `${shownURL(hop.url)}${hop.status ? ` (${hop.status})` : ''}`).join(' → ') : null],
      ['Eviction', report?.eviction ? withTimes(sentence(capital(report.eviction))) : null],
    ];
    return element('dl', {}, rows.filter(row => row[1]).flatMap(([term, fact]) => [
      element('dt', {}, term), element('dd', {}, fact),
    ]));
  }

  #deeds(icon, report) {
    if (!this.#mayChange || !report) return null;
    const isPinned = report.pinned || (report.lists ?? []).includes('pins');
    const act = deed => ({ type: 'button', click: () => deed(icon.url) });
    return element('div.actions', {},
      element('button', act(report.state === 'failed' ? this.#actions.retry : this.#actions.refresh),
        report.state === 'failed' ? 'Retry now' : 'Refresh now'),
      element('button', act(isPinned ? this.#actions.unpin : this.#actions.pin), isPinned ? 'Unpin' : 'Pin'));
  }
}

function failure({ code, message, attempts, nextAttempt }) {
  const next = nextAttempt ? ['Next attempt ', when(nextAttempt), '.'] : ['There is no automatic retry.'];
  return element('div.box', {},
    element('p', {}, element('strong', {}, code), ' ', element('bdi', {}, withTimes(sentence(capital(message))))),
    element('p', {}, `${counted(attempts, 'attempt')} failed. `, ...next));
}
