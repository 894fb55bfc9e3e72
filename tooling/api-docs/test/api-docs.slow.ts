import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';

const HOME = fileURLToPath(new URL('..', import.meta.url));
const TYPEDOC = join(HOME, 'node_modules', 'typedoc', 'bin', 'typedoc');

/** Makes a reference in a folder of its own, by the settings of the real one. */
async function make(...args: readonly string[]): Promise<{ code: unknown; output: string; folder: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'q-api-docs-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return new Promise((resolve) => {
    execFile(process.execPath, [TYPEDOC, '--out', folder, ...args], { cwd: HOME }, (error, stdout, stderr) => {
      resolve({ code: error?.code ?? 0, output: stdout + stderr, folder });
    });
  });
}

it('The reference is made, of every entry of every package, and nothing in it is undocumented', async () => {
  const { code, output, folder } = await make();
  expect({ code, output }).toEqual({ code: 0, output: expect.not.stringContaining('warning') });
  expect(existsSync(join(folder, 'classes', 'core_src.Worker.html'))).toBe(true);
  const { entryPoints } = JSON.parse(readFileSync(join(HOME, 'typedoc.json'), 'utf8'));
  for (const name of ['cli', 'conformance', 'core', 'driver-mysql', 'driver-pg', 'driver-redis', 'driver-sqlite']) {
    const manifest = JSON.parse(readFileSync(join(HOME, '..', '..', 'packages', name, 'package.json'), 'utf8'));
    // The cast: `exports` as all our packages have it.
    const targets = Object.values(manifest.exports as Record<string, string | { readonly default: string }>)
      .map((target) => (typeof target === 'string' ? target : target.default))
      .filter((target) => target.endsWith('.js'))
      .map((target) => `../../packages/${name}/${target.replace('./dist/', 'src/').replace(/\.js$/, '.ts')}`);
    expect(targets.filter((target) => !entryPoints.includes(target))).toEqual([]);
  }
});

it('A reference with something undocumented, or with a broken link, is an error', async () => {
  const { code, output } = await make('--entryPoints', 'test/undocumented.ts');
  expect(code).not.toBe(0);
  expect(output).toContain('WithoutDocstring (Class)');
  expect(output).toContain('withoutDocstring (CallSignature)');
  expect(output).toContain('Failed to resolve link to "Nowhere"');
});
