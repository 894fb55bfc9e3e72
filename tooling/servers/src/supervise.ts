import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Recipe } from './recipe.js';

const SUPERVISOR = fileURLToPath(new URL('./supervisor.js', import.meta.url));

/** A server that follows a recipe, seen from the process that wants it. */
export interface Supervised {
  /** Resolves when it answers. Rejects with what it printed where it ends instead, or does not answer in time. */
  start(): Promise<void>;
  stop(): Promise<void>;
  kill(): Promise<void>;
  /** Ends the server and removes what it left. */
  close(): Promise<void>;
}

export interface Readiness {
  /** Whether the server answers. May reject: that is a no. */
  readonly isReady: () => Promise<boolean>;
  /** Milliseconds until giving up. Default 30,000. */
  readonly patienceMs?: number;
}

/** Starts a supervisor for the recipe. The server is not started yet. */
export function supervise(recipe: Recipe, readiness: Readiness): Supervised {
  // A group of its own: what is sent to the group of the tests (Ctrl-C, a runner's clean-up) does not reach it.
  const child = spawn(process.execPath, [SUPERVISOR, JSON.stringify(recipe)], {
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
  });
  // The server keeps no process alive: one that has nothing more to do ends, and the server with it.
  child.unref();
  // The cast, here and below: the pipes of a child are sockets.
  for (const stream of [child.stdin, child.stdout]) (stream as unknown as { unref(): void }).unref();
  child.stdin.on('error', () => {});
  const line = new Line(child);
  return {
    async start() {
      await line.ask('start');
      await untilReady(readiness, () => line.ended);
    },
    stop: () => line.ask('stop'),
    kill: () => line.ask('kill'),
    async close() {
      if (child.exitCode !== null) return;
      child.ref();
      const closed = once(child, 'close');
      child.stdin.end();
      await closed;
    },
  };
}

/** Questions to a supervisor, and its answers in the same order. */
class Line {
  readonly #child: ChildProcess;
  readonly #waiting: { readonly resolve: () => void; readonly reject: (error: Error) => void }[] = [];
  /** Why the server has ended by itself, if it has. */
  ended: string | null = null;

  constructor(child: ChildProcess) {
    this.#child = child;
    if (child.stdout === null) throw new Error('the supervisor has no standard output');
    createInterface({ input: child.stdout }).on('line', (line) => this.#hear(line));
    child.on('close', () => {
      for (const { reject } of this.#waiting.splice(0)) reject(new Error('the supervisor of the server has ended'));
    });
  }

  ask(verb: 'start' | 'stop' | 'kill'): Promise<void> {
    if (verb === 'start') this.ended = null;
    // Referenced while an answer is waited for, or the process could end in between.
    const stdout = this.#child.stdout as unknown as { ref(): void; unref(): void };
    stdout.ref();
    return new Promise<void>((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      this.#child.stdin?.write(`${verb}\n`);
    }).finally(() => stdout.unref());
  }

  #hear(line: string): void {
    // The cast: what supervisor.ts answers.
    const message = JSON.parse(line) as { readonly error?: string; readonly ended?: string };
    if (message.ended !== undefined) {
      this.ended = message.ended;
      return;
    }
    const waiting = this.#waiting.shift();
    if (message.error === undefined) waiting?.resolve();
    else waiting?.reject(new Error(message.error));
  }
}

async function untilReady({ isReady, patienceMs = 30_000 }: Readiness, ended: () => string | null): Promise<void> {
  const end = performance.now() + patienceMs;
  while (!(await isReady().catch(() => false))) {
    const why = ended();
    if (why !== null) throw new Error(`The server did not start: ${why}`);
    if (performance.now() > end) throw new Error(`The server did not answer within ${patienceMs / 1000} s`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
