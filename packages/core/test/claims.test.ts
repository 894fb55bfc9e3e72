import { describe, expect, it } from 'vitest';
import { CLAIM_ROUNDS, type ClaimedRow, checkClaim, checkClaims, reservedJob } from '../src/driver-kit/index.js';
import type { Claim } from '../src/index.js';
import { refusal } from './fixtures.js';

const aRow = (row: Partial<ClaimedRow> = {}): ClaimedRow => ({
  id: 7,
  handle: '',
  queue: 'mail',
  name: 'send-invoice',
  payloadJson: '{"id":7}',
  attempts: 1,
  maxAttempts: 3,
  reclaimed: false,
  ...row,
});

describe('a claimed row', () => {
  it('is a job with its payload decoded', () => {
    const row = aRow({ attempts: 2, reclaimed: true });
    expect(reservedJob(row)).toEqual({ ...row, payload: { id: 7 } });
  });

  it('keeps the text it was stored as', () => {
    expect(reservedJob(aRow({ payloadJson: ' { "id" : 7 } ' }))?.payloadJson).toBe(' { "id" : 7 } ');
  });

  it.each(['', 'null', '7', '"a"', '{', 'true'])(
    'is none where its payload is not an object or a list: %j',
    (payloadJson) => {
      expect(reservedJob(aRow({ payloadJson }))).toBeNull();
    },
  );

  it('is tried for five rounds', () => {
    expect(CLAIM_ROUNDS).toBe(5);
  });
});

describe('a claim', () => {
  it('is what names it and nothing else', () => {
    expect(checkClaim({ ...aRow(), handle: '1-0' })).toEqual({ id: 7, attempts: 1, handle: '1-0' });
  });

  it.each<[string, unknown, string, string]>([
    ['nothing', undefined, 'invalid_option', 'A claim has to be a job that was reserved; got undefined'],
    ['null', null, 'invalid_option', 'A claim has to be a job that was reserved; got null'],
    ['an id', 7, 'invalid_option', 'A claim has to be a job that was reserved; got a number'],
    [
      'an id that is text',
      { id: '7', attempts: 1, handle: '' },
      'invalid_number',
      'The id of a claim has to be a whole number; got a string',
    ],
    [
      'an id that a client would expand',
      { id: { id: 1 }, attempts: 1, handle: '' },
      'invalid_number',
      'The id of a claim has to be a whole number; got an object',
    ],
    [
      'attempts that are a list',
      { id: 7, attempts: [1], handle: '' },
      'invalid_number',
      'The attempt of a claim has to be a whole number; got a list',
    ],
    ['no handle', { id: 7, attempts: 1 }, 'invalid_text', 'The handle of a claim has to be text; got undefined'],
    [
      'a handle that is an object',
      { id: 7, attempts: 1, handle: {} },
      'invalid_text',
      'The handle of a claim has to be text; got an object',
    ],
  ])('is not %s', (_, claim, code, message) => {
    expect(refusal(() => checkClaim(claim as Claim))).toEqual({ code, message });
  });
});

describe('the claims of a batch', () => {
  it('are given back as they are', () => {
    const claims = [aRow(), aRow({ id: 8 })];
    expect(checkClaims(claims)).toEqual(claims);
    expect(checkClaims([])).toEqual([]);
  });

  it('are checked one by one', () => {
    const claims = [aRow(), { id: '8', attempts: 1, handle: '' } as unknown as Claim];
    expect(refusal(() => checkClaims(claims)).code).toBe('invalid_number');
  });

  it('are a list', () => {
    expect(refusal(() => checkClaims(aRow() as unknown as Claim[]))).toEqual({
      code: 'invalid_option',
      message: 'The claims have to be a list; got an object',
    });
  });
});
