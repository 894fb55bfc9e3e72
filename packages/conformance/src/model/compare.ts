import { deepEqual } from 'node:assert/strict';
import type { FailedJob } from '@q/core';
import type { JobRow } from '../harness.js';
import { Disagreement, told } from './in-short.js';
import type { Model } from './model.js';
import type { ModelFailure, ModelJob } from './model-types.js';

/** Asserts that two values are the same, whatever they are. */
export function same(what: string, driver: unknown, model: unknown): void {
  try {
    deepEqual(driver, model);
  } catch {
    throw new Disagreement(`${what}: the model says ${told(model)}, the driver ${told(driver)}`);
  }
}

/** Asserts that the rows stored are the model's jobs. Learns the ids that only the store knows. */
export function compareRows(rows: readonly JobRow[], { jobs }: Model): void {
  const byPayload = new Map(rows.map((row) => [row.payloadJson, row]));
  for (const job of jobs) {
    const row = byPayload.get(job.payloadJson);
    if (row !== undefined) job.id ??= row.id;
    sameColumns(`the stored row of the job with the payload ${job.payloadJson}`, row, rowOf(job));
  }
  same('how many jobs are stored', rows.length, jobs.size);
}

/** Asserts that the failed rows stored are the model's failures. Learns their ids. */
export function compareFailures(rows: readonly FailedJob[], failures: readonly ModelFailure[]): void {
  const byPayload = new Map(rows.map((row) => [row.payloadJson, row]));
  for (const failure of failures) {
    const row = byPayload.get(failure.payloadJson);
    if (row !== undefined) failure.id ??= row.id;
    sameColumns(`the failed row with the payload ${failure.payloadJson}`, row, failedRowOf(failure));
  }
  same('how many failed rows are stored', rows.length, failures.length);
}

/** A model's job as the harness reads it. */
export function rowOf({ availableAt, reservedUntil, createdAt, ...job }: ModelJob) {
  return {
    ...job,
    availableAt: moment(availableAt),
    reservedUntil: reservedUntil === null ? null : moment(reservedUntil),
    createdAt: moment(createdAt),
  };
}

/** A model's failure as the harness, and the reports, read it. */
export function failedRowOf({ failedAt, ...failure }: ModelFailure) {
  return { ...failure, failedAt: moment(failedAt) };
}

/** Like `same`, but names the columns that differ, and those alone. */
function sameColumns(what: string, row: object | undefined, expected: object): void {
  if (row === undefined) throw new Disagreement(`${what} is not there`);
  const actual = new Map(Object.entries(row));
  for (const [column, value] of Object.entries(expected)) same(`${column} in ${what}`, actual.get(column), value);
}

function moment(seconds: number): Date {
  return new Date(seconds * 1000);
}
