import { expect, test } from 'vitest';
import { documents, ROOT } from '../src/documents.js';
import { brokenLinks, brokenMentions, orphans } from '../src/links.js';

const pages = documents();

test('Every relative link of the documentation leads to a file, and to an anchor that is in it', () => {
  expect(pages.flatMap(({ links }) => links).length).toBeGreaterThan(0);
  expect(brokenLinks(ROOT, pages)).toEqual([]);
});

test('Every page of docs/ is linked from another page', () => {
  expect(orphans(pages)).toEqual([]);
});

test('Every page that the source mentions is there', () => {
  expect(brokenMentions(ROOT, pages)).toEqual([]);
});
