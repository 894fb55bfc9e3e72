import { cpSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createPostgresDatabase } from '@q/servers';
import type {} from '@q/servers/vitest/postgres';
import Database from 'better-sqlite3';
import pg from 'pg';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { aProject, type Project } from './project.js';
import { OTHER_STORES, sqlite } from './stores.js';

// Hundreds of cases, each with tables of its own, on a machine that is busy with other tests too.
const WHOLE_RUN = { timeout: 180_000 };

const SUMMARY = /^(\d+) errors?, (\d+) warnings?; (\d+) cases? held, (\d+) failed, (\d+) not tried\n$/m;

/** The numbers of the last line. */
function summaryOf(stdout: string) {
  const [errors, warnings, held, failed, notTried] = (SUMMARY.exec(stdout) ?? []).slice(1).map(Number);
  return { errors, warnings, held, failed, notTried };
}

const POSTGRES = (url: string) => `
import pg from 'pg';
import { defineConfig } from '@q/cli';
import { defineHandlers, Queue } from '@q/core';
import { PgDriver } from '@q/driver-pg';
const pool = new pg.Pool({ connectionString: '${url}' });
pool.on('error', () => {});
const driver = new PgDriver(pool);
export default defineConfig({
  queue: new Queue({ driver, handlers: defineHandlers({}) }),
  close: async () => { await driver.close(); await pool.end(); },
});
`;

/** A project on a database of its own; with `spoil`, on tables in which something is wrong. */
async function onPostgres(
  spoil?: string,
): Promise<{ readonly project: Project; readonly pool: pg.Pool; readonly url: string }> {
  const space = await createPostgresDatabase(inject('postgres'));
  const project = aProject({ 'q.config.mjs': POSTGRES(space.url) });
  const pool = new pg.Pool({ connectionString: space.url, max: 2 });
  pool.on('error', () => {});
  onTestFinished(async () => {
    await project[Symbol.asyncDispose]();
    await pool.end();
    await space.drop();
  });
  const { stdout } = await project.q(['install', '--print']);
  await pool.query(stdout);
  if (spoil !== undefined) await pool.query(spoil);
  return { project, pool, url: space.url };
}

async function scratchTables(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query("SELECT count(*)::int AS n FROM pg_class WHERE relname LIKE 'queue_scratch%'");
  return rows[0].n;
}

