import type { Finding } from '../driver.js';

/** What the driver's template says of a table. */
export interface TableTemplate {
  /** By name: the type as the server tells it, and `null` behind it where the column may be null. */
  readonly columns: Readonly<Record<string, string>>;
  readonly indexes: readonly IndexTemplate[];
}

interface IndexTemplate {
  /** `queue, priority, available_at, id`; the direction is left out. One that goes on after these columns will do. */
  readonly columns: string;
  readonly isUnique?: boolean;
  /** Where the driver's statements name it. */
  readonly name?: string;
  /** What is missed without it. */
  readonly level: 'warning' | 'error';
  readonly without: string;
}

/** A table as it is. */
export interface FoundTable {
  readonly columns: readonly FoundColumn[];
  readonly indexes: readonly { readonly name: string; readonly columns: string; readonly isUnique: boolean }[];
}

export interface FoundColumn {
  readonly name: string;
  /** As in the template. */
  readonly type: string;
  readonly isNullable: boolean;
  readonly hasDefault: boolean;
}

const INSTALL = 'Compare the table with what `q install --print` gives, and write a migration for the difference';

/**
 * For `diagnose`: in what a table differs from its template, as far as it matters to the queue. A `found` of null is a
 * table that is not there. A column that the template does not have is the application's, as long as a push may leave it
 * out; `wider` are types that will do in place of others (`'text': ['mediumtext']`), beside longer varchars.
 */
export function tableFindings(
  table: string,
  template: TableTemplate,
  found: FoundTable | null,
  wider: Readonly<Record<string, readonly string[]>> = {},
): Finding[] {
  if (found === null) return [missingTable(table)];
  const differences = [
    ...Object.entries(template.columns).flatMap(([name, type]) => columnFindings(table, { name, type }, found, wider)),
    ...found.columns
      .filter(({ name, isNullable, hasDefault }) => !(name in template.columns) && !isNullable && !hasDefault)
      .map(({ name }) =>
        difference(`${table} has a column ${name} that may not be null and has no default, so every push is refused`),
      ),
    ...template.indexes.filter((index) => !found.indexes.some((one) => serves(one, index))).map(missingIndex(table)),
  ];
  if (differences.length > 0) return differences;
  return [{ level: 'ok', code: 'tables', message: `${table} is as its template has it` }];
}

/** For `diagnose`: what the user that the application connects as may not do with a table, and has to. */
export function grantFinding(table: string, missing: readonly string[]): Finding {
  if (missing.length === 0)
    return { level: 'ok', code: 'grants', message: `This user may do with ${table} what it has to` };
  return {
    level: 'error',
    code: 'grants',
    message: `This user lacks ${missing.join(', ')} on ${table}`,
    advice: `Grant it ${missing.join(', ')} on ${table}`,
  };
}

function columnFindings(
  table: string,
  { name, type: wanted }: { readonly name: string; readonly type: string },
  { columns }: FoundTable,
  wider: Readonly<Record<string, readonly string[]>>,
): Finding[] {
  const column = columns.find((one) => one.name === name);
  if (column === undefined) return [difference(`${table} has no column ${name}`)];
  const [type, isNullable] = wanted.endsWith(' null') ? [wanted.slice(0, -' null'.length), true] : [wanted, false];
  const findings: Finding[] = [];
  if (!fits(column.type, type, wider)) {
    findings.push(difference(`${table}.${name} is ${column.type}; the template has ${type}`));
  }
  if (isNullable && !column.isNullable) findings.push(difference(`${table}.${name} may not be null, and has to`));
  return findings;
}

function fits(found: string, wanted: string, wider: Readonly<Record<string, readonly string[]>>): boolean {
  if (found === wanted || wider[wanted]?.includes(found)) return true;
  const [length, needed] = [lengthOf(found), lengthOf(wanted)];
  return length !== null && needed !== null && length >= needed;
}

function lengthOf(type: string): number | null {
  const match = /^(?:varchar|character varying)\((\d+)\)$/.exec(type);
  return match === null ? null : Number(match[1]);
}

function serves(found: FoundTable['indexes'][number], { columns, isUnique = false, name }: IndexTemplate): boolean {
  if (name !== undefined && found.name !== name) return false;
  if (isUnique) return found.isUnique && found.columns === columns;
  return found.columns === columns || found.columns.startsWith(`${columns}, `);
}

function missingIndex(table: string): (index: IndexTemplate) => Finding {
  return ({ columns, isUnique, name, level, without }) => ({
    level,
    code: 'tables',
    message: `${table} has no ${isUnique ? 'unique ' : ''}index on ${columns}${name === undefined ? '' : ` of the name ${name}`}: ${without}`,
    advice: INSTALL,
  });
}

function missingTable(table: string): Finding {
  return {
    level: 'error',
    code: 'tables',
    message: `There is no table ${table} that this user can see`,
    advice: 'Apply the migration that `q install` writes',
  };
}

function difference(message: string): Finding {
  return { level: 'error', code: 'tables', message, advice: INSTALL };
}
