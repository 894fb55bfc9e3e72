import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { inChild } from './fixtures.js';

const entries = ['@q/core', '@q/core/driver-kit'];
const dist = fileURLToPath(new URL('../dist', import.meta.url));

/** The text of every module that was built. */
const built = () =>
  readdirSync(dist, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.js'))
    .map((file) => [file, readFileSync(`${dist}/${file}`, 'utf8')] as const);

describe.each(entries)('importing %s', (entry) => {
  it('asks for nothing but node:async_hooks, node:events, node:os and its own modules', async () => {
    // The hooks run in a thread of their own, which tells what was asked for on the standard error.
    const hooks = `
      import { writeSync } from 'node:fs';
      export async function resolve(specifier, context, next) {
        writeSync(2, specifier + '\\n');
        return next(specifier, context);
      }`;
    const { warnings } = await inChild(`
      import { register } from 'node:module';
      register('data:text/javascript,' + encodeURIComponent(${JSON.stringify(hooks)}));
      await import('${entry}');
      console.log('null');`);
    const asked = warnings.split('\n').filter((specifier) => specifier !== '' && !specifier.startsWith('.'));
    const allowed = [entry, 'node:async_hooks', 'node:events', 'node:os'];
    expect(asked.filter((specifier) => !allowed.includes(specifier))).toEqual([]);
    expect(asked).toContain(entry);
  });

  it('loads no module of Node that opens a socket or a process', async () => {
    const { answer } = await inChild(`
      const before = new Set(process.moduleLoadList);
      await import('${entry}');
      const loaded = process.moduleLoadList.filter((name) => !before.has(name));
      console.log(JSON.stringify(loaded));`);
    expect(answer).toEqual(expect.any(Array));
    expect(
      (answer as string[]).filter((name) =>
        /\b(net|tls|http2?|https|dgram|dns|child_process|cluster|worker_threads)$/.test(name),
      ),
    ).toEqual([]);
  });

  it('leaves the process as it was', async () => {
    const { answer, warnings } = await inChild(`
      const look = () => ({
        listeners: Object.fromEntries(process.eventNames().map((name) => [String(name), process.listenerCount(name)])),
        globals: Reflect.ownKeys(globalThis).map(String).sort(),
        environment: { ...process.env },
        prototypes: [Object, Array, Function, Promise, Date, Error].map((each) => Reflect.ownKeys(each.prototype).map(String).sort()),
        prepareStackTrace: typeof Error.prepareStackTrace,
        stackTraceLimit: Error.stackTraceLimit,
      });
      const before = look();
      await import('${entry}');
      console.log(JSON.stringify([before, look()]));`);
    const [before, after] = answer as [unknown, unknown];
    expect(after).toEqual(before);
    expect(warnings).toBe('');
  });

  it('does not keep the process alive', async () => {
    const { answer } = await inChild(
      `await import('${entry}'); console.log(JSON.stringify(process.getActiveResourcesInfo()));`,
    );
    expect((answer as string[]).filter((resource) => resource === 'Timeout' || resource === 'Immediate')).toEqual([]);
  });
});

describe('what was built', () => {
  it('turns no stored text into code', () => {
    for (const [file, text] of built()) {
      const code = text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
      expect([file, /\beval\s*\(|new Function\b|\bimport\s*\(|\brequire\s*\(|node:vm/.test(code)]).toEqual([
        file,
        false,
      ]);
    }
  });

  it('is there', () => {
    expect(built().length).toBeGreaterThan(20);
  });
});
