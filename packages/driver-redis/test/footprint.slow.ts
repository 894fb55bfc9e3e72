import { startRedis } from '@q/servers';
import { expect, it, onTestFinished } from 'vitest';
import { aJob, connectionsTo, messageOf, open, pause, start, until } from './fixtures.js';

const QUEUES = Array.from({ length: 50 }, (_, n) => `queue ${n}`);
const ROUNDS = 100;
const JOBS_A_ROUND = 1_000;
const AT_ONCE = 10;

it('After 100,000 jobs over 50 queues and 100 workers killed with a job in hand, the keys are as large as at the start', async () => {
  const server = await startRedis({ own: true });
  onTestFinished(() => server.close());
  const { driver, raw, stored, prefix } = open({ url: server.url, now: () => new Date() });
  await driver.push(aJob());
  await drain();
  const before = { keys: await stored.keys(), bytes: await stored.bytes(), clients: (await connectionsTo(raw)).length };

  async function drain() {
    let done = 0;
    for (;;) {
      const jobs = await driver.reserveMany(QUEUES.concat('default'), 500, 60, 'w');
      if (jobs.length === 0) return done;
      // One in ten goes the long way round.
      const [slow, quick] = [jobs.filter(({ id, attempts }) => id % 10 === 0 && attempts === 1), new Set(jobs)];
      for (const job of slow) {
        quick.delete(job);
        expect(await driver.release(job, 0, 'again')).toBe(true);
      }
      expect(await driver.deleteMany([...quick])).toStrictEqual([]);
      done += quick.size;
    }
  }

  let done = 0;
  let killed = 0;
  for (let round = 0; round < ROUNDS; round += AT_ONCE) {
    for (let n = 0; n < AT_ONCE; n += 1) {
      const jobs = Array.from({ length: JOBS_A_ROUND }, (_, index) =>
        aJob({
          queue: QUEUES[(round + n + index) % 50] ?? '',
          priority: index % 4,
          unique: index % 3 === 0 ? `key ${round + n} ${index}` : null,
          payload: { text: 'x'.repeat(index % 200) },
        }),
      );
      await driver.pushMany(jobs);
    }
    const children = Array.from({ length: AT_ONCE }, (_, n) => start('claim', server.url, prefix, QUEUES[n] ?? ''));
    expect(await Promise.all(children.map((child) => messageOf(child)))).toStrictEqual(Array(AT_ONCE).fill('claimed'));
    const consumers = (await raw.call('XINFO', 'CONSUMERS', stored.key(`ready:3:${QUEUES[0]}`), 'q')) as unknown[];
    expect(consumers.length).toBe(1);
    for (const child of children) killed += Number(child.kill('SIGKILL'));
    done += await drain();
  }
  await pause(2_500); // by then the claims of the dead have expired
  done += await drain();
  expect([done, killed, await driver.pending()]).toStrictEqual([ROUNDS * JOBS_A_ROUND, ROUNDS, 0]);
  expect(await stored.keys()).toStrictEqual(before.keys);
  expect(await stored.bytes()).toBeLessThanOrEqual(before.bytes * 1.05);
  await until('the connections of the dead are gone', async () => (await connectionsTo(raw)).length === before.clients);
});
