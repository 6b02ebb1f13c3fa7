// SPDX-License-Identifier: Apache-2.0
// Words, numbers, and elements made of them. Nothing here, or anywhere else on this page, parses HTML.

/** Makes an element. Attributes that are null are left out; functions are listeners. */
export function element(name, attributes = {}, ...children) {
  const [tag, ...classes] = name.split('.');
  const made = document.createElement(tag);
  if (classes.length) made.className = classes.join(' ');
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === 'function') made.addEventListener(key, value);
    else if (key === 'data') Object.assign(made.dataset, value);
    else made.setAttribute(key, value === true ? '' : value);
  }
  made.append(...children.flat().filter(child => child !== null && child !== undefined && child !== ''));
  return made;
}

const shapes = {
  check: ['M5 12.5l4.5 4.5L19 7.5'],
  alert: ['M12 6v7.5', 'M12 17.6v.4'],
  busy: ['M20 12a8 8 0 1 1-2.4-5.7', 'M20 3.5v4h-4'],
  pause: ['M9 6v12', 'M15 6v12'],
  wait: ['M12 7v5.5l3.5 2'],
  plus: ['M12 6v12', 'M6 12h12'],
};

/** A drawing of lines, for people who see it; screen readers pass it by. */
export function drawing(name) {
  const namespace = 'http://www.w3.org/2000/svg';
  const svg = document.createElementNS(namespace, 'svg');
  const facts = {
    viewBox: '0 0 24 24', fill: 'none', stroke: 'currentColor', 'stroke-width': 2.4, 'stroke-linecap': 'round',
    'stroke-linejoin': 'round', 'aria-hidden': 'true',
  };
  for (const [key, value] of Object.entries(facts)) svg.setAttribute(key, value);
  for (const shape of shapes[name] ?? []) {
    const path = document.createElementNS(namespace, 'path');
    path.setAttribute('d', shape);
    svg.append(path);
  }
  return svg;
}

export const number = value => new Intl.NumberFormat('en').format(value ?? 0);

export const counted = (count, one, many = one + 's') => `${number(count)} ${count === 1 ? one : many}`;

export function bytes(count) {
  if (!Number.isFinite(count)) return '';
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let unit = 0;
  while (count >= 1024 && unit < units.length - 1) { count /= 1024; unit += 1; }
  return `${unit === 0 || count >= 100 ? Math.round(count) : count.toFixed(1)} ${units[unit]}`;
}

const steps = [[60, 'second'], [60, 'minute'], [24, 'hour'], [30, 'day'], [12, 'month'], [Infinity, 'year']];
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'always' });

/** “3 minutes ago”, “in 2 hours”. */
export function ago(time, now = Date.now()) {
  let value = (new Date(time).getTime() - now) / 1000;
  if (!Number.isFinite(value)) return '';
  if (Math.abs(value) < 10) return value > 0 ? 'in a moment' : 'just now';
  for (const [size, unit] of steps) {
    if (Math.abs(value) < size) return relative.format(Math.round(value), unit);
    value /= size;
  }
  return '';
}

/** “until” a time as “for another 2 hours”, and “since” it as “for 2 hours”; without such a word as `ago` tells it. */
function told(time, word) {
  const text = ago(time);
  if (!word) return text;
  const [, isLater, span] = /^(in )?(\d.*?)(?: ago)?$/.exec(text) ?? [];
  if (!span || Boolean(isLater) !== (word === 'until')) return `${word} ${text}`;
  return isLater ? `for another ${span}` : `for ${span}`;
}

/** A time as it is told, with the exact one for those who point at it. */
export function when(time, word) {
  const exact = new Date(time);
  if (Number.isNaN(exact.getTime())) return document.createTextNode(String(time ?? ''));
  return element('time', { datetime: time, title: exact.toLocaleString(), data: word ? { word } : null }, told(time, word));
}

/** Tells the times under an element again. */
export function retell(root) {
  for (const time of root.querySelectorAll('time')) {
    const text = told(time.dateTime, time.dataset.word);
    if (time.textContent !== text) time.textContent = text;
  }
}

