/**
 * `pnpm chaos [--quick] [--store=postgres,…] [--storm=kills,…] [--seed=N] [--rounds=N]`: storms on every store, one line for
 * each with the seed that brings it back. Exit code 1 where a promise was broken.
 */
import { parseArgs } from 'node:util';
import { CUT_POINTS, runStorms } from './run-storms.js';
import { STORMS } from './storms.js';
import { STORE_KINDS } from './stores/start-store.js';

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    store: { type: 'string' },
    storm: { type: 'string' },
    seed: { type: 'string' },
    rounds: { type: 'string' },
  },
});

const single = values.storm !== undefined || values.quick;
const total = await runStorms(
  {
    stores: listed('store', values.store, STORE_KINDS) ?? STORE_KINDS,
    storms: listed('storm', values.storm, [...Object.keys(STORMS), CUT_POINTS]),
    seed: number('seed', values.seed ?? String(Math.floor(Math.random() * 1_000_000))),
    rounds: number('rounds', values.rounds ?? (single ? '1' : '3')),
    pushes: values.quick ? 20 : 40,
    troubles: values.quick ? 2 : 3,
  },
  (line) => console.log(line),
);
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exit(total.failed === 0 ? 0 : 1);

function listed<T extends string>(option: string, value: string | undefined, known: readonly T[]): readonly T[] | null {
  if (value === undefined) return null;
  const unknown = value.split(',').find((each) => !known.includes(each as T));
  if (unknown !== undefined) usage(`there is no ${option} "${unknown}": ${known.join(', ')}`);
  return value.split(',') as T[];
}

function number(option: string, value: string): number {
  if (!/^\d{1,9}$/.test(value)) usage(`--${option} has to be a whole number`);
  return Number(value);
}

function usage(why: string): never {
  console.error(`error: ${why}`);
  process.exit(2);
}
