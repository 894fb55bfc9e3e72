// What the commands in this folder share: running a program, and saying how a step went in one line.
import { spawn } from 'node:child_process';
import { accessSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');

/** For every program we start: nobody is counted, nobody is told about updates, nothing waits for an answer. */
const quiet = {
  TURBO_TELEMETRY_DISABLED: '1',
  TURBO_NO_UPDATE_NOTIFIER: '1',
  DO_NOT_TRACK: '1',
  npm_config_update_notifier: 'false',
};

/**
 * Runs a program from the project's root. Resolves to its exit code (1 when it could not be started) and, unless `show` is set, to what it printed.
 *
 * @param {string[]} command
 * @param {{ show?: boolean, path?: string[], env?: Record<string, string> }} [options] `path` are folders to look in first.
 * @returns {Promise<{ code: number, output: string }>}
 */
export function run([program, ...args], { show = false, path = [], env = {} } = {}) {
  // Tools that turbo starts believe that they write to a terminal.
  const colour = process.stdout.isTTY ? {} : { NO_COLOR: '1', FORCE_COLOR: undefined };
  const PATH = [...path, join(root, 'node_modules', '.bin'), process.env.PATH].join(delimiter);
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      cwd: root,
      env: { ...process.env, ...quiet, ...colour, ...env, PATH },
      stdio: ['ignore', show ? 'inherit' : 'pipe', show ? 'inherit' : 'pipe'],
      // npx and the tools in node_modules/.bin are scripts there, which only a shell starts.
      shell: process.platform === 'win32',
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text) => {
        output += text;
      });
    }
    child.on('error', (error) => resolve({ code: 1, output: `${output}${error.message}\n` }));
    child.on('close', (code) => resolve({ code: code ?? 1, output }));
  });
}

/**
 * One line for one step: its name at once (an install takes minutes), its time when it is over, and everything it printed if it failed.
 *
 * @param {string} name
 * @param {() => Promise<{ code: number, output: string }>} work
 * @returns {Promise<boolean>} whether it went well
 */
export async function step(name, work) {
  process.stdout.write(`${name} ... `);
  const start = performance.now();
  const { code, output } = await work();
  process.stdout.write(`${code === 0 ? '' : 'FAILED, '}${seconds(performance.now() - start)}\n`);
  if (code !== 0) process.stdout.write(`${output.trimEnd()}\n`);
  return code === 0;
}

/** @param {number} elapsedMs */
export function seconds(elapsedMs) {
  return `${(elapsedMs / 1000).toFixed(1)} s`;
}

/** @param {string} path */
export function exists(path) {
  try {
    accessSync(path);
    return true;
  } catch {
    return false;
  }
}

/**
 * The line that ends every command that counts, and the exit code that goes with it.
 *
 * @param {{ passed: number, failed: number, skipped: number }} totals
 */
export function finish({ passed, failed, skipped }) {
  console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
  process.exitCode = failed > 0 ? 1 : 0;
}
