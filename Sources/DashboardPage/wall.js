// SPDX-License-Identifier: Apache-2.0
// The wall of icons. Only what is in sight has elements, however many icons there are.
import { forgetFailures, imageOf, makeImage, showImage } from '/images.js';
import { element, nameOf } from '/text.js';

const least = 92;
const height = 112;
/** Images are asked for once the wall scrolls no faster than this, in pixels a frame. */
const slow = 1.5 * height;
/** How many rows above and below those in sight have elements, so that a quick scroll shows no gap. */
const margin = 4;
const padding = 10;

/** Whether an icon shows its old image because it could not be refreshed. */
export const isStale = icon => icon.state === 'ready' && Boolean(icon.stale);

export class Wall {
  /** The icons that are shown, in their order. */
  icons = [];
  #box;
  #space;
  #cells = new Map();
  #spare = [];
  #columns = 1;
  #width = least;
  #active = 0;
  #selected = null;
  #choose;
  #frame = 0;
  #top = 0;
  #rest = 0;

  constructor(box, space, choose) {
    this.#box = box;
    this.#space = space;
    this.#choose = choose;
    box.addEventListener('scroll', () => this.#soon(), { passive: true });
    box.addEventListener('keydown', event => this.#key(event));
    box.addEventListener('focus', () => this.#focus(this.#active));
    space.addEventListener('click', event => {
      const cell = event.target.closest('.cell');
      if (cell) this.#pick(Number(cell.dataset.index));
    });
    space.addEventListener('focusin', event => {
      const cell = event.target.closest('.cell');
      if (cell && Number(cell.dataset.index) !== this.#active) this.#activate(Number(cell.dataset.index));
    });
    new ResizeObserver(() => this.#measure()).observe(box);
  }

  /** Shows these icons; the one that had the focus keeps it if it is still there. */
  show(icons) {
    const url = this.icons[this.#active]?.url;
    const hadFocus = this.#box.contains(document.activeElement);
    this.icons = icons;
    const place = url === undefined ? 0 : icons.findIndex(icon => icon.url === url);
    this.#active = Math.max(0, place);
    this.#box.hidden = icons.length === 0;
    if (place < 0) this.#box.scrollTop = 0;
    this.#measure();
    if (hadFocus) this.#focus(this.#active);
  }

  /** Tells again what is known of an icon, if it is in sight. */
  refresh(icon) {
    for (const [index, cell] of this.#cells) {
      if (this.icons[index] !== icon) continue;
      this.#fill(cell, index);
      this.#load(cell, icon);
    }
  }

  /** Loads images that could not be loaded when they are next shown: the agent is back. */
  forgetFailures() {
    forgetFailures(this.#space);
  }

  select(url) {
    this.#selected = url;
    for (const [index, cell] of this.#cells) this.#mark(cell, index);
  }

  /** Gives the focus back to the icon that was left. */
  focus() {
    if (!this.#box.hidden) this.#focus(this.#active);
  }

  #measure() {
    const width = this.#box.clientWidth - 2 * padding;
    if (width <= 0) return;
    this.#columns = Math.max(1, Math.floor(width / least));
    this.#width = width / this.#columns;
    const rows = Math.ceil(this.icons.length / this.#columns);
    this.#space.style.height = `${rows * height + 2 * padding}px`;
    this.#render(true);
  }

  #soon() {
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.#render(false);
    });
    // What only flies past is not loaded.
    clearTimeout(this.#rest);
    this.#rest = setTimeout(() => {
      for (const [index, cell] of this.#cells) this.#load(cell, this.icons[index]);
    }, 80);
  }

  #render(isStale) {
    const first = Math.floor(this.#box.scrollTop / height) - margin;
    const last = Math.ceil((this.#box.scrollTop + this.#box.clientHeight) / height) + margin;
    const start = Math.max(0, first * this.#columns);
    const end = Math.min(this.icons.length, last * this.#columns);
    for (const [index, cell] of this.#cells) {
      // What has the focus keeps its element, wherever it is.
      if ((index >= start && index < end) || (index === this.#active && index < this.icons.length)) continue;
      this.#cells.delete(index);
      cell.remove();
      cell.url = null;
      this.#spare.push(cell);
    }
    const isSlow = Math.abs(this.#box.scrollTop - this.#top) <= slow;
    this.#top = this.#box.scrollTop;
    for (let index = start; index < end; index += 1) this.#put(index, isStale, isSlow);
    if (this.#active < this.icons.length) this.#put(this.#active, isStale, isSlow);
    // Some are kept for the next scroll, and no more.
    this.#spare.length = Math.min(this.#spare.length, 200);
  }

  #put(index, isStale, isSlow) {
    let cell = this.#cells.get(index);
    if (cell && !isStale) return;
    if (!cell) {
      cell = this.#spare.pop() ?? this.#make();
      this.#cells.set(index, cell);
      this.#space.append(cell);
    }
    const row = Math.floor(index / this.#columns);
    const column = index % this.#columns;
    cell.style.transform = `translate(${padding + column * this.#width}px, ${padding + row * height}px)`;
    cell.style.width = `${this.#width}px`;
    cell.style.height = `${height}px`;
    this.#fill(cell, index);
    if (isSlow) this.#load(cell, this.icons[index]);
  }

  #make() {
    return element('div.cell', { role: 'option' },
      element('span.picture', {}, makeImage(44), element('span.flag', { hidden: true })),
      element('span.name'), element('span.note'));
  }

  #fill(cell, index) {
    const icon = this.icons[index];
    const [picture, name, note] = cell.children;
    const [image, flag] = picture.children;
    // The picture of the icon that the cell had before goes.
    if (cell.url !== icon.url) showImage(image, '');
    cell.url = icon.url;
    cell.dataset.index = index;
    cell.dataset.state = icon.state;
    cell.setAttribute('aria-posinset', index + 1);
    cell.setAttribute('aria-setsize', this.icons.length);
    cell.setAttribute('aria-label', label(icon));
    flag.hidden = !isStale(icon);
    // The tooltip has the whole name.
    name.textContent = name.title = nameOf(icon);
    note.textContent = icon.state === 'ready' ? '' : icon.error ?? icon.state;
    this.#mark(cell, index);
  }

  #load(cell, icon) {
    if (icon) showImage(cell.firstChild.firstChild, imageOf(icon));
  }

  #mark(cell, index) {
    cell.tabIndex = index === this.#active ? 0 : -1;
    cell.setAttribute('aria-selected', this.icons[index]?.url === this.#selected);
  }

  #activate(index) {
    const before = this.#cells.get(this.#active);
    this.#active = index;
    if (before) before.tabIndex = -1;
    const cell = this.#cells.get(index);
    if (cell) cell.tabIndex = 0;
  }

  #focus(index) {
    if (this.icons.length === 0) return;
    this.#activate(Math.min(Math.max(0, index), this.icons.length - 1));
    const top = padding + Math.floor(this.#active / this.#columns) * height;
    const { scrollTop, clientHeight } = this.#box;
    if (top < scrollTop) this.#box.scrollTop = top - padding;
    else if (top + height > scrollTop + clientHeight) this.#box.scrollTop = top + height - clientHeight + padding;
    this.#render(false);
    this.#cells.get(this.#active)?.focus({ preventScroll: true });
  }

  #pick(index) {
    this.#activate(index);
    const icon = this.icons[index];
    if (icon) this.#choose(icon);
  }

  #key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const page = Math.max(1, Math.floor(this.#box.clientHeight / height)) * this.#columns;
    const steps = {
      ArrowLeft: -1, ArrowRight: 1, ArrowUp: -this.#columns, ArrowDown: this.#columns, PageUp: -page, PageDown: page,
      Home: -this.icons.length, End: this.icons.length,
    };
    if (event.key === 'Enter' || event.key === ' ') this.#pick(this.#active);
    else if (event.key in steps) {
      const next = this.#active + steps[event.key];
      const isRowStep = event.key === 'ArrowUp' || event.key === 'ArrowDown';
      // An arrow up or down leaves the column only where there is no row left.
      if (isRowStep && next < 0) return event.preventDefault();
      this.#focus(next);
    } else return undefined;
    return event.preventDefault();
  }
}

function label(icon) {
  const state = icon.state === 'failed' && icon.error ? `failed, ${icon.error}` : icon.state;
  const shown = icon.previous ? ', with its previous image' : isStale(icon) ? ', stale' : '';
  return `${nameOf(icon)}, ${state}${shown}`;
}
