// SPDX-License-Identifier: Apache-2.0
// The pictures of icons. Where reading takes a token, which an <img> cannot send, their bytes are fetched with it.
import { image, isTokenNeeded } from '/agent.js';

/** What is being fetched, by element. */
const fetches = new WeakMap();

/** Where the image of an icon is; nothing if there is none. An image of a digest is never another one. */
export function imageOf(icon) {
  if (icon.path) return '/' + icon.path;
  return icon.state === 'ready' ? `/icons?url=${encodeURIComponent(icon.url)}` : '';
}

/** Shows what is at a path in an <img>, if it does not yet; an empty path hides it. */
export function showImage(element, path) {
  if (element.dataset.source === path) return;
  element.dataset.source = path;
  fetches.get(element)?.abort();
  if (path === '') {
    element.hidden = true;
    element.removeAttribute('src');
  } else if (isTokenNeeded()) {
    fetchImage(element, path);
  } else {
    element.hidden = false;
    element.src = path;
  }
}

async function fetchImage(element, path) {
  const stop = new AbortController();
  fetches.set(element, stop);
  try {
    const bytes = await image(path, stop.signal);
    if (stop.signal.aborted) return;
    const url = URL.createObjectURL(bytes);
    element.hidden = false;
    element.src = url;
    // Once it is decoded, the element has it.
    await element.decode().finally(() => URL.revokeObjectURL(url));
  } catch {
    // There is no such image any more, or the element shows another one.
  }
}
