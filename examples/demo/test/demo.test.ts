import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url));
const LONGEST_MS = 70_000;

/** Where the demo makes its folder: empty before, and empty again after it. */
let temp: string;

beforeEach(() => {
  temp = mkdtempSync(join(tmpdir(), 'q-demo-test-'));
});

afterEach(() => {
  rmSync(temp, { recursive: true, force: true });
});

test('The demo counts what it has to and ends with 0 in less than 20 seconds', { timeout: LONGEST_MS }, async () => {
  const { code, lines, elapsedMs } = await runDemo();

  expect(lines.filter((line) => /^(ok|WRONG)/.test(line)).map((line) => line.slice(7))).toEqual([
    'invoices committed: 20 = distinct mails received: 20',
    'rolled back: 4 = 0 mails',
    expect.stringMatching(/^failed: 1, send-statement after 3 attempts, with ".* 550 No mailbox closed@.*"$/),
    'queue empty: 0 jobs left',
    "in the killed worker's hands: 3 = finished by worker-2: 3",
    'put back by its own handler: 1',
  ]);
  expect(lines.at(-1)).toMatch(/^All 6 checks hold\. /);
  expect(code).toBe(0);
  expect(elapsedMs).toBeLessThan(20_000);
  expectNothingLeft(lines);
});

test('A mail that is lost makes the demo end with 1', { timeout: LONGEST_MS }, async () => {
  const { code, lines } = await runDemo({ env: { Q_DEMO_LOSES_INVOICE: '15' } });

  expect(lines).toContain('WRONG  invoices committed: 20 = distinct mails received: 19');
  expect(lines.at(-1)).toMatch(/^1 of 6 checks do not hold\. /);
  expect(code).toBe(1);
  expectNothingLeft(lines);
});

test('A demo that is interrupted takes its processes and its folder along', { timeout: LONGEST_MS }, async () => {
  const { code, lines } = await runDemo({
    onLine: (line, demo) => {
      if (line.includes('SIGKILL')) demo.kill('SIGTERM');
    },
  });

  expect(lines).toContain('The demo broke off: Error: interrupted by SIGTERM');
  expect(code).toBe(1);
  expectNothingLeft(lines);
});

interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly onLine?: (line: string, demo: ChildProcess) => void;
}

async function runDemo({ env = {}, onLine = () => {} }: RunOptions = {}) {
  const start = performance.now();
  const demo = spawn(process.execPath, [MAIN], { env: { ...process.env, TMPDIR: temp, ...env } });
  const lines: string[] = [];
  for (const input of [demo.stdout, demo.stderr]) {
    createInterface({ input }).on('line', (line) => {
      lines.push(line);
      onLine(line, demo);
    });
  }
  const [code] = await once(demo, 'close');
  return { code, lines, elapsedMs: performance.now() - start };
}

function expectNothingLeft(lines: readonly string[]): void {
  const pids = lines.flatMap((line) => /worker-\d\s+process (\d+)$/.exec(line)?.[1] ?? []).map(Number);
  expect(pids).toHaveLength(2);
  expect(pids.filter(isRunning)).toEqual([]);
  expect(readdirSync(temp)).toEqual([]);
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
