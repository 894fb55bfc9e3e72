import { existsSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Config } from './define-config.js';
import { messageOf, refused } from './errors.js';

/** In order of preference within one folder. */
const NAMES = ['q.config.ts', 'q.config.js', 'q.config.mjs'] as const;

export interface LoadedConfig {
  readonly config: Config;
  /** Its file, absolute. */
  readonly file: string;
  /** Its file, from where the command was started. */
  readonly name: string;
}

/** The config's file in `folder` or the nearest folder above that has one. Throws (exit code 2) where there is none. */
export function findConfig(folder: string): string {
  for (let here = folder; ; here = dirname(here)) {
    const found = NAMES.map((name) => join(here, name)).find((file) => existsSync(file));
    if (found !== undefined) return found;
    if (here === dirname(here)) {
      throw refused(`no q.config.ts, q.config.js or q.config.mjs in ${folder} or a folder above it`);
    }
  }
}

/**
 * Runs the config and checks what it exports. Throws (exit code 2) where it cannot be used, in one line that says why,
 * with the file as it is reached from the folder `from`.
 */
export async function loadConfig(file: string, from: string): Promise<LoadedConfig> {
  const name = relative(from, file);
  const exported = await evaluate(file, name);
  const problem = problemOf(exported);
  if (problem !== null) throw refused(`${name} ${problem}`);
  return { config: exported as Config, file, name }; // checked above
}

async function evaluate(file: string, name: string): Promise<unknown> {
  try {
    const module: unknown = await (file.endsWith('.ts') ? importTypeScript(file) : import(pathToFileURL(file).href));
    // Asked like this: where there is no default export, jiti gives all the others for it.
    if (!isObject(module) || !('default' in module)) return undefined;
    return await module.default; // one that is made asynchronously is exported as its promise
  } catch (error) {
    throw refused(`${name} could not be loaded: ${messageOf(error)}`, { cause: error });
  }
}

/** Node 20 runs no TypeScript, and later ones not all of it. */
async function importTypeScript(file: string): Promise<unknown> {
  const { createJiti } = await import('jiti');
  return createJiti(import.meta.url, { fsCache: cacheFolder(file) }).import(file);
}

/**
 * Where compiled configs are kept: compiling takes most of a second, and cron starts this every minute. Beside the
 * packages, which are code already; never in a folder for temporary files, where others could put code under its name.
 */
function cacheFolder(file: string): string | false {
  for (let here = dirname(file); here !== dirname(here); here = dirname(here)) {
    const modules = join(here, 'node_modules');
    if (existsSync(modules)) return join(modules, '.cache', 'q');
  }
  return false;
}

/** What is wrong with an exported value as a config; null: nothing. No `instanceof`: it may be of another copy of core. */
function problemOf(exported: unknown): string | null {
  if (exported === undefined) return 'has no default export: export default defineConfig({ queue })';
  if (!isObject(exported)) return `exports ${kindOf(exported)}, not a config: export default defineConfig({ queue })`;
  const { queue, close, worker } = exported;
  if (!isObject(queue)) return `exports a config without a queue: defineConfig({ queue: new Queue({ … }) })`;
  if (!isObject(queue.driver) || typeof queue.driver.reserve !== 'function') return 'has a queue without a driver';
  if (!isObject(queue.handlers)) return 'has a queue without a registry of handlers';
  if (typeof queue.backoff !== 'function') return 'has a queue without a backoff: what is wanted is a Queue of @q/core';
  if (close !== undefined && typeof close !== 'function') return `has a close that is ${kindOf(close)}, not a function`;
  if (worker !== undefined && !isObject(worker)) return `has a worker that is ${kindOf(worker)}, not an object`;
  return null;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function kindOf(value: unknown): string {
  return value === null ? 'null' : typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