/** Whether a URL has a host and a port, and no user: the agent may request it (FetchTarget.swift). */
function isRequested(url) {
  const [, port] = /^https?:\/\/(?:\[[\da-f:.]+\]|[\w.-]{1,253})(?::(\d{0,5}))?(?![^/?#])/i.exec(url) ?? [null, '0'];
  return !port || (port > 0 && port < 65536);
}

/** A URL without what may be secret in it, as the commands show it (LogURL.swift). */
export function shownURL(url) {
  if (/^data:/i.test(url)) {
    const size = new TextEncoder().encode(url).length;
    return `${url.slice(0, 40).split(',', 1)[0]},… (${size} bytes)`;
  }
  const shown = url.replace(/[?#][^]*/, end => (end[0] === '?' ? '?…' : ''));
  const user = /^([^:]*:\/\/)[^/\\]*@/;
  if (user.test(shown)) return shown.replace(user, '$1…@');
  // In an invalid URL the password can be anywhere.
  return url.includes('@') && !isRequested(url) ? '…' : shown;
}

/** What to call an icon: its name, else the end of its URL. */
export function nameOf(icon) {
  const name = icon.names?.[0] ?? icon.name;
  if (name) return name;
  const path = shownURL(icon.url).replace(/\?…$/, '').replace(/\/+$/, '');
  return path.slice(path.lastIndexOf('/') + 1) || path;
}

const collator = new Intl.Collator(undefined, { numeric: true });

/** The icons as people sort them: `App 2` before `App 10`. */
export function byName(icons) {
  const named = Array.from(icons, icon => ({ icon, name: nameOf(icon) }));
  return named.sort((one, other) => collator.compare(one.name, other.name)).map(({ icon }) => icon);
}

/** What no terminal shows by itself: control and format characters, and marks without a letter. */
const hidden = /[\p{Cc}\p{Cf}\p{Cs}\p{Cn}\p{Zl}\p{Zp}]|(?!\p{M})\p{Default_Ignorable_Code_Point}|(?<![A-Za-z0-9]|[^\0-\x7f])\p{M}/u;

/** A text as one word of a shell, by its bytes: the rules are those of the commands (ShellWord.swift). */
export function shellWord(text) {
  if (/^(?!=)[A-Za-z0-9_./:@%+=,-]+$/.test(text)) return text;
  if (!hidden.test(text)) return `'${text.replace(/['\\]/g, "'\\$&'")}'`;
  const octal = byte => '\\' + byte.toString(8).padStart(3, '0');
  const isPlain = byte => byte >= 0x20 && byte < 0x7f && !"'\\!".includes(String.fromCharCode(byte));
  const bytes = [...new TextEncoder().encode(text)];
  return `$'${bytes.map(byte => (isPlain(byte) ? String.fromCharCode(byte) : octal(byte))).join('')}'`;
}

/** The text with a capital letter; a URL, a file or the program at its beginning stays as it is. */
export function capital(text) {
  return text && !/^(\S*[./:]\S|syncagent\b)/.test(text) ? text[0].toUpperCase() + text.slice(1) : text ?? '';
}

export const sentence = text => (!text || /[.:!?]$/.test(text) ? text ?? '' : text + '.');

/** A text in which times are told as people do: “refresh in 3 hours”, “held for another 2 hours”. */
export function withTimes(text) {
  return text.split(/((?:\b(?:at|until|since) )?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/).filter(Boolean).map(part => {
    const [, word, time] = /^(?:(at|until|since) )?(\d{4}-\S*Z)$/.exec(part) ?? [];
    return time ? when(time, word === 'at' ? undefined : word) : part;
  });
}

/** A command with a button that copies it; what is shown may leave out what is secret. */
export function command(text, copied, shown = text) {
  const button = element('button.plain', {
    type: 'button', 'aria-label': `Copy ${shown}`,
    async click() {
      try {
        await navigator.clipboard.writeText(text);
        copied('Copied.');
      } catch {
        getSelection().selectAllChildren(code);
        copied('Selected: copy it with Ctrl+C.');
      }
    },
  }, 'Copy');
  const code = element('code', {}, shown);
  return element('div.command', {}, code, button);
}
