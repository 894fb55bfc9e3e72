/**
 * A process that runs one server and ends it when its own standard input closes: that happens however the process that
 * started it ends, `kill -9` included. So no test run leaves a server behind.
 *
 * `node supervisor.js '<recipe as JSON>'`; on standard input one of `start`, `stop`, `kill` a line, answered on standard
 * output by one line of JSON: `{}` or `{ "error": "…" }`. It says so too, as `{ "ended": … }`, when the server ends by itself.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Command, Recipe } from './recipe.js';

// The cast: written by supervise.ts.
const recipe = JSON.parse(process.argv[2] ?? '') as Recipe;
let server: ChildProcess | null = null;
let output = '';

// Ctrl-C reaches every process of a terminal. Whoever started us decides when the server ends.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
// Whoever started us may be gone while we answer.
process.stdout.on('error', () => {});

const verbs: Readonly<Record<string, () => Promise<void>>> = {
  start: async () => start(),
  stop: () => end(recipe.stop),
  kill: () => end(recipe.kill),
};

let turn = Promise.resolve();
createInterface({ input: process.stdin })
  .on('line', (verb) => {
    turn = turn.then(async () => answer(await attempt(verbs[verb])));
  })
  .on('close', () => {
    void turn.then(leave);
  });

function start(): void {
  if (server !== null) return;
  output = '';
  const child = open(recipe.run);
  server = child;
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-4_000);
    });
  }
  const ended = (why: string) => {
    if (server !== child) return;
    server = null;
    answer({ ended: `${why}\n${output}` });
  };
  child.on('error', (error) => ended(error.message));
  child.on('close', (code, signal) => ended(`it ended with ${signal ?? `exit code ${code}`}`));
}

async function end(how: NodeJS.Signals | Command): Promise<void> {
  const child = server;
  if (child === null || child.pid === undefined) return;
  server = null; // so that its end is no news
  const closed = once(child, 'close');
  if (typeof how === 'string') child.kill(how);
  else await once(open(how), 'close');
  await closed;
}

async function leave(): Promise<void> {
  await attempt(() => end(recipe.kill));
  if ('folder' in recipe.remove) rmSync(recipe.remove.folder, { recursive: true, force: true, maxRetries: 5 });
  else await once(open(recipe.remove), 'close');
  process.exit(0);
}

function open({ program, args, env, uid, gid }: Command): ChildProcess {
  return spawn(program, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
    ...(uid === undefined ? {} : { uid }),
    ...(gid === undefined ? {} : { gid }),
  });
}

async function attempt(work: (() => Promise<void>) | undefined): Promise<{ readonly error?: string }> {
  try {
    await work?.();
    return {};
  } catch (error) {
    return { error: String(error) };
  }
}

function answer(message: object): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}
