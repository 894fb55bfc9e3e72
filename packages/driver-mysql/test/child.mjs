// Tasks that need a process of their own. They run the built package, as an application would.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { defineHandlers, handler, Queue, Worker } from '@q/core';
import { MysqlDriver } from '@q/driver-mysql';
import mysql from 'mysql2/promise';

const job = { name: 'work', payload: {}, delay: 0, queue: 'default', priority: 0, unique: null, maxAttempts: 3 };

/** The parent's next message. */
const told = () => new Promise((resolve) => process.once('message', resolve));

function open(url, options = {}) {
  const pool = mysql.createPool({ uri: url });
  return { pool, driver: new MysqlDriver(pool, { callTimeout: 20, ...options }) };
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

  /** Pushes so many jobs one by one, as fast as it can; says how many errors it met, and how long the slowest took. */
  async push(url, count) {
    const { pool, driver } = open(url);
    const stalls = monitorEventLoopDelay();
    process.send('ready');
    await told();
    stalls.enable();
    const errors = [];
    let slowestMs = 0;
    for (let n = 0; n < Number(count); n += 1) {
      const start = performance.now();
      await driver.push({ ...job, priority: n % 3 }).catch((error) => errors.push(String(error)));
      slowestMs = Math.max(slowestMs, performance.now() - start);
    }
    await driver.close();
    await pool.end();
    process.send({ errors, slowestMs, stallMs: stalls.max / 1e6 });
  },

  /** A worker, until it is told to stop; says which jobs its handlers ran. */
  async work(url, concurrency) {
    const { pool, driver } = open(url);
    const ran = [];
    const work = handler(async (_, { id }) => {
      ran.push(id);
    });
    const queue = new Queue({ driver, handlers: defineHandlers({ work }), backoff: 0 });
    const worker = new Worker({ queue, concurrency: Number(concurrency), sleep: 0.2, maxReserveFailures: 0 });
    const failures = [];
    worker.on('event', (event) => {
      if (/failed|lost|unrecorded/.test(event.type)) failures.push(`${event.type} ${event.error ?? ''}`);
    });
    const run = worker.run();
    process.send('ready');
    await told();
    await worker.stop();
    await run;
    await driver.close();
    await pool.end();
    process.send({ ran, failures });
  },

  /** Claims so many jobs for some seconds, and holds them. */
  async hold(url, count, seconds) {
    const { driver } = open(url);
    const jobs = await driver.reserveMany(['default'], Number(count), Number(seconds), 'holder');
    process.send(jobs.length);
    setInterval(() => {}, 1_000);
  },

  /** Rows of the application with a job each, in one transaction, until it is killed. */
  async pair(url) {
    const { pool, driver } = open(url);
    process.send('ready');
    for (;;) {
      const connection = await pool.getConnection();
      await connection.beginTransaction();
      await connection.query("INSERT INTO notes (text) VALUES ('invoice')");
      await driver.within(connection).push(job);
      await connection.commit();
      process.send('committed');
      connection.release();
    }
  },

  /** Everything that keeps a process alive, ended. */
  async live(url) {
    const { pool, driver } = open(url);
    await driver.createTables();
    const subscription = await driver.onPush(['default'], () => {});
    await driver.push(job);
    await subscription[Symbol.asyncDispose]();
    await driver.onPush(['default'], () => {});
    await driver.close();
    await pool.end();
    process.send('closed');
  },

  /** A call that times out on a connection that is half-open: nothing of it keeps the process alive. */
  async halfOpen(url) {
    const pool = mysql.createPool({ uri: url, enableKeepAlive: false });
    const driver = new MysqlDriver(pool, { callTimeout: 1 });
    await driver.push(job);
    process.send('frozen?');
    await told();
    const code = await driver.push(job).then(
      () => 'pushed',
      (error) => error.code,
    );
    await driver.close();
    process.send(code);
  },
};

const [task, ...args] = process.argv.slice(2);
await tasks[task](...args);
process.disconnect();
