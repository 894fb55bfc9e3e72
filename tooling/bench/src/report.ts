import type { Environment } from './environment.js';
import type { Outcome } from './measure.js';
import { type Scenario, TITLES } from './scenarios.js';
import { quantile, summary } from './statistics.js';
import type { StoreKind } from './subject.js';

export interface Measurement {
  readonly store: StoreKind;
  readonly scenario: Scenario;
  readonly subject: string;
  readonly jobs: number;
  readonly round: number;
  readonly outcome: Outcome;
}

export interface Run {
  readonly environment: Environment;
  /** The signal that ended it before all was measured. */
  readonly stopped: string | null;
  readonly servers: Readonly<Record<string, string>>;
  readonly measurements: readonly Measurement[];
  /** Why, by store and subject. */
  readonly notRun: readonly string[];
}

export function report({ environment, stopped, servers, measurements, notRun }: Run): string {
  const { date, commit, cpu, memoryGigabytes, system, node, packages } = environment;
  const versions = Object.entries(packages).map(([name, version]) => `${name} ${version}`);
  const head = [
    `${date}, commit ${commit}`,
    `${cpu}, ${memoryGigabytes} GB, ${system}; client, worker and server share it`,
    `Node ${node}; ${versions.join(', ')}`,
    ...Object.values(servers),
    ...(stopped === null ? [] : [`stopped by ${stopped}: the rest was not measured`]),
  ];
  const tables = grouped(measurements, ({ store, scenario }) => `${store}: ${TITLES[scenario]}`).map(([title, group]) =>
    [`${title} (${group[0]?.jobs} jobs)`, ...table(group)].join('\n'),
  );
  return [head.join('\n'), ...tables, notRun.map((line) => `not run: ${line}`).join('\n')].join('\n\n');
}

function table(group: readonly Measurement[]): string[] {
  const subjects = grouped(group, ({ subject }) => subject);
  const medians = new Map(subjects.map(([name, rounds]) => [name, summary(values(rounds)).median]));
  const q = medians.get('q');
  return subjects.map(([name, rounds]) => {
    const failures = rounds.flatMap(({ outcome }) => ('failed' in outcome ? [outcome.failed] : []));
    // A median of the rounds that went well would hide that the others did not.
    if (failures.length > 0)
      return `  ${name.padEnd(16)} FAILED in ${failures.length} of ${rounds.length}: ${failures[0]}`;
    const { median, spread, rounds: count } = summary(values(rounds));
    const ratio = q === undefined || Number.isNaN(q) || name === 'q' ? '' : `  q/${name} ${(q / median).toFixed(2)}`;
    return `  ${name.padEnd(16)} ${figure(median).padStart(9)}  spread ${Math.round(spread * 100)}% of ${count}${ratio}${also(rounds)}`;
  });
}

function values(rounds: readonly Measurement[]): number[] {
  const failed = rounds.some(({ outcome }) => 'failed' in outcome);
  return failed ? [] : rounds.flatMap(({ outcome }) => ('failed' in outcome ? [] : [outcome.value]));
}

function also(rounds: readonly Measurement[]): string {
  const figures = rounds.flatMap(({ outcome }) => ('failed' in outcome ? [] : Object.entries(outcome.also)));
  return grouped(figures, ([name]) => name)
    .map(
      ([name, all]) =>
        `  (${name}: ${figure(
          quantile(
            all.map(([, value]) => value),
            0.5,
          ),
        )})`,
    )
    .join('');
}

/** Three digits that mean something. */
function figure(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3);
}

function grouped<T>(items: readonly T[], keyOf: (item: T) => string): [string, T[]][] {
  const groups = new Map<string, T[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return [...groups];
}
