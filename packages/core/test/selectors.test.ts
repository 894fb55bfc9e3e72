import { describe, expect, it } from 'vitest';
import { checkForgetSelection, checkRetrySelection } from '../src/driver-kit/index.js';
import { refusal } from './fixtures.js';

const noSelection = (forms: string, got: string) => ({
  code: 'invalid_selector',
  message: `Failed jobs are selected with ${forms}; got ${got}. Nothing was changed`,
});

describe.each([
  ['requeue', checkRetrySelection, "{ id } or 'all'"],
  ['forget', checkForgetSelection, "{ id }, { before: Date } or 'all'"],
] as const)('a selection of failed jobs to %s', (_, check, forms) => {
  it('is all of them only where that is said', () => {
    expect(check('all')).toBe('all');
  });

  it('is one by its id', () => {
    expect(check({ id: 7 })).toEqual({ id: 7 });
  });

  it.each<[string, unknown, string]>([
    ['undefined', undefined, 'undefined'],
    ['null', null, 'null'],
    ['an empty object', {}, 'an object with no properties'],
    ['an empty list', [], 'an object with no properties'],
    ['a list of ids', [7], 'an object with 0'],
    ['an id alone', 7, 'a number'],
    ['empty text', '', 'a string'],
    ['ALL', 'ALL', 'a string'],
    ['text in an object', Object('all'), 'an object with 0, 1, 2'],
    ['true', true, 'a boolean'],
    ['two forms at once', { id: 7, before: new Date(0) }, 'an object with id, before'],
    ['an id and more', { id: 7, limit: 1 }, 'an object with id, limit'],
    ['a misspelt id', { ID: 7 }, 'an object with ID'],
    ['an id that is inherited', Object.assign(Object.create({ id: 7 }), { x: 1 }), 'an object with x'],
    ['a Date', new Date(0), 'an object with no properties'],
    ['a Map', new Map([['id', 7]]), 'an object with no properties'],
  ])('is never %s', (__, which, got) => {
    expect(refusal(() => check(which))).toEqual(noSelection(forms, got));
  });

  it.each<[unknown, string]>([
    [undefined, 'undefined'],
    [null, 'null'],
    ['7', 'a string'],
    [Number.NaN, 'NaN'],
    [7.5, '7.5'],
    [{ gt: 0 }, 'an object'],
    [[7], 'a list'],
  ])('is not by an id that is %s', (id, got) => {
    expect(refusal(() => check({ id }))).toEqual({
      code: 'invalid_number',
      message: `The id of a failed job has to be a whole number; got ${got}`,
    });
  });
});

describe('a moment', () => {
  const before = new Date('2027-01-01T00:00:00Z');

  it('selects what to forget', () => {
    expect(checkForgetSelection({ before })).toEqual({ before });
  });

  it('does not select what to requeue', () => {
    expect(refusal(() => checkRetrySelection({ before }))).toEqual(
      noSelection("{ id } or 'all'", 'an object with before'),
    );
  });

  it.each([undefined, null, new Date(Number.NaN), '2027-01-01', 1_798_761_600_000, {}])(
    'is a Date, and a valid one: %s',
    (moment) => {
      expect(refusal(() => checkForgetSelection({ before: moment }))).toEqual(
        noSelection("{ id }, { before: Date } or 'all'", 'an object with before'),
      );
    },
  );
});
