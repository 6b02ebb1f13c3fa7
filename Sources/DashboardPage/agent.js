// SPDX-License-Identifier: Apache-2.0
// The agent, as this page asks it. EventSource could not send the token: streams are read by fetch.

const storedToken = 'syncagent-token';

/** The longest time without an answer. A stream that is silent for so long is doubted; events have a comment every 15 s. */
const patience = 20_000;

/** Takes the token out of the address, where it would stay in the history and be copied with it. */
export function takeToken() {
  const match = /^#token=([0-9a-f]{64})$/.exec(location.hash);
  if (match) {
    sessionStorage.setItem(storedToken, match[1]);
    history.replaceState(null, '', location.pathname);
  }
}

/** The agent refused a request, and says why. */
export class Refusal extends Error {
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** What this page may do: none, read or change; null as long as that is not known. */
export let access = null;
let accessChanged = () => {};
export const onAccess = listener => { accessChanged = listener; };

function noteAccess(value) {
  if (value === access) return;
  access = value;
  accessChanged(value);
}

/** Whether the page had a token that has expired. */
export let isTokenOver = false;

/** What a request without a token may do: none or read; null as long as that is not known. */
let anonymous = null;
export const isTokenNeeded = () => anonymous === 'none';

async function send(path, options = {}) {
  const token = sessionStorage.getItem(storedToken);
  const headers = { ...options.headers };
  if (token) headers['X-Syncagent-Token'] = token;
  const response = await fetch(path, { cache: 'no-store', ...options, headers, credentials: 'omit' });
  anonymous = response.headers.get('X-Syncagent-Anonymous') ?? anonymous;
  if (response.headers.has('X-Syncagent-Access')) noteAccess(response.headers.get('X-Syncagent-Access'));
  if (response.ok) return response;
  const error = (await response.json().catch(() => ({})))?.error ?? {};
  if (error.code === 'unknown-token' && token) {
    // The command that made it has ended: what can be read without one still can.
    sessionStorage.removeItem(storedToken);
    isTokenOver = true;
    noteAccess(null);
    return send(path, options);
  }
  throw new Refusal(response.status, error.code ?? `http-${response.status}`, error.message ?? response.statusText);
}

export const ask = async path => (await send(path, { signal: AbortSignal.timeout(patience) })).json();

export const tell = async (path, body) => (await send(path, {
  method: 'POST', signal: AbortSignal.timeout(patience), headers: body === undefined ? {} : { 'Content-Type': 'application/json' },
  body: body === undefined ? undefined : JSON.stringify(body),
})).json();

/** The bytes of an image, which the browser may have. */
export const image = async (path, signal) => (await send(path, { signal, cache: 'default' })).blob();

/** All icons, a page at a time. */
export async function* iconPages(size = 1000) {
  let after = null;
  do {
    const query = after === null ? '' : `&after=${encodeURIComponent(after)}`;
    const page = await ask(`/v1/icons?limit=${size}${query}`);
    yield page;
    after = page.next ?? null;
  } while (after !== null);
}

/** Everything known of one icon. A long URL goes into a body. */
export const why = url => (url.length < 2000
  ? ask(`/v1/why?url=${encodeURIComponent(url)}`) : tell('/v1/why', { url }));

async function* lines(path, options) {
  const response = await send(path, options);
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of chunks(response.body)) {
    rest += decoder.decode(chunk, { stream: true });
    const parts = rest.split('\n');
    rest = parts.pop();
    yield* parts;
  }
}

async function* chunks(body) {
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** Follows a stream until it is refused. Reopens it when it ends, with a growing delay while it yields nothing. */
async function follow(open, ended) {
  let delay = 500;
  let isDoubted = false;
  for (;;) {
    const stop = new AbortController();
    let timer;
    const listen = () => { clearTimeout(timer); timer = setTimeout(doubt, patience); };
    const doubt = async () => {
      if (!document.hidden) await ask('/v1/health').catch(error => {
        // Another refusal, such as that of too many clients, is an answer.
        if (!(error instanceof Refusal) || error.code === 'not-responding') stop.abort(error);
      });
      if (!stop.signal.aborted) listen();
    };
    // The page is hidden: close the stream.
    const hide = () => { if (document.hidden) stop.abort(); };
    document.addEventListener('visibilitychange', hide);
    try {
      // The stream of an agent that hangs can begin with an old status.
      if (isDoubted) await ask('/v1/health');
      isDoubted = false;
      listen();
      await open(stop.signal, () => { delay = 500; listen(); });
      if (!document.hidden) ended(null);
    } catch (error) {
      isDoubted = true;
      const isRefused = error instanceof Refusal && error.status === 403;
      if (isRefused || !document.hidden) ended(error);
      if (isRefused) return;
    } finally {
      document.removeEventListener('visibilitychange', hide);
      clearTimeout(timer);
      stop.abort();
    }
    await pause(delay);
    delay = Math.min(delay * 2, 4000);
  }
}

/** Returns after a time, but not while the page is hidden. */
export function pause(time) {
  return new Promise(resolve => {
    const go = () => {
      if (document.hidden) return;
      document.removeEventListener('visibilitychange', go);
      resolve();
    };
    document.addEventListener('visibilitychange', go);
    setTimeout(go, time);
  });
}

/** The status now, and whenever it changes. */
export function followStatus(changed, ended) {
  return follow(async (signal, alive) => {
    for await (const line of lines('/v1/status/stream', { signal })) {
      if (!line) continue;
      alive();
      changed(JSON.parse(line));
    }
  }, ended);
}

/** The events from some number on, without a gap as long as the agent has them (server-sent events). */
export function followEvents(since, happened, ended) {
  let last = since;
  return follow(async (signal, alive) => {
    const headers = { Accept: 'text/event-stream' };
    if (last !== null) headers['Last-Event-ID'] = String(last);
    const query = last === null ? '' : `?since=${last}`;
    let data = '';
    for await (const line of lines('/v1/events' + query, { signal, headers })) {
      alive();
      if (line.startsWith('data:')) data += line.slice(5).trimStart();
      else if (line === '' && data) {
        const event = JSON.parse(data);
        data = '';
        if (typeof event.id === 'number') last = event.id;
        happened(event);
      }
    }
  }, ended);
}
