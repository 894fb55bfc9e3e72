import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const LONGEST_MS = 20_000;

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs an example in an empty folder, which is where its files are, and then are no more. */
export async function run(file: string): Promise<Ran> {
  const cwd = mkdtempSync(join(tmpdir(), 'q-docs-'));
  try {
    return await new Promise((resolve) => {
      execFile(process.execPath, [file], { cwd, timeout: LONGEST_MS }, (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
        const late = error?.killed ? `${stderr}killed: it did not end within ${LONGEST_MS / 1000} s` : stderr;
        resolve({ code, stdout, stderr: late });
      });
    });
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
}
