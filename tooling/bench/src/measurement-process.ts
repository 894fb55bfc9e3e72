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
}

export type Step = 'install' | 'fill' | 'measure' | 'worker';

const [, , argument = '{}', step] = process.argv;
// The casts: written by measure.ts and scenarios.ts.
const { subject: name, store, url, scenario, jobs } = JSON.parse(argument) as MeasurementOptions;
const subject = openSubject(name, store, url);
if ((step as Step) === 'install') await subject.install();
else if (step === 'fill') await fill(subject, jobs);
else if (step === 'worker') await work();
else process.send?.(await measure(scenario, subject, jobs, argument));
await subject.close();
if (process.connected) process.disconnect();

async function work(): Promise<void> {
  const until = new Promise<void>((resolve) => {
    process.once('message', () => resolve());
    process.once('disconnect', () => resolve());
  });
  const effect = (job: number) => void process.send?.({ job, at: String(process.hrtime.bigint()) });
  await subject.work({ concurrency: 'best', effect, until });
}
