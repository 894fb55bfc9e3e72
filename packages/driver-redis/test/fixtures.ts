import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { NewJob, QueueWarning } from '@q/core';
import { isQueueError } from '@q/core';
import type {} from '@q/servers/vitest/redis';
import { Redis, type RedisOptions } from 'ioredis';
import { inject, onTestFinished } from 'vitest';
import { RedisDriver, type RedisDriverOptions, type RedisTemplate } from '../src/index.js';
import { Stored } from './stored.js';

/** A job in which only what matters is said. */
export function aJob(what: Partial<NewJob> = {}): NewJob {
  return {
    name: 'send-invoice',
    payload: { invoiceId: 7 },
    delay: 0,
    queue: 'default',
    priority: 0,
    unique: null,
    maxAttempts: 3,
    ...what,
  };
}

/** A clock that stands still until it is moved; years away from the real time. */
export class Clock {
  #epochMs = Date.parse('2031-05-17T10:20:30.000Z');

  readonly now = (): Date => new Date(this.#epochMs);

  get seconds(): number {
    return Math.floor(this.#epochMs / 1000);
  }

  advance(seconds: number): void {
    this.#epochMs += seconds * 1000;
  }
}

/** A client of the application's, which has errors of its own to listen to. Closed with the test. */
export function aClient(url = inject('redis'), options: Omit<RedisOptions, 'replyMapping'> = {}): Redis {
  const { hostname, port } = new URL(url);
  const client = new Redis({ host: hostname, port: Number(port), ...options });
  client.on('error', () => {});
  onTestFinished(() => client.disconnect());
  return client;
}

export interface Opened {
  readonly driver: RedisDriver;
  readonly clock: Clock;
  readonly warnings: QueueWarning[];
  readonly stored: Stored;
  /** A connection to the server, whatever the driver's is like. */
  readonly raw: Redis;
  readonly prefix: string;
  /** Another driver of the same store. */
  another(options?: RedisDriverOptions): RedisDriver;
}

export interface OpenOptions extends RedisDriverOptions {
  /** The server itself. */
  readonly url?: string;
  /** What the application connects to, if not the server itself. */
  readonly via?: string;
  /** What the driver is built on. Default: a client that has never connected. */
  readonly template?: RedisTemplate;
}

/** A driver with a prefix and a clock of its own; closed, and its keys deleted, when the test is over. */
export function open(options: OpenOptions = {}): Opened {
  const { url = inject('redis'), via = url, template, ...driverOptions } = options;
  const prefix = driverOptions.prefix ?? `test_${randomBytes(6).toString('hex')}`;
  const raw = aClient(url);
  const stored = new Stored(raw, prefix);
  const clock = new Clock();
  const warnings: QueueWarning[] = [];
  const onWarning = (warning: QueueWarning) => warnings.push(warning);
  const another = (more: RedisDriverOptions = {}) => {
    const client = template ?? aClient(via, { lazyConnect: true });
    const driver = new RedisDriver(client, { prefix, now: clock.now, onWarning, ...driverOptions, ...more });
    onTestFinished(() => driver.close());
    return driver;
  };
  // The last to be registered is the first to be called: by then every driver is closed.
  onTestFinished(async () => {
    if (raw.status === 'ready') await stored.wipe().catch(() => {});
  });
  return { driver: another(), clock, warnings, stored, raw, prefix, another };
}

/** What a call is refused with. Throws where it is not. */
export async function refusalOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => {
      throw new Error('it was not refused');
    },
    (error: unknown) => error,
  );
}

/** The code of the QueueError that a call is refused with. */
export async function codeOf(call: Promise<unknown>): Promise<string> {
  const error = await refusalOf(call);
  if (!isQueueError(error)) throw error;
  return error.code;
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** How long a recovery may take: five seconds is the aim, and what it takes on a quiet machine; tests run on busy ones too. */
export const SOON_MS = 25_000;

/** Waits until something is so, and gives how long it took; after `ms` it throws. */
export async function until(what: string, isSo: () => boolean | Promise<boolean>, ms = 15_000): Promise<number> {
  const start = performance.now();
  while (!(await isSo())) {
    if (performance.now() - start > ms) throw new Error(`after ${ms} ms still not: ${what}`);
    await pause(10);
  }
  return performance.now() - start;
}

/** The connections to a server, as it lists them: of each `cmd`, `name`, `id` and so on. */
export async function connectionsTo(redis: Redis): Promise<Readonly<Record<string, string>>[]> {
  const lines = String(await redis.call('CLIENT', 'LIST')).split('\n');
  return lines
    .filter((line) => line !== '')
    .map((line) =>
      Object.fromEntries(line.split(' ').map((pair) => [pair.split('=', 1)[0], pair.slice(pair.indexOf('=') + 1)])),
    );
}

/** Starts a task of child.mjs, a process of its own that runs the built package; killed with the test if it still runs. */
export function start(task: string, ...args: readonly (string | number)[]): ChildProcess {
  const child = fork(new URL('./child.mjs', import.meta.url), [task, ...args.map(String)], {
    stdio: 'inherit',
    execArgv: ['--unhandled-rejections=strict'],
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  return child;
}

/** The next message of a child. Rejects where it ends without one. */
export async function messageOf<T>(child: ChildProcess): Promise<T> {
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the child process ended with exit code ${code} before it said anything`);
  });
  const [message] = (await Promise.race([once(child, 'message'), ended])) as [T];
  ended.catch(() => {});
  return message;
}

/** The rules for a user of Redis that the README gives. */
export function aclOf(prefix: string): string[] {
  const text = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  const rules = /ACL SETUSER queue on '>…' (.*?)\n```/s.exec(text)?.[1];
  if (rules === undefined) throw new Error('the README has no ACL SETUSER');
  return rules.replaceAll('\\\n', ' ').replaceAll("'", '').replaceAll('{queue}', `{${prefix}}`).split(/\s+/);
}

/** A client of the application's that is this user. */
export function aUserOf(url: string): Redis {
  return aClient(url, { username: 'queue', password: 'secret', lazyConnect: true });
}
