import { MAX_ERROR_BYTES } from './driver-kit/error-text.js';

const MAX_CAUSES = 20;
const MAX_SIBLINGS = 10;
const MAX_LINE = 500;

// Every read below is guarded; this stands in where something cunning got past the guards all the same.
const INDESCRIBABLE = 'Thrown, but it cannot be described';

/** A failure of q's own making: its message is all there is to say, and its stack would only show q's insides. */
export class PlainFailure extends Error {
  override readonly name = 'PlainFailure';
}

/**
 * What is stored of whatever a handler threw: class and message verbatim, the stack, and the chain of causes. Anything
 * can be thrown, so nothing here trusts it: getters may throw, chains may be cyclic, a message may have 20 MB.
 */
export function errorDetail(thrown: unknown): string {
  return safely(() => detailOf(thrown), INDESCRIBABLE);
}

/** The first line of what was thrown, for an event or a log line. */
export function errorMessage(thrown: unknown): string {
  return safely(() => messageOf(thrown), INDESCRIBABLE);
}

function detailOf(thrown: unknown): string {
  if (safely(() => thrown instanceof PlainFailure, false)) return errorMessage(thrown);
  const parts: string[] = [];
  const seen = new Set<unknown>();
  let length = 0;
  let next: unknown = thrown;
  for (let depth = 0; ; depth += 1) {
    const part = describeOne(next);
    parts.push(depth === 0 ? part : `Caused by: ${part}`);
    length += part.length;
    seen.add(next);
    const cause = isObject(next) ? read(next, 'cause') : undefined;
    if (cause === undefined || cause === null || length > MAX_ERROR_BYTES) break;
    if (seen.has(cause)) {
      parts.push('Caused by: an error above');
      break;
    }
    if (depth + 1 >= MAX_CAUSES) {
      parts.push('Caused by: more causes, left out');
      break;
    }
    next = cause;
  }
  return parts.join('\n');
}

function messageOf(thrown: unknown): string {
  const text = isErrorLike(thrown) ? message(thrown) || firstSibling(thrown) || className(thrown) : notAnError(thrown);
  const line = text.split(/[\r\n]/, 1)[0] ?? '';
  return line.length > MAX_LINE ? `${line.slice(0, MAX_LINE)}…` : line;
}

function describeOne(thrown: unknown): string {
  if (!isErrorLike(thrown)) return `Thrown, but not an Error: ${notAnError(thrown)}`;
  const code = read(thrown, 'code');
  const shownCode =
    typeof code === 'string' || typeof code === 'number' ? ` (code ${cut(String(code), MAX_LINE)})` : '';
  const head = `${className(thrown)}: ${message(thrown)}${shownCode}`;
  return [head, frames(thrown), siblings(thrown)].filter((part) => part !== '').join('\n');
}

/** The stack without its first lines, which repeat class and message as they were when the error was made. */
function frames(error: object): string {
  const stack = read(error, 'stack');
  if (typeof stack !== 'string') return '';
  const start = stack.search(/^[ \t]+at /m); // never across lines: a message of line breaks would be searched for ever
  return start === -1 ? '' : cut(stack.slice(start));
}

function siblings(error: object): string {
  const errors = read(error, 'errors');
  if (!safely(() => Array.isArray(errors), false)) return '';
  const list = errors as readonly unknown[]; // it is an array: looked at above
  const count = safely(() => Math.max(0, Number(list.length) || 0), 0);
  const lines = Array.from({ length: Math.min(count, MAX_SIBLINGS) }, (_, index) => {
    const sibling = safely<unknown>(() => list[index], undefined);
    return `  - ${isErrorLike(sibling) ? `${className(sibling)}: ` : ''}${errorMessage(sibling)}`;
  });
  if (count > MAX_SIBLINGS) lines.push(`  - and ${count - MAX_SIBLINGS} more`);
  return lines.join('\n');
}

/** Node tells a refused connection to a name of several addresses by an AggregateError without a message of its own. */
function firstSibling(error: object): string {
  const errors = read(error, 'errors');
  const first = safely<unknown>(() => (Array.isArray(errors) ? errors[0] : undefined), undefined);
  return isErrorLike(first) ? message(first) : '';
}

function message(error: object): string {
  const text = read(error, 'message');
  if (typeof text === 'string') return cut(text);
  return text === undefined ? '' : notAnError(text);
}

/** `TypeError`; `DOMException [AbortError]` where the name was chosen apart from the class. */
function className(error: object): string {
  const made = read(error, 'constructor');
  const named = typeof made === 'function' ? read(made, 'name') : undefined;
  const type = typeof named === 'string' && named !== '' ? cut(named, MAX_LINE) : 'Error';
  const name = read(error, 'name');
  if (typeof name !== 'string' || name === '' || name === type || name === 'Error') return type;
  return type === 'Error' ? cut(name, MAX_LINE) : `${type} [${cut(name, MAX_LINE)}]`;
}

function notAnError(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return cut(value);
    case 'function': {
      const name = read(value, 'name');
      return `function ${typeof name === 'string' ? cut(name, MAX_LINE) : ''}`;
    }
    case 'object':
      return value === null ? 'null' : cut(safely(() => JSON.stringify(value) ?? tag(value), tag(value)));
    default:
      return cut(String(value));
  }
}

function tag(value: object): string {
  return safely(() => Object.prototype.toString.call(value), '[object]');
}

function isErrorLike(value: unknown): value is object {
  if (!isObject(value)) return false;
  if (safely(() => value instanceof Error, false) || typeof read(value, 'stack') === 'string') return true;
  return tag(value) === '[object Error]'; // of another realm
}

function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}

function read(holder: object, key: string): unknown {
  return safely(() => (holder as Readonly<Record<string, unknown>>)[key], undefined);
}

function safely<T>(get: () => T, otherwise: T): T {
  try {
    return get();
  } catch {
    return otherwise;
  }
}

function cut(text: string, limit: number = MAX_ERROR_BYTES): string {
  return text.length > limit ? `${text.slice(0, limit)}…` : text;
}
