import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { appendFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Journal, JournalDriver } from '../src/index.js';

const RESERVER = fileURLToPath(new URL('./reserver.js', import.meta.url));
const JOB = { name: 'ping', payload: {}, delay: 0, queue: 'default', priority: 0, unique: null, maxAttempts: 3 };

let path: string;
let journal: Journal;

beforeEach(async () => {
  path = join(await mkdtemp(join(tmpdir(), 'journal-')), 'jobs.journal');
  journal = new Journal(path);
});

afterEach(async () => {
  journal.close();
  await rm(join(path, '..'), { recursive: true });
});

test('Each of several processes on one journal gets jobs of its own', async () => {
  const driver = new JournalDriver(journal);
  const pushed: number[] = [];
  for (let count = 0; count < 300; count += 1) pushed.push(await driver.push(JOB));

  const run = () => promisify(execFile)(process.execPath, [RESERVER, path]);
  const outputs = (await Promise.all([run(), run(), run()])).map(({ stdout }) => stdout.split('\n').filter(Boolean));
  const done = outputs
    .flat()
    .map(Number)
    .sort((a, b) => a - b);
  assert.deepEqual(done, pushed);
  assert.equal(await driver.pending(), 0);
});

test('What a process was writing when it was killed is no job, and does not spoil the next', async () => {
  const driver = new JournalDriver(journal);
  const first = await driver.push(JOB);
  await appendFile(path, '\n{"id":"half a li');
  const second = await driver.push(JOB);

  const later = new JournalDriver(new Journal(path));
  assert.equal((await later.reserve(['default'], 60, 'a'))?.id, first);
  assert.equal((await later.reserve(['default'], 60, 'a'))?.id, second);
  assert.equal(await driver.pending(), 0);
});
