// Tasks that need a process of their own. They run the built package, as an application would.
import { defineHandlers, handler, Queue, Worker } from '@q/core';
import { PgDriver } from '@q/driver-pg';
import pg from 'pg';

const job = { name: 'work', payload: {}, delay: 0, queue: 'default', priority: 0, unique: null, maxAttempts: 3 };

/** The parent's next message. */
const told = () => new Promise((resolve) => process.once('message', resolve));

function open(url, options = {}) {
  const pool = new pg.Pool({ connectionString: url, connectionTimeoutMillis: 2_000 });
  pool.on('error', () => {});
  return { pool, driver: new PgDriver(pool, { callTimeout: 5, ...options }) };
}

const tasks = {
  /** The first boot of a process: tables, then a push. */
  async boot(url) {
    const { pool, driver } = open(url);
    process.send('ready');
    await told();
    await driver.createTables();
    await driver.push(job);
    await driver.close();
    await pool.end();
    process.send('booted');
  },

  /** Pushes so many jobs, one by one and in batches. */
  async push(url, count) {
    const { pool, driver } = open(url);
    process.send('ready');
    await told();
    for (let left = Number(count); left > 0; ) {
      const size = Math.min(left, left % 3 === 0 ? 1 : 25);
      if (size === 1) await driver.push(job);
      else await driver.pushMany(Array.from({ length: size }, (_, n) => ({ ...job, priority: n % 3 })));
      left -= size;
    }
    await driver.close();
    await pool.end();
    process.send('pushed');
  },

  /** A worker that notes each job it runs in a table of the application's, until it is told to stop. */
  async work(url, concurrency) {
    const { pool, driver } = open(url);
    const ids = [];
    const handlers = defineHandlers({
      work: handler(async (_, running) => {
        ids.push(running.id);
      }),
    });
    const queue = new Queue({ driver, handlers });
    const worker = new Worker({ queue, concurrency: Number(concurrency), maxReserveFailures: 0, sleep: 0.2 });
    process.send('ready');
    void told().then(() => worker.stop());
    await worker.run();
    await driver.close();
    await pool.end();
    process.send(ids);
  },

  /** Claims so many jobs, says so, and hangs with them. */
  async hold(url, count, lease) {
    const { driver } = open(url);
    const claimed = await driver.reserveMany(['default'], Number(count), Number(lease), 'holder');
    process.send(claimed.length);
    setInterval(() => {}, 1_000);
  },

  /** Writes rows of the application's and a job each, in one transaction each, until it is killed. */
  async pair(url) {
    const { pool, driver } = open(url);
    for (let pairs = 0; ; pairs += 1) {
      const client = await pool.connect();
      await client.query('BEGIN');
      await client.query("INSERT INTO notes (text) VALUES ('invoice')");
      await driver.within(client).push(job);
      await client.query('COMMIT');
      client.release();
      if (pairs === 0) process.send('ready');
    }
  },

  /** The whole life of a driver; then nothing keeps the process alive. */
  async live(url) {
    const { pool, driver } = open(url);
    await driver.createTables();
    const subscription = await driver.onPush(['default'], () => {});
    await driver.push(job);
    await driver.delete(await driver.reserve(['default'], 60, 'w'));
    await subscription[Symbol.asyncDispose]();
    await driver.close();
    await pool.query('SELECT 1');
    await pool.end();
    process.send('closed');
  },
};

const [task, ...args] = process.argv.slice(2);
await tasks[task](...args);
process.disconnect();
