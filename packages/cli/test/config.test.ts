import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { aProject } from './project.js';

const CONFIG = `
import Database from 'better-sqlite3';
import { defineConfig } from '@q/cli';
import { defineHandlers, Queue } from '@q/core';
import { SqliteDriver } from '@q/driver-sqlite';
const db = new Database('app.db');
db.pragma('journal_mode = WAL');
const driver = new SqliteDriver(db);
await driver.createTables();
const queue = new Queue({ driver, handlers: defineHandlers({}) });
`;

/** A config that cannot be used, and what is said about it. */
const UNUSABLE: readonly [what: string, file: string, source: string, error: RegExp][] = [
  ['that throws', 'q.config.mjs', `throw new Error('no DATABASE_URL\\nset it')`, /could not be loaded: no DATABASE_URL/],
  ['that throws what is no error', 'q.config.mjs', `throw null`, /could not be loaded: null/],
  ['that names a missing package', 'q.config.mjs', `import '@q/nope';`, /could not be loaded: Cannot find package '@q\/nope' imported from .*q\.config\.mjs/],
  ['in TypeScript that names a missing package', 'q.config.ts', `import '@q/nope';`, /could not be loaded: Cannot find module '@q\/nope'/],
  ['that names a missing file', 'q.config.mjs', `import './nope.js';`, /could not be loaded: Cannot find module '.*nope\.js' imported from .*q\.config\.mjs/],
  ['with a syntax error', 'q.config.mjs', `const password = 'hunter2'; export default {`, /could not be loaded: Unexpected end of input/],
  ['in TypeScript with a syntax error', 'q.config.ts', `const password = 'hunter2'; export default {`, /could not be loaded: ParseError: .*/],
  ['that exports nothing', 'q.config.mjs', `export const queue = 1;`, /has no default export: export default defineConfig\(\{ queue \}\)/],
  ['in TypeScript that exports nothing', 'q.config.ts', `export const queue: number = 1;`, /has no default export: .*/],
  ['that exports a function', 'q.config.mjs', `export default () => {};`, /exports a function, not a config: .*/],
  ['without a queue', 'q.config.mjs', `export default {};`, /exports a config without a queue: .*/],
  ['whose queue is a driver', 'q.config.mjs', `${CONFIG} export default { queue: driver };`, /has a queue without a driver/],
  ['whose close is no function', 'q.config.mjs', `${CONFIG} export default { queue, close: db };`, /has a close that is an object, not a function/],
  ['whose worker is no object', 'q.config.mjs', `${CONFIG} export default { queue, worker: 3 };`, /has a worker that is a number, not an object/],
  ['whose table name is not plain', 'q.config.mjs', `${CONFIG} new SqliteDriver(db, { table: 'a b' });`, /could not be loaded: "a b" is not a plain table name/],
  ['that shows a password', 'q.config.mjs', `throw new Error('cannot reach postgres://app:hunter2@db/app')`, /could not be loaded: cannot reach postgres:\/\/app:\*\*\*@db\/app/],
]; // biome-ignore format: a table

