import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A file system of its own, in memory, that a storm may fill. Needs the right to mount, as root has. */
export interface SmallDisk extends Disposable {
  readonly folder: string;
  /** Leaves not a byte. */
  fill(): void;
  empty(): void;
}

/** Throws, and says why, where mounting is not permitted. */
export function mountSmallDisk(megabytes: number): SmallDisk {
  const folder = mkdtempSync(join(tmpdir(), 'q-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=1777`, 'tmpfs', folder], { stdio: 'pipe' });
  } catch (error) {
    rmdirSync(folder);
    throw new Error('A storm that fills a disk needs a small one: mount it as root, or leave it out by name', {
      cause: error,
    });
  }
  const filler = join(folder, 'filler');
  return {
    folder,
    fill() {
      const { bavail, bsize } = statfsSync(folder);
      try {
        writeFileSync(filler, Buffer.alloc(bavail * bsize), { flag: 'a' });
        writeFileSync(filler, Buffer.alloc(4096), { flag: 'a' });
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
      }
    },
    empty: () => rmSync(filler, { force: true }),
    [Symbol.dispose]() {
      // Lazily: a server that is just ending has files open.
      execFileSync('umount', ['-l', folder]);
      rmdirSync(folder);
    },
  };
}
