import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { output } from './places.js';
import type { Recipe } from './recipe.js';

/** What is looked for when a kind of server is wanted, and how it is said where there is none. */
export interface Wanted {
  /** `Postgres` */
  readonly name: string;
  /** The variable that names a server of somebody else's: `Q_TEST_POSTGRES_URL`. */
  readonly variable: string;
  /** The Debian package with its server. */
  readonly aptPackage: string;
  /** The image for `docker run`. */
  readonly image: string;
  /** Where the server's programs are, or null. */
  readonly findBinaries: () => string | null;
}

export type Found =
  | { readonly source: 'environment'; readonly url: string }
  | { readonly source: 'binaries'; readonly folder: string }
  | { readonly source: 'docker'; readonly image: string };

/**
 * Where to take a server from: a URL in the environment; programs on this machine; Docker, where a daemon runs; as root
 * on Debian, apt. Throws one sentence where there is nothing: tests that need a server fail without one, and never pass
 * by being skipped.
 */
export async function findSource(wanted: Wanted, { own = false }: { readonly own?: boolean } = {}): Promise<Found> {
  const url = process.env[wanted.variable];
  if (!own && url !== undefined && url !== '') return { source: 'environment', url };
  const there = wanted.findBinaries();
  if (there !== null) return { source: 'binaries', folder: there };
  if (await hasDocker()) return { source: 'docker', image: wanted.image };
  if (canInstall()) {
    await installPackage(wanted.aptPackage);
    const installed = wanted.findBinaries();
    if (installed !== null) return { source: 'binaries', folder: installed };
  }
  throw new Error(
    `These tests need ${wanted.name}, and there is none: set ${wanted.variable}${own ? '' : ' to the URL of a server'}, ` +
      `install the package ${wanted.aptPackage}, or start Docker` +
      (own ? ' (one that this test may stop: a URL will not do)' : ''),
  );
}

/** The folder among these, or on the PATH, that has a program. */
export function folderWith(program: string, folders: readonly string[] = []): string | null {
  const all = [...folders, ...(process.env.PATH ?? '').split(delimiter)];
  return all.find((folder) => folder !== '' && existsSync(join(folder, program))) ?? null;
}

/** The subfolders of a folder, the highest version first; none where it is not there. */
export function versionsIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const compare = new Intl.Collator('en', { numeric: true }).compare;
  return readdirSync(folder).toSorted(compare).toReversed();
}

/** How to run an image in the foreground, its one port on a port of this machine. */
export function dockerRecipe(options: {
  readonly image: string;
  readonly port: number;
  readonly innerPort: number;
  readonly env: Readonly<Record<string, string>>;
  readonly args: readonly string[];
}): { readonly create: readonly string[]; readonly recipe: Recipe } {
  const { image, port, innerPort, env, args } = options;
  const name = `q-test-${process.pid}-${port}`;
  const variables = Object.entries(env).flatMap(([key, value]) => ['--env', `${key}=${value}`]);
  const docker = (...words: string[]) => ({ program: 'docker', args: words });
  return {
    create: ['create', '--name', name, '--publish', `127.0.0.1:${port}:${innerPort}`, ...variables, image, ...args],
    recipe: {
      run: docker('start', '--attach', name),
      stop: docker('stop', name),
      kill: docker('kill', name),
      remove: docker('rm', '--force', '--volumes', name),
    },
  };
}

/**
 * Installs a Debian package, and starts no service with it: a package of a server starts one on its standard port, which
 * may be somebody's.
 */
export async function installPackage(name: string): Promise<void> {
  const policy = '/usr/sbin/policy-rc.d';
  const isOurs = !existsSync(policy);
  if (isOurs) writeFileSync(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    await output('apt-get', ['update', '-qq']);
    await output('apt-get', ['install', '-y', '-qq', '--no-install-recommends', name]);
  } finally {
    if (isOurs) rmSync(policy);
  }
}

/** Whether this process may install Debian packages. */
export function canInstall(): boolean {
  const isDebian = existsSync('/etc/debian_version') && readFileSync('/etc/debian_version', 'utf8') !== '';
  return isDebian && process.getuid?.() === 0 && folderWith('apt-get') !== null;
}

/** Whether a Docker daemon runs. */
export async function hasDocker(): Promise<boolean> {
  if (folderWith('docker') === null) return false;
  try {
    await output('docker', ['info', '--format', '{{.ServerVersion}}']);
    return true;
  } catch {
    return false;
  }
}

/** The error of what cannot be done to a server that is somebody else's. */
export function notOurs(what: string): Error {
  return new Error(`A server from the environment cannot be ${what}: start one with { own: true }`);
}
