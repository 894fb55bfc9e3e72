// `npm run bench`: sets up, then measures with tooling/bench, by the arguments that it was given.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { setup } from './setup.mjs';
import { root } from './steps.mjs';

await setup({ only: '@q/bench' });
const program = join(root, 'tooling', 'bench', 'dist', 'cli.js');
spawn(process.execPath, [program, ...process.argv.slice(2)], { stdio: 'inherit' }).on('exit', (code) => {
  process.exitCode = code ?? 1;
});
