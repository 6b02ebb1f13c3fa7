// SPDX-License-Identifier: Apache-2.0
// What is said for a moment, and what is asked before something is done.

const byId = id => document.getElementById(id);

let noticeTimer = 0;

/** Says something for some seconds, to everybody. */
export function say(text, tone = '') {
  const notice = byId('notice');
  notice.textContent = text;
  notice.dataset.tone = tone;
  notice.classList.add('shown');
  clearTimeout(noticeTimer);
  noticeTimer = setTimeout(() => notice.classList.remove('shown'), 5000);
}

/** Asks whether something is meant; the answer is whether it is. */
export function confirm(title, text, yes) {
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
