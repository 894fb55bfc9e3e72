/**
 * `pnpm chaos [--quick] [--store=postgres,…] [--storm=kills,…] [--seed=N] [--rounds=N]`: storms on every store, one line for
 * each with the seed that brings it back. `pnpm chaos --soak[=seconds]`: a moderate load, and a kill every five seconds. Exit
 * code 1 where a promise was broken.
 */
import { parseArgs } from 'node:util';
import { CUT_POINTS, QUICK, runStorms } from './run-storms.js';
import { SOAKED, soakAll } from './soak.js';
import { STORE_KINDS } from './stores/start-store.js';
import { STORMS } from './storms.js';

const SOAK_SECONDS = '1800';

const { values } = parseArgs({
  args: process.argv.slice(2).map((each) => (each === '--soak' ? `--soak=${SOAK_SECONDS}` : each)),
  options: {
    quick: { type: 'boolean', default: false },
    store: { type: 'string' },
    storm: { type: 'string' },
    seed: { type: 'string' },
    rounds: { type: 'string' },
    soak: { type: 'string' },
  },
});

const seed = number('seed', values.seed ?? String(Math.floor(Math.random() * 1_000_000)));
const tell = (line: string) => console.log(line);
const total = await (values.soak === undefined ? storms() : soak(number('soak', values.soak)));
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exit(total.failed === 0 ? 0 : 1);

function storms() {
  const selection = {
    stores: listed('store', values.store, STORE_KINDS) ?? STORE_KINDS,
    storms: listed('storm', values.storm, [...Object.keys(STORMS), CUT_POINTS]) ?? (values.quick ? QUICK : null),
    seed,
    rounds: roundsOf(values.rounds, values.quick || values.storm !== undefined),
    pushes: values.quick ? 20 : 40,
    troubles: values.quick ? 2 : 3,
  };
  return runStorms(selection, tell);
}

function soak(seconds: number) {
  return soakAll(listed('store', values.store, SOAKED) ?? SOAKED, { seed, seconds }, tell);
}

function listed<T extends string>(option: string, value: string | undefined, known: readonly T[]): readonly T[] | null {
  if (value === undefined) return null;
  const unknown = value.split(',').find((each) => !known.includes(each as T));
  if (unknown !== undefined) usage(`there is no ${option} "${unknown}": ${known.join(', ')}`);
  return value.split(',') as T[];
}

function roundsOf(value: string | undefined, isShort: boolean): number | null {
  if (value !== undefined) return number('rounds', value);
  return isShort ? 1 : null;
}

function number(option: string, value: string): number {
  if (!/^\d{1,9}$/.test(value)) usage(`--${option} has to be a whole number`);
  return Number(value);
}

function usage(why: string): never {
  console.error(`error: ${why}`);
  process.exit(2);
}
