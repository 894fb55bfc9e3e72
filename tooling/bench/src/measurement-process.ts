/** One measurement, or one step of it: `node measurement-process.js '<MeasurementOptions as JSON>' <step>`. */
import { fill, measure, type Scenario } from './scenarios.js';
import type { StoreKind } from './subject.js';
import { openSubject } from './subjects.js';

export interface MeasurementOptions {
  readonly subject: string;
  readonly store: StoreKind;
  readonly url: string;
  readonly scenario: Scenario;
  readonly jobs: number;
  /** The folder that the store's peers are installed in. */
  readonly peers: string | null;
}

export type Step = 'prepare' | 'measure' | 'worker';

const [, , argument = '{}', step] = process.argv;
// The casts: written by measure.ts and scenarios.ts.
const { subject: name, store, url, scenario, jobs, peers } = JSON.parse(argument) as MeasurementOptions;
const subject = await openSubject(name, store, url, peers);
if ((step as Step) === 'prepare') await prepare();
else if (step === 'worker') await work();
else process.send?.(await measure(scenario, subject, jobs, argument));
await subject.close();
if (process.connected) process.disconnect();

async function prepare(): Promise<void> {
  await subject.install();
  if (scenario.startsWith('drain')) await fill(subject, jobs);
}

async function work(): Promise<void> {
  const until = new Promise<void>((resolve) => {
    process.once('message', () => resolve());
    // Whoever counts its jobs is gone.
    process.once('disconnect', () => process.exit());
  });
  const effect = (job: number) => void process.send?.({ job, at: String(process.hrtime.bigint()) });
  await subject.work({ concurrency: 'best', effect, until });
}
