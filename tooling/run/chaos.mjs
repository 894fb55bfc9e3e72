// `npm run chaos`: sets up, then runs the storms of tooling/chaos with the arguments that it was given.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { setup } from './setup.mjs';
import { root } from './steps.mjs';

await setup({ only: '@q/chaos' });
const program = join(root, 'tooling', 'chaos', 'dist', 'cli.js');
spawn(process.execPath, [program, ...process.argv.slice(2)], { stdio: 'inherit' }).on('exit', (code) => {
  process.exitCode = code ?? 1;
});