describe('q doctor', () => {
  it.each([['SQLite', sqlite], ...OTHER_STORES.map((one) => [one.name, one] as const)] as const)(
    'on %s that is well says so, rule by rule, and exits 0',
    WHOLE_RUN,
    async (_, kind) => {
      await using store = await kind.open();
      const { code, stdout, stderr } = await store.q(['doctor']);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toMatch(/^\w+Driver, as q.config.mjs has it\n\nok {7}\w/);
      expect(stdout).toMatch(/\nrule +holds +fails +not tried\nabilities +1 +0 +1\n/);
      expect(summaryOf(stdout)).toMatchObject({ errors: 0, warnings: 0, failed: 0 });
      expect(summaryOf(stdout).held).toBeGreaterThan(150);
      expect(await store.driver.stats()).toEqual([]);
    },
  );

  it('tells machines the same, in one line', WHOLE_RUN, async () => {
    await using store = await sqlite.open();
    const { code, stdout, stderr } = await store.q(['doctor', '--json']);
    expect({ code, stderr, lines: stdout.split('\n').length }).toEqual({ code: 0, stderr: '', lines: 2 });
    const { driver, isWell, findings, cases } = JSON.parse(stdout);
    expect({ driver, isWell }).toEqual({ driver: 'SqliteDriver', isWell: true });
    expect(findings[0]).toEqual({ level: 'ok', code: 'server_version', message: expect.stringContaining('SQLite 3.') });
    expect(cases).toContainEqual({ id: 'scratch/empty-twin', rule: 'scratch', outcome: 'passed' });
    expect(cases).toContainEqual({
      id: 'push/writes-every-column',
      rule: 'push-columns',
      outcome: 'skipped',
      why: 'needs what only a test has: the stored jobs can be read behind the driver’s back',
    });
    const db = new Database(join(store.folder, 'app.db'));
    expect(db.prepare("SELECT name FROM sqlite_master WHERE name LIKE 'queue_scratch%'").all()).toEqual([]);
    db.close();
  });

  it(
    'on tables without one of their columns says which, and what to do; the server itself is well',
    WHOLE_RUN,
    async () => {
      const { project, pool } = await onPostgres('ALTER TABLE queue_jobs DROP COLUMN last_error');
      const { code, stdout, stderr } = await project.q(['doctor']);
      expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
      expect(stdout).toContain(`
error    queue_jobs has no column last_error
         Compare the table with what \`q install --print\` gives, and write a migration for the difference
`);
      expect(summaryOf(stdout)).toMatchObject({ errors: 1, warnings: 0, failed: 0 });
      expect(await scratchTables(pool)).toBe(0);
    },
  );

  it('of a user that may not create tables looks, and tries nothing', async () => {
    const { project, pool, url } = await onPostgres();
    const name = `clerk_${new URL(url).pathname.slice(1)}`;
    await pool.query(`REVOKE CREATE ON SCHEMA public FROM PUBLIC; CREATE ROLE ${name} LOGIN;
      GRANT ALL ON ALL TABLES IN SCHEMA public TO ${name}; GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO ${name}`);
    const clerk = new URL(url);
    clerk.username = name;
    project.write({ 'q.config.mjs': POSTGRES(clerk.href) });
    const { code, stdout, stderr } = await project.q(['doctor']);
    await pool.query(`DROP OWNED BY ${name}; DROP ROLE ${name}`);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('\nwarning  No scratch twin could be made, so nothing was tried out: ');
    expect(stdout).toContain('permission denied for schema public');
    expect(summaryOf(stdout)).toEqual({ errors: 0, warnings: 1, held: 0, failed: 0, notTried: 0 });
  });

  it.each(['SIGINT', 'SIGTERM'] as const)(
    'leaves nothing on the server when %s ends it in the middle',
    WHOLE_RUN,
    async (signal) => {
      const { project, pool } = await onPostgres();
      const doctor = project.start(['doctor']);
      await doctor.said('LISTEN works');
      await expect.poll(() => scratchTables(pool), { timeout: 60_000, interval: 5 }).toBeGreaterThan(0);
      doctor.child.kill(signal);
      const { code, stdout, stderr } = await doctor.ended;
      expect({ code, stderr }).toEqual({
        code: 1,
        stderr: 'error: interrupted; what it had made on the server is removed\n',
      });
      expect(stdout).not.toMatch(SUMMARY);
      expect(await scratchTables(pool)).toBe(0);
    },
  );

  it('on a server that is not there says so in one line, and exits 1', async () => {
    await using project = aProject({ 'q.config.mjs': POSTGRES('postgres://nobody@127.0.0.1:9/none') });
    const { code, stdout, stderr } = await project.q(['doctor']);
    expect({ code, stdout }).toEqual({ code: 1, stdout: 'PgDriver, as q.config.mjs has it\n\n' });
    expect(stderr).toMatch(/^error: .*ECONNREFUSED.*\n$/);
  });

  it('without the suite says what to install, and exits 2', async () => {
    await using project = aProject({ 'q.config.mjs': POSTGRES('postgres://nobody@127.0.0.1:9/none') });
    // A copy, since what is linked finds the packages of this repository.
    const copy = join(project.folder, 'node_modules', '@q', 'cli');
    const original = fileURLToPath(new URL('..', import.meta.url));
    rmSync(copy);
    for (const part of ['dist', 'package.json']) cpSync(join(original, part), join(copy, part), { recursive: true });
    for (const name of ['cli-table3', 'commander', 'jiti', 'picocolors']) {
      const target = realpathSync(join(original, 'node_modules', name));
      symlinkSync(target, join(project.folder, 'node_modules', name));
    }
    const { code, stdout, stderr } = await project.q(['doctor'], { binary: join(copy, 'dist', 'main.js') });
    expect({ code, stdout, stderr }).toEqual({
      code: 2,
      stdout: '',
      stderr: 'error: q doctor needs the package @q/conformance: npm install --save-dev @q/conformance\n',
    });
  });
});
