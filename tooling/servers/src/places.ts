import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Runs a program to its end and gives what it printed. Rejects with its output where it fails. */
export async function output(
  program: string,
  args: readonly string[],
  options: { readonly uid?: number; readonly gid?: number } = {},
): Promise<string> {
  const { stdout } = await promisify(execFile)(program, args, { ...options, maxBuffer: 64 * 1024 * 1024 });
  return stdout;
}

/** A port of this machine that nobody listens on. Somebody may take it before it is used: whoever starts a server retries. */
async function freePort(): Promise<number> {
  const probe = net.createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  // The cast: a TCP server that listens has an address with a port.
  const { port } = probe.address() as net.AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}

/** A new, empty folder for a server, that its user may write. */
export function serverFolder(kind: string, owner: Owner): string {
  const folder = mkdtempSync(join(tmpdir(), `q-${kind}-`));
  if (owner.uid !== undefined && owner.gid !== undefined) chownSync(folder, owner.uid, owner.gid);
  return folder;
}

/** Whom a server runs as; empty: as this process. */
export interface Owner {
  readonly uid?: number;
  readonly gid?: number;
}

/**
 * Whom to run a server as: this process's user, but for root, as whom some servers refuse to run. Then the user that the
 * package of the server made, or else `nobody`.
 */
export async function serverOwner(user: string): Promise<Owner> {
  if (process.getuid?.() !== 0) return {};
  for (const name of [user, 'nobody']) {
    try {
      const [uid, gid] = await Promise.all(['-u', '-g'].map(async (flag) => Number(await output('id', [flag, name]))));
      if (uid !== undefined && gid !== undefined) return { uid, gid };
    } catch {
      // no such user
    }
  }
  throw new Error(`There is neither a user ${user} nor nobody to run a server as`);
}

/** Starts a server on a free port, anew on another one where the first was taken meanwhile. */
export async function onFreePort<T>(start: (port: number) => Promise<T>): Promise<T> {
  let failure: unknown;
  for (let tries = 0; tries < 3; tries += 1) {
    try {
      return await start(await freePort());
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}
