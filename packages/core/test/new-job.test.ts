import { describe, expect, it } from 'vitest';
import { encodeJob, encodeJobs, UNDECODABLE_PAYLOAD } from '../src/driver-kit/index.js';
import type { NewJob } from '../src/index.js';
import { isQueueError } from '../src/index.js';
import { aNewJob, refusal } from './fixtures.js';

describe('a new job', () => {
  it('is checked and encoded', () => {
    const job = aNewJob({
      name: 'send-invoice',
      payload: { id: 7 },
      delay: 60,
      queue: 'mail',
      priority: -5,
      unique: 'k',
      maxAttempts: 1,
    });
    expect(encodeJob(job)).toEqual({
      name: 'send-invoice',
      payloadJson: '{"id":7}',
      delay: 60,
      queue: 'mail',
      priority: -5,
      unique: 'k',
      maxAttempts: 1,
    });
  });

  it('is raised to the floors', () => {
    expect(encodeJob(aNewJob({ delay: -1, maxAttempts: 0, unique: '' }))).toMatchObject({
      delay: 0,
      maxAttempts: 1,
      unique: null,
    });
  });

  it('may have any name within the limits: only a Queue knows handlers', () => {
    for (const name of ['../../x', 'node:child_process', 'constructor', '__proto__']) {
      expect(encodeJob(aNewJob({ name })).name).toBe(name);
    }
  });

  it.each<[string, Partial<Record<keyof NewJob, unknown>>, string, string]>([
    ['its name', { name: 7 }, 'invalid_text', 'A job name has to be text; got a number'],
    [
      'its queue',
      { queue: ' mail' },
      'invalid_text',
      'A queue name may not begin or end with white space; got " mail"',
    ],
    ['its key', { unique: '\ud800' }, 'invalid_text', 'A unique key may not hold half a surrogate pair; got "\\ud800"'],
    ['its delay', { delay: Number.NaN }, 'invalid_number', 'A delay has to be a whole number; got NaN'],
    ['its delay, a Date', { delay: new Date(0) }, 'invalid_number', 'A delay has to be a whole number; got an object'],
    ['its priority', { priority: '5' }, 'invalid_number', 'A priority has to be a whole number; got a string'],
    [
      'its attempts',
      { maxAttempts: { raw: '1' } },
      'invalid_number',
      'The number of attempts has to be a whole number; got an object',
    ],
    [
      'its payload',
      { payload: { a: 1n } },
      'payload_not_json',
      'A job payload has to be JSON encodable: payload.a: JSON has no bigint',
    ],
    [
      'no payload',
      { payload: undefined },
      'payload_not_json',
      'A job payload has to be JSON encodable: payload: undefined stands where an object or an array has to be',
    ],
  ])('is refused for %s', (_, job, code, message) => {
    expect(refusal(() => encodeJob(aNewJob(job as Partial<NewJob>)))).toEqual({ code, message });
  });

  it('may have as many bytes of payload as is said', () => {
    expect(encodeJob(aNewJob({ payload: { a: 1 } }), 7).payloadJson).toBe('{"a":1}');
    expect(refusal(() => encodeJob(aNewJob({ payload: { a: 1 } }), 6)).code).toBe('payload_too_large');
  });

  it.each<[unknown, string]>([
    [undefined, 'undefined'],
    [null, 'null'],
    ['send-invoice', 'a string'],
  ])('is an object: %s', (job, kind) => {
    expect(refusal(() => encodeJob(job as NewJob))).toEqual({
      code: 'invalid_option',
      message: `A job to push has to be an object; got ${kind}`,
    });
  });
});

describe('a list of new jobs', () => {
  it('is encoded in its order', () => {
    const jobs = [aNewJob({ unique: 'b' }), aNewJob({ unique: 'a' }), aNewJob({ unique: 'b' })];
    expect(encodeJobs(jobs).map(({ unique }) => unique)).toEqual(['b', 'a', 'b']);
    expect(encodeJobs([])).toEqual([]);
  });

  it('is refused for one of its jobs, which is named by its place', () => {
    const jobs = [aNewJob(), aNewJob(), aNewJob({ payload: { a: '', b: [1n] } }), aNewJob({ name: '' })];
    expect(refusal(() => encodeJobs(jobs))).toEqual({
      code: 'payload_not_json',
      message: 'jobs[2]: A job payload has to be JSON encodable: payload.b[0]: JSON has no bigint',
    });
  });

  it('keeps the first error as the cause', () => {
    expect(() => encodeJobs([aNewJob({ delay: 0.5 })])).toThrow(
      expect.objectContaining({
        cause: expect.objectContaining({ message: 'A delay has to be a whole number; got 0.5' }),
      }),
    );
  });

  it('has no holes', () => {
    expect(refusal(() => encodeJobs(new Array<NewJob>(1))).message).toBe(
      'jobs[0]: A job to push has to be an object; got undefined',
    );
  });

  it.each<[unknown, string]>([
    [undefined, 'undefined'],
    [aNewJob(), 'an object'],
    [new Set(), 'an object'],
  ])('is a list: %s', (jobs, kind) => {
    expect(refusal(() => encodeJobs(jobs as NewJob[]))).toEqual({
      code: 'invalid_option',
      message: `The jobs to push have to be a list; got ${kind}`,
    });
  });

  it('lets an error that is not about the job through untouched', () => {
    const lost = new Error('lost');
    const job = {
      ...aNewJob(),
      get name(): string {
        throw lost;
      },
    };
    expect(() => encodeJobs([job])).toThrow(lost);
    expect(isQueueError(lost)).toBe(false);
  });
});

describe('the error of a payload that does not decode', () => {
  it('is the one that SPEC names', () => {
    expect(UNDECODABLE_PAYLOAD).toBe('Payload is not valid JSON, so no handler could be given it');
  });
});
