// SPDX-License-Identifier: Apache-2.0
// The pictures of icons. Where reading takes a token, which an <img> cannot send, their bytes are fetched with it.
import { image, isTokenNeeded } from '/agent.js';
import { element } from '/text.js';

/** What is being fetched, by element. */
const fetches = new WeakMap();

/** Where the image of an icon is; nothing if there is none. An image of a digest is never another one. */
export function imageOf(icon) {
  if (icon.path) return '/' + icon.path;
  return icon.state === 'ready' ? `/icons?url=${encodeURIComponent(icon.url)}` : '';
}

/** Makes an <img> that is square, with nothing in it. */
export function makeImage(size) {
  const made = element('img', { alt: '', decoding: 'async', width: size, height: size });
  made.addEventListener('error', () => noteFailure(made));
  return made;
}

function noteFailure(target) {
  target.hidden = true;
  target.dataset.failed = '';
}

/** Has the images under an element that could not be loaded be loaded again when they are next shown. */
export function forgetFailures(root) {
  for (const failed of root.querySelectorAll('img[data-failed]')) {
    delete failed.dataset.failed;
    delete failed.dataset.source;
  }
}

/** Shows what is at a path in an <img>, if it does not yet; an empty path hides it. */
export function showImage(target, path) {
  if (target.dataset.source === path) return;
  target.dataset.source = path;
  delete target.dataset.failed;
  fetches.get(target)?.abort();
  if (path === '') {
    target.hidden = true;
    target.removeAttribute('src');
  } else if (isTokenNeeded()) {
    fetchImage(target, path);
  } else {
    target.hidden = false;
    target.src = path;
  }
}

async function fetchImage(target, path) {
  const stop = new AbortController();
  fetches.set(target, stop);
  try {
    const bytes = await image(path, stop.signal);
    if (stop.signal.aborted) return;
    const url = URL.createObjectURL(bytes);
    target.hidden = false;
    target.src = url;
    // Once it is decoded, the element has it.
    await target.decode().finally(() => URL.revokeObjectURL(url));
  } catch {
    // Unless the element is to show another one by now.
    if (!stop.signal.aborted) noteFailure(target);
  }
}
