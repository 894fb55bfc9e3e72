import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

const exec = promisify(execFile);

/** Whether the program sqlite3 is on this machine. */
export function hasSqliteProgram(): boolean {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, 'sqlite3')));
}

/** Installs it where that can be done: as root, on Debian. Where it cannot, nothing happens. */
export async function installSqliteProgram(): Promise<void> {
  if (hasSqliteProgram() || process.getuid?.() !== 0 || !existsSync('/etc/debian_version')) return;
  await exec('apt-get', ['update', '-qq']);
  await exec('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'sqlite3']);
}
