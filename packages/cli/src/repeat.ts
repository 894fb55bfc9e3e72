import { setTimeout as sleep } from 'node:timers/promises';
import type { Output } from './output.js';

// What is read more often than that keeps a store busy with nothing but answering.
const SHORTEST_SECONDS = 0.1;

/** Does something now and again every `seconds`, until the command is interrupted or its reader goes away. */
export async function repeat(out: Output, seconds: number, act: () => Promise<void>): Promise<void> {
  const ended = new AbortController();
  const { signal } = ended;
  const end = () => ended.abort();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, end);
  out.onGone(end);
  const interrupted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
  const pauseMs = Math.max(seconds, SHORTEST_SECONDS) * 1000;
  while (!signal.aborted) {
    await Promise.race([act(), interrupted]);
    await sleep(pauseMs, undefined, { signal }).catch(() => {});
  }
}
