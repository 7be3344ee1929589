// Calls of the server. Whatever fails becomes an Error whose message is one sentence for the person.

const BINARY = "application/vnd.regard.look";
export const AGAIN = 2000; // milliseconds after which a server that does not answer is asked again

const TRIES = 4; // a busy server (429) says when to come back; so often do we come back

import { readLook } from "regard/tensors.js";

export async function getJson(path, signal) {
  return (await call(path, { signal })).json();
}

export async function postJson(path, body, signal) {
  return (await call(path, posting(body, signal))).json();
}

export async function getLook(path, signal) {
  const answer = await call(path, { signal, headers: { Accept: BINARY } });
  return readLook(await answer.arrayBuffer());
}

export async function postLook(path, body, signal) {
  const answer = await call(path, posting(body, signal, { Accept: BINARY }));
  return readLook(await answer.arrayBuffer());
}

// A stream of JSON lines: `onLine` receives each as soon as it has come.
export async function postLines(path, body, onLine, signal) {
  const answer = await call(path, posting(body, signal, { Accept: "application/x-ndjson" }));
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    rest += value ?? "";
    const lines = rest.split("\n");
    rest = done ? "" : lines.pop();
    for (const line of lines) if (line.trim()) onLine(JSON.parse(line));
    if (done) return;
  }
}

// True where the person has left or asked for something newer: nothing to be told.
export function wasLeft(error) {
  return error?.name === "AbortError";
}

// True where the server did not answer: it may be back soon.
export function isAway(error) {
  return Boolean(error?.away);
}

// True where what was asked for is there no more, such as a run whose folder was deleted.
export function isGone(error) {
  return error?.status === 404;
}

// Wait, unless the person leaves.
export function wait(ms, signal) {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(new DOMException("left", "AbortError"));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    if (signal?.aborted) stop();
    else signal?.addEventListener("abort", stop, { once: true });
  });
}

function posting(body, signal, headers = {}) {
  const all = { "Content-Type": "application/json", ...headers };
  return { method: "POST", body: JSON.stringify(body), signal, headers: all };
}

async function call(path, options) {
  for (let attempt = 1; ; attempt += 1) {
    const answer = await reach(path, options);
    if (answer.ok) return answer;
    if (answer.status !== 429 || attempt === TRIES) {
      throw Object.assign(new Error(await sentence(answer)), { status: answer.status });
    }
    const seconds = Number(answer.headers.get("Retry-After")) || 1;
    await wait(1000 * Math.min(seconds, 5), options.signal);
  }
}

async function reach(path, options) {
  try {
    return await fetch(path, { credentials: "same-origin", ...options });
  } catch (error) {
    if (wasLeft(error)) throw error;
    const said = new Error("The studio's server does not answer. Is it still running?", { cause: error });
    throw Object.assign(said, { away: true });
  }
}

async function sentence(answer) {
  try {
    return (await answer.json()).error ?? `The server answered ${answer.status}.`;
  } catch {
    return `The server answered ${answer.status}.`;
  }
}
