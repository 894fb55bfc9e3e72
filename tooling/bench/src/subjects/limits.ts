/** The bare clients, on q's own tables and without any of q's guarantees: what no queue on this store can pass. */
import type Sqlite from 'better-sqlite3';
import { NAME, type StoreKind, type Subject, type WorkOptions } from '../subject.js';

/** `batch`: jobs a claim where `concurrency` is `best`. `named`: whether statements are prepared by name, on Postgres. */
export interface LimitOptions {
  readonly batch: number;
  readonly named: boolean;
}

type Claimed = readonly { readonly id: string | number; readonly payload: string }[];

export function limitSubject(store: StoreKind, url: string, options: LimitOptions): Promise<Subject> {
  return OPEN[store](url, options);
}

const payloadOf = (job: number) => JSON.stringify({ job });
const jobOf = (payload: string) => (JSON.parse(payload) as { job: number }).job;

/** Claims, runs, deletes, one after the other. */
async function loop(
  { concurrency, effect, until }: WorkOptions,
  best: number,
  { claim, remove }: { claim(limit: number): Promise<Claimed>; remove(ids: (string | number)[]): Promise<unknown> },
): Promise<void> {
  let ended = false;
  const end = until.then(() => {
    ended = true;
  });
  while (!ended) {
    const jobs = await claim(concurrency === 'best' ? best : 1);
    for (const { payload } of jobs) effect(jobOf(payload));
    if (jobs.length > 0) await remove(jobs.map(({ id }) => id));
    // A loop on SQLite never leaves the microtasks, and would never hear that it is to end.
    else await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await end;
}

const OPEN: Readonly<Record<StoreKind, (url: string, options: LimitOptions) => Promise<Subject>>> = {
  postgres: postgresLimit,
  redis: redisLimit,
  sqlite: sqliteLimit,
  mariadb: mariadbLimit,
};

const COLUMNS = '(queue, name, payload, available_at, created_at)';
// A text column has no default there.
const MARIADB_COLUMNS = '(queue, name, payload, available_at, created_at, last_error)';
const COUNT = 'SELECT count(*) AS jobs FROM queue_jobs';
const DUE = "queue = 'default' AND priority = 0";

async function postgresLimit(url: string, { batch, named }: LimitOptions): Promise<Subject> {
  const { default: pg } = await import('pg');
  const pool = new pg.Pool({ connectionString: url, max: 10 });
  const query = (name: string, text: string, values: unknown[]) =>
    pool.query({ ...(named ? { name } : {}), text, values });
  const insert = `INSERT INTO queue_jobs ${COLUMNS} VALUES ('default', '${NAME}', $1, now(), now()) RETURNING id`;
  const insertMany = `INSERT INTO queue_jobs ${COLUMNS} SELECT 'default', '${NAME}', job, now(), now() FROM unnest($1::text[]) AS job RETURNING id`;
  // The limit stands in the text: a bound one makes a generic plan guess how many rows there will be.
  const claim = (limit: number) => `
    UPDATE queue_jobs SET reserved_until = now() + interval '60 s', reserved_by = 'limit', attempts = attempts + 1
    WHERE id = ANY(ARRAY(SELECT id FROM queue_jobs
      WHERE ${DUE} AND available_at <= now() AND (reserved_until IS NULL OR reserved_until <= now())
      ORDER BY available_at, id LIMIT ${limit} FOR UPDATE SKIP LOCKED))
    RETURNING id::text AS id, payload`;
  return {
    batch,
    async install() {
      const { PgDriver } = await import('@q/driver-pg');
      await new PgDriver(pool, { listen: false }).createTables();
    },
    push: async (job) => void (await query('push', insert, [payloadOf(job)])),
    pushMany: async (jobs) => void (await query('push-many', insertMany, [jobs.map(payloadOf)])),
    count: async () => Number((await pool.query(COUNT)).rows[0].jobs),
    work: (options) =>
      loop(options, batch, {
        claim: async (limit) => (await query(`claim-${limit}`, claim(limit), [])).rows,
        remove: (ids) => query('remove', 'DELETE FROM queue_jobs WHERE id = ANY($1::bigint[])', [ids]),
      }),
    close: () => pool.end(),
  };
}

async function redisLimit(url: string, { batch }: LimitOptions): Promise<Subject> {
  const { Redis } = await import('ioredis');
  const redis = new Redis(url);
  const fields = (job: number) => ['name', NAME, 'payload', payloadOf(job)];
  return {
    batch,
    install: async () => void (await redis.xgroup('CREATE', 'limit', 'workers', '0', 'MKSTREAM')),
    push: async (job) => void (await redis.xadd('limit', '*', ...fields(job))),
    async pushMany(jobs) {
      const pipeline = redis.pipeline();
      for (const job of jobs) pipeline.xadd('limit', '*', ...fields(job));
      for (const [error] of (await pipeline.exec()) ?? []) if (error) throw error;
    },
    count: () => redis.xlen('limit'),
    work: (options) =>
      loop(options, batch, {
        async claim(limit) {
          // The cast: the reply to XREADGROUP of one stream.
          const reply = (await redis.xreadgroup('GROUP', 'workers', 'one', 'COUNT', limit, 'STREAMS', 'limit', '>')) as
            | [string, [string, string[]][]][]
            | null;
          return (reply?.[0]?.[1] ?? []).map(([id, [, , , payload = '']]) => ({ id, payload }));
        },
        async remove(ids) {
          const pipeline = redis.pipeline().xack('limit', 'workers', ...ids);
          for (const [error] of (await pipeline.xdel('limit', ...ids).exec()) ?? []) if (error) throw error;
        },
      }),
    close: async () => void (await redis.quit()),
  };
}

async function sqliteLimit(file: string, { batch }: LimitOptions): Promise<Subject> {
  const { default: Database } = await import('better-sqlite3');
  const db = new Database(file);
  db.pragma('journal_mode = WAL');
  const prepared = new Map<string, Sqlite.Statement>();
  // Prepared once each, at its first use: the tables have to be there.
  const statement = (text: string) => {
    const known = prepared.get(text) ?? db.prepare(text);
    prepared.set(text, known);
    return known;
  };
  const insert = `INSERT INTO queue_jobs ${COLUMNS} VALUES ('default', '${NAME}', ?, datetime('now'), datetime('now'))`;
  const claim = `
    UPDATE queue_jobs SET reserved_until = datetime('now', '+60 seconds'), reserved_by = 'limit', attempts = attempts + 1
    WHERE id IN (SELECT id FROM queue_jobs
      WHERE ${DUE} AND available_at <= datetime('now') AND (reserved_until IS NULL OR reserved_until <= datetime('now'))
      ORDER BY available_at, id LIMIT ?) RETURNING id, payload`;
  const remove = 'DELETE FROM queue_jobs WHERE id IN (SELECT value FROM json_each(?))';
  return {
    batch,
    async install() {
      const { SqliteDriver } = await import('@q/driver-sqlite');
      await using driver = new SqliteDriver(db);
      await driver.createTables();
    },
    push: async (job) => void statement(insert).run(payloadOf(job)),
    pushMany: async (jobs) =>
      db.transaction(() => {
        for (const job of jobs) statement(insert).run(payloadOf(job));
      })(),
    count: async () => (db.prepare(COUNT).get() as { jobs: number }).jobs,
    work: (options) =>
      loop(options, batch, {
        claim: async (limit) => statement(claim).all(limit) as Claimed,
        remove: async (ids) => statement(remove).run(JSON.stringify(ids)),
      }),
    close: async () => void db.close(),
  };
}

async function mariadbLimit(url: string, { batch }: LimitOptions): Promise<Subject> {
  const { default: mysql } = await import('mysql2/promise');
  const pool = mysql.createPool({ uri: url, connectionLimit: 10 });
  const insert = `INSERT INTO queue_jobs ${MARIADB_COLUMNS} VALUES ('default', '${NAME}', ?, UTC_TIMESTAMP(), UTC_TIMESTAMP(), '')`;
  const row = `('default', '${NAME}', ?, UTC_TIMESTAMP(), UTC_TIMESTAMP(), '')`;
  return {
    batch,
    async install() {
      const { MysqlDriver } = await import('@q/driver-mysql');
      const driver = new MysqlDriver(pool);
      await driver.createTables();
      await driver.close();
    },
    push: async (job) => void (await pool.execute(insert, [payloadOf(job)])),
    async pushMany(jobs) {
      const rows = jobs.map(() => row).join(', ');
      await pool.query(`INSERT INTO queue_jobs ${MARIADB_COLUMNS} VALUES ${rows}`, jobs.map(payloadOf));
    },
    count: async () => Number(((await pool.query(COUNT))[0] as { jobs: number }[])[0]?.jobs),
    async work(options) {
      const connection = await pool.getConnection();
      const select = `SELECT id, payload FROM queue_jobs WHERE ${DUE} AND available_at <= UTC_TIMESTAMP()
        AND (reserved_until IS NULL OR reserved_until <= UTC_TIMESTAMP()) ORDER BY available_at, id LIMIT ? FOR UPDATE SKIP LOCKED`;
      const reserve = `UPDATE queue_jobs SET reserved_until = UTC_TIMESTAMP() + INTERVAL 60 SECOND, reserved_by = 'limit',
        attempts = attempts + 1 WHERE id IN (?)`;
      await loop(options, batch, {
        async claim(limit) {
          await connection.query('START TRANSACTION');
          const jobs = (await connection.query(select, [limit]))[0] as { id: number; payload: string }[];
          if (jobs.length > 0) await connection.query(reserve, [jobs.map(({ id }) => id)]);
          await connection.query('COMMIT');
          return jobs;
        },
        remove: (ids) => connection.query('DELETE FROM queue_jobs WHERE id IN (?)', [ids]),
      });
      connection.release();
    },
    close: () => pool.end(),
  };
}
