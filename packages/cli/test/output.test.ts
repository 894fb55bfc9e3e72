import { spawn } from 'node:child_process';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { messageOf, stackOf } from '../src/errors.js';
import { cut, jsonLine, Output, printable } from '../src/output.js';
import { BINARY } from './project.js';
import { aFailedJob, type StoreProject, sqlite } from './stores.js';

async function inShell(store: StoreProject, command: string) {
  const child = spawn('bash', ['-c', `q() { "${process.execPath}" "${BINARY}" "$@"; }; ${command}`], {
    cwd: store.folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await ended, stdout, stderr };
}

describe('The output of a command', () => {
  it('is taken to the end by a reader that is slow', async () => {
    await using store = await sqlite.open();
    const error = 'x'.repeat(50_000);
    for (let n = 0; n < 40; n += 1) await aFailedJob(store, { error });
    const { stdout, stderr } = await inShell(store, 'q failed --json --limit=100 | (sleep 1; cat)');
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toHaveLength(40);
  });

  it('may lose its reader: no stack, and no exit code for it', async () => {
    await using store = await sqlite.open();
    for (let n = 0; n < 4; n += 1) await aFailedJob(store, { error: 'x'.repeat(50_000) });
    const { code, stdout, stderr } = await inShell(store, 'q failed --json | true; exit $PIPESTATUS');
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  it('stops a worker where nobody reads it any more, after the job in hand, with exit code 1', async () => {
    await using store = await sqlite.open();
    for (let n = 0; n < 3; n += 1) await store.push('slow', { ms: 200 });
    const { code, stdout, stderr } = await inShell(store, 'q work | head -n 1; exit $PIPESTATUS');
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    expect(stdout).toMatch(/^Worker \S+ watching default\n$/);
    expect((await store.driver.stats())[0]).toMatchObject({ pending: 2, reserved: 0 });
  });

  it('that cannot be written is a failure', async () => {
    await using store = await sqlite.open();
    const { code, stderr } = await inShell(store, 'q status > /dev/full');
    expect(code).toBe(1);
    expect(stderr).toMatch(/^error: could not write to stdout: ENOSPC.*\n$/);
  });
});

describe('Colours', () => {
  const stream = (isTTY: boolean) => Object.assign(new Writable(), { isTTY });
  const red = (isTTY: boolean, env: NodeJS.ProcessEnv) => new Output(stream(isTTY), env).colors.red('no');

  it('are for a terminal alone, and not with NO_COLOR or on a dumb one', () => {
    expect(red(true, {})).toBe('\u001b[31mno\u001b[39m');
    expect(red(false, {})).toBe('no');
    expect(red(false, { FORCE_COLOR: '1' })).toBe('no');
    expect(red(true, { NO_COLOR: '1' })).toBe('no');
    expect(red(true, { TERM: 'dumb' })).toBe('no');
  });
});

describe('What is shown', () => {
  it('holds nothing that a terminal would obey', () => {
    expect(printable('a\u001b[31m\tb\nc\u009b')).toBe('a\\u001b[31m\\u0009b\\u000ac\\u009b');
    expect(printable('a\tb\nc\r', 'lines')).toBe('a\tb\nc\\u000d');
    expect(jsonLine({ a: '\u009b\u202e\n' })).toBe('{"a":"\\u009b\\u202e\\n"}');
  });

  it('is cut between characters', () => {
    expect([cut('abc', 3), cut('abcd', 3), cut('😀😀😀', 2)]).toEqual(['abc', 'ab…', '😀…']);
  });
});

describe('The message of an error', () => {
  it('is the first line that says something, whatever was thrown', () => {
    const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:5432'), { code: 'ECONNREFUSED' });
    const hostile = { get message() { throw new Error('no'); } }; // biome-ignore format: one line
    const { proxy: revoked, revoke } = Proxy.revocable({}, {});
    revoke();
    const thrown = [
      new Error('\n one\ntwo'),
      new AggregateError([refused]),
      'text\nmore',
      null,
      undefined,
      Symbol('s'),
      {},
      hostile,
      revoked,
    ];
    expect(thrown.map(messageOf)).toEqual([
      'one',
      'connect ECONNREFUSED 127.0.0.1:5432',
      'text',
      'null',
      'undefined',
      'a symbol',
      'an object without a message',
      'an object without a message',
      'an object without a message',
    ]);
    expect(messageOf(Object.assign(new Error(''), { code: 'ETIMEDOUT' }))).toBe('ETIMEDOUT');
  });

  it('is found quickly, however much was thrown', () => {
    // Of this process alone: what else the machine is doing says nothing about the search.
    const began = process.cpuUsage();
    for (const character of ['x', ':', 'a://b:', '@', '\n', ' ', 'a://']) {
      const error = new Error(character.repeat(20_000_000 / character.length));
      expect(messageOf(error).length).toBeLessThanOrEqual(500);
      expect(stackOf(error).length).toBeLessThanOrEqual(60_000);
    }
    expect(process.cpuUsage(began).user / 1_000).toBeLessThan(8_000);
  }, 60_000);

  it('shows no password of a connection string, in the stack neither', () => {
    const error = new Error('no', {
      cause: new Error('bad mysql://root:p@ss/w:rd@db.example/app, or redis://:secret@h'),
    });
    expect(messageOf(error.cause)).toBe('bad mysql://root:***@db.example/app, or redis://:***@h');
    expect(stackOf(error)).toContain('Caused by: Error: bad mysql://root:***@db.example/app');
    expect(stackOf(error)).not.toMatch(/p@ss|w:rd|secret/);
  });
});
