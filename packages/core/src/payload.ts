import type { Payload } from './driver.js';
import { QueueError } from './errors.js';

/** What MySQL's TEXT holds: the one limit on every driver, so that a job fits wherever an application moves. */
export const DEFAULT_MAX_PAYLOAD_BYTES = 65_535;

/** Levels of objects and arrays. JSON.stringify itself overflows the stack somewhere past 3,000. */
export const MAX_PAYLOAD_DEPTH = 1_000;

/** The error of a stored payload that is not a JSON object or array; such a job is failed at once. */
export const UNDECODABLE_PAYLOAD = 'Payload is not valid JSON, so no handler could be given it';

/**
 * A payload as compact JSON, exactly as JSON.stringify would write it, but refusing whatever that would silently lose or
 * change (docs/protocol.md#payload-strict). Every value is read once, so what was checked is what is stored, getters and `toJSON` included.
 * Throws `payload_not_json` with the path of the offence, or `payload_too_large`.
 */
export function encodePayload(payload: unknown, maxBytes: number = DEFAULT_MAX_PAYLOAD_BYTES): string {
  const json = new Encoder(maxBytes).encode(payload);
  if (Buffer.byteLength(json) <= maxBytes) return json;
  throw tooLarge(maxBytes);
}

/** The object or array a stored text holds, or null where it holds none. */
export function decodePayload(json: string): Payload | null {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
}

/** Left out, as JSON leaves out an `undefined` property. */
const NOTHING = Symbol('nothing');

class Encoder {
  readonly #maxBytes: number;
  /** The objects being encoded, outermost first: to find cycles and the depth. */
  readonly #open: object[] = [];
  readonly #path: (string | number)[] = [];
  /** How many bytes have been written at the least. */
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  encode(payload: unknown): string {
    const value = this.#toJson(payload, '');
    if (typeof value !== 'object' || value === null) {
      throw this.#refusal(`${kind(value)} stands where an object or an array has to be`);
    }
    return this.#container(value);
  }

