import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { arch, cpus, platform, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { PEER_VERSIONS } from './peer-versions.js';

export interface Environment {
  readonly date: string;
  readonly commit: string;
  readonly cpu: string;
  readonly memoryGigabytes: number;
  readonly system: string;
  readonly node: string;
  readonly packages: Readonly<Record<string, string>>;
}

const CLIENTS = ['better-sqlite3', 'ioredis', 'mysql2', 'pg'];

export function environment(): Environment {
  return {
    date: new Date().toISOString(),
    commit: commit(),
    cpu: `${cpus().length} x ${cpus()[0]?.model.trim()}`,
    memoryGigabytes: Math.round(totalmem() / 1e9),
    system: `${platform()} ${release()} ${arch()}`,
    node: process.version,
    packages: { ...Object.fromEntries(CLIENTS.map((name) => [name, versionOf(name)])), ...PEER_VERSIONS },
  };
}

/** With a plus where the tree is not that commit's. */
function commit(): string {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: import.meta.dirname, encoding: 'utf8' }).trim();
  try {
    return git('rev-parse', '--short', 'HEAD') + (git('status', '--porcelain') === '' ? '' : '+');
  } catch {
    return 'unknown';
  }
}

/** From the folder it is installed in: not every package exports its manifest. */
export function versionOf(name: string): string {
  for (const folder of createRequire(import.meta.url).resolve.paths(name) ?? []) {
    try {
      return JSON.parse(readFileSync(join(folder, name, 'package.json'), 'utf8')).version;
    } catch {}
  }
  return 'unknown';
}
