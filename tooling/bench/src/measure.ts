import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { MeasurementOptions, Step } from './measurement-process.js';
import type { Result } from './scenarios.js';

export type Outcome = Result | { readonly failed: string };

/** Every step in a process of its own, so that none runs on what another has compiled or left in memory. */
export async function measureInProcess(options: MeasurementOptions): Promise<Outcome> {
  try {
    await runStep(options, 'install');
    if (options.scenario.startsWith('drain')) await runStep(options, 'fill');
    const result = await runStep(options, 'measure');
    return result ?? { failed: 'the process gave no result' };
  } catch (error) {
    return { failed: error instanceof Error ? error.message : String(error) };
  }
}

async function runStep(options: MeasurementOptions, step: Step): Promise<Result | null> {
  const child = fork(
    fileURLToPath(new URL('./measurement-process.js', import.meta.url)),
    [JSON.stringify(options), step],
    {
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    },
  );
  let result: Result | null = null;
  let errors = '';
  child.on('message', (message) => {
    result = message as Result;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const kill = setTimeout(() => child.kill('SIGKILL'), 120_000);
  const [code, signal] = await once(child, 'close');
  clearTimeout(kill);
  if (code !== 0) throw new Error(`${step} ended with ${code ?? signal}: ${/^\w*Error.*$/mu.exec(errors)?.[0] ?? ''}`);
  return result;
}
