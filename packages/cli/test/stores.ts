import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { QueueDriver, QueueInspection, QueueReports, QueueSchema } from '@q/core';
import { PgDriver } from '@q/driver-pg';
import { RedisDriver } from '@q/driver-redis';
import { SqliteDriver } from '@q/driver-sqlite';
import { createPostgresDatabase } from '@q/servers';
import type {} from '@q/servers/vitest/postgres';
import type {} from '@q/servers/vitest/redis';
import Database from 'better-sqlite3';
import { Redis } from 'ioredis';
import pg from 'pg';
import { inject } from 'vitest';
import { aProject, type Project } from './project.js';

type FullDriver = QueueDriver & QueueReports & QueueInspection & QueueSchema;

/** A project on a store of its own, with its tables, and the test's own way to the same store. */
export interface StoreProject<D extends QueueDriver = FullDriver> extends Project {
  readonly driver: D;
  push(name: string, payload?: object, options?: PushOptions): Promise<number>;
}

interface PushOptions {
  readonly queue?: string;
  readonly delay?: number;
  readonly maxAttempts?: number;
  readonly priority?: number;
}

export interface Store<D extends QueueDriver = FullDriver> {
  readonly name: string;
  open(options?: { readonly queue?: string; readonly rest?: string }): Promise<StoreProject<D>>;
}

export const HANDLERS = `
import { setTimeout as sleep } from 'node:timers/promises';
import { defineHandlers, handler, job } from '@q/core';
export const handlers = defineHandlers({
  quick: handler(async () => {}),
  boom: handler(async ({ message }) => { throw new Error(message); }),
  slow: handler(async ({ ms }, job) => sleep(ms, undefined, { signal: job.signal })),
  stubborn: handler(({ ms }) => sleep(ms)),
  release: handler((_, job) => job.release(45)),
  elsewhere: job(),
});
`;

export const sqlite: Store = {
  name: 'SQLite',
  async open({ queue = '', rest = '' } = {}) {
    const project = aProject({
      'handlers.mjs': HANDLERS,
      'q.config.mjs': `
import Database from 'better-sqlite3';
import { defineConfig } from '@q/cli';
import { Queue } from '@q/core';
import { SqliteDriver } from '@q/driver-sqlite';
import { handlers } from './handlers.mjs';
const db = new Database('app.db');
const driver = new SqliteDriver(db);
export default defineConfig({
  queue: new Queue({ driver, handlers, tries: 2, backoff: 90, ${queue} }),
  close: async () => { await driver.close(); db.close(); },
  ${rest}
});
`,
    });
    const db = new Database(join(project.folder, 'app.db'));
    db.pragma('journal_mode = WAL');
    const driver = new SqliteDriver(db);
    await driver.createTables();
    return withDriver(project, driver, async () => {
      await driver.close();
      db.close();
    });
  },
};

const postgres: Store = {
  name: 'Postgres',
  async open({ queue = '', rest = '' } = {}) {
    const space = await createPostgresDatabase(inject('postgres'));
    const project = aProject({
      'handlers.mjs': HANDLERS,
      'q.config.mjs': `
import pg from 'pg';
import { defineConfig } from '@q/cli';
import { Queue } from '@q/core';
import { PgDriver } from '@q/driver-pg';
import { handlers } from './handlers.mjs';
const pool = new pg.Pool({ connectionString: '${space.url}' });
pool.on('error', () => {});
const driver = new PgDriver(pool);
export default defineConfig({
  queue: new Queue({ driver, handlers, tries: 2, backoff: 90, ${queue} }),
  close: async () => { await driver.close(); await pool.end(); },
  ${rest}
});
`,
    });
    const pool = new pg.Pool({ connectionString: space.url, max: 2 });
    pool.on('error', () => {});
    const driver = new PgDriver(pool);
    await driver.createTables();
    return withDriver(project, driver, async () => {
      await driver.close();
      await pool.end();
      await space.drop();
    });
  },
};

/** It has neither reports nor a schema. Nothing is there to be installed, and a prefix of its own is a store of its own. */
export const redis: Store<RedisDriver> = {
  name: 'Redis',
  async open({ queue = '', rest = '' } = {}) {
    const url = inject('redis');
    const prefix = `test_${randomBytes(6).toString('hex')}`;
    const project = aProject({
      'handlers.mjs': HANDLERS,
      'q.config.mjs': `
import { defineConfig } from '@q/cli';
import { Queue } from '@q/core';
import { RedisDriver } from '@q/driver-redis';
import { Redis } from 'ioredis';
import { handlers } from './handlers.mjs';
const redis = new Redis('${url}');
const driver = new RedisDriver(redis, { prefix: '${prefix}' });
export default defineConfig({
  queue: new Queue({ driver, handlers, tries: 2, backoff: 90, ${queue} }),
  close: async () => { await driver.close(); redis.disconnect(); },
  ${rest}
});
`,
    });
    const client = new Redis(url, { lazyConnect: true });
    const driver = new RedisDriver(client, { prefix });
    return withDriver(project, driver, () => driver.close());
  },
};

/** The stores besides SQLite, on which everything is tried out in detail. */
export const OTHER_STORES: readonly Store[] = [postgres];

function withDriver<D extends QueueDriver>(project: Project, driver: D, close: () => Promise<void>): StoreProject<D> {
  return {
    ...project,
    driver,
    push: (name, payload = {}, { queue = 'default', delay = 0, maxAttempts = 1, priority = 0 } = {}) =>
      driver.push({ name, payload, delay, queue, priority, unique: null, maxAttempts }),
    async [Symbol.asyncDispose]() {
      await project[Symbol.asyncDispose]();
      await close();
    },
  };
}

/** A job that has failed for good, with this error: claimed and failed, as a worker would. Resolves to its id there. */
export async function aFailedJob(
  { driver, push }: StoreProject,
  { name = 'boom', queue = 'default', payload = {}, error = 'Error: no' as string } = {},
): Promise<number> {
  await push(name, payload, { queue });
  const claim = await driver.reserve([queue], 60, 'tester');
  if (claim === null) throw new Error('nothing to reserve');
  await driver.fail(claim, error);
  const [newest] = await driver.failedRows(1);
  if (newest === undefined) throw new Error('nothing failed');
  return newest.id;
}
