import type { CaseResult, Checkup } from '@q/conformance/doctor';
import type { Finding } from '@q/core';
import type { Command } from 'commander';
import { nameOf } from '../abilities.js';
import { type ExitCode, failed, refused } from '../errors.js';
import { jsonLine, type Output, printable } from '../output.js';
import type { Run } from '../run.js';
import type { Session } from '../session.js';
import { countSignals } from '../signals.js';
import { type Column, table } from '../table.js';

interface Options {
  readonly json?: true;
}

/** How many failures are told in full; `--json` tells all of them. */
const MOST_FAILURES = 5;

const TWIN = `
It writes to nothing but throw-away twins of the tables (queue_scratch_…), which are gone when it ends. Exit codes: 0 all is
well, warnings aside; 1 something is wrong; 2 the invocation was.`;

export function addDoctor(program: Command, run: Run): void {
  program
    .command('doctor')
    .description('what is wrong with the server, its settings and the tables, and whether every promise holds there')
    .option('--json', 'one line of JSON: { driver, isWell, findings, cases }')
    .addHelpText('after', TWIN)
    .action((options: Options) => run((session) => doctor(session, options)));
}

async function doctor(session: Session, { json }: Options): Promise<ExitCode> {
  const { examine } = await loadDoctor();
  const interrupt = new AbortController();
  const interrupted = failed('interrupted; what it had made on the server is removed');
  countSignals((count) => {
    interrupt.abort(interrupted);
    if (count > 1) void session.leave(1);
  });
  return session.withConfig(async ({ config: { queue }, name }) => {
    const { out } = session;
    const driver = nameOf(queue.driver);
    if (!json) out.line(`${driver}, as ${printable(name)} has it\n`);
    const checkup = await examine(queue.driver, {
      signal: interrupt.signal,
      onFindings: (findings) => {
        if (!json) for (const finding of findings) out.line(shownFinding(finding, out));
      },
    });
    out.line(json ? jsonLine(forMachines(driver, checkup)) : await shownResults(checkup, out));
    return checkup.isWell ? 0 : 1;
  });
}

/** The part of the conformance suite that is for applications. It is not installed with this command. */
async function loadDoctor(): Promise<typeof import('@q/conformance/doctor')> {
  try {
    import.meta.resolve('@q/conformance/doctor');
  } catch (error) {
    throw refused('q doctor needs the package @q/conformance: npm install --save-dev @q/conformance', { cause: error });
  }
  return import('@q/conformance/doctor');
}

function shownFinding({ level, message, advice }: Finding, { colors }: Output): string {
  const color = { ok: colors.green, warning: colors.yellow, error: colors.red }[level];
  const line = `${color(level.padEnd(MARGIN.length))}${printable(message)}`;
  return advice === undefined ? line : `${line}\n${MARGIN}${colors.dim(printable(advice))}`;
}

/** As wide as the longest level, and two spaces. */
const MARGIN = ' '.repeat('warning'.length + 2);

interface RuleCount {
  readonly rule: string;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

const COLUMNS: readonly Column<RuleCount>[] = [
  { title: 'rule', value: ({ rule }) => rule },
  { title: 'holds', align: 'right', value: ({ passed }) => passed },
  { title: 'fails', align: 'right', value: ({ failed }) => failed },
  { title: 'not tried', align: 'right', value: ({ skipped }) => skipped },
];

async function shownResults({ findings, results }: Checkup, out: Output): Promise<string> {
  const parts: string[] = [];
  if (results !== null) {
    parts.push(
      'Tried out in scratch twins on the same server, by rule (docs/protocol.md):',
      await table(countByRule(results), COLUMNS, out),
      ...shownFailures(results, out),
    );
  }
  return ['', ...parts, summary(findings, results ?? [], out)].join('\n\n').slice(1);
}

function shownFailures(results: readonly CaseResult[], { colors }: Output): string[] {
  const failures = results.filter((result) => result.outcome === 'failed');
  const more = failures.length - MOST_FAILURES;
  return [
    ...failures.slice(0, MOST_FAILURES).map(({ error }) => colors.red(printable(error.message, 'lines'))),
    ...(more > 0 ? [`… and ${more} more, which --json tells`] : []),
  ];
}

function summary(findings: readonly Finding[], results: readonly CaseResult[], { colors }: Output): string {
  const errors = findings.filter(({ level }) => level === 'error').length;
  const warnings = findings.filter(({ level }) => level === 'warning').length;
  const { passed, failed, skipped } = counted('', results);
  const text = `${some(errors, 'error')}, ${some(warnings, 'warning')}; ${some(passed, 'case')} held, ${failed} failed, ${skipped} not tried`;
  return errors + failed > 0 ? colors.red(text) : text;
}

function some(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

function countByRule(results: readonly CaseResult[]): RuleCount[] {
  const rules = [...new Set(results.map((result) => result.case.rule))];
  return rules.map((rule) =>
    counted(
      rule,
      results.filter((result) => result.case.rule === rule),
    ),
  );
}

function counted(rule: string, results: readonly CaseResult[]): RuleCount {
  const count = (outcome: CaseResult['outcome']) => results.filter((result) => result.outcome === outcome).length;
  return { rule, passed: count('passed'), failed: count('failed'), skipped: count('skipped') };
}

function forMachines(driver: string, { findings, results, isWell }: Checkup) {
  const cases = results?.map((result) => ({
    id: result.case.id,
    rule: result.case.rule,
    outcome: result.outcome,
    ...(result.outcome === 'skipped' ? { why: result.why } : {}),
    ...(result.outcome === 'failed' ? { error: result.error.message } : {}),
  }));
  return { driver, isWell, findings, cases: cases ?? null };
}
