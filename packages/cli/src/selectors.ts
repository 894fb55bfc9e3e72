import { InvalidArgumentError } from 'commander';

/** The id of a job, as it is written on the command line. */
export function parseId(text: string): number {
  const id = Number(text);
  if (/^\d+$/.test(text) && id > 0 && Number.isSafeInteger(id)) return id;
  throw new InvalidArgumentError('An id is a whole number above 0.');
}

/** As `parseId`, for an option that says which job is meant: twice would say two things. */
export function parseOneId(text: string, before: number | undefined): number {
  if (before !== undefined) throw new InvalidArgumentError('It is given twice; one id at a time.');
  return parseId(text);
}

/** A count; one below what makes sense is raised to it later on, as everywhere in q. */
export function parseCount(text: string): number {
  const count = Number(text);
  if (/^-?\d+$/.test(text) && Number.isSafeInteger(count)) return count;
  throw new InvalidArgumentError('It has to be a whole number.');
}

/** Seconds or megabytes, with or without a fraction. */
export function parseAmount(text: string): number {
  if (/^-?\d+(\.\d+)?$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It has to be a number.');
}

/** Names between commas, in order; more of them where the option is repeated. */
export function parseQueues(text: string, before: readonly string[] = []): readonly string[] {
  const names = text.split(',').map((name) => name.trim());
  if (names.some((name) => name === '')) throw new InvalidArgumentError('It has to be names, separated by commas.');
  return [...before, ...names];
}

/** `YYYY-MM-DD`, which is its midnight, or `YYYY-MM-DD HH:MM:SS`; UTC. */
export function parseMoment(text: string): Date {
  const [, day, time = '00:00:00'] = /^(\d{4}-\d\d-\d\d)(?: (\d\d:\d\d:\d\d))?$/.exec(text) ?? [];
  const moment = new Date(`${day}T${time}Z`);
  // The 30th of February is taken for the 1st or 2nd of March: what comes back has to be what was written.
  if (!Number.isNaN(moment.getTime()) && moment.toISOString() === `${day}T${time}.000Z`) return moment;
  throw new InvalidArgumentError('It has to be a moment in UTC: YYYY-MM-DD or "YYYY-MM-DD HH:MM:SS".');
}
