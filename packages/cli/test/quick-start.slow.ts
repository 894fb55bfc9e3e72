import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { hasSqliteProgram, installSqliteProgram } from './sqlite-program.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const README = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
const exec = promisify(execFile);

/** Where the program is missing and cannot be had: the same, by the client. */
const WITHOUT_PROGRAM = `node --input-type=module --eval "import Database from 'better-sqlite3'; import { readFileSync } from 'node:fs'; new Database('app.db').exec(readFileSync(0, 'utf8'))"`;

interface Step {
  readonly command: string;
  readonly output: string;
}

/** The blocks of the README in one language, in order. */
function blocks(language: string): string[] {
  return [...README.matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(
    ([, code]) => code ?? '',
  );
}

function transcript(): Step[] {
  const [lines = ''] = blocks('text');
  return lines
    .split(/^\$ /m)
    .slice(1)
    .map((part) => ({ command: part.slice(0, part.indexOf('\n')), output: part.slice(part.indexOf('\n') + 1) }));
}

/** What differs from machine to machine and from run to run. */
function same(text: string): string {
  return text
    .replace(/Worker \S+ watching/g, 'Worker <id> watching')
    .replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g, '<moment>')
    .replace(/done in \d+ms/g, 'done in <n>ms');
}

/** The tarballs of these packages, as they would be published. */
async function pack(folder: string): Promise<string> {
  const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const { version } = manifest.devEngines.packageManager;
  mkdirSync(folder);
  for (const name of ['core', 'driver-sqlite', 'cli']) {
    const cwd = join(ROOT, 'packages', name);
    await exec('npx', ['--yes', `pnpm@${version}`, 'pack', '--pack-destination', folder], { cwd });
  }
  return readdirSync(folder)
    .map((file) => join(folder, file))
    .join(' ');
}

it('The quick start of the README does what it says, with the packed packages in an empty folder', async () => {
  await installSqliteProgram();
  const place = mkdtempSync(join(tmpdir(), 'q-quick-start-'));
  onTestFinished(() => rmSync(place, { recursive: true, force: true }));
  const tarballs = await pack(join(place, 'packed'));
  const folder = join(place, 'shop');
  mkdirSync(folder);
  const [config = '', push = ''] = blocks('ts');
  writeFileSync(join(folder, 'q.config.ts'), config);
  writeFileSync(join(folder, 'push.ts'), push);
  const [, install = ''] = blocks('sh');
  expect(install).toContain('@q/core @q/driver-sqlite @q/cli');
  // Not published yet.
  await exec('bash', ['-ec', install.replace('@q/core @q/driver-sqlite @q/cli', tarballs)], { cwd: folder });
  const steps = transcript();
  expect(steps.length).toBeGreaterThan(10);
  for (const { command, output } of steps) {
    const line = hasSqliteProgram() ? command : command.replace('sqlite3 app.db', WITHOUT_PROGRAM);
    const { stdout } = await exec('bash', ['-c', `set -o pipefail; { ${line}; } 2>&1`], { cwd: folder });
    expect(`$ ${command}\n${same(stdout)}`).toBe(`$ ${command}\n${same(output)}`);
  }
});
