// q doctor on every server, and on servers whose settings are not for a queue. What the diagnosis of each driver finds is
// in that driver's own tests; here it is what a person sees.
import {
  createMysqlDatabase,
  createPostgresDatabase,
  startMariaDb,
  startMysql,
  startPgBouncer,
  startRedis,
} from '@q/servers';
import type {} from '@q/servers/vitest/postgres';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { aProject, type Project } from './project.js';

const OPENED = {
  mysql: (url: string) => `
import mysql from 'mysql2/promise';
import { MysqlDriver } from '@q/driver-mysql';
const pool = mysql.createPool({ uri: '${url}' });
const driver = new MysqlDriver(pool);
const close = async () => { await driver.close(); await pool.end(); };
`,
  postgres: (url: string) => `
import pg from 'pg';
import { PgDriver } from '@q/driver-pg';
const pool = new pg.Pool({ connectionString: '${url}' });
pool.on('error', () => {});
const driver = new PgDriver(pool);
const close = async () => { await driver.close(); await pool.end(); };
`,
  redis: (url: string) => `
import { Redis } from 'ioredis';
import { RedisDriver } from '@q/driver-redis';
const redis = new Redis('${url}', { lazyConnect: true });
const driver = new RedisDriver(redis);
const close = () => driver.close();
`,
} as const;

/** A project on this store, with its tables. */
async function aProjectOn(kind: keyof typeof OPENED, url: string): Promise<Project> {
  const project = aProject({
    'q.config.mjs': `
import { defineConfig } from '@q/cli';
import { defineHandlers, Queue } from '@q/core';
${OPENED[kind](url)}
if (process.env.CREATE_TABLES) await driver.createTables();
export default defineConfig({ queue: new Queue({ driver, handlers: defineHandlers({}) }), close });
`,
  });
  onTestFinished(() => project[Symbol.asyncDispose]());
  if (kind === 'redis') return project;
  const { code, stderr } = await project.q(['status'], { env: { CREATE_TABLES: 'yes' } });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return project;
}

/** What it prints, without the counts that differ from driver to driver. */
async function doctor(project: Project) {
  const { code, stdout, stderr } = await project.q(['doctor']);
  const [, findings = ''] = /^\w+, as q.config.mjs has it\n\n([\s\S]*?)\n\nTried out/.exec(stdout) ?? [];
  const summary = stdout.trimEnd().split('\n').at(-1) ?? '';
  return { code, stderr, findings: findings.split('\n'), summary, stdout };
}

describe('q doctor', () => {
  it('on Postgres through PgBouncer says that LISTEN does not work there', async () => {
    const space = await createPostgresDatabase(inject('postgres'));
    onTestFinished(() => space.drop());
    await using bouncer = await startPgBouncer(inject('postgres'), { poolSize: 4 });
    const url = new URL(bouncer.url);
    url.pathname = new URL(space.url).pathname;
    const { code, stderr, findings, summary } = await doctor(await aProjectOn('postgres', url.href));
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(findings.slice(-2)).toEqual([
      'warning  There is a pooler between this process and Postgres, through which LISTEN does not work, so workers find jobs by polling',
      '         Give `listen` a direct connection to Postgres, or false if workers are to poll',
    ]);
    expect(summary).toMatch(/^0 errors, 1 warning; \d+ cases held, 0 failed, \d+ not tried$/);
  });

  it.each([
    ['MariaDB', startMariaDb, /^ok {7}MariaDB .*: workers step past each other \(SKIP LOCKED\)$/],
    ['MySQL', startMysql, /^ok {7}MySQL .*: workers step past each other \(SKIP LOCKED\)$/],
  ] as const)('on %s that is well says so', async (_, start, version) => {
    await using server = await start();
    const { url } = await createMysqlDatabase(server.url);
    const { code, stderr, findings, summary } = await doctor(await aProjectOn('mysql', url));
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(findings[0]).toMatch(version);
    expect(summary).toMatch(/^0 errors, 0 warnings; \d+ cases held, 0 failed, \d+ not tried$/);
  });

  it('on MariaDB that logs by statement says that claims are refused, before and after it tried', async () => {
    await using server = await startMariaDb({
      own: true,
      settings: { 'log-bin': 'binlog', 'binlog-format': 'STATEMENT' },
    });
    const { url } = await createMysqlDatabase(server.url);
    const { code, stderr, findings, summary, stdout } = await doctor(await aProjectOn('mysql', url));
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    expect(findings).toContain(
      'error    The binary log has the format STATEMENT, for which the server refuses every claim (error 1665)',
    );
    expect(findings).toContain('         Set binlog_format to ROW or MIXED');
    expect(stdout).toContain('set binlog_format to ROW or MIXED');
    expect(stdout).toMatch(/\n… and \d+ more, which --json tells\n/);
    expect(summary).toMatch(/^1 error, 0 warnings; \d+ cases held, [1-9]\d+ failed, \d+ not tried$/);
  });

  it('on Redis that is well says so', async () => {
    await using server = await startRedis({ own: true, settings: { appendonly: 'yes', appendfsync: 'no' } });
    const { code, stderr, findings, summary } = await doctor(await aProjectOn('redis', server.url));
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(findings[0]).toMatch(/^ok {7}Redis \d/);
    expect(summary).toMatch(/^0 errors, 0 warnings; \d+ cases held, 0 failed, \d+ not tried$/);
  });

  it('on Redis that throws keys away says that it throws jobs away', async () => {
    await using server = await startRedis({
      own: true,
      settings: { 'maxmemory-policy': 'allkeys-lru', appendonly: 'yes' },
    });
    const { code, findings, summary } = await doctor(await aProjectOn('redis', server.url));
    expect(code).toBe(1);
    expect(findings.slice(1, 3)).toEqual([
      'error    The eviction policy is allkeys-lru, so jobs are thrown away when the memory is used up',
      '         Set maxmemory-policy to noeviction: then a push is refused when the memory is used up, and no job is lost',
    ]);
    expect(summary).toMatch(/^1 error, 0 warnings; \d+ cases held, 0 failed, \d+ not tried$/);
  });
});
