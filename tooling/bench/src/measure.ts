import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { MeasurementOptions, Step } from './measurement-process.js';
import type { Result } from './scenarios.js';

export type Outcome = Result | { readonly failed: string };

/** Every step in a process of its own, so that none runs on what another has compiled or left in memory. */
export async function measureInProcess(options: MeasurementOptions, node: string, stop: AbortSignal): Promise<Outcome> {
  try {
    await runStep(options, 'prepare', node, stop);
    const result = await runStep(options, 'measure', node, stop);
    return result ?? { failed: 'the process gave no result' };
  } catch (error) {
    return { failed: error instanceof Error ? error.message : String(error) };
  }
}

async function runStep(
  options: MeasurementOptions,
  step: Step,
  node: string,
  stop: AbortSignal,
): Promise<Result | null> {
  stop.throwIfAborted();
  const child = fork(
    fileURLToPath(new URL('./measurement-process.js', import.meta.url)),
    [JSON.stringify(options), step],
    {
      execPath: node,
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
  const kill = () => void child.kill('SIGKILL');
  const late = setTimeout(kill, 120_000);
  stop.addEventListener('abort', kill);
  const [code, signal] = await once(child, 'close');
  stop.removeEventListener('abort', kill);
  clearTimeout(late);
  if (code !== 0) throw new Error(`${step} ended with ${code ?? signal}: ${/^\w*Error.*$/mu.exec(errors)?.[0] ?? ''}`);
  return result;
}
