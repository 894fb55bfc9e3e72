/** Other queues, installed on first use into a folder of their own: some need a newer Node than q does. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { versionOf } from './environment.js';
import { PEER_VERSIONS, type PeerPackage } from './peer-versions.js';
import type { StoreKind } from './subject.js';

/** What a store's peers are installed with: the clients at the versions that q is measured with. */
const PACKAGES: Readonly<Record<StoreKind, readonly string[]>> = {
  // Both want a newer Node than the oldest that q runs on. All subjects of a run use the same one.
  postgres: [...pinned('graphile-worker', 'pg-boss'), `pg@${versionOf('pg')}`, 'node@24.21.0'],
  redis: [...pinned('bullmq', 'bee-queue'), `ioredis@${versionOf('ioredis')}`],
  sqlite: pinned('plainjob'),
  mariadb: [],
};

export interface PeersFolder {
  readonly folder: string;
  /** The Node that all subjects of the store run on. */
  readonly node: string;
}

/** The folder is made once per set of versions, and kept. Rejects when the packages cannot be had. */
export async function installPeers(store: StoreKind, signal: AbortSignal): Promise<PeersFolder> {
  const packages = PACKAGES[store];
  const key = createHash('sha256')
    .update(JSON.stringify([packages, process.version]))
    .digest('hex')
    .slice(0, 12);
  const folder = join(tmpdir(), `q-bench-peers-${store}-${key}`);
  if (!existsSync(folder)) {
    console.error(`${store}: installing ${packages.join(' ')} into ${folder}`);
    await install(packages, folder, signal);
  }
  const node = join(folder, 'node_modules', 'node', 'bin', 'node');
  return { folder, node: existsSync(node) ? node : process.execPath };
}

/** The cast is the caller's: nothing is known of the package's types here. */
export async function importPeer(folder: string, name: PeerPackage): Promise<unknown> {
  return import(pathToFileURL(createRequire(join(folder, 'package.json')).resolve(name)).href);
}

/** Beside the place and then renamed: one that was cut short is not taken for whole. */
async function install(packages: readonly string[], folder: string, signal: AbortSignal): Promise<void> {
  const unfinished = mkdtempSync(`${folder}-`);
  try {
    writeFileSync(join(unfinished, 'package.json'), '{ "private": true }');
    await promisify(execFile)('npm', ['install', '--no-audit', '--no-fund', ...packages], {
      cwd: unfinished,
      signal,
      timeout: 180_000,
    });
    renameSync(unfinished, folder);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    throw error;
  }
}

function pinned(...names: readonly PeerPackage[]): string[] {
  return names.map((name) => `${name}@${PEER_VERSIONS[name]}`);
}
