import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { pick, type Random } from './random.js';

/** What a process exits with where an error that nobody caught ended it. */
export const CRASHED = 70;

const RESPAWN_MS = 100;

/**
 * Processes of one kind, as a supervisor keeps them: where one ends, another takes its place, until they are told to
 * leave. One that crashes by itself is remembered with what it printed.
 */
export class ProcessGroup {
  /** What processes that crashed printed. */
  readonly crashes: string[] = [];
  readonly #entry: string;
  readonly #optionsOf: (number: number) => object;
  /** Each with how often it has said that it got something done. */
  readonly #running = new Map<ChildProcess, number>();
  /** How often any of them has said that it got something done: a push was acknowledged, a handler began. */
  progress = 0;
  #wanted = 0;
  #started = 0;

  /** `entry` is a file of dist; `optionsOf` gives what the n-th process is told. */
  constructor(entry: string, optionsOf: (number: number) => object) {
    this.#entry = fileURLToPath(new URL(`../dist/${entry}.js`, import.meta.url));
    this.#optionsOf = optionsOf;
  }

  /** Starts or ends processes until there are so many. */
  resize(count: number): void {
    this.#wanted = count;
    while (this.#running.size < count) this.#start();
    for (const child of [...this.#running.keys()].slice(count)) child.kill('SIGTERM');
  }

  /** Sends a signal to one that has got something done, once there is one. Null: there was none for ten seconds. */
  async signal(random: Random, signal: NodeJS.Signals): Promise<ChildProcess | null> {
    for (let waited = 0; waited < 100; waited += 1) {
      const busy = [...this.#running].filter(([, progress]) => progress > 0).map(([child]) => child);
      if (busy.length > 0) {
        const child = pick(random, busy);
        child.kill(signal);
        return child;
      }
      await sleep(100);
    }
    return null;
  }

  /** Asks all to leave, and kills those that have not after `patienceMs`. */
  async leave(patienceMs: number): Promise<void> {
    this.resize(0);
    const late = setTimeout(() => {
      for (const child of this.#running.keys()) child.kill('SIGKILL');
    }, patienceMs);
    await this.#ended();
    clearTimeout(late);
  }

  async #ended(): Promise<void> {
    while (this.#running.size > 0) await Promise.all([...this.#running.keys()].map((child) => once(child, 'close')));
  }

  #start(): void {
    const options = JSON.stringify(this.#optionsOf(this.#started));
    this.#started += 1;
    const child = spawn(process.execPath, ['--unhandled-rejections=strict', this.#entry, options], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#running.set(child, 0);
    child.stdout.on('data', (said: Buffer) => {
      this.progress += said.length;
      this.#running.set(child, (this.#running.get(child) ?? 0) + said.length);
    });
    let output = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-4_000);
    });
    child.on('close', (code) => {
      this.#running.delete(child);
      if (code === CRASHED) this.crashes.push(output);
      setTimeout(() => {
        if (this.#running.size < this.#wanted) this.#start();
      }, RESPAWN_MS).unref();
    });
  }
}
