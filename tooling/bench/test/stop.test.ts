import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test, vi } from 'vitest';

const cli = fileURLToPath(new URL('../dist/cli.js', import.meta.url));

test.each([
  ['SIGTERM', 143],
  ['SIGINT', 130],
] as const)(
  'Stopped by %s it writes what it has, and leaves no folder and no process',
  async (signal, exitCode) => {
    const folder = mkdtempSync(join(tmpdir(), 'q-bench-test-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const options = [
      '--store=sqlite',
      '--only=pickup',
      '--subject=q',
      '--quick',
      '--rounds=1000',
      `--json=${folder}/run.json`,
    ];
    const bench = spawn(process.execPath, [cli, ...options], {
      env: { ...process.env, TMPDIR: folder },
      detached: true,
    });
    const { pid } = bench;
    if (pid === undefined) throw new Error('it did not start');
    let told = '';
    let report = '';
    bench.stderr.setEncoding('utf8').on('data', (text) => {
      told += text;
    });
    bench.stdout.setEncoding('utf8').on('data', (text) => {
      report += text;
    });
    const closed = once(bench, 'close');
    await vi.waitFor(() => expect(told).toContain('pickup 1/1000 q'), { timeout: 60_000, interval: 20 });
    // In the second round, with a folder and a process under way.
    await vi.waitFor(() => expect(readdirSync(folder)).toHaveLength(1), { timeout: 60_000, interval: 5 });
    bench.kill(signal);
    expect(await closed).toEqual([exitCode, null]);
    expect(report).toContain(`stopped by ${signal}: the rest was not measured`);
    expect(readdirSync(folder)).toEqual(['run.json']);
    const run = JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8'));
    const outcomes: { readonly value: unknown }[] = run.measurements.map(({ outcome }: { outcome: object }) => outcome);
    expect(outcomes.length).toBeGreaterThan(0);
    for (const { value } of outcomes) expect(value).toEqual(expect.any(Number));
    // Its group: the worker of a pickup ends by itself.
    await vi.waitFor(() => expect(() => process.kill(-pid, 0)).toThrow('ESRCH'), { timeout: 30_000, interval: 20 });
  },
  150_000,
);
