import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, inject, it } from 'vitest';
import { aJob, type Clock, open } from './fixtures.js';

const README = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
const [LIST = '', READ = '', REQUEUE = ''] = (/## Failed jobs.*?```sh\n(.*?)\n```/s.exec(README)?.[1] ?? '')
  .split(/\n\n/)
  .map((command) => command.trim());

/** Runs a line of the README in a shell, against this server and under this prefix. */
function shell(line: string, prefix: string, replaced: Readonly<Record<string, string>> = {}): string[] {
  const { hostname, port } = new URL(inject('redis'));
  let text = line.replaceAll('{queue}', `{${prefix}}`).replace('redis-cli', `redis-cli -h ${hostname} -p ${port}`);
  for (const [from, to] of Object.entries(replaced)) text = text.replaceAll(from, to);
  return execFileSync('sh', ['-c', text], { encoding: 'utf8' }).trimEnd().split('\n');
}

async function failOne(driver: ReturnType<typeof open>['driver'], clock: Clock, error: string): Promise<number> {
  const id = await driver.push(aJob({ queue: 'mail', name: 'send', payload: { to: 'é "quoted" \\ 😀' }, unique: 'k' }));
  const job = await driver.reserve(['mail'], 60, 'w');
  if (job === null) throw new Error('it is there');
  expect(await driver.fail(job, error)).toBe(true);
  clock.advance(60);
  return id;
}

describe('the lines of the README', () => {
  it('list the failed jobs, the newest first, with when they failed', async () => {
    const { driver, clock, prefix } = open();
    const start = clock.seconds;
    const first = await failOne(driver, clock, 'no');
    const second = await failOne(driver, clock, 'no');
    expect(shell(LIST, prefix)).toStrictEqual([second, start + 60, first, start].map(String));
  });

  it('read one of them: its error, and the bytes of its payload', async () => {
    const { driver, clock, prefix } = open();
    const id = await failOne(driver, clock, 'no such mailbox');
    expect(shell(READ, prefix, { '42:': `${id}:` })).toStrictEqual([
      'mail',
      'send',
      '1',
      '{"to":"é \\"quoted\\" \\\\ 😀"}',
      'no such mailbox',
    ]);
  });

  it('put one of them back as a new job, once', async () => {
    const { driver, clock, prefix, stored } = open();
    const id = await failOne(driver, clock, 'no');
    const failed = await driver.findFailed(id);
    const other = await failOne(driver, clock, 'other');
    expect(shell(REQUEUE, prefix, { ' 42 ': ` ${id} ` })).toStrictEqual(['requeued']);
    expect(shell(REQUEUE, prefix, { ' 42 ': ` ${id} ` })).toStrictEqual(['there is no such failed job']);
    expect((await stored.failed()).map((row) => row.id)).toStrictEqual([other]);
    expect(await driver.pending('mail')).toBe(1);
    const job = await driver.reserve(['mail'], 60, 'w');
    expect(job).toMatchObject({
      id: other + 1,
      queue: 'mail',
      name: 'send',
      attempts: 1,
      maxAttempts: 3,
      reclaimed: false,
    });
    expect(job?.payloadJson).toBe(failed?.payloadJson);
    expect(await driver.delete(job ?? { id, attempts: 1, handle: '' })).toBe(true);
    expect(await driver.reserve(['mail'], 60, 'w')).toBeNull();
  });
});