describe('A config', () => {
  it.each(UNUSABLE)('%s is one line, and exit code 2', async (_, file, source, error) => {
    await using project = aProject({ [file]: source });
    const { code, stdout, stderr } = await project.q(['status']);
    const line = expect.stringMatching(new RegExp(`^error: ${file.replaceAll('.', '\\.')} (?:${error.source})\n$`));
    expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: '', stderr: line });
    expect(stderr).not.toContain('hunter2');
  });

  it('that is nowhere is exit code 2', async () => {
    await using project = aProject();
    const { code, stdout, stderr } = await project.q(['status']);
    const error = `error: no q.config.ts, q.config.js or q.config.mjs in ${project.folder} or a folder above it\n`;
    expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: '', stderr: error });
  });

  it('shows its stack with --verbose, and only then', async () => {
    await using project = aProject({ 'q.config.mjs': `throw new Error('no DATABASE_URL')` });
    const { code, stderr } = await project.q(['status', '--verbose']);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^error: q\.config\.mjs could not be loaded: no DATABASE_URL\n/);
    expect(stderr).toMatch(/\n {4}at .*q\.config\.mjs/);
  });

  it('is found upwards, TypeScript first, and runs in its own folder', async () => {
    await using project = aProject({
      'a/q.config.ts': `
import type { Greeting } from './types.js';
import { handlers } from './handlers.js';
${CONFIG.replace(/const queue.*\n/, '')}
enum Tries { Few = 2 }
const greeting: Greeting = { text: 'hello' };
export default defineConfig({ queue: new Queue({ driver, handlers, queue: greeting.text, tries: Tries.Few }) });`,
      'a/types.ts': 'export interface Greeting { readonly text: string }',
      'a/handlers.ts': `
import { defineHandlers } from '@q/core';
export const handlers = defineHandlers({ lazy: async () => new (await import('./lazy.js')).Lazy() });`,
      'a/lazy.ts':
        'export class Lazy { constructor(private readonly text: string = "lazy") {} handle() { console.log(this.text); } }',
      'a/q.config.mjs': 'throw new Error("not this one")',
      'a/b/c/empty': '',
    });
    const { code, stdout, stderr } = await project.q(['status', '--json'], { cwd: 'a/b/c' });
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: '{"queues":[],"failed":0}\n', stderr: '' });
    const work = await project.q(['work', '--once'], { cwd: 'a/b' });
    expect(work.stdout).toMatch(/^Worker .* watching hello\nNothing left to do\nRan 0 jobs\n$/);
    expect(databasesIn(project.folder)).toEqual(['a/app.db']);
  });

  it('may be CommonJS, and may be a promise', async () => {
    const config = CONFIG.replace(/await .*\n/, '').replace(/import (.*) from (.*);/g, 'const $1 = require($2);');
    await using project = aProject({
      'q.config.js': `${config} module.exports = driver.createTables().then(() => defineConfig({ queue }));`,
      'package.json': '{ "type": "commonjs" }',
    });
    expect((await project.q(['status', '--json'])).stdout).toBe('{"queues":[],"failed":0}\n');
  });
});

describe('The close of a config', () => {
  const status = (rest: string) => ({ 'q.config.mjs': `${CONFIG} export default defineConfig({ queue, ${rest} });` });
  const OPEN = 'setInterval(() => {}, 1000)';

  it('is awaited', async () => {
    await using project = aProject(
      status(`close: async () => { await new Promise((r) => setTimeout(r, 50)); console.log('closed'); }`),
    );
    expect(await project.q(['status', '--json'])).toMatchObject({
      code: 0,
      stdout: '{"queues":[],"failed":0}\nclosed\n',
    });
  });

  it('is called after a command that failed as well', async () => {
    await using project = aProject(status(`close() { console.log(this.queue === undefined ? 'unbound' : 'closed'); }`));
    expect(await project.q(['retry', '--id=7'])).toMatchObject({ code: 1, stdout: 'closed\n' });
  });

  it('is given up after 5 seconds', async () => {
    await using project = aProject(status(`close: () => new Promise(() => { ${OPEN}; })`));
    const { code, stderr } = await project.q(['status']);
    expect(code).toBe(0);
    expect(stderr).toContain('error: the close of q.config.mjs did not end within 5 s\n');
  });

  it('that fails is told, and changes no exit code', async () => {
    await using project = aProject(status(`close: async () => { throw new Error('already ended'); }`));
    const { code, stderr } = await project.q(['status']);
    expect(code).toBe(0);
    expect(stderr).toContain('error: the close of q.config.mjs failed: already ended\n');
  });

  it('is not needed: what is left open keeps no command', async () => {
    await using project = aProject({ 'q.config.mjs': `${CONFIG} ${OPEN}; export default defineConfig({ queue });` });
    const beganMs = performance.now();
    const status = project.start(['status', '--json']);
    await status.said('failed');
    const saidMs = performance.now();
    const { code, atMs } = await status.ended;
    expect(code).toBe(0);
    expect(atMs - saidMs).toBeLessThan(1000);
    expect(saidMs).toBeGreaterThan(beganMs);
  });
});

describe('A promise that never settles', () => {
  it('in the config ends the command when nothing is left to wait for', async () => {
    await using project = aProject({ 'q.config.mjs': 'await new Promise(() => {});' });
    const { code, stderr } = await project.q(['status']);
    const error = 'error: nothing is left to wait for, but the command has not ended: some promise never settles\n';
    expect({ code, stderr }).toEqual({ code: 1, stderr: error });
  });
});

function databasesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('app.db'));
}
