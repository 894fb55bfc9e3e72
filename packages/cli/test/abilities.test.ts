import { cpSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { aFailedJob, sqlite } from './stores.js';

const REST = `
import Database from 'better-sqlite3';
import { Queue } from '@q/core';
import { SqliteDriver } from '@q/driver-sqlite';
import { handlers } from './handlers.mjs';
class PlainDriver extends SqliteDriver {}
const driver = new PlainDriver(new Database('app.db'));
const without = (...methods) => { for (const method of methods) driver[method] = undefined; };
`;
const EXPORT = 'export default { queue: new Queue({ driver, handlers }) };';

describe('On a driver without reports', () => {
  const CONFIG = `${REST} without('stats', 'failedCount', 'failedRows', 'retryFailed', 'forgetFailed'); ${EXPORT}`;

  it.each(['status', 'status --watch --json', 'failed', 'retry --all', 'forget --all'])(
    'q %s exits 2 with one line that names the driver',
    async (line) => {
      await using store = await sqlite.open();
      store.write({ 'q.config.mjs': CONFIG });
      const { code, stdout, stderr } = await store.q(line.split(' '));
      const command = line.split(' ')[0];
      const error = `error: PlainDriver keeps no reports, so there is no q ${command} on it\n`;
      expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: '', stderr: error });
    },
  );

  it('q work, q why and q failed --id do their work', async () => {
    await using store = await sqlite.open();
    store.write({ 'q.config.mjs': CONFIG });
    const failed = await aFailedJob(store, { error: 'Error: no' });
    await store.push('quick');
    expect(await store.q(['work', '--once'])).toMatchObject({ code: 0, stderr: '' });
    expect((await store.q(['failed', `--id=${failed}`])).stdout).toContain('\n\nError: no\n');
    expect((await store.q(['why', '7'])).stdout).toBe('Job 7 is not there: it is done, or was never pushed.\n');
  });
});

describe('On a driver without inspection', () => {
  it.each([
    ['why 7', 'q why'],
    ['failed --id=7', 'q failed --id'],
  ])('q %s exits 2 with one line that names the driver', async (line, command) => {
    await using store = await sqlite.open();
    store.write({ 'q.config.mjs': `${REST} without('find', 'findFailed'); ${EXPORT}` });
    const { code, stdout, stderr } = await store.q(line.split(' '));
    const error = `error: PlainDriver cannot look up a job, so there is no ${command} on it\n`;
    expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: '', stderr: error });
  });
});

describe('On a driver with the six methods alone', () => {
  it('q work works', async () => {
    await using store = await sqlite.open();
    store.write({
      'q.config.mjs': `${REST}
const six = {};
for (const method of ['push', 'reserve', 'delete', 'release', 'fail', 'pending']) six[method] = driver[method].bind(driver);
export default { queue: new Queue({ driver: six, handlers }) };`,
    });
    for (let n = 0; n < 3; n += 1) await store.push('quick');
    const { code, stdout } = await store.q(['work', '--stop-when-empty', '--concurrency=2']);
    expect(code).toBe(0);
    expect(stdout).toContain('\nRan 3 jobs\n');
    expect((await store.q(['status'])).stderr).toBe(
      'error: This driver keeps no reports, so there is no q status on it\n',
    );
    expect((await store.q(['install'])).stdout).toBe('Nothing to install\n');
  });
});

describe('With a copy of core of its own in the project', () => {
  it('every command does its work', async () => {
    await using store = await sqlite.open();
    // As where the command is installed beside another version: no class of one copy is a class of the other.
    const modules = join(store.folder, 'node_modules');
    for (const name of ['@q/core', '@q/driver-sqlite']) {
      const original = realpathSync(join(modules, name));
      rmSync(join(modules, name));
      for (const part of ['dist', 'package.json']) {
        cpSync(join(original, part), join(modules, name, part), { recursive: true });
      }
    }
    rmSync(join(modules, 'better-sqlite3'));
    symlinkSync(
      realpathSync(new URL('../node_modules/better-sqlite3', import.meta.url)),
      join(modules, 'better-sqlite3'),
    );
    await store.push('boom', { message: 'no' });
    await store.push('unheard-of');
    const work = await store.q(['work', '--stop-when-empty']);
    expect(work.code).toBe(0);
    expect(work.stdout).toContain('\n   failed for good: no\n');
    expect(work.stdout).toContain(
      '\n   failed for good: No handler "unheard-of": unheard-of does not exist in the handler registry\n',
    );
    expect(await store.q(['retry', '--all'])).toMatchObject({ code: 0, stdout: 'Requeued 2 jobs.\n' });
    store.write({
      'q.config.mjs': `${REST.replace('app.db', 'other.db')} ${EXPORT}`,
    });
    const { code, stderr } = await store.q(['status']);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^error: The tables "queue_jobs" and "queue_failed_jobs" are not there\. Apply the migration/m,
    );
  });
});
