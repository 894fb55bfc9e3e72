import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PACKAGE = fileURLToPath(new URL('..', import.meta.url));
export const BINARY = join(PACKAGE, 'dist', 'main.js');

/** What a project of the tests may import, besides the command itself. */
const PACKAGES = [
  ...['@q/core', '@q/driver-mysql', '@q/driver-pg', '@q/driver-redis', '@q/driver-sqlite'],
  ...['better-sqlite3', 'ioredis', 'mysql2', 'pg'],
  ...['drizzle-orm', 'knex', 'kysely'],
];

/** How a run of the command ended. */
interface Ended {
  /** Null: a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** When it ended, on `performance.now()`. */
  readonly atMs: number;
}

export interface Started {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  /** What it wrote to stdout so far. */
  stdout(): string;
  stderr(): string;
  /** Resolves when stdout has `text`; rejects with what it printed when it ends without. */
  said(text: string): Promise<void>;
}

interface StartOptions {
  /** A folder below the project's. */
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** The command's file, where it is a copy. */
  readonly binary?: string;
}

/** A folder as a user has one: a config, packages, and the command in a process of its own. */
export interface Project extends AsyncDisposable {
  readonly folder: string;
  /** Writes files, by their paths in the folder. */
  write(files: Readonly<Record<string, string>>): void;
  /** Runs `q` with these arguments to its end. */
  q(args: readonly string[], options?: StartOptions): Promise<Ended>;
  start(args: readonly string[], options?: StartOptions): Started;
}

export function aProject(files: Readonly<Record<string, string>> = {}): Project {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'q-cli-')));
  linkPackages(folder);
  const started: Started[] = [];
  const project: Project = {
    folder,
    write(more) {
      for (const [path, content] of Object.entries(more)) {
        mkdirSync(dirname(join(folder, path)), { recursive: true });
        writeFileSync(join(folder, path), content);
      }
    },
    q: (args, options) => project.start(args, options).ended,
    start(args, { cwd = '.', env = {}, binary = BINARY } = {}) {
      const process = startBinary([binary, ...args], join(folder, cwd), env);
      started.push(process);
      return process;
    },
    async [Symbol.asyncDispose]() {
      for (const { child } of started) if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
      await Promise.all(started.map(({ ended }) => ended));
      rmSync(folder, { recursive: true, force: true });
    },
  };
  project.write(files);
  return project;
}

function linkPackages(folder: string): void {
  mkdirSync(join(folder, 'node_modules', '@q'), { recursive: true });
  symlinkSync(PACKAGE, join(folder, 'node_modules', '@q', 'cli'));
  for (const name of PACKAGES) {
    const target = join(PACKAGE, 'node_modules', name);
    if (existsSync(target)) symlinkSync(realpathSync(target), join(folder, 'node_modules', name));
  }
}

function startBinary(args: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Started {
  const child = spawn(process.execPath, args, {
    cwd,
    // As in a shell: vitest's own settings are not the command's.
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const written = { stdout: '', stderr: '' };
  const listeners = new Set<() => void>();
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      written[name] += text;
      for (const listener of listeners) listener();
    });
  }
  const ended = new Promise<Ended>((resolve) => {
    child.on('close', (code) => resolve({ code, ...written, atMs: performance.now() }));
  });
  return {
    child,
    ended,
    stdout: () => written.stdout,
    stderr: () => written.stderr,
    said: (text) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (written.stdout.includes(text)) resolve();
        };
        listeners.add(look);
        look();
        void ended.then((end) => reject(new Error(`it ended without "${text}": ${JSON.stringify(end)}`)));
      }),
  };
}