  /** What `toJSON` gives, as JSON.stringify calls it: once, with the key; or the value itself. */
  #toJson(value: unknown, key: string): unknown {
    if (typeof value !== 'object' || value === null) return value;
    if (ArrayBuffer.isView(value)) throw this.#refusal(`${describeObject(value)} is binary; encode it as text first`);
    const convert: unknown = this.#read(value, 'toJSON');
    if (typeof convert !== 'function') return value;
    const converted: unknown = this.#safely('its toJSON threw', () => convert.call(value, key));
    if (converted === null && isInvalidDate(value)) throw this.#refusal('an invalid Date');
    return converted;
  }

  #value(value: unknown, key: string): string | typeof NOTHING {
    const plain = this.#toJson(value, key);
    switch (typeof plain) {
      case 'string':
        return this.#string(plain);
      case 'boolean':
        return plain ? 'true' : 'false';
      case 'number':
        return this.#number(plain);
      case 'undefined':
        return NOTHING;
      case 'object':
        return plain === null ? 'null' : this.#container(plain);
      default:
        throw this.#refusal(`JSON has no ${typeof plain}`);
    }
  }

  #string(text: string): string {
    this.#spend(text.length + 2);
    return JSON.stringify(text);
  }

  #number(value: number): string {
    if (!Number.isFinite(value)) throw this.#refusal(`JSON has no ${value}`);
    if (Object.is(value, -0)) throw this.#refusal('JSON.stringify turns −0 into 0');
    return String(value);
  }

  #container(value: object): string {
    if (this.#open.length >= MAX_PAYLOAD_DEPTH) {
      throw this.#refusal(`its depth is over ${MAX_PAYLOAD_DEPTH} levels`);
    }
    if (this.#open.includes(value)) throw this.#refusal('it contains itself');
    this.#open.push(value);
    const list = this.#safely('reading it threw', () => (Array.isArray(value) ? value : null));
    const json = list === null ? this.#object(value) : this.#list(list);
    this.#open.pop();
    return json;
  }

  #list(list: readonly unknown[]): string {
    const items: string[] = [];
    const length = this.#safely('reading it threw', () => list.length);
    for (let index = 0; index < length; index += 1) {
      this.#path.push(index);
      const item = this.#value(this.#read(list, index), String(index));
      if (item === NOTHING) throw this.#refusal('JSON.stringify turns undefined in an array into null');
      if (index > 0) this.#spend(1);
      items.push(item);
      this.#path.pop();
    }
    const extra = this.#keys(list).find((key) => !isIndex(key, length));
    if (extra !== undefined) {
      this.#path.push(extra);
      throw this.#refusal('JSON has no named properties of an array');
    }
    return `[${items.join(',')}]`;
  }

  #object(value: object): string {
    if (!isPlain(value)) throw this.#refusal(`${describeObject(value)} is neither plain nor has toJSON`);
    const members: string[] = [];
    for (const key of this.#keys(value)) {
      this.#path.push(key);
      const member = this.#value(this.#read(value, key), key);
      if (member !== NOTHING) members.push(`${this.#string(key)}:${member}`);
      this.#path.pop();
    }
    return `{${members.join(',')}}`;
  }

  #keys(value: object): string[] {
    const isSeen = (key: symbol) => Object.prototype.propertyIsEnumerable.call(value, key);
    const read = () => ({ keys: Object.keys(value), symbol: Object.getOwnPropertySymbols(value).find(isSeen) });
    const { keys, symbol } = this.#safely('its keys cannot be read', read);
    if (symbol !== undefined) throw this.#refusal(`JSON drops the key ${String(symbol)}`);
    return keys;
  }

  #read(holder: object, key: string | number): unknown {
    const why = key === 'toJSON' ? 'its toJSON cannot be read' : 'reading it threw';
    // The cast: any object may be asked for any key.
    return this.#safely(why, () => (holder as Readonly<Record<string | number, unknown>>)[key]);
  }

  /** What `get` gives; what it throws (a getter, a Proxy, a `toJSON`) makes a refusal. */
  #safely<T>(why: string, get: () => T): T {
    try {
      return get();
    } catch (error) {
      throw this.#refusal(why, error);
    }
  }

  /** Ends a payload that is too large while it is encoded: one whose parts share their parts would fill the memory. */
  #spend(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > this.#maxBytes) throw tooLarge(this.#maxBytes);
  }

  #refusal(why: string, cause?: unknown): QueueError {
    const message = `A job payload has to be JSON encodable: ${pathText(this.#path)}: ${why}`;
    return new QueueError('payload_not_json', message, cause === undefined ? undefined : { cause });
  }
}

function tooLarge(maxBytes: number): QueueError {
  return new QueueError(
    'payload_too_large',
    `A job payload may have ${maxBytes} bytes of JSON (maxPayloadBytes); this one has more. ` +
      'Store the data where it belongs and queue its id',
  );
}

/** `payload.a[0]["odd key"]`; the middle of a long one is left out. */
function pathText(path: readonly (string | number)[]): string {
  const steps = path.map((step) => {
    if (typeof step === 'number') return `[${step}]`;
    if (/^[A-Za-z_$][\w$]*$/.test(step) && step.length <= 80) return `.${step}`;
    return `[${JSON.stringify(step.length > 80 ? `${step.slice(0, 80)}…` : step)}]`;
  });
  const text = steps.length > 20 ? [...steps.slice(0, 10), ' … ', ...steps.slice(-10)] : steps;
  return `payload${text.join('')}`;
}

/** Plain in any realm (a test runner's `vm` context has an Object of its own). */
function isPlain(value: object): boolean {
  try {
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype === null || prototype === Object.prototype) return true;
    const isRoot = typeof prototype === 'object' && Object.getPrototypeOf(prototype) === null;
    return isRoot && Object.hasOwn(prototype, 'isPrototypeOf');
  } catch {
    return false; // a Proxy that will not say
  }
}

/** A Date of any realm. */
function isInvalidDate(value: object): boolean {
  try {
    return Number.isNaN(Date.prototype.getTime.call(value));
  } catch {
    return false;
  }
}

function isIndex(key: string, length: number): boolean {
  const index = Number(key);
  return Number.isInteger(index) && index >= 0 && index < length && String(index) === key;
}

function kind(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  return `a ${typeof value}`;
}

function describeObject(value: object): string {
  try {
    const name: unknown = value.constructor?.name;
    return typeof name === 'string' && name !== '' ? `an object of class ${name}` : 'an object with a prototype';
  } catch {
    return 'an object with a prototype';
  }
}
