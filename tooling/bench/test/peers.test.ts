import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';

const cli = fileURLToPath(new URL('../dist/cli.js', import.meta.url));

function bench(...options: string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'q-bench-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  // Without a PATH there is no npm.
  const env = { PATH: '', TMPDIR: folder };
  const all = ['--store=sqlite', '--only=push', '--quick', '--rounds=1', ...options];
  const { stdout, stderr, status } = spawnSync(process.execPath, [cli, ...all], { env, encoding: 'utf8' });
  return { stdout, stderr, status, left: readdirSync(folder) };
}

test('A peer that cannot be installed is told as not run, and the others run', () => {
  const { stdout, left } = bench('--subject=limit,plainjob');
  expect(stdout).toContain('not run: plainjob (sqlite): spawn npm ENOENT');
  expect(stdout).toMatch(/ {2}limit +[\d,]+ {2}spread/);
  expect(left).toEqual(['q-bench.json']);
}, 60_000);

test('What --quick leaves out is told', () => {
  expect(bench('--quick').stdout).toContain('not run: plainjob (sqlite): --quick leaves it out');
}, 60_000);

test('A subject that no store has is refused', () => {
  const { stderr, status } = bench('--subject=q,plainjobs');
  expect(stderr).toContain('--subject: there is no plainjobs');
  expect(status).toBe(1);
}, 60_000);
