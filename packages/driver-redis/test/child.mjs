// Tasks that need a process of their own. They run the built package, as an application would.
import { defineHandlers, handler, Queue, Worker } from '@q/core';
import { RedisDriver } from '@q/driver-redis';
import { Redis } from 'ioredis';

function open(url, prefix) {
  const client = new Redis(url, { enableAutoPipelining: true });
  client.on('error', () => {});
  return { client, driver: new RedisDriver(client, { prefix, callTimeout: 5 }) };
}

const tasks = {
  /**
   * A worker that notes in Redis, as the application would, who runs each job and how often, until it is told to stop. That
   * two run one job at the same time shows there: whoever comes second finds the first.
   */
  async work(url, prefix, concurrency, queues, lease) {
    const { client, driver } = open(url, prefix);
    const handlers = defineHandlers({
      work: handler(async ({ n }, job) => {
        const me = `${process.pid}:${job.attempts}`;
        const [other] = await Promise.all([
          client.hget('running', n),
          client.hset('running', n, me),
          client.incr('runs'),
        ]);
        // Somebody who was killed is running nothing any more. Whoever lives and has not finished is.
        if (other !== null && (await client.sismember('alive', other.split(':')[0]))) await client.sadd('twice', n);
        await Promise.all([client.hdel('running', n), client.sadd('done', n)]);
      }),
    });
    const queue = new Queue({ driver, handlers, tries: 1_000 });
    const worker = new Worker({
      queue,
      queues: queues.split(','),
      concurrency: Number(concurrency),
      lease: Number(lease),
      sleep: 0.2,
      maxReserveFailures: 0,
    });
    await client.sadd('alive', process.pid);
    process.once('message', () => void worker.stop());
    process.send('ready');
    await worker.run();
    await driver.close();
    client.disconnect();
    process.send('stopped');
    process.disconnect();
  },

  /** Claims one job of a queue, and waits to be killed. */
  async claim(url, prefix, queue) {
    const { driver } = open(url, prefix);
    await driver.onPush([queue], () => {});
    const job = await driver.reserve([queue], 1, `killed:${process.pid}`);
    process.send(job === null ? 'nothing' : 'claimed');
  },

  /** What an application does that only pushes: it ends by itself. */
  async push(url, prefix) {
    const { client, driver } = open(url, prefix);
    await driver.push({
      name: 'work',
      payload: {},
      delay: 0,
      queue: 'default',
      priority: 0,
      unique: null,
      maxAttempts: 3,
    });
    const subscription = await driver.onPush(['default'], () => {});
    await subscription[Symbol.asyncDispose]();
    await driver.close();
    client.disconnect();
    process.send('pushed');
    process.disconnect();
  },
};

const [task, ...args] = process.argv.slice(2);
await tasks[task](...args);
